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
	Sent            int64 // bytes that go to other devices
	Messages        int64 // meetings with other devices
	Kernels         int64 // instructions that compute something; set in sums, where one counts as well as zero
	Nanoseconds     int64 // what custom calls declare, and test instruments take
	// Unknown says that a custom call without a declared cost, or a loop of unknown length, which counts as AssumedTrips rounds, is in it.
	Unknown bool
}

// AssumedTrips is the number of rounds that a loop of unknown length is taken to have.
const AssumedTrips = 10

// IsZero reports whether executing takes no time at all.
func (c Cost) IsZero() bool { return c == Cost{} }

func (c Cost) plus(o Cost) Cost {
	return Cost{addSat(c.Flops, o.Flops), addSat(c.Transcendentals, o.Transcendentals), addSat(c.Bytes, o.Bytes), addSat(c.Sent, o.Sent),
		addSat(c.Messages, o.Messages), addSat(c.Kernels, o.Kernels), addSat(c.Nanoseconds, o.Nanoseconds), c.Unknown || o.Unknown}
}

func (c Cost) times(n int64) Cost {
	return Cost{mulSat(c.Flops, n), mulSat(c.Transcendentals, n), mulSat(c.Bytes, n), mulSat(c.Sent, n), mulSat(c.Messages, n), mulSat(c.Kernels, n),
		mulSat(c.Nanoseconds, n), c.Unknown}
}

// most is the greater of each number: of branches, one is taken.
func (c Cost) most(o Cost) Cost {
	return Cost{max(c.Flops, o.Flops), max(c.Transcendentals, o.Transcendentals), max(c.Bytes, o.Bytes), max(c.Sent, o.Sent), max(c.Messages, o.Messages),
		max(c.Kernels, o.Kernels), max(c.Nanoseconds, o.Nanoseconds), c.Unknown || o.Unknown}
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

// Rates is what a machine does in a second, and the times, in seconds, that any instruction and any meeting of devices take at least.
type Rates struct {
	Flops           float64 `json:"flops"`
	Transcendentals float64 `json:"transcendentals"`
	Bytes           float64 `json:"bytes"`
	Link            float64 `json:"link_bytes"`
	Dispatch        float64 `json:"dispatch_seconds"`
	Latency         float64 `json:"link_seconds"`
}

// OneCore is one core of a server of these years: the order of magnitude is what decisions need.
var OneCore = Rates{Flops: 5e10, Transcendentals: 1e9, Bytes: 1e10, Link: 5e9, Dispatch: 1e-7, Latency: 5e-6}

// Seconds is the time of the slowest of computing, of moving, and of dispatching, and after it what is sent and what is declared.
func (c Cost) Seconds(r Rates) float64 {
	own := max(float64(c.Flops)/r.Flops, float64(c.Transcendentals)/r.Transcendentals, float64(c.Bytes)/r.Bytes, float64(max(c.Kernels, 1))*r.Dispatch)
	return own + float64(c.Sent)/r.Link + float64(c.Messages)*r.Latency + float64(c.Nanoseconds)*1e-9
}

// Costs knows the cost of every computation of a module. It is immutable.
type Costs struct {
	m  hlo.Module
	of map[hlo.CompID]Cost
}

// FindCosts looks at every computation once, callees first.
func FindCosts(m hlo.Module) *Costs {
	k := &Costs{m, make(map[hlo.CompID]Cost)}
	for c := range m.PostOrder() {
		total := Cost{}
		for in := range c.Instructions() {
			own := k.Of(in)
			if !own.IsZero() {
				own.Kernels = max(own.Kernels, 1)
			}
			total = total.plus(own)
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
		return inside.flopsOnly(moved.Bytes)
	case hlo.OpWhile:
		n, known := k.Trips(in)
		c := k.callees(in).times(max(n, 1))
		c.Unknown = c.Unknown || !known
		return c
	case hlo.OpConditional:
		worst := Cost{}
		for id := range in.Callees() {
			worst = worst.most(k.of[id])
		}
		return worst
	case hlo.OpCall, hlo.OpAsyncStart:
		return k.callees(in)
	case hlo.OpAsyncUpdate, hlo.OpAsyncDone:
		return Cost{}
	case hlo.OpCustomCall:
		return declared(in, moved.Bytes)
	}
	switch {
	case info.Traits.Has(hlo.TraitCollective):
		moved.Sent, moved.Messages = operandBytes(in), 1
		return moved
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
func (c Cost) flopsOnly(bytes int64) Cost {
	return Cost{Flops: c.Flops, Transcendentals: c.Transcendentals, Bytes: bytes, Nanoseconds: c.Nanoseconds, Unknown: c.Unknown}
}

// Trips is the number of rounds of a loop: what its backend configuration says, or its text if it counts, else AssumedTrips.
func (k *Costs) Trips(while hlo.Instruction) (n int64, known bool) {
	if n, known := TripCount(while); known {
		return n, true
	}
	if loop, counts := FindLoop(k.m, while); counts {
		return loop.Trip, true
	}
	return AssumedTrips, false
}

// declared is the cost of a custom call: what a test instrument is set to, or the estimate in the backend configuration, as Pallas writes it:
// {"cost_estimate":{"flops":"1000","transcendentals":"0","bytes_accessed":"64"}}.
func declared(in hlo.Instruction, moved int64) Cost {
	if d, ok := hlo.Instrument(in); ok {
		return Cost{Bytes: moved, Nanoseconds: d.Nanoseconds()}
	}
	c := in.Common()
	if c == nil {
		return Cost{Bytes: moved, Unknown: true}
	}
	_, estimate, ok := strings.Cut(c.BackendConfig, `"cost_estimate"`)
	if !ok {
		return Cost{Bytes: moved, Unknown: true}
	}
	estimate, _, _ = strings.Cut(estimate, "}")
	number := func(key string) int64 {
		n, _ := numberAfter(estimate, key)
		return n
	}
	return Cost{Flops: number(`"flops"`), Transcendentals: number(`"transcendentals"`), Bytes: max(number(`"bytes_accessed"`), moved)}
}

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
	return numberAfter(rest, `"n"`)
}

// numberAfter reads the number that follows a key in JSON, as a number or as a string.
func numberAfter(text, key string) (int64, bool) {
	_, rest, ok := strings.Cut(text, key)
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
