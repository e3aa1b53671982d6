package hostprog

// Ops that call functions or hold regions.
func controlOps() []OpDef {
	return []OpDef{
		{Name: returnOp, Doc: "ends a function or region", Variadic: true, form: form{list, dict, maybeTypes}},
		{Name: "tfrt.call", Doc: "calls a function", Variadic: true, AnyResults: true,
			Attrs: []AttrDef{symbolAttrDef("callee")}, funcs: []string{"callee"}, Verify: verifyCall,
			form: form{symbolOf("callee"), lit("("), list, lit(")"), dict, funcType}},
		{Name: "tfrt.if", Doc: "one of two regions", Operands: []Type{"i1"}, Variadic: true, AnyResults: true, regions: 2, hidden: []int{0},
			Verify: verifyIf, form: form{use, more, piece{pAttributes, ""}, funcType, region, piece{pElse, ""}}},
		{Name: "tfrt.cond", Doc: "one of two functions", Operands: []Type{"i1"}, Variadic: true, AnyResults: true,
			Attrs: []AttrDef{symbolAttrDef("a_true_fn"), symbolAttrDef("b_false_fn")}, funcs: []string{"a_true_fn", "b_false_fn"}, Verify: verifyCond,
			form: form{use, symbolOf("a_true_fn"), symbolOf("b_false_fn"), lit("("), list, lit(")"), dict, funcType}},
		{Name: "tfrt.case", Doc: "the function of that number", Operands: []Type{"i32"}, Variadic: true, AnyResults: true,
			Attrs: []AttrDef{arrayAttrDef("branches")}, funcs: []string{"branches…"}, Verify: verifyCase,
			form: form{use, piece{pSymbols, "branches"}, lit("("), list, lit(")"), dict, funcType}},
		{Name: "tfrt.repeat.i32", Doc: "a region, again and again", Operands: []Type{"i32"}, Variadic: true, Carried: true, regions: 1, hidden: []int{0},
			Verify: verifyRepeat, firstOperand: "trip count", form: form{use, more, piece{pAttributes, ""}, maybeTypes, region}},
		{Name: "tfrt.while", Doc: "a function, as long as it says so", Operands: []Type{"i1"}, Variadic: true, AnyResults: true,
			Attrs: []AttrDef{symbolAttrDef("body_fn"), scalarAttr("i64").named("parallel_iterations")}, funcs: []string{"body_fn"}, Verify: verifyWhile,
			form: form{use, symbolOf("body_fn"), lit("("), list, lit(")"), dict, piece{pCount, "parallel_iterations"}, funcType}},
		{Name: "tfrt.once", Doc: "a function, at most once for each resource context", Variadic: true, AnyResults: true,
			Attrs: []AttrDef{symbolAttrDef("function")}, funcs: []string{"function"}, Verify: verifyOnce,
			form: form{symbolOf("function"), lit("("), list, lit(")"), dict, funcType}},
		{Name: "tfrt.parallel_for.i32", Doc: "a region for each block of a range", Operands: []Type{"i32", "i32", "i32"}, Variadic: true,
			Results: []Type{chainType}, regions: 1, hidden: []int{2}, Verify: verifyParallelFor,
			form: form{use, lit("to"), use, lit("fixed"), use, more, piece{pAttributes, ""}, maybeTypes, region}},
		{Name: "tfrt.parallel_call.i32", Doc: "a function for each block of a range", Operands: []Type{"i32", "i32", "i32"}, Variadic: true,
			Results: []Type{chainType}, Attrs: []AttrDef{symbolAttrDef("callee")}, funcs: []string{"callee"}, Verify: verifyParallelCall,
			form: form{use, lit("to"), use, lit("fixed"), use, symbolOf("callee"), lit("("), list, lit(")"), dict, maybeTypes}},
	}
}
