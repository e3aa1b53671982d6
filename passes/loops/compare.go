package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// decideCompares puts a constant in the place of comparisons of a loop's counter with a constant that come out the same in every round.
func decideCompares(ctx *pass.Context, b hlo.CompEdit, l analysis.Loop) error {
	if l.Trip < 1 {
		return nil
	}
	last := l.First + (l.Trip-1)*l.Step
	for in := range pass.EachOf(b, hlo.OpCompare) {
		if !isCounter(in.OperandInstr(0), l) || in.OperandInstr(1).Opcode() != hlo.OpConstant {
			continue
		}
		limit, ok := in.OperandInstr(1).Literal().ScalarInt()
		if !ok {
			continue
		}
		direction := hlo.AttrsOf[hlo.CompareAttrs](in).Direction
		always, known := false, true
		switch {
		case limit < l.First:
			always = direction == hlo.GT || direction == hlo.GE || direction == hlo.NE
		case limit > last:
			always = direction == hlo.LT || direction == hlo.LE || direction == hlo.NE
		case limit == l.First && (direction == hlo.LT || direction == hlo.GE):
			always = direction == hlo.GE
		case limit == last && (direction == hlo.GT || direction == hlo.LE):
			always = direction == hlo.LE
		default:
			known = false
		}
		if !known || !ctx.Spend("compare") {
			continue
		}
		if err := emit.Replace(b, in.ID(), emit.Before(b, in).Int(hlo.PRED, truth(always))); err != nil {
			return err
		}
		ctx.Count("compares", 1)
	}
	return nil
}

// isCounter reports whether an instruction of the body is the loop's counter.
func isCounter(in hlo.Instruction, l analysis.Loop) bool {
	return in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter && int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index) == l.Induction
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
