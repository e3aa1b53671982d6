package motion

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

const splitterDoc = `give each user of a constant a copy of its own

What one user wants of a constant, such as a sharding or a place in memory, then does not bind the others. split-expressions also copies what is computed from constants and iotas
alone, by elementwise ops, broadcasts and slices.`

// NewConstantSplitter makes the pass hlo-constant-splitter.
func NewConstantSplitter(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("split-expressions"); err != nil {
		return nil, err
	}
	expressions, err := o.Bool("split-expressions")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "hlo-constant-splitter", Doc: splitterDoc, Options: o, Params: []pass.Param{{Name: "split-expressions", Doc: "also what is computed from constants; false"}},
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			v := m.MustComputation(c.ID())
			constant := make([]bool, v.IDLimit()) // to be copied
			taken := make([]bool, v.IDLimit())    // by one user
			for in := range v.PostOrder() {
				if isConstant(in, expressions, constant) {
					constant[in.ID()] = true
					continue
				}
				for i := range in.NumOperands() {
					o := in.Operand(i)
					if !constant[o] {
						continue
					}
					if !overlaps(in.OperandInstr(i), taken) {
						take(in.OperandInstr(i), taken)
						continue
					}
					if readsBefore(in, i) || !ctx.Spend("copy") {
						continue // the same user: one copy is enough
					}
					at := emit.At{C: c, Before: in.ID()}
					copied := copyTree(at, in.OperandInstr(i), map[hlo.InstrID]hlo.InstrID{})
					for k := i; k < in.NumOperands(); k++ {
						if in.Operand(k) == o {
							c.Instr(in.ID()).SetOperand(k, copied)
						}
					}
					pass.Release(c, o, nil) // what only other expressions were made from has no users left
					ctx.Count("copies", 1)
				}
			}
			return nil
		}}, nil
}

// readsBefore reports whether operand i is one before it, too.
func readsBefore(in hlo.Instruction, i int) bool {
	for k := range i {
		if in.Operand(k) == in.Operand(i) {
			return true
		}
	}
	return false
}

// isConstant reports whether an instruction is to be copied for each user.
func isConstant(in hlo.Instruction, expressions bool, constant []bool) bool {
	if in.NumControlPredecessors() > 0 || in.NumControlSuccessors() > 0 || in.IsRoot() {
		return false
	}
	if in.Opcode() == hlo.OpConstant {
		return true
	}
	t := hlo.Info(in.Opcode()).Traits
	if !expressions || in.NumCallees() > 0 || t.Has(hlo.TraitSideEffect) || t.Has(hlo.TraitRandom) {
		return false
	}
	if in.NumOperands() == 0 {
		return t.Has(hlo.TraitNullaryValue)
	}
	for i := range in.NumOperands() {
		if !constant[in.Operand(i)] {
			return false
		}
	}
	return t.Has(hlo.TraitElementwise) || in.Opcode() == hlo.OpBroadcast || in.Opcode() == hlo.OpSlice
}

// overlaps reports whether another user has taken a part of an expression.
func overlaps(in hlo.Instruction, taken []bool) bool {
	if taken[in.ID()] {
		return true
	}
	for i := range in.NumOperands() {
		if overlaps(in.OperandInstr(i), taken) {
			return true
		}
	}
	return false
}

func take(in hlo.Instruction, taken []bool) {
	taken[in.ID()] = true
	for i := range in.NumOperands() {
		take(in.OperandInstr(i), taken)
	}
}

func copyTree(at emit.At, in hlo.Instruction, copied map[hlo.InstrID]hlo.InstrID) hlo.InstrID {
	if id, ok := copied[in.ID()]; ok {
		return id
	}
	spec := emit.Again(in)
	for i := range spec.Operands {
		spec.Operands[i] = copyTree(at, in.OperandInstr(i), copied)
	}
	id := at.Spec(spec)
	copied[in.ID()] = id
	return id
}
