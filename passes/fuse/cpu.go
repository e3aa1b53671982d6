package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const engineDoc = `fuse producers into consumers pair by pair, as XLA's pass of this name does

The last consumers come first, and of their operands the last. A producer with other users is copied if it is not expensive, reads at most one array of its size
or can be fused into all of its users, and duplication is allowed; broadcasts and widening converts always are. What an update in place overwrites is not read in the same fusion,
but for the very window that it writes.`

var engineParams = []pass.Param{{Name: "may-duplicate", Doc: "copy producers for several users; true"}}

// NewInstructionFusion makes the pass instruction-fusion.
func NewInstructionFusion(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(engineParams[0].Name); err != nil {
		return nil, err
	}
	duplicate, err := o.BoolOr(engineParams[0].Name, true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "instruction-fusion", Doc: engineDoc, Options: o, Params: engineParams, Makes: []pass.Phase{pass.Fused},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return fuseAll(ctx, m, policy{duplicate: duplicate})
		}}, nil
}

// NewFusion makes the pass fusion: halo's own, or with may-duplicate that of XLA.
func NewFusion(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(engineParams[0].Name); err != nil {
		return nil, err
	}
	p := *loopFusion
	p.Params = []pass.Param{{Name: engineParams[0].Name, Doc: "fuse as instruction-fusion does, and copy producers for several users or not"}}
	if len(o) > 0 {
		theirs, err := NewInstructionFusion(o)
		if err != nil {
			return nil, err
		}
		p.Options, p.Run = o, theirs.Run
	}
	return &p, nil
}

