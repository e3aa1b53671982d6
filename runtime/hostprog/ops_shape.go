package hostprog

import "strconv"

const partialShapeType Type = "!ts.partial_shape"

// unary is one operand.
var unary = form{use, dict}

// Shapes.
func shapeOps() []OpDef {
	build := form{value("value"), dict}
	ops := []OpDef{
		{Name: "ts.build_shape", Doc: "a shape", Results: []Type{shapeType}, Attrs: []AttrDef{i64sAttrDef("value")}, form: build},
		{Name: "ts.print_shape", Doc: "prints a shape", Operands: []Type{shapeType, chainType}, Results: []Type{chainType}, form: pair},
		{Name: "ts.equal_shape", Doc: "same rank and extents", Operands: []Type{shapeType, shapeType}, Results: []Type{"i1"}, form: pair},
		{Name: "ts.get_dimension", Doc: "an extent", Operands: []Type{shapeType, "i32"}, Results: []Type{"i64"}, form: pair},
		{Name: "ts.get_num_elements", Doc: "product of extents", Operands: []Type{shapeType}, Results: []Type{"i64"}, form: unary},
		{Name: "ts.build_partial_shape", Doc: "a shape with unknown extents", Results: []Type{partialShapeType}, Attrs: []AttrDef{i64sAttrDef("value")}, form: build},
		{Name: "ts.build_unranked_partial_shape", Doc: "a shape of unknown rank", Results: []Type{partialShapeType}, form: form{dict}},
		{Name: "ts.print_partial_shape", Doc: "prints a shape", Operands: []Type{partialShapeType, chainType}, Results: []Type{chainType}, form: pair},
		{Name: "ts.to_shape", Doc: "a shape, if all is known", Operands: []Type{partialShapeType}, Results: []Type{shapeType}, form: unary},
		{Name: "ts.to_partial_shape", Doc: "the same shape", Operands: []Type{shapeType}, Results: []Type{partialShapeType}, form: unary},
	}
	for rank := range 4 {
		n := strconv.Itoa(rank)
		fixed := Type("!ts.fixed_rank_shape." + n)
		ops = append(ops,
			OpDef{Name: "ts.as_fixed_rank_shape." + n, Doc: "a shape of known rank", Operands: []Type{shapeType}, Results: []Type{fixed}, form: unary},
			OpDef{Name: "ts.print_fixed_rank_shape." + n, Doc: "prints a shape", Operands: []Type{fixed, chainType}, Results: []Type{chainType}, form: pair})
	}
	return ops
}
