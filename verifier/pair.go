package verifier

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Pairs of opcodes: a start and its done (verifier 7.1).

func (r *run) pairs() {
	for _, in := range r.linked {
		switch op, p := in.Opcode(), hlo.Info(in.Opcode()).Pair; {
		case p.Begins(op):
			r.pairStart(in, p)
		case p.Ends(op):
			r.pairDone(in, p.Start)
		}
	}
}

// pairStart checks the consumer of a start, send or recv.
func (r *run) pairStart(in hlo.Instruction, pair hlo.Pair) {
	op, done := in.Opcode(), pair.Done
	transfer := isTransfer(op)
	if transfer && in.IsRoot() && r.isAsyncBody(in.Computation().ID()) {
		return
	}
	countRule, userRule := "PAIR-01", "PAIR-02"
	allowed := []string{done.String()}
	if transfer {
		countRule, userRule = "PAIR-03", "PAIR-03"
		allowed = append(allowed, hlo.OpTuple.String())
	}
	var user hlo.Instruction
	n := 0
	for u := range in.Users() {
		if customTarget(u) != "control_dep" {
			user = u
			n++
		}
	}
	if n != 1 {
		r.report(in, countRule, "The %v instruction requires one consumer, found %d: %v instruction requires one consumer", op, n, op)
		return
	}
	if user.Opcode() != done && !passesPair(user) {
		r.report(in, userRule, "The consumer of a %v instruction needs to be one of (%s), found %v", op, strings.Join(allowed, ", "), user.Opcode())
	}
}

// passesPair reports whether a start may go on through in to its done.
func passesPair(in hlo.Instruction) bool {
	switch op := in.Opcode(); op {
	case hlo.OpCall, hlo.OpConditional, hlo.OpDomain:
		return false
	case hlo.OpCustomCall:
		return forwards(in)
	default:
		return hlo.Info(op).Traits.Has(hlo.TraitCarriesAsync)
	}
}

func customTarget(in hlo.Instruction) string {
	if in.Opcode() != hlo.OpCustomCall {
		return ""
	}
	return hlo.AttrsOf[hlo.CustomCallAttrs](in).Target
}

// pairDone checks where the operand of a done comes from.
func (r *run) pairDone(in hlo.Instruction, start hlo.Opcode) {
	if in.NumOperands() != 1 {
		return
	}
	o := in.OperandInstr(0)
	if o.Opcode() == start {
		return
	}
	switch {
	case isTransfer(start):
		if o.Opcode() != hlo.OpGetTupleElement {
			r.report(in, "PAIR-06", "The operand of a %v instruction needs to be %v or get-tuple-element, found %v", in.Opcode(), start, o.Opcode())
		}
	case start == hlo.OpCopyStart:
		r.report(in, "PAIR-05", "The operand of a %v instruction needs to be %v, found %v", in.Opcode(), start, o.Opcode())
	default:
		if p, ok := r.producer(o); !ok || p.Opcode() != start {
			r.report(in, "PAIR-04", "The operand of a %v instruction needs to be %v, found %v", in.Opcode(), start, o.Opcode())
		}
	}
}
