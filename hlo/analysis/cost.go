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
	Sleeps          bool  // all of that holds no thread
	// Unknown says that a custom call without a declared cost, or a loop of unknown length, which counts as assumedTrips rounds, is in it.
	Unknown bool
}

// assumedTrips is the number of rounds that a loop of unknown length is taken to have.
const assumedTrips = 10

// HoldsThread reports whether work keeps a thread while it runs: what sleeps, or waits for other devices, does not.
func (c Cost) HoldsThread() bool { return c.Messages == 0 && !c.Sleeps }

// IsZero reports whether executing takes no time at all.
func (c Cost) IsZero() bool { return c == Cost{} }

func (c Cost) plus(o Cost) Cost {
	return Cost{addSat(c.Flops, o.Flops), addSat(c.Transcendentals, o.Transcendentals), addSat(c.Bytes, o.Bytes), addSat(c.Sent, o.Sent),
		addSat(c.Messages, o.Messages), addSat(c.Kernels, o.Kernels), addSat(c.Nanoseconds, o.Nanoseconds),
		sleeps(c, o), c.Unknown || o.Unknown}
}

func (c Cost) times(n int64) Cost {
	return Cost{mulSat(c.Flops, n), mulSat(c.Transcendentals, n), mulSat(c.Bytes, n), mulSat(c.Sent, n), mulSat(c.Messages, n), mulSat(c.Kernels, n),
		mulSat(c.Nanoseconds, n), c.Sleeps, c.Unknown}
}

// most is the greater of each number: of branches, one is taken.
func (c Cost) most(o Cost) Cost {
	return Cost{max(c.Flops, o.Flops), max(c.Transcendentals, o.Transcendentals), max(c.Bytes, o.Bytes), max(c.Sent, o.Sent), max(c.Messages, o.Messages),
		max(c.Kernels, o.Kernels), max(c.Nanoseconds, o.Nanoseconds), sleeps(c, o), c.Unknown || o.Unknown}
}

// sleeps reports whether two costs declare something, and nothing of it holds a thread.
func sleeps(c, o Cost) bool {
	return (c.Sleeps || c.Nanoseconds == 0) && (o.Sleeps || o.Nanoseconds == 0) && (c.Sleeps || o.Sleeps)
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
	var moved Cost
	if info.Work != hlo.WorkNone { // else a part of the state of a large loop would cost a look at all of it
		moved.Bytes = addSat(size(in), operandBytes(in))
	}
	if info.Traits.Has(hlo.TraitAsyncDone) {
		return Cost{}
	}
	c := works[info.Work](k, in, moved)
	if info.Traits.Has(hlo.TraitCollective) {
		c.Sent, c.Messages = operandBytes(in), 1
	}
	return c
}

// works makes a cost of each kind of work; the third argument is that of reading all operands and writing the result.
var works = [...]func(*Costs, hlo.Instruction, Cost) Cost{
	hlo.WorkTraffic: func(_ *Costs, _ hlo.Instruction, moved Cost) Cost { return moved },
	hlo.WorkNone:    func(*Costs, hlo.Instruction, Cost) Cost { return Cost{} },
	hlo.WorkElements: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return ofElements(in, hlo.ComplexWork{Flops: 1}, moved)
	},
	hlo.WorkFunctions: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return ofElements(in, hlo.ComplexWork{Functions: 1}, moved)
	},
	hlo.WorkContraction: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return Cost{Flops: mulSat(multiplyAdd(in)*elements(in), contracted(in)), Bytes: moved.Bytes}
	},
	hlo.WorkConvolution: func(_ *Costs, in hlo.Instruction, moved Cost) Cost {
		return Cost{Flops: mulSat(multiplyAdd(in)*elements(in), kernelElements(in)), Bytes: moved.Bytes}
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
	hlo.WorkUnknown: func(_ *Costs, in hlo.Instruction, moved Cost) Cost { return declared(in, moved.Bytes) },
}

