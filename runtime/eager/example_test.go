package eager_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/eager"
)

// Two ops, one after the other. The shape of the result is known before anybody waits.
func Example() {
	rt := eager.NewRuntime(eager.Options{})
	a, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2, 2), float32(1), 2, 3, 4)
	x := eager.Of(a)
	y, err := rt.Execute(nil, "dot", eager.Attrs{HLO: &hlo.DotAttrs{LHSContracting: []int64{1}, RHSContracting: []int64{0}}}, x, x)
	if err != nil {
		panic(err)
	}
	z, err := rt.Execute(nil, "negate", eager.Attrs{}, y...)
	if err != nil {
		panic(err)
	}
	shape, _ := z[0].Metadata()
	l, err := rt.Literal(context.Background(), z[0])
	fmt.Println(shape, l, err)
	// Output: f32[2,2]{1,0} f32[2,2]{1,0} { { -7, -10 }, { -15, -22 } } <nil>
}

// An op that calls a computation gets it as a module.
func ExampleRuntime_MakeOp() {
	add, err := parser.Parse("add.hlo", `HloModule add ENTRY add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }`)
	if err != nil {
		panic(err)
	}
	rt := eager.NewRuntime(eager.Options{})
	sum, err := rt.MakeOp("reduce", eager.Attrs{HLO: &hlo.DimensionsAttrs{Dimensions: []int64{0}}, Callees: []hlo.Module{add}})
	if err != nil {
		panic(err)
	}
	xs, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 4), float32(1), 2, 3, 4)
	zero, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32), float32(0))
	out, err := sum.Call(nil, eager.Of(xs), eager.Of(zero))
	if err != nil {
		panic(err)
	}
	fmt.Println(rt.Literal(context.Background(), out[0]))
	// Output: f32[] 10 <nil>
}

// An op of one's own: metadata, then the work.
func ExampleRuntime_RegisterOp() {
	rt := eager.NewRuntime(eager.Options{})
	rt.RegisterOp("my.checksum", eager.OpDef{
		Metadata: func(args []hlo.Shape, _ any) ([]hlo.Shape, error) {
			if len(args) != 1 {
				return nil, fmt.Errorf("takes one operand, got %d", len(args))
			}
			return []hlo.Shape{hlo.MakeShape(hlo.U8)}, nil
		},
		Dispatch: func(f *runtime.TensorFrame, seed any) error {
			sum := seed.(byte)
			for _, b := range f.In(0).Data {
				sum += b
			}
			f.Out(0).Data[0] = sum
			return nil
		},
	})
	x, _ := hlo.LiteralOf(hlo.MakeShape(hlo.S32, 2), int32(1), 2)
	out, err := rt.Execute(nil, "my.checksum", eager.Attrs{Values: byte(10)}, eager.Of(x))
	if err != nil {
		panic(err)
	}
	fmt.Println(rt.Literal(context.Background(), out[0]))
	_, err = rt.Execute(nil, "my.checksum", eager.Attrs{Values: byte(10)})
	fmt.Println(err)
	// Output:
	// u8[] 13 <nil>
	// my.checksum: takes one operand, got 0
}
