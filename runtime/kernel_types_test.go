package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
)

// Values that go straight from one typed kernel to another are checked when a program is loaded, with the position of the use.
func TestTypesAreCheckedAtLoad(t *testing.T) {
	type stringer interface{ String() string }
	reg := runtime.NewRegistry()
	reg.Kernel("int", runtime.PureNone(func() int32 { return 1 }))
	reg.Kernel("float", runtime.PureNone(func() float32 { return 1 }))
	reg.Kernel("chain", runtime.PureNone(func() async.Chain { return async.Chain{} }))
	reg.Kernel("twice", runtime.Pure1(func(x int32) int32 { return 2 * x }))
	reg.Kernel("after", runtime.Pure2(func(x int32, _ async.Chain) int32 { return x }))
	reg.Kernel("show", runtime.Params2(func(x runtime.Argument[stringer], out runtime.Result[async.Chain]) error { return nil }))
	reg.Kernel("any", runtime.Kernel{Run: func(f *runtime.Frame) { runtime.Return(f, 0, int32(1)) }})
	for body, want := range map[string]string{
		`%a = "int"() : () -> i32  %b = "twice"(%a) : (i32) -> i32`:                                                "",
		`%a = "any"() : () -> i32  %b = "twice"(%a) : (i32) -> i32`:                                                "",
		`%a = "int"() : () -> i32  %b = "after"(%a, %a) : (i32, i32) -> i32`:                                       "", // orders only
		`%a = "float"() : () -> f32  %b = "twice"(%a) : (f32) -> i32`:                                              "types.mlir:2:36: kernel 'twice' takes a int32 as argument 0, got a float32",
		`%a = "chain"() : () -> !tfrt.chain  %b = "twice"(%a) : (!tfrt.chain) -> i32`:                              "got a async.Chain",
		`%a = "int"() : () -> i32  %b = "show"(%a) : (i32) -> !tfrt.chain`:                                         "takes a runtime_test.stringer as argument 0, got a int32",
		`%a = "float"() : () -> f32  %c = "chain"() : () -> !tfrt.chain  %b = "after"(%a, %c) : (f32, i32) -> i32`: "expects different type",
	} {
		text, err := hostprog.Parse("types.mlir", "func.func @f() {\n  "+body+"\n  tfrt.return\n}\n")
		if err == nil {
			file, err2 := hostprog.Assemble(text, hostprog.AssembleOptions{})
			require.NoError(t, err2)
			_, err = runtime.Load(file, reg, runtime.LoadOptions{})
		}
		if want == "" {
			assert.NoError(t, err, body)
		} else {
			assert.ErrorContains(t, err, want, body)
		}
	}
}
