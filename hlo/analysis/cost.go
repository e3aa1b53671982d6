package analysis

import (
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Cost is what executing an instruction, or a computation, once takes. Sums saturate.
type Cost struct {
	Flops           int64 // additions and multiplications; a multiply-add is two
	Transcendentals int64 // exponentials, roots, trigonometric functions: one each
	Bytes           int64 // read and written, operands and results that stay in registers inside a fusion not counted
	// Unknown says that a custom call, or a loop of unknown length, is in it: the numbers are then a lower bound.
	Unknown bool
}

func (c Cost) plus(o Cost) Cost {
	return Cost{addSat(c.Flops, o.Flops), addSat(c.Transcendentals, o.Transcendentals), addSat(c.Bytes, o.Bytes), c.Unknown || o.Unknown}
}

func (c Cost) times(n int64) Cost {
	return Cost{mulSat(c.Flops, n), mulSat(c.Transcendentals, n), mulSat(c.Bytes, n), c.Unknown}
}

func addSat(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return math.MaxInt64
}

func mulSat(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// Rates is what a machine does in a second, and the time that any instruction takes at least.
type Rates struct {
	Flops, Transcendentals, Bytes float64
	Dispatch                      float64 // seconds
}

// OneCore is one core of a server of these years: the order of magnitude is what decisions need.
var OneCore = Rates{Flops: 5e10, Transcendentals: 1e9, Bytes: 1e10, Dispatch: 1e-7}

// Seconds is the time of the slowest of the three.
func (c Cost) Seconds(r Rates) float64 {
	return max(float64(c.Flops)/r.Flops, float64(c.Transcendentals)/r.Transcendentals, float64(c.Bytes)/r.Bytes, r.Dispatch)
}

// Costs knows the cost of every computation of a module. It is immutable.
type Costs struct{ of map[hlo.CompID]Cost }

// FindCosts looks at every computation once, callees first.
func FindCosts(m hlo.Module) *Costs {
	k := &Costs{make(map[hlo.CompID]Cost)}
	for c := range m.PostOrder() {
		total := Cost{}
		for in := range c.Instructions() {
			total = total.plus(k.Of(in))
		}
		k.of[c.ID()] = total
	}
	return k
}

// OfComputation is the cost of running a computation once.
func (k *Costs) OfComputation(id hlo.CompID) Cost { return k.of[id] }

// Of is the cost of an instruction. An asynchronous operation costs what it wraps at its start, and nothing at its done.
func (k *Costs) Of(in hlo.Instruction) Cost {
	info := hlo.Info(in.Opcode())
	if info.Traits.Has(hlo.TraitForwards) || in.Opcode() == hlo.OpConstant || in.Opcode() == hlo.OpBitcast {
		return Cost{}
	}
	moved := Cost{Bytes: addSat(size(in), operandBytes(in))}
	//halo:allow opswitch each of these has a cost of its own; the default is the rest
	switch in.Opcode() {
	case hlo.OpDot:
		return Cost{Flops: mulSat(2*elements(in), contracted(in)), Bytes: moved.Bytes}
	case hlo.OpConvolution:
		a, w := hlo.AttrsOf[hlo.ConvolutionAttrs](in), in.OperandInstr(1).Shape()
		out := int64(1)
		if a.DimLabels != nil && int(a.DimLabels.KernelOutput) < w.Rank() {
			out = max(w.Dim(int(a.DimLabels.KernelOutput)), 1)
		}
		return Cost{Flops: mulSat(2*elements(in), w.NumElements()/out), Bytes: moved.Bytes}
	case hlo.OpSlice, hlo.OpDynamicSlice, hlo.OpGather:
		return Cost{Bytes: mulSat(2, size(in))}
	case hlo.OpDynamicUpdateSlice:
		return Cost{Bytes: mulSat(2, size(in.OperandInstr(1)))}
	case hlo.OpReduce, hlo.OpMap, hlo.OpScan:
		return k.callees(in).times(in.OperandInstr(0).Shape().NumElements()).flopsOnly(moved.Bytes)
	case hlo.OpReduceWindow:
		n := int64(1)
		if w := hlo.AttrsOf[hlo.WindowAttrs](in).Window; w != nil {
			for _, d := range w.Dims {
				n = mulSat(n, d.Size)
			}
		}
		return k.callees(in).times(mulSat(elements(in), n)).flopsOnly(moved.Bytes)
	case hlo.OpScatter, hlo.OpSelectAndScatter:
		return k.callees(in).times(in.OperandInstr(in.NumOperands() - 1).Shape().NumElements()).flopsOnly(moved.Bytes)
	case hlo.OpSort:
		n := elements(in.OperandInstr(0))
		return k.callees(in).times(mulSat(n, int64(math.Ceil(math.Log2(float64(n+1)))))).flopsOnly(moved.Bytes)
	case hlo.OpFft:
		n := elements(in)
		return Cost{Flops: mulSat(8*n, int64(math.Log2(float64(n+1)))), Bytes: moved.Bytes}
	case hlo.OpCholesky, hlo.OpTriangularSolve:
		n := in.OperandInstr(0).Shape().Dim(in.OperandInstr(0).Shape().Rank() - 1)
		return Cost{Flops: mulSat(elements(in), n), Bytes: moved.Bytes}
	case hlo.OpFusion:
		inside := k.callees(in)
		return Cost{inside.Flops, inside.Transcendentals, moved.Bytes, inside.Unknown}
	case hlo.OpWhile:
		n, known := TripCount(in)
		c := k.callees(in).times(max(n, 1))
		c.Unknown = c.Unknown || !known
		return c
	case hlo.OpConditional:
		worst := Cost{}
		for id := range in.Callees() {
			c := k.of[id]
			worst = Cost{max(worst.Flops, c.Flops), max(worst.Transcendentals, c.Transcendentals), max(worst.Bytes, c.Bytes), worst.Unknown || c.Unknown}
		}
		return worst
	case hlo.OpCall, hlo.OpAsyncStart:
		return k.callees(in)
	case hlo.OpAsyncUpdate, hlo.OpAsyncDone:
		return Cost{}
	case hlo.OpCustomCall:
		return Cost{Bytes: moved.Bytes, Unknown: true}
	}
	switch {
	case info.Traits.Has(hlo.TraitAsyncDone):
		return Cost{}
	case info.Traits.Has(hlo.TraitElementwise) && transcendental[in.Opcode()]:
		return Cost{Transcendentals: elements(in), Bytes: moved.Bytes}
	case info.Traits.Has(hlo.TraitElementwise):
		return Cost{Flops: elements(in), Bytes: moved.Bytes}
	}
	return moved
}

// flopsOnly keeps what applying a callee to elements computes, and not its scalars' traffic.
func (c Cost) flopsOnly(bytes int64) Cost { return Cost{c.Flops, c.Transcendentals, bytes, c.Unknown} }

func (k *Costs) callees(in hlo.Instruction) (c Cost) {
	for id := range in.Callees() {
		c = c.plus(k.of[id])
	}
	return c
}

// transcendental lists the common ones; a rare one that is missing is estimated too low.
var transcendental = map[hlo.Opcode]bool{
	hlo.OpExponential: true, hlo.OpExponentialMinusOne: true, hlo.OpLogPlusOne: true, hlo.OpLog: true, hlo.OpTanh: true, hlo.OpTan: true, hlo.OpSine: true, hlo.OpCosine: true,
	hlo.OpSqrt: true, hlo.OpRsqrt: true, hlo.OpPower: true, hlo.OpAtan2: true, hlo.OpErf: true, hlo.OpLogistic: true,
}

// elements is the number of elements of the first array of the result.
func elements(in hlo.Instruction) (n int64) {
	in.Shape().Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
		if leaf.IsArray() {
			n = leaf.NumElements()
		}
		return false
	})
	return n
}

func size(in hlo.Instruction) (n int64) {
	in.Shape().Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
		if leaf.IsArray() {
			n = addSat(n, leaf.ByteSize())
		}
		return true
	})
	return n
}

func operandBytes(in hlo.Instruction) (n int64) {
	for o := range in.Operands() {
		n = addSat(n, size(o))
	}
	return n
}

func contracted(in hlo.Instruction) int64 {
	n := int64(1)
	for _, d := range hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting {
		n = mulSat(n, in.OperandInstr(0).Shape().Dim(int(d)))
	}
	return n
}

// TripCount is the number of rounds of a loop as its backend configuration tells: {"known_trip_count":{"n":"12"}}.
func TripCount(while hlo.Instruction) (int64, bool) {
	c := while.Common()
	if c == nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(c.BackendConfig, `"known_trip_count"`)
	if !ok {
		return 0, false
	}
	_, rest, ok = strings.Cut(rest, `"n"`)
	if !ok {
		return 0, false
	}
	rest = strings.TrimLeft(rest, ` :"`)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	n, err := strconv.ParseInt(rest[:end], 10, 64)
	return n, err == nil
}
