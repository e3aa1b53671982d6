package kernels

import (
	"bytes"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// mostCountedTruth is how many truth values a byte counts.
const mostCountedTruth = 255

// truthCounts serves counts of truth values, as sums of predicates that are made integers: of few they are sums of bytes, of which a vector holds as many more as the integers are
// wider.
func truthCounts(s *site, op hlo.Opcode, leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	t, init := s.in.Shape().Type(), s.in.OperandInstr(1)
	elements := s.shape(0).NumElements()
	if op != hlo.OpAdd || !t.IsInteger() || t.Bits() <= 8 || elements <= tile.MostInCalls || elements > mostCountedTruth*s.in.Shape().NumElements() {
		return runtime.Bound{}, false
	}
	if init.Opcode() != hlo.OpConstant || init.Literal() == nil || init.Literal().IsElided() || len(bytes.Trim(init.Literal().Bytes(), "\x00")) > 0 {
		return runtime.Bound{}, false
	}
	x := s.in.OperandInstr(0)
	for x.Opcode() == hlo.OpConvert && x.Shape().Type() != hlo.PRED {
		if _, isInput := leaf(x); isInput || !x.Shape().Type().IsInteger() {
			return runtime.Bound{}, false
		}
		x = x.OperandInstr(0)
	}
	if x.Shape().Type() != hlo.PRED {
		return runtime.Bound{}, false
	}
	return reduceAs(s, x, hlo.U8, integerFoldOf[uint8](op), leaf)
}

// writtenOut is the number of truth values up to which those of one array are better computed and folded one by one, for many results beside each other.
const writtenOut = 3

// fusedTruthFolds serves fusions that end in a fold of computed truth values: they are bytes of a tile, which are folded there. Written out over the results, they were as wide as what
// is compared, and that lies apart in memory.
func fusedTruthFolds(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || c.Root().Opcode() != hlo.OpReduce {
		return runtime.Bound{}, false
	}
	s = &site{m: s.m, in: c.Root(), b: s.b, reg: s.reg}
	op, t, ok := s.foldOp()
	if !ok {
		return runtime.Bound{}, false
	}
	if x := s.in.OperandInstr(0); t == hlo.PRED {
		n := x.Shape().NumElements()
		if n <= tile.MostInCalls || len(s.b.In) == 1 && n <= writtenOut*s.in.Shape().NumElements() {
			return runtime.Bound{}, false
		}
		return reduceAs(s, x, t, predFoldOf(op), arrayParameters)
	}
	return truthCounts(s, op, arrayParameters)
}
