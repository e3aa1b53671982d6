package hostkernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func registerNetwork(reg *runtime.Registry) {
	type chain = async.Chain
	f32 := elemNamed("f32")
	reg.Kernel("tfrt_test.max_pooling_2d.f32", runtime.Kernel{
		Signature: &runtime.Signature{Args: 3, Results: 1, Attrs: 3, Payloads: true},
		Run: func(f *runtime.Frame) {
			if err := maxPooling(f, runtime.Arg[*Dense](f, 0), runtime.Arg[*Dense](f, 1)); err != nil {
				f.ReportError(err)
				return
			}
			runtime.Return(f, 0, chain{})
		},
	})
	reg.Kernel("tfrt_test.flatten.f32", runtime.Params4(func(in, out runtime.Argument[*Dense], _ runtime.Argument[chain], done runtime.Result[chain]) error {
		if err := errors.Join(in.Get().check(f32), out.Get().check(f32)); err != nil {
			return err
		}
		if err := flatten(in.Get(), out.Get()); err != nil {
			return err
		}
		done.Emplace(chain{})
		return nil
	}))
	reg.Kernel("tfrt_test.matmul.f32.2", matmulKernel[float32]())
	reg.Kernel("tfrt_test.matmul.i32.2", matmulKernel[int32]())
	for _, e := range []*elem{f32, elemNamed("i32")} {
		reg.Kernel("tfrt_test.slice_inplace."+e.suffix+".3", sliceInPlace(e))
	}
}

// window is what pooling does along one of the two dimensions.
type window struct{ size, stride, before, out int64 }

// maxPooling takes the greatest element of every window of NHWC input. Positions outside of the input do not count. The result is never
// less than the smallest positive number with all its digits, which is where TFRT's kernel starts.
func maxPooling(f *runtime.Frame, in, out *Dense) error {
	f32 := elemNamed("f32")
	if err := errors.Join(in.check(f32), out.check(f32), checkRank(in, 4), checkRank(out, 4)); err != nil {
		return err
	}
	padding, err := runtime.AttrValue[string](f.Pool(), f.Attr(0))
	if err != nil {
		return err
	}
	pool, err := intsAttr(f, 1)
	if err != nil || len(pool) != 2 {
		return errors.New("MaxPool2D expects pool_size to have 2 elements")
	}
	strides, err := intsAttr(f, 2)
	if err != nil || len(strides) != 2 {
		return errors.New("MaxPool2D expects strides to have 2 elements")
	}
	if slices.Min(pool) <= 0 || slices.Min(strides) <= 0 {
		return errors.New("MaxPool2D expects pool_size and strides to be positive")
	}
	var w [2]window
	for i := range w {
		if w[i], err = makeWindow(padding, in.dims[1+i], pool[i], strides[i]); err != nil {
			return err
		}
	}
	expected := []int64{in.dims[0], w[0].out, w[1].out, in.dims[3]}
	if !slices.Equal(out.dims, expected) {
		return fmt.Errorf("MaxPool2D output shape %s does not match the expected output shape %s", formatDims(out.dims), formatDims(expected))
	}
	poolWindows(in, out, w[0], w[1])
	return nil
}

