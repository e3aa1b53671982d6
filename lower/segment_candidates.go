package lower

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

const kernelConstant = "hlo.constant"

// candidates lists the ops that may be worth a fork, and the time that each op takes. Most functions have none; then no other op's time is of interest.
func (f *function) candidates() (list []int, seconds []float64) {
	seconds = make([]float64, len(f.ops))
	for k := range f.ops {
		if o := &f.ops[k]; f.mayFork(o) {
			if seconds[k] = f.seconds(o); seconds[k] >= worthForking {
				list = append(list, k)
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	for k := range f.ops {
		if o := &f.ops[k]; !f.mayFork(o) {
			seconds[k] = f.seconds(o)
		}
	}
	if len(list) > mostForks {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(seconds[b], seconds[a]) })
		list = list[:mostForks]
		slices.Sort(list)
	}
	return list, seconds
}

// mayFork reports whether an op would be worth a fork if it took long enough.
func (f *function) mayFork(o *op) bool {
	return !o.isCopy() && !o.of.IsZero() && o.kernel != kernelConstant && !dividesItself(o.of)
}

// seconds is how long an op takes.
func (f *function) seconds(o *op) (s float64) {
	if o.isCopy() {
		return analysis.Cost{Bytes: 2 * f.values[o.results[0]].shape.ByteSize()}.Seconds(analysis.OneCore)
	}
	if o.of.IsZero() || o.kernel == kernelConstant {
		return 0
	}
	costs := f.l.costs()
	if cost := costs.Of(o.of); !cost.IsZero() && o.of.Opcode() != hlo.OpAsyncStart {
		s = secondsOf(o.of, cost)
	}
	if o.of.Opcode() == hlo.OpAsyncDone {
		s = worthForking // of a chain that was begun elsewhere
		if o.started != nil {
			s = secondsOf(o.of, costs.Of(*o.started))
		}
	}
	if hlo.Info(o.of.Opcode()).Traits.Has(hlo.TraitCollective) {
		s = max(s, worthForking) // others may come late
	}
	return s
}

// secondsOf is how long an instruction takes by its cost; of a custom call that declares none, by the size of what it works on.
func secondsOf(in hlo.Instruction, cost analysis.Cost) float64 {
	s := cost.Seconds(analysis.OneCore)
	if in.Opcode() == hlo.OpCustomCall && cost.Unknown {
		s = max(s, float64(cost.Bytes)*secondsPerByte)
	}
	return s
}

// dividesItself reports whether a kernel divides its work among the threads when there is enough of it, so that it leaves no thread for others.
func dividesItself(in hlo.Instruction) bool {
	if hlo.Info(in.Opcode()).Traits&(hlo.TraitElementwise|hlo.TraitMovesData) != 0 {
		return true
	}
	switch in.Opcode() {
	case hlo.OpDot, hlo.OpConvolution, hlo.OpReduce, hlo.OpFusion, hlo.OpRaggedDot:
		return true
	}
	return false
}

// isOrdered reports whether in, or what it calls, must run in the order of the program: it has effects, communicates, or draws random numbers.
func (l *lowering) isOrdered(in hlo.Instruction) bool {
	const ordered = hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitRandom | hlo.TraitTokens
	if hlo.Info(in.Opcode()).Traits&ordered != 0 || in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).HasSideEffect {
		return true
	}
	for i := range in.NumCallees() {
		if l.isOrderedWithin(in.Callee(i)) {
			return true
		}
	}
	return false
}

func (l *lowering) isOrderedWithin(id hlo.CompID) bool {
	is, known := l.ordered[id]
	if !known {
		for in := range l.m.MustComputation(id).Instructions() {
			if is = l.isOrdered(in); is {
				break
			}
		}
		l.ordered[id] = is
	}
	return is
}

// costs are what the instructions of the module take; they are found when they are asked for.
func (l *lowering) costs() *analysis.Costs {
	if l.known == nil {
		l.known = analysis.FindCosts(l.m)
	}
	return l.known
}
