package types

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// support says what a backend computes in a narrow floating-point type.
type support struct {
	low, high              hlo.PrimitiveType
	operand, output, mixed opcodes
}

// opcodes is a set of opcodes, perhaps all.
type opcodes struct {
	all bool
	set []hlo.Opcode
}

func (o opcodes) has(op hlo.Opcode) bool { return o.all || slices.Contains(o.set, op) }

var supportParams = []pass.Param{
	{Name: "low-precision-type", Doc: "the narrow type; bf16"},
	{Name: "high-precision-type", Doc: "the type in the place of which it stands; f32"},
	{Name: "low-precision-operand", Doc: "the opcodes that take it: a list, all or none; those that hand values on"},
	{Name: "low-precision-output", Doc: "the opcodes that return it: a list, all or none; those that hand values on"},
	{Name: "mixed-precision", Doc: "the opcodes that take both types at once: a list, all or none; those that hand values on"},
}

func readSupport(o pass.Options) (s support, err error) {
	var known []string
	for _, p := range supportParams {
		known = append(known, p.Name)
	}
	if err := o.Known(known...); err != nil {
		return s, err
	}
	for key, to := range map[string]struct {
		t   *hlo.PrimitiveType
		def string
	}{"low-precision-type": {&s.low, "bf16"}, "high-precision-type": {&s.high, "f32"}} {
		if *to.t, err = typeOf(o.Text(key, to.def)); err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
	}
	for key, to := range map[string]*opcodes{"low-precision-operand": &s.operand, "low-precision-output": &s.output, "mixed-precision": &s.mixed} {
		names, given := o.List(key)
		if !given {
			continue
		}
		if *to, err = readOpcodes(names); err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
	}
	return s, nil
}

func readOpcodes(names pass.List) (o opcodes, err error) {
	for _, name := range names {
		op, ok := hlo.OpcodeByName(name)
		switch {
		case name == "all" || name == "true":
			o.all = true
		case name == "none" || name == "false":
		case !ok:
			return o, fmt.Errorf("no opcode %q", name)
		default:
			o.set = append(o.set, op)
		}
	}
	return o, nil
}

func typeOf(name string) (hlo.PrimitiveType, error) {
	t, ok := hlo.PrimitiveTypeByName(name)
	if !ok || !t.IsArray() {
		return t, fmt.Errorf("no element type %q", name)
	}
	return t, nil
}

// handsOn reports ops that are not looked at: they hand values on, whatever their type, or say what the bits mean.
func handsOn(in hlo.Instruction) bool {
	t := hlo.Info(in.Opcode()).Traits
	//halo:allow opswitch what XLA's passes over types leave alone is a list of theirs
	switch in.Opcode() {
	case hlo.OpParameter, hlo.OpConstant, hlo.OpConvert, hlo.OpBitcast, hlo.OpBitcastConvert, hlo.OpCustomCall:
		return true
	case hlo.OpFusion, hlo.OpDomain:
		return true
	}
	return t.Has(hlo.TraitControl) || t.Has(hlo.TraitForwards) || t.Has(hlo.TraitTokens) || t.Has(hlo.TraitAsyncStart) || t.Has(hlo.TraitAsyncDone) || hlo.IsAsync(in.Opcode())
}

// leavesOf lists the element types of the arrays of a shape.
func leavesOf(s hlo.Shape) (types []hlo.PrimitiveType) {
	for _, leaf := range s.Leaves {
		if leaf.IsArray() {
			types = append(types, leaf.Type())
		}
	}
	return types
}

// retyped is a shape with one element type in the place of another.
func retyped(s hlo.Shape, from, to hlo.PrimitiveType) hlo.Shape {
	return s.Map(func(leaf hlo.Shape) hlo.Shape {
		if leaf.IsArray() && leaf.Type() == from {
			return leaf.WithType(to)
		}
		return leaf
	})
}
