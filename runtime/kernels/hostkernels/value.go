package hostkernels

import (
	"fmt"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Coordinate is a type that programs can define kernels for, as tutorials do.
type Coordinate struct{ X, Y int32 }

func registerValues(reg *runtime.Registry) {
	count3[int32](reg, "i32")
	count3[int64](reg, "i64")
	reg.Kernel("tfrt_test.sum", runtime.PureN(sum))
	reg.Kernel("tfrt_test.test_cost", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: 1, Attrs: 1},
		Run: func(f *runtime.Frame) {
			id, err := runtime.AttrValue[int64](f.Pool(), f.Attr(0))
			if err != nil {
				f.ReportError(err)
				return
			}
			console(f.Ctx()).Printf("id: %d\n", id)
			runtime.Return(f, 0, int32(0))
		},
	})
	reg.Kernel("tfrt_test.share_to_two", runtime.Kernel{
		Signature: &runtime.Signature{Args: 1, Results: 2},
		Run: func(f *runtime.Frame) {
			setAll(f.Results(), f.Arg(0))
		},
	})
	reg.Kernel("tfrt_test.make_indirect", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: runtime.AtLeast(0)},
		Check:     oneResultEach,
		Run: func(f *runtime.Frame) {
			for i := range f.NumResults() {
				in := async.MakeIndirect()
				f.Arg(i).AddRef()
				in.ForwardTo(f.Arg(i))
				f.Set(i, &in.Value)
			}
		},
	})
	reg.Kernel("tfrt_test.get_uniqueness", runtime.Kernel{
		Signature: &runtime.Signature{Args: runtime.AtLeast(0), Results: runtime.AtLeast(0)},
		Check:     oneResultEach,
		Run: func(f *runtime.Frame) {
			for i := range f.NumResults() {
				runtime.Return(f, i, f.Arg(i).IsUnique())
			}
		},
	})
	reg.Kernel("tfrt_test.flat", runtime.Params5(flat))
	reg.Kernel("tfrt_tutorial.create_coordinate", runtime.Pure2(func(x, y int32) Coordinate { return Coordinate{x, y} }))
	reg.Kernel("tfrt_tutorial.print_coordinate", printing(func(c Coordinate) string { return fmt.Sprintf("(%d, %d)", c.X, c.Y) }))
}

// oneResultEach holds a kernel to one result for each argument.
func oneResultEach(u *runtime.KernelUse) error {
	if u.NumArgs < u.NumResults {
		return async.Errorf(async.InvalidArgument, "%d results need as many arguments, got %d", u.NumResults, u.NumArgs)
	}
	return nil
}

func sum(xs []int32) (s int32) {
	for _, x := range xs {
		s += x
	}
	return s
}

func count3[T integer](reg *runtime.Registry, suffix string) {
	reg.Kernel("tfrt_test.count3."+suffix, runtime.Params4(func(x runtime.Argument[T], a, b, c runtime.Result[T]) error {
		a.Emplace(x.Get() + 1)
		b.Emplace(x.Get() + 2)
		c.Emplace(x.Get() + 3)
		return nil
	}))
}

// flat takes a constant of the form [[text, [int, int]], [float]] apart. Integers and the float are of 32 bits.
func flat(text runtime.Result[string], a, b runtime.Result[int32], x runtime.Result[float32], rest runtime.RemainingAttributes) error {
	if len(rest.Attrs) != 1 {
		return async.Errorf(async.Internal, "takes one attribute, got %d", len(rest.Attrs))
	}
	wrong := async.Errorf(async.Internal, "value must be of the form [[text, [i32, i32]], [f32]]")
	outer, err := rest.Pool.Aggregate(rest.Attrs[0].Offset)
	if err != nil || len(outer) != 2 {
		return wrong
	}
	inner, err := rest.Pool.Aggregate(outer[0].Offset)
	if err != nil || len(inner) != 2 {
		return wrong
	}
	s, err := runtime.AttrValue[string](rest.Pool, inner[0])
	if err != nil {
		return wrong
	}
	ints, err := runtime.AttrValue[[]int32](rest.Pool, inner[1])
	if err != nil || len(ints) != 2 {
		return wrong
	}
	floats, err := runtime.AttrValue[[]float32](rest.Pool, outer[1])
	if err != nil || len(floats) != 1 {
		return wrong
	}
	text.Emplace(s)
	a.Emplace(ints[0])
	b.Emplace(ints[1])
	x.Emplace(floats[0])
	return nil
}
