package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// AddOriginalValue says of every value where it comes from: itself.
var AddOriginalValue = &pass.Pass{
	Name: "add-original-value",
	Doc: `record the origin of each value: the name of its instruction

Later passes hand origins on, so that values of the final program are found in this one. Tuples and their elements have the origins of their parts. An instruction with an origin keeps it.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		trees := map[hlo.InstrID]*hlo.OriginNode{}
		for in := range m.MustComputation(c.ID()).Instructions() {
			common := hlo.Common{}
			if in.Common() != nil {
				common = *in.Common()
			}
			if common.Origin != nil {
				trees[in.ID()] = common.Origin.Tree
				continue
			}
			tree := originOf(in, trees)
			trees[in.ID()] = tree
			if !ctx.Spend("origin") {
				continue
			}
			common.Origin = &hlo.Origin{Tree: tree}
			c.Instr(in.ID()).SetCommon(&common)
			ctx.Count("origins", 1)
		}
		return nil
	},
}

// originOf is the origin of a value, given those of its operands.
func originOf(in hlo.Instruction, trees map[hlo.InstrID]*hlo.OriginNode) *hlo.OriginNode {
	switch in.Opcode() {
	case hlo.OpTuple:
		node := &hlo.OriginNode{IsTuple: true}
		for o := range in.Operands() {
			node.Elements = append(node.Elements, trees[o.ID()])
		}
		if !slices.Contains(node.Elements, nil) {
			return node
		}
	case hlo.OpGetTupleElement:
		if t, i := trees[in.Operand(0)], int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index); t != nil && t.IsTuple && i < len(t.Elements) {
			return t.Elements[i]
		}
	}
	return ownOrigin(in.Name(), in.Shape(), nil)
}

// ownOrigin is that of a value of a shape that is part of an instruction's.
func ownOrigin(name string, s hlo.Shape, at hlo.ShapeIndex) *hlo.OriginNode {
	if !s.IsTuple() {
		return &hlo.OriginNode{Name: name, HasName: true, Index: at}
	}
	node := &hlo.OriginNode{IsTuple: true}
	for i := range s.NumElems() {
		node.Elements = append(node.Elements, ownOrigin(name, s.Elem(i), append(slices.Clone(at), int64(i))))
	}
	return node
}