// ofElements is the cost of an elementwise op that takes so much for a real number.
func ofElements(in hlo.Instruction, each hlo.ComplexWork, moved Cost) Cost {
	if isComplex(in) {
		both := hlo.ComplexWork{Flops: 2 * each.Flops, Functions: 2 * each.Functions}
		if each = hlo.Info(in.Opcode()).Complex; each == (hlo.ComplexWork{}) {
			each = both
		}
	}
	n := elements(in)
	return Cost{Flops: mulSat(n, each.Flops), Transcendentals: mulSat(n, each.Functions), Bytes: moved.Bytes}
}

// isComplex reports whether an op works on complex numbers, or makes them.
func isComplex(in hlo.Instruction) bool {
	if in.Shape().IsArray() && in.Shape().Type().IsComplex() {
		return true
	}
	return in.NumOperands() > 0 && in.OperandInstr(0).Shape().IsArray() && in.OperandInstr(0).Shape().Type().IsComplex()
}

// multiplyAdd is the number of operations of one.
func multiplyAdd(in hlo.Instruction) int64 {
	if isComplex(in) {
		return hlo.Info(hlo.OpMultiply).Complex.Flops + 2
	}
	return 2
}

// applied is the cost of running the callees n times on elements: what they compute, and not their scalars' traffic.
func (k *Costs) applied(in hlo.Instruction, n int64, moved Cost) Cost {
	c := k.callees(in).times(n)
	return Cost{Flops: c.Flops, Transcendentals: c.Transcendentals, Bytes: moved.Bytes, Nanoseconds: c.Nanoseconds, Unknown: c.Unknown}
}

func (k *Costs) rounds(while hlo.Instruction) Cost {
	n, known := k.Trips(while)
	c := k.callees(while).times(max(n, 1))
	c.Unknown = c.Unknown || !known
	return c
}

// branch is the most that any branch takes.
func (k *Costs) branch(in hlo.Instruction) (worst Cost) {
	for id := range in.Callees() {
		worst = worst.most(k.of[id])
	}
	return worst
}

// Trips is the number of rounds of a loop: what its backend configuration says, or its text if it counts, else assumedTrips.
func (k *Costs) Trips(while hlo.Instruction) (n int64, known bool) {
	if n, known := tripCount(while); known {
		return n, true
	}
	if loop, counts := FindLoop(k.m, while); counts {
		return loop.Trip, true
	}
	return assumedTrips, false
}

// declared is the cost of a custom call: what a test instrument is set to; or the estimate in the backend configuration, as Pallas writes it:
// {"cost_estimate":{"flops":"1000","transcendentals":"0","bytes_accessed":"64"}}; or what a routine of LAPACK is known to do.
func declared(in hlo.Instruction, moved int64) Cost {
	if d, ok := hlo.Instrument(in); ok {
		sleep := hlo.AttrsOf[hlo.CustomCallAttrs](in).Target == hlo.TargetSleep
		return Cost{Bytes: moved, Nanoseconds: d.Nanoseconds(), Sleeps: sleep && d > 0}
	}
	estimate, ok := "", false
	if c := in.Common(); c != nil {
		_, estimate, ok = strings.Cut(c.BackendConfig, `"cost_estimate"`)
	}
	if !ok {
		flops, known := lapackFlops(in)
		return Cost{Flops: flops, Bytes: moved, Unknown: !known}
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

// elements is the number of elements of the result, or of the first part of a tuple; 0 if that is no array.
func elements(in hlo.Instruction) int64 {
	s := in.Shape()
	for s.IsTuple() && len(s.Elems()) > 0 {
		s = s.Elem(0)
	}
	if !s.IsArray() {
		return 0
	}
	return s.NumElements()
}

func size(in hlo.Instruction) (n int64) {
	for _, leaf := range in.Shape().Leaves {
		if leaf.IsArray() {
			n = addSat(n, leaf.ByteSize())
		}
	}
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

// tripCount is the number of rounds of a loop as its backend configuration states it: {"known_trip_count":{"n":"12"}}.
func tripCount(while hlo.Instruction) (int64, bool) {
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
