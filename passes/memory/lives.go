package memory

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/passes/schedule"
)

// lives says which values the instructions of a computation read, in the order in which they run. Instructions are named by position. A value is
// what an instruction computes; bitcasts and parts of one value are views of it, and have no memory of their own.
type lives struct {
	order []hlo.Instruction
	at    map[hlo.InstrID]int
	bytes []int64
	// base is the value that an instruction is, or is a view of; -1 for what holds several: tuples, chains, what comes out of loops that hand several on.
	base []int
	// held lists the values of what holds several. Whoever reads one of them reads all.
	held [][]int
	// there marks what is in memory anyway: parameters and constants.
	there []bool
	// again marks what may be computed again.
	again []bool
	costs *analysis.Costs
}

func findLives(c hlo.Computation, costs *analysis.Costs, effects *analysis.SideEffects) *lives {
	d := analysis.FindDependencies(c)
	n := len(d.Order)
	l := &lives{order: d.Order, at: make(map[hlo.InstrID]int, n), bytes: make([]int64, n), base: make([]int, n), held: make([][]int, n),
		there: make([]bool, n), again: make([]bool, n), costs: costs}
	for i, in := range d.Order {
		l.at[in.ID()] = i
		l.base[i] = i
		op := in.Opcode()
		switch traits := hlo.Info(op).Traits; {
		case op == hlo.OpParameter, op == hlo.OpConstant:
			l.there[i] = true
		case op == hlo.OpGetTupleElement, op == hlo.OpBitcast, traits.Has(hlo.TraitForwards), op == hlo.OpAsyncUpdate, analysis.IsDone(in):
			l.view(i, in)
		case analysis.IsStart(in):
			l.bytes[i] = schedule.ResultOf(in).ByteSize()
			l.hold(i, append(l.readBy(in), i)) // the chain reads its operands until it is done
		default:
			l.bytes[i] = in.Shape().ByteSize()
			l.again[i] = repeatable(in, effects)
		}
	}
	return l
}

// repeatable reports whether in may be computed several times, each time with the same result, and only arrays are read for it.
func repeatable(in hlo.Instruction, effects *analysis.SideEffects) bool {
	info := hlo.Info(in.Opcode())
	if !effects.Mergeable(in) || info.Traits.Has(hlo.TraitControl) && in.Opcode() != hlo.OpFusion || in.Opcode() == hlo.OpCopy || in.Opcode() == hlo.OpCustomCall || hlo.IsAsync(in.Opcode()) {
		return false
	}
	for o := range in.Operands() {
		if !o.Shape().IsArray() {
			return false
		}
	}
	return true
}

// view makes an instruction that computes nothing a view of what it reads.
func (l *lives) view(i int, in hlo.Instruction) {
	if in.NumOperands() == 0 { // a tuple of nothing
		l.hold(i, nil)
		return
	}
	from := l.at[in.Operand(0)]
	if in.Opcode() == hlo.OpGetTupleElement {
		t := in.OperandInstr(0)
		for t.Opcode() == hlo.OpOptBarrier {
			t = t.OperandInstr(0)
		}
		if t.Opcode() == hlo.OpTuple {
			part := l.at[t.Operand(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))]
			if l.base[part] >= 0 {
				l.hold(i, []int{l.base[part]})
			} else {
				l.hold(i, l.held[part])
			}
			return
		}
	}
	if analysis.IsDone(in) {
		start := in.OperandInstr(0)
		for start.Opcode() == hlo.OpAsyncUpdate {
			start = start.OperandInstr(0)
		}
		l.hold(i, []int{l.at[start.ID()]})
		return
	}
	plain := in.Opcode() == hlo.OpGetTupleElement || in.Opcode() == hlo.OpBitcast
	if plain && l.base[from] >= 0 && in.NumControlPredecessors()+in.NumControlSuccessors() == 0 {
		l.base[i] = l.base[from]
		return
	}
	l.hold(i, l.readBy(in))
}

func (l *lives) hold(i int, values []int) { l.base[i], l.held[i] = -1, values }

// reads lists the values that must be there for the instruction at a position, each once. A part of a tuple is read alone.
func (l *lives) reads(i int) []int {
	if l.order[i].Opcode() == hlo.OpGetTupleElement && l.base[i] < 0 {
		return l.held[i]
	}
	return l.readBy(l.order[i])
}

// readBy lists the values that an instruction reads, each once.
func (l *lives) readBy(in hlo.Instruction) (values []int) {
	if in.NumOperands() == 1 { // a view of a tuple of thousands is no list of its own
		if from := l.at[in.Operand(0)]; l.base[from] < 0 {
			return l.held[from]
		}
	}
	var seen map[int]bool
	take := func(v int) {
		if !seen[v] {
			if seen == nil {
				seen = map[int]bool{}
			}
			seen[v] = true
			values = append(values, v)
		}
	}
	for id := range in.OperandIDs() {
		if from := l.at[id]; l.base[from] >= 0 {
			take(l.base[from])
		} else {
			for _, v := range l.held[from] {
				take(v)
			}
		}
	}
	return values
}

// kept lists the values that are there at the end.
func (l *lives) kept(c hlo.Computation) []int {
	root := l.at[c.Root().ID()]
	if l.base[root] >= 0 {
		return []int{l.base[root]}
	}
	return l.held[root]
}

// standing is the memory of what is there anyway.
func (l *lives) standing() (parameters, constants int64) {
	for i, in := range l.order {
		switch {
		case !l.there[i]:
		case in.Opcode() == hlo.OpParameter:
			parameters += in.Shape().ByteSize()
		default:
			constants += in.Shape().ByteSize()
		}
	}
	return parameters, constants
}
