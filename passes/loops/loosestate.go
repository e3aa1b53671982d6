package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// looseState is the state of a loop, a tuple that body and condition take apart and that the body puts together again, so that parts of it can become others.
type looseState struct {
	body, cond hlo.Computation
	element    []hlo.InstrID // each part in the body; NoInstr if it is not read there
	inCond     []bool        // the parts that the condition reads
}

// looseStateOf reports whether the state of a loop is such: nothing else calls its computations, no edit has changed them, and the body reads each part once.
func looseStateOf(e *hlo.Editor, m hlo.Module, while hlo.Instruction) (s looseState, ok bool) {
	s.body, s.cond = m.MustComputation(while.Callee(calleeNamed("body"))), m.MustComputation(while.Callee(calleeNamed("condition")))
	root := s.body.Root()
	if e.View(s.body.ID()) != s.body || e.View(s.cond.ID()) != s.cond || !ownedBy(m, s.body.ID()) || !ownedBy(m, s.cond.ID()) || root.Opcode() != hlo.OpTuple || root.UserCount() > 0 ||
		while.NumControlPredecessors()+while.NumControlSuccessors() > 0 || analysis.FindWindows(s.body) != nil {
		return s, false
	}
	s.element, s.inCond = make([]hlo.InstrID, root.NumOperands()), make([]bool, root.NumOperands())
	for i := range s.element {
		s.element[i] = hlo.NoInstr
	}
	for u := range s.body.Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement {
			return s, false
		}
		i := hlo.AttrsOf[hlo.TupleElementAttrs](u).Index
		if s.element[i] != hlo.NoInstr {
			return s, false
		}
		s.element[i] = u.ID()
	}
	for u := range s.cond.Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement {
			return s, false
		}
		s.inCond[hlo.AttrsOf[hlo.TupleElementAttrs](u).Index] = true
	}
	return s, true
}

// ownedBy reports whether one instruction calls a computation.
func ownedBy(m hlo.Module, id hlo.CompID) bool {
	n := 0
	for range m.Callers(id) {
		n++
	}
	return n == 1
}
