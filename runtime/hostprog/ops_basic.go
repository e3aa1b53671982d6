package hostprog

// Constants, arithmetic, printing.
func basicOps() []OpDef {
	ops := []OpDef{
		{Name: "tfrt.new.chain", Doc: "a ready chain", Results: []Type{chainType}, form: form{dict}},
		{Name: "tfrt.merge.chains", Doc: "a chain that waits for all operands", Variadic: true, AtLeast: 1,
			Results: []Type{chainType}, form: form{use, more, dict, types}},
		{Name: "tfrt.get_device", Doc: "a device by name", Operands: []Type{chainType}, Results: []Type{"!tfrt.device"},
			Attrs: []AttrDef{stringAttrDef("device_name")}, form: form{use, dict}},
		{Name: "tfrt.and.i1", Doc: "conjunction", Operands: []Type{"i1", "i1"}, Results: []Type{"i1"}, form: pair},
		{Name: "tfrt.async.read.from.mars", Doc: "a slow constant, as the design text has it", Results: []Type{"i32"}, form: form{dict}},
	}
	for _, t := range []Type{"i1", "i32", "i64", "ui32", "ui64", "f16", "bf16", "f32", "f64"} {
		ops = append(ops, constant("tfrt.constant."+string(t), t))
	}
	for name, part := range map[string]Type{"complex64": "f32", "complex128": "f64"} {
		ops = append(ops, OpDef{Name: "tfrt.constant." + name, Doc: "a complex constant", Results: []Type{"complex<" + part + ">"},
			Attrs: []AttrDef{scalarAttr(part).named("imaginary"), scalarAttr(part).named("real")},
			form:  form{value("real"), lit(","), value("imaginary"), dict}})
	}
	for _, t := range []Type{"i32", "i64", "f32", "f64"} {
		ops = append(ops, OpDef{Name: "tfrt.add." + string(t), Doc: "sum", Operands: []Type{t, t}, Results: []Type{t}, form: pair})
	}
	for _, t := range []Type{"i32", "i64"} {
		ops = append(ops,
			OpDef{Name: "tfrt.mul." + string(t), Doc: "product", Operands: []Type{t, t}, Results: []Type{t}, form: pair},
			OpDef{Name: "tfrt.div." + string(t), Doc: "quotient and remainder", Operands: []Type{t, t}, Results: []Type{t, t}, form: pair},
			OpDef{Name: "tfrt.equal." + string(t), Doc: "equality", Operands: []Type{t, t}, Results: []Type{"i1"}, form: pair})
	}
	for _, t := range []Type{"i1", "i32", "i64", "f32", "f64"} {
		// The design text prints without a chain.
		ops = append(ops, OpDef{Name: "tfrt.print." + string(t), Doc: "prints the value", Operands: []Type{t, chainType}, Optional: 1,
			Results: []Type{chainType}, form: form{use, more, dict}})
	}
	return ops
}

// pair is the form of most kernels: two operands between a comma.
var pair = form{use, lit(","), use, dict}

func constant(name string, t Type) OpDef {
	return OpDef{Name: name, Doc: "a constant", Results: []Type{t}, Attrs: []AttrDef{scalarAttr(t)}, form: form{value("value"), dict}}
}
