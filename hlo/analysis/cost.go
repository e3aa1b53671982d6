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
	moved := Cost{Bytes: addSat(size(in), operandBytes(in))}
	return works[hlo.Info(in.Opcode()).Work](k, in, moved)
}

// works makes a cost of each kind of work; the third argument is that of reading all operands and writing the result.
var works = [...]func(*Costs, hlo.Instruction, Cost) Cost{
	hlo.WorkTraffic: func(_ *Costs, _ hlo.Instruction, moved Cost) Cost { return moved },
	hlo.WorkNone:    func(*Costs, hlo.Instruction, Cost) Cost { return Cost{} },
	hlo.WorkElements: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return Cost{Flops: elements(in), Bytes: moved.Bytes}
	},
	hlo.WorkFunctions: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return Cost{Transcendentals: elements(in), Bytes: moved.Bytes}
	},
	hlo.WorkContraction: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return Cost{Flops: mulSat(2*elements(in), contracted(in)), Bytes: moved.Bytes}
	},
	hlo.WorkConvolution: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return Cost{Flops: mulSat(2*elements(in), kernelElements(in)), Bytes: moved.Bytes}
	},
	hlo.WorkPart: func(_ *Costs, in hlo.Instruction, _ Cost) Cost { return Cost{Bytes: mulSat(2, size(in))} },
	hlo.WorkUpdate: func(_ *Costs, in hlo.Instruction, _ Cost) Cost {
		return Cost{Bytes: mulSat(2, size(in.OperandInstr(1)))}
	},
	hlo.WorkFold: func(k *Costs, in hlo.Instruction, moved Cost) Cost {
		return k.applied(in, in.OperandInstr(0).Shape().NumElements(), moved)
	},
	hlo.WorkWindow: func(k *Costs, in hlo.Instruction, moved Cost) Cost {
		return k.applied(in, mulSat(elements(in), windowElements(in)), moved)
	},
	hlo.WorkScatter: func(k *Costs, in hlo.Instruction, moved Cost) Cost {
		return k.applied(in, in.OperandInstr(in.NumOperands()-1).Shape().NumElements(), moved)
	},
	hlo.WorkSort: func(k *Costs, in hlo.Instruction, moved Cost) Cost {
		n := elements(in.OperandInstr(0))
		return k.applied(in, mulSat(n, int64(math.Ceil(math.Log2(float64(n+1))))), moved)
	},
	hlo.WorkFourier: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		n := elements(in)
		return Cost{Flops: mulSat(8*n, int64(math.Log2(float64(n+1)))), Bytes: moved.Bytes}
	},
	hlo.WorkSolve: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		a := in.OperandInstr(0).Shape()
		return Cost{Flops: mulSat(elements(in), a.Dim(a.Rank()-1)), Bytes: moved.Bytes}
	},
	hlo.WorkFused:   func(k *Costs, in hlo.Instruction, moved Cost) Cost { return k.applied(in, 1, moved) },
	hlo.WorkCall:    func(k *Costs, in hlo.Instruction, _ Cost) Cost { return k.callees(in) },
	hlo.WorkLoop:    func(k *Costs, in hlo.Instruction, _ Cost) Cost { return k.rounds(in) },
	hlo.WorkBranch:  func(k *Costs, in hlo.Instruction, _ Cost) Cost { return k.branch(in) },
	hlo.WorkUnknown: func(_ *Costs, _ hlo.Instruction, moved Cost) Cost { return Cost{Bytes: moved.Bytes, Unknown: true} },
}

// applied is the cost of running the callees n times on elements: what they compute, and not their scalars' traffic.
func (k *Costs) applied(in hlo.Instruction, n int64, moved Cost) Cost {
	c := k.callees(in).times(n)
	c.Bytes = moved.Bytes
	return c
}

func (k *Costs) rounds(while hlo.Instruction) Cost {
	n, known := TripCount(while)
	c := k.callees(while).times(max(n, 1))
	c.Unknown = c.Unknown || !known
	return c
}

// branch is the most that any branch takes.
func (k *Costs) branch(in hlo.Instruction) (worst Cost) {
	for id := range in.Callees() {
		c := k.of[id]
		worst = Cost{max(worst.Flops, c.Flops), max(worst.Transcendentals, c.Transcendentals), max(worst.Bytes, c.Bytes), worst.Unknown || c.Unknown}
	}
	return worst
}

func (k *Costs) callees(in hlo.Instruction) (c Cost) {
	for id := range in.Callees() {
		c = c.plus(k.of[id])
	}
	return c
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
	axes := hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting
	if a, ok := in.Attrs().(*hlo.RaggedDotAttrs); ok {
		axes = a.LHSContracting
	}
	for _, d := range axes {
		n = mulSat(n, in.OperandInstr(0).Shape().Dim(int(d)))
	}
	return n
}

// kernelElements is the number of multiply-adds for an element of the result of a convolution.
func kernelElements(in hlo.Instruction) int64 {
	a, w := hlo.AttrsOf[hlo.ConvolutionAttrs](in), in.OperandInstr(1).Shape()
	out := int64(1)
	if a.DimLabels != nil && int(a.DimLabels.KernelOutput) < w.Rank() {
		out = max(w.Dim(int(a.DimLabels.KernelOutput)), 1)
	}
	return w.NumElements() / out
}

func windowElements(in hlo.Instruction) int64 {
	n := int64(1)
	if w := hlo.AttrsOf[hlo.WindowAttrs](in).Window; w != nil {
		for _, d := range w.Dims {
			n = mulSat(n, d.Size)
		}
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
