package hostprog

import "strconv"

const bufferType Type = "!ht.host_buffer"

// Element types and ranks that tensor kernels are named for.
var (
	tensorElems = []string{"ui8", "ui16", "ui32", "ui64", "i8", "i32", "i64", "f16", "bf16", "f32", "f64", "bool", "complex64", "complex128"}
	maxTextRank = 5
)

var ternary = form{use, lit(","), use, lit(","), use, dict}

// Dense and sparse tensors.
func tensorOps() []OpDef {
	t, ch := tensorType, chainType
	fill := form{use, lit(","), use, value("value"), dict}
	set := form{use, lit(","), use, value("values"), dict}
	ops := []OpDef{
		{Name: "tfrt_dht.print_tensor", Doc: "prints a tensor", Operands: []Type{t, ch}, Results: []Type{ch}, form: pair},
		{Name: "tfrt_dht.get_tensor_shape", Doc: "a tensor's shape", Operands: []Type{t}, Results: []Type{shapeType}, form: unary},
		{Name: "tfrt_dht.allocate_buffer", Doc: "memory of a size and alignment", Operands: []Type{"i64", "i64"}, Results: []Type{bufferType}, form: pair},
		{Name: "tfrt_dht.get_buffer", Doc: "a tensor's memory", Operands: []Type{t, ch}, Results: []Type{bufferType, ch}, form: pair},
		{Name: "tfrt_dht.get_buffer_slice", Doc: "a part of memory: offset, size", Operands: []Type{bufferType, "i64", "i64"}, Results: []Type{bufferType}, form: ternary},
		{Name: "tfrt_dht.print_buffer", Doc: "prints where and how large", Operands: []Type{bufferType, ch}, Results: []Type{ch}, form: pair},
		{Name: "coo.print_tensor", Doc: "prints a tensor", Operands: []Type{t, ch}, Results: []Type{ch}, form: pair},
	}
	for _, e := range tensorElems {
		for rank := range maxTextRank + 1 {
			ops = append(ops, createTensor("tfrt_dht.create_uninitialized_tensor."+e+"."+strconv.Itoa(rank)))
		}
		ops = append(ops,
			OpDef{Name: "tfrt_dht.fill_tensor_with_constant." + e, Doc: "sets every element", Operands: []Type{t, ch}, Results: []Type{ch},
				Attrs: []AttrDef{anyAttr("value")}, form: fill},
			OpDef{Name: "tfrt_dht.set_tensor_with_constant_values." + e, Doc: "sets the elements", Operands: []Type{t, ch}, Results: []Type{ch},
				Attrs: []AttrDef{arrayAttrDef("values")}, form: set},
			OpDef{Name: "tfrt_dht.tensor_equal." + e, Doc: "equal shapes and elements", Operands: []Type{t, t, ch}, Results: []Type{"i1", ch}, form: ternary},
			OpDef{Name: "tfrt_dht.make_tensor." + e, Doc: "a tensor in memory that is there", Operands: []Type{bufferType, shapeType, ch},
				Results: []Type{t, ch}, form: ternary})
	}
	for _, e := range []string{"i32", "f32"} {
		for rank := range 4 {
			suffix := e + "." + strconv.Itoa(rank)
			ops = append(ops,
				OpDef{Name: "coo.convert_dht_to_coo." + suffix, Doc: "dense to sparse", Operands: []Type{t, ch}, Results: []Type{t, ch}, form: pair},
				OpDef{Name: "coo.convert_coo_to_dht." + suffix, Doc: "sparse to dense", Operands: []Type{t, ch}, Results: []Type{t, ch}, form: pair},
				OpDef{Name: "coo.tensor_equal." + suffix, Doc: "close elements at equal indices", Operands: []Type{t, t, ch}, Results: []Type{"i1", ch}, form: ternary})
		}
	}
	return ops
}

func createTensor(name string) OpDef {
	return OpDef{Name: name, Doc: "a tensor without contents", Results: []Type{tensorType}, Attrs: []AttrDef{i64sAttrDef("shape")},
		form: form{value("shape"), dict}}
}

// Kernels of the interpreter that have a custom form.
func syncOps() []OpDef {
	t := tensorType
	ops := []OpDef{
		{Name: "tfrt_dht_sync.print_tensor", Doc: "prints a tensor", Operands: []Type{t}, form: unary},
		{Name: "tfrt_dht_sync.allocate_buffer", Doc: "memory of a size and alignment", Operands: []Type{"i64", "i64"}, Results: []Type{bufferType}, form: pair},
		{Name: "tfrt_dht_sync.get_tensor_shape", Doc: "a tensor's shape", Operands: []Type{t}, Results: []Type{shapeType}, form: unary},
		{Name: "tfrt_dht_sync.get_buffer_slice", Doc: "a part of memory: offset, size", Operands: []Type{bufferType, "i64", "i64"}, Results: []Type{bufferType}, form: ternary},
		{Name: "ts_sync.build_shape", Doc: "a shape", Results: []Type{shapeType}, Attrs: []AttrDef{i64sAttrDef("value")}, form: form{value("value"), dict}},
		{Name: "ts_sync.get_num_elements", Doc: "product of extents", Operands: []Type{shapeType}, Results: []Type{"i64"}, form: unary},
		{Name: "ts_sync.build_partial_shape", Doc: "a shape with unknown extents", Results: []Type{partialShapeType}, Attrs: []AttrDef{i64sAttrDef("value")}, form: form{value("value"), dict}},
		{Name: "ts_sync.to_shape", Doc: "a shape, if all is known", Operands: []Type{partialShapeType}, Results: []Type{shapeType}, form: unary},
		{Name: "ts_sync.to_partial_shape", Doc: "the same shape", Operands: []Type{shapeType}, Results: []Type{partialShapeType}, form: unary},
	}
	for _, e := range []Type{"i64", "f16", "f32", "f64"} {
		ops = append(ops, constant("tfrt.constant_s."+string(e), e))
	}
	for _, e := range []Type{"i32", "i64"} {
		ops = append(ops, OpDef{Name: "tfrt.mul_s." + string(e), Doc: "product", Operands: []Type{e, e}, Results: []Type{e}, form: pair})
	}
	for _, e := range tensorElems {
		for rank := range maxTextRank + 1 {
			ops = append(ops, createTensor("tfrt_dht_sync.create_uninitialized_tensor."+e+"."+strconv.Itoa(rank)))
		}
		ops = append(ops,
			OpDef{Name: "tfrt_dht_sync.set_tensor_with_constant_values." + e, Doc: "sets the elements", Operands: []Type{t},
				Attrs: []AttrDef{arrayAttrDef("values")}, form: form{use, value("values"), dict}},
			OpDef{Name: "tfrt_dht_sync.make_tensor." + e, Doc: "a tensor in memory that is there", Operands: []Type{bufferType, shapeType},
				Results: []Type{t}, form: pair})
	}
	return ops
}
