package mlir_test

import (
	"testing"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// FuzzParse: any text is read or refused.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}",
		"#loc1 = loc(\"a.py\":1:2)\nmodule @m attributes {x.y = [1, 2.5 : f32, \"s\"]} {\n func.func public @main(%a: tensor<?x2xf32, #stablehlo.bounds<3, ?>> loc(#loc1)) {\n  return loc(fused[\"n\"(#loc1), unknown])\n }\n}",
		"func.func @main() -> tensor<2x2xi8> {\n %0 = stablehlo.constant dense<[[1, -2], [0x3, 4]]> : tensor<2x2xi8>\n %1 = stablehlo.constant dense<\"0x0102\"> : tensor<2xi8>\n return %0 : tensor<2x2xi8>\n}",
		"func.func @main(%a: tensor<4xf32>) -> tensor<f32> {\n %c = stablehlo.constant dense<0.0> : tensor<f32>\n %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}",
		"func.func @main(%a: tensor<i32>) -> tensor<i32> {\n %0 = stablehlo.while(%x = %a) : tensor<i32>\n cond {\n  %p = stablehlo.compare LT, %x, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>\n } do {\n  stablehlo.return %x : tensor<i32>\n }\n return %0 : tensor<i32>\n}",
		"func.func @main() -> tensor<2xf32> {\n %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>\n return %0 : tensor<2xf32>\n}\n{-# dialect_resources: { builtin: { w: \"0x040000000000803F00000040\" } } #-}",
		"sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> tensor<4xf32> {\n %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>\n return %0 : tensor<4xf32>\n}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := mlir.Parse("fuzz.mlir", text)
		if (m == nil) != (err != nil) {
			t.Fatalf("module %v, error %v", m, err)
		}
	})
}
