package hostprog

// Test kernels that have a custom form.
func testOps() []OpDef {
	one := intAttr("i32", 1)
	warmup := scalarAttr("i32").named("num_warmup_runs")
	warmup.Default = &one
	ops := []OpDef{
		{Name: "tfrt_test.test_cost", Doc: "a kernel of stated cost", Variadic: true, Results: []Type{"i32"}, Cost: true,
			Attrs: []AttrDef{scalarAttr("i64").named("id")}, Verify: verifyCost, form: form{list, dict, maybeTypes}},
		{Name: "tfrt_test.do.async", Doc: "a region as one task", Variadic: true, AnyResults: true, regions: 1, Verify: verifyDoAsync,
			form: form{list, piece{pAttributes, ""}, funcType, region}},
		{Name: "tfrt_test.benchmark", Doc: "a region, timed", Variadic: true, Results: []Type{chainType}, regions: 1, Verify: verifyBenchmark,
			Attrs: []AttrDef{scalarAttr("i32").named("duration_secs"), scalarAttr("i32").named("max_count"), stringAttrDef("name"), warmup},
			form: form{piece{pQuoted, "name"}, lit("("), piece{pTyped, ""}, lit(")"),
				piece{pPairs, "duration_secs max_count num_warmup_runs"}, region}},
	}
	for _, t := range []Type{"i32", "i64"} {
		ops = append(ops, OpDef{Name: "tfrt_test.count3." + string(t), Doc: "the next three numbers", Operands: []Type{t}, Results: []Type{t, t, t}, form: unary})
	}
	return ops
}
