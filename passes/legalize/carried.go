package legalize

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// carriedChains finds the asynchronous chains that may stay as they are, although loops and tuples carry them: from the done back, every
// way leads to a start, whether the loop turns or not. Of a chain that began as something else on one of the ways, nobody could say
// at run time whether it is running.
//
// It returns the steps of all chains that may not stay.
func carriedChains(m hlo.Module) map[place]bool {
	var traces []*chainTrace
	for c := range m.Computations() {
		if !c.Opcodes().Has(hlo.OpAsyncDone) {
			continue
		}
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpAsyncDone {
				t := &chainTrace{m: m, seen: make(map[tracePoint]bool), whole: true}
				t.step(in)
				t.back(in, nil)
				traces = append(traces, t)
			}
		}
	}
	kept, broken := make(map[place]bool), make(map[place]bool)
	for _, t := range traces {
		for _, s := range t.steps {
			kept[s] = true
		}
	}
	// A chain with several dones stays as a whole or not at all.
	for changed := true; changed; {
		changed = false
		for _, t := range traces {
			bad := !t.whole || slices.ContainsFunc(t.steps, func(s place) bool { return broken[s] })
			for _, s := range t.steps {
				if bad && !broken[s] {
					broken[s], changed = true, true
				}
			}
		}
	}
	// A chain without a done has no effect.
	for c := range m.Computations() {
		if !c.Opcodes().Meets(asyncSteps) {
			continue
		}
		for in := range c.Instructions() {
			if at := placeOf(in); hlo.IsAsync(in.Opcode()) && !kept[at] {
				broken[at] = true
			}
		}
	}
	return broken
}

type place struct {
	comp hlo.CompID
	in   hlo.InstrID
}

func placeOf(in hlo.Instruction) place { return place{in.Computation().ID(), in.ID()} }

// chainTrace is the search from one done.
type chainTrace struct {
	m     hlo.Module
	seen  map[tracePoint]bool
	steps []place
	whole bool // every way led to a start
}

type tracePoint struct {
	at   place
	path string
}

func (t *chainTrace) step(in hlo.Instruction) { t.steps = append(t.steps, placeOf(in)) }

// back follows the first operand of in, of whose value the elements in path are taken, innermost last.
func (t *chainTrace) back(in hlo.Instruction, path []int64) {
	if in.NumOperands() == 0 {
		t.whole = false
		return
	}
	t.value(in.OperandInstr(0), path)
}

// value follows element path of the value of in to the starts that it may come from.
func (t *chainTrace) value(in hlo.Instruction, path []int64) {
	key := make([]byte, 0, 8*len(path))
	for _, i := range path {
		key = append(key, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
	}
	at := tracePoint{placeOf(in), string(key)}
	if t.seen[at] || !t.whole && len(t.seen) > maxTrace {
		return
	}
	t.seen[at] = true
	//halo:allow opswitch what carries an asynchronous value is a list of its own
	switch op := in.Opcode(); {
	case op == hlo.OpAsyncStart && len(path) == 0:
		t.step(in)
	case op == hlo.OpAsyncUpdate && len(path) == 0:
		t.step(in)
		t.back(in, nil)
	case op == hlo.OpGetTupleElement:
		t.back(in, append(slices.Clone(path), hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
	case op == hlo.OpTuple && len(path) > 0 && path[len(path)-1] < int64(in.NumOperands()):
		t.value(in.OperandInstr(int(path[len(path)-1])), path[:len(path)-1])
	case op == hlo.OpTuple && len(path) == 0:
		whole, ok := hlo.TupledAgain(in)
		if !ok {
			t.whole = false
			return
		}
		t.value(whole, nil)
	case op == hlo.OpParameter:
		t.callers(in, path)
	case op == hlo.OpCall || op == hlo.OpConditional:
		for callee := range in.Callees() {
			t.value(t.m.MustComputation(callee).Root(), path)
		}
	case op == hlo.OpWhile && in.NumOperands() == 1 && in.NumCallees() == 2:
		t.value(t.m.MustComputation(in.Callee(0)).Root(), path)
		t.back(in, path)
	case op != hlo.OpAsyncUpdate && hlo.ForwardsAsync(op, in.Attrs()):
		t.back(in, path)
	default:
		t.whole = false
	}
}

// maxTrace bounds the search where it has failed already.
const maxTrace = 10_000

// callers goes on from a parameter to what is given to its computation: by calls and branches, by the loop whose body it is, and by that body to itself.
func (t *chainTrace) callers(param hlo.Instruction, path []int64) {
	c, called := param.Computation(), false
	for comp, id := range t.m.Callers(c.ID()) {
		in := t.m.MustComputation(comp).MustAt(id)
		called = true
		switch in.Opcode() {
		case hlo.OpCall:
			t.value(in.OperandInstr(int(hlo.AttrsOf[hlo.ParameterAttrs](param).Number)), path)
		case hlo.OpConditional:
			for i := range in.NumCallees() {
				if in.Callee(i) == c.ID() {
					t.value(in.OperandInstr(i+1), path)
				}
			}
		case hlo.OpWhile:
			if in.NumOperands() != 1 || in.Callee(0) != c.ID() {
				t.whole = false
				return
			}
			t.back(in, path)
			t.value(c.Root(), path)
		default:
			t.whole = false
			return
		}
	}
	t.whole = t.whole && called
}