// intsAttr reads an array of integers of either width.
func intsAttr(f *runtime.Frame, i int) ([]int64, error) {
	b, err := elemNamed("i64").constantElements(f.Pool(), f.Attr(i))
	if err != nil {
		return nil, err
	}
	xs := make([]int64, len(b)/8)
	for i := range xs {
		xs[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return xs, nil
}

func makeWindow(padding string, in, size, stride int64) (window, error) {
	w := window{size: size, stride: stride}
	total := int64(0)
	switch padding {
	case "valid":
	case "same":
		if total = size - stride; in%stride != 0 {
			total = size - in%stride
		}
		total = max(total, 0)
		w.before = total / 2
	default:
		return w, fmt.Errorf("MaxPool2D padding '%s' is not recognized", padding)
	}
	w.out = (in+total-size)/stride + 1
	return w, nil
}

func poolWindows(in, out *Dense, h, w window) {
	height, width, channels := in.dims[1], in.dims[2], in.dims[3]
	if out.numElements() == 0 {
		return // some extents may be huge
	}
	next := 0
	for n := range in.dims[0] {
		for y := range h.out {
			for x := range w.out {
				for c := range channels {
					greatest := in.elem.smallest
					for i := max(y*h.stride-h.before, 0); i < min(y*h.stride-h.before+h.size, height); i++ {
						for j := max(x*w.stride-w.before, 0); j < min(x*w.stride-w.before+w.size, width); j++ {
							if v := in.elem.real(in.at(int(((n*height+i)*width+j)*channels + c))); v > greatest {
								greatest = v
							}
						}
					}
					out.elem.put(out.at(next), uint64(math.Float32bits(float32(greatest))))
					next++
				}
			}
		}
	}
}

func flatten(in, out *Dense) error {
	if len(in.Data()) != len(out.Data()) || len(in.dims) == 0 || len(out.dims) == 0 || in.dims[0] != out.dims[0] {
		return fmt.Errorf("Flatten output shape %s does not match the input shape %s", formatDims(out.dims), formatDims(in.dims))
	}
	copy(out.Data(), in.Data())
	return nil
}

// matmulKernel forwards the chain of what it has done.
func matmulKernel[T int32 | float32]() runtime.Kernel {
	return runtime.Params7(func(alpha runtime.Argument[T], a, b MatrixArgument[T], beta runtime.Argument[T], c MatrixArgument[T],
		in runtime.Argument[async.Chain], out runtime.Result[async.Chain]) error {
		if err := matmul(alpha.Get(), a.Get(), b.Get(), beta.Get(), c.Get()); err != nil {
			return err
		}
		out.Set(in.Ref())
		return nil
	})
}

// sliceInPlace copies a part of a tensor of rank 3 into another one, in a task.
func sliceInPlace(e *elem) runtime.Kernel {
	return runtime.Kernel{
		Signature: &runtime.Signature{Args: 4, Results: 1, Payloads: true},
		Run: func(f *runtime.Frame) {
			in, begin, out := runtime.Arg[*Dense](f, 0), runtime.Arg[*Dense](f, 1), runtime.Arg[*Dense](f, 3)
			at, err := checkSlice(e, in, begin, out)
			if err != nil {
				f.ReportError(err)
				return
			}
			done := async.MakeUnconstructed[async.Chain]()
			kept := keep(f.Args())
			f.Set(0, done.Value())
			ctx := f.Ctx()
			ctx.Queue.AddTask(func() {
				copySlice(in, out, at)
				dropAll(kept)
				done.Emplace(async.Chain{})
			})
		},
	}
}

func checkSlice(e *elem, in, begin, out *Dense) ([]int64, error) {
	i64 := elemNamed("i64")
	if err := errors.Join(in.check(e), out.check(e), begin.check(i64), checkRank(in, 3), checkRank(out, 3)); err != nil {
		return nil, err
	}
	if len(begin.dims) != 1 || begin.numElements() != len(in.dims) {
		return nil, errors.New("the size of 'begin_index' should match the input tensor rank")
	}
	at := make([]int64, len(in.dims))
	for i := range at {
		at[i] = i64.int(begin.at(i))
		if at[i] < 0 || at[i] > in.dims[i] || out.dims[i] > in.dims[i]-at[i] {
			return nil, fmt.Errorf("a slice of shape %s from %d in dimension %d does not lie within %s", formatDims(out.dims), at[i], i, formatDims(in.dims))
		}
	}
	return at, nil
}

func copySlice(in, out *Dense, at []int64) {
	if out.numElements() == 0 {
		return // some extents may be huge
	}
	row := int(out.dims[2])
	next := 0
	for i := range out.dims[0] {
		for j := range out.dims[1] {
			from := int(((at[0]+i)*in.dims[1]+at[1]+j)*in.dims[2] + at[2])
			size := in.elem.size
			copy(out.Data()[next*size:][:row*size], in.Data()[from*size:])
			next += row
		}
	}
}