// CPUFusion is what XLA fuses for processors.
var CPUFusion = &pass.Pass{
	Name:  "cpu-instruction-fusion",
	Makes: []pass.Phase{pass.Fused},
	Doc: `fuse as XLA does for CPUs

Loops take in what computes elements one by one: elementwise ops, maps, data movement, gathers and reductions, at most 5 of these. A dot of a matrix and a small vector takes in the matrix;
an addition takes in the dot of a matrix and a vector that is one of its operands. Array constants stay outside, scalars join fusions that are there. A producer is not
fused where it would be computed for more than 15 indices, or where it is expensive and its elements are read again; nor is one that the shift of a softmax and its maximum
both read.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return fuseAll(ctx, m, policy{duplicate: true, refuses: refusesOnCPU, kind: func(producer, consumer hlo.Instruction) hlo.FusionKind {
			if outputFuses(producer, consumer) {
				return hlo.FusionOutput
			}
			return hlo.FusionLoop
		}})
	},
}

// Limits of XLA's fusion for processors.
const (
	mostReductions  = 5
	mostIndices     = 15
	mostConcatenate = 8
	widestMinor     = 128
	vectorBytes     = 16 << 10
)

// refusesOnCPU is the policy of cpu-instruction-fusion.
func refusesOnCPU(e *engine, consumer hlo.Instruction, i int) string {
	producer := consumer.OperandInstr(i)
	switch {
	case producer.Opcode() == hlo.OpConstant && producer.Shape().NumElements() != 1:
		return "it is an array constant"
	case outputFuses(producer, consumer):
		return ""
	case outputFusesSomewhere(producer):
		return "it takes in a dot"
	case !loopFuses(producer):
		return "no loop computes it element by element"
	case producer.Opcode() == hlo.OpConcatenate && wideConcatenate(producer):
		return "its elements come from too many places"
	case expensive(producer) && e.reuses(consumer, i):
		return "it is expensive, and its elements are read again"
	case reductions(e, consumer)+reductions(e, producer) > mostReductions:
		return "the fusion has 5 reductions"
	case producer.Opcode() == hlo.OpConstant && consumer.Opcode() != hlo.OpFusion:
		return "constants join fusions that are there"
	case consumer.Opcode() == hlo.OpFusion && e.indices(consumer, i) > mostIndices:
		return "it would be computed for more than 15 indices"
	case guardsSoftmax(e, producer):
		return "the maximum of a softmax must be that of the values that it is subtracted from"
	case consumer.Opcode() == hlo.OpDot && dotFuses(consumer, i):
		return ""
	case consumer.Opcode() == hlo.OpFusion && hlo.AttrsOf[hlo.FusionAttrs](consumer).Kind == hlo.FusionLoop || loopFuses(consumer):
		return ""
	}
	return "its user is computed by a library"
}

// loopFuses reports whether a loop computes an instruction one element after the other.
func loopFuses(in hlo.Instruction) bool {
	traits := hlo.Info(in.Opcode()).Traits
	return in.IsElementwise() || traits.Has(hlo.TraitMovesData) || traits.Has(hlo.TraitNullaryValue) || in.Opcode() == hlo.OpReduce || in.Opcode() == hlo.OpMap
}

// outputFuses reports whether a consumer is the addition that a dot of a matrix and a vector can begin from.
func outputFuses(producer, consumer hlo.Instruction) bool {
	return consumer.Opcode() == hlo.OpAdd && producer.Opcode() == hlo.OpDot && producer.UserCount() == 1 && consumer.Operand(0) != consumer.Operand(1) && matrixVector(producer)
}

func outputFusesSomewhere(in hlo.Instruction) bool {
	for i := range in.NumOperands() {
		if outputFuses(in.OperandInstr(i), in) {
			return true
		}
	}
	return false
}

// matrixVector reports whether a dot is that of a real matrix and a vector, or of a vector and a matrix.
func matrixVector(dot hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.DotAttrs](dot)
	l, r, s := dot.OperandInstr(0).Shape(), dot.OperandInstr(1).Shape(), dot.Shape()
	if len(a.LHSBatch) > 0 || s.Type().IsComplex() || l.Rank() > 2 || r.Rank() > 2 || s.Rank() > 2 || s.Rank() == 0 {
		return false
	}
	return s.Rank() == 1 || s.Dimensions()[0] == 1 || s.Dimensions()[1] == 1
}

// dotFuses reports whether a dot takes in its matrix: the vector is small enough to stay in the nearest cache.
func dotFuses(dot hlo.Instruction, i int) bool {
	vector := dot.OperandInstr(1 - i).Shape()
	return dot.Shape().Rank() <= 1 && vector.Rank() == 1 && vector.ByteSize() < vectorBytes
}

// wideConcatenate reports whether choosing the operand for each element costs more than memory does.
func wideConcatenate(in hlo.Instruction) bool {
	axis := hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]
	minor := int64(in.Shape().Rank() - 1)
	if l, ok := in.Shape().Layout(); ok && len(l.MinorToMajor) > 0 {
		minor = l.MinorToMajor[0]
	}
	return in.NumOperands() > mostConcatenate || in.Shape().Rank() > 1 && axis == minor && in.Shape().Dimensions()[axis] >= widestMinor
}

func reductions(e *engine, in hlo.Instruction) int {
	if in.Opcode() == hlo.OpReduce {
		return 1
	}
	n := 0
	if in.Opcode() == hlo.OpFusion {
		for inner := range e.c.Editor().View(in.Callee(0)).Instructions() {
			if inner.Opcode() == hlo.OpReduce {
				n++
			}
		}
	}
	return n
}

// guardsSoftmax reports whether a value is both reduced by maximum and shifted by that maximum under an exponential. Computed twice, and rounded otherwise, the
// difference could be above zero.
func guardsSoftmax(e *engine, producer hlo.Instruction) bool {
	in, ok := e.before.At(producer.ID())
	if !ok || !elementwise(in) || !in.Shape().Type().IsFloat() {
		return false
	}
	for r := range in.Users() {
		if r.Opcode() != hlo.OpReduce || r.Operand(0) != in.ID() || r.NumCallees() != 1 || e.c.Editor().View(r.Callee(0)).Root().Opcode() != hlo.OpMaximum {
			continue
		}
		for s := range in.Users() {
			if s.Opcode() != hlo.OpSubtract || s.Operand(0) != in.ID() || !isBroadcastOf(s.OperandInstr(1), r.ID()) {
				continue
			}
			if slices.ContainsFunc(slices.Collect(s.Users()), func(u hlo.Instruction) bool { return u.Opcode() == hlo.OpExponential }) {
				return true
			}
		}
	}
	return false
}

// isBroadcastOf reports whether a value is another one repeated, perhaps after reshapes.
func isBroadcastOf(in hlo.Instruction, of hlo.InstrID) bool {
	for in.NumOperands() == 1 && in.ID() != of && hlo.Info(in.Opcode()).Traits.Has(hlo.TraitReindexes) {
		in = in.OperandInstr(0)
	}
	return in.ID() == of
}
