package hostkernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

func registerNetwork(reg *runtime.Registry) {
	type chain = async.Chain
	f32 := elemNamed("f32")
	reg.Kernel("tfrt_test.max_pooling_2d.f32", runtime.Kernel{
		Signature: &runtime.Signature{Args: 3, Results: 1, Attrs: 3, Payloads: true},
		Run: func(f *runtime.Frame) {
			in, out := runtime.Arg[*Dense](f, 0), runtime.Arg[*Dense](f, 1)
			h, w, err := maxPooling(f, in, out)
			switch {
			case err != nil:
				f.ReportError(err)
			case poolingWork(out, h, w) < 1<<15 || f.Ctx().Queue == nil:
				poolWindows(in, out, h, w, 0, int(in.dims[0]*h.out))
				runtime.Return(f, 0, chain{})
			default:
				ctx := f.Ctx()
				done := async.MakeUnconstructed[chain]()
				kept := keep(f.Args())
				f.Set(0, done.Value())
				ctx.Queue.AddTask(func() {
					ctx.Queue.ParallelFor(int(in.dims[0]*h.out), 1, func(lo, hi int) { poolWindows(in, out, h, w, lo, hi) })
					dropAll(kept)
					done.Emplace(chain{})
				})
			}
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
	reg.Kernel("tfrt_test.relu.f32", runtime.Params5(func(ctx runtime.ExecContext, in, out runtime.Argument[*Dense], chained runtime.Argument[chain], done runtime.Result[chain]) error {
		from, to := in.Get(), out.Get()
		if err := errors.Join(from.check(f32), to.check(f32)); err != nil {
			return err
		}
		if !slices.Equal(from.dims, to.dims) {
			return fmt.Errorf("Relu output shape %s does not match the input shape %s", formatDims(to.dims), formatDims(from.dims))
		}
		x, y := singles(from), singles(to)
		const worth = 1 << 14 // elements
		if len(x) < worth || ctx.Queue == nil {
			rectify(x, y)
			done.Set(chained.Ref())
			return nil
		}
		inTask(&ctx, done, []*async.Value{in.Value(), out.Value()}, func(q workqueue.Queue) {
			q.ParallelFor(len(x), worth, func(lo, hi int) { rectify(x[lo:hi], y[lo:hi]) })
		})
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

// maxPooling reads the windows of a pooling of NHWC input, and checks the output against them.
func maxPooling(f *runtime.Frame, in, out *Dense) (h, w window, err error) {
	f32 := elemNamed("f32")
	if err := errors.Join(in.check(f32), out.check(f32), checkRank(in, 4), checkRank(out, 4)); err != nil {
		return h, w, err
	}
	padding, err := runtime.AttrValue[string](f.Pool(), f.Attr(0))
	if err != nil {
		return h, w, err
	}
	pool, err := intsAttr(f, 1)
	if err != nil || len(pool) != 2 {
		return h, w, errors.New("MaxPool2D expects pool_size to have 2 elements")
	}
	strides, err := intsAttr(f, 2)
	if err != nil || len(strides) != 2 {
		return h, w, errors.New("MaxPool2D expects strides to have 2 elements")
	}
	if slices.Min(pool) <= 0 || slices.Min(strides) <= 0 {
		return h, w, errors.New("MaxPool2D expects pool_size and strides to be positive")
	}
	for i, x := range []*window{&h, &w} {
		if *x, err = makeWindow(padding, in.dims[1+i], pool[i], strides[i]); err != nil {
			return h, w, err
		}
	}
	expected := []int64{in.dims[0], h.out, w.out, in.dims[3]}
	if !slices.Equal(out.dims, expected) {
		return h, w, fmt.Errorf("MaxPool2D output shape %s does not match the expected output shape %s", formatDims(out.dims), formatDims(expected))
	}
	return h, w, nil
}

// poolingWork is about how many elements a pooling looks at.
func poolingWork(out *Dense, h, w window) float64 {
	return float64(out.numElements()) * float64(h.size) * float64(w.size)
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

// poolWindows takes the greatest element of every window of rows [lo, hi) of the output, images one after the other. Positions outside of the
// input do not count. The result is never less than the smallest positive number with all its digits, which is where TFRT's kernel starts.
func poolWindows(in, out *Dense, h, w window, lo, hi int) {
	height, width, channels := in.dims[1], in.dims[2], in.dims[3]
	if out.numElements() == 0 {
		return // some extents may be huge
	}
	x, y := singles(in), singles(out)
	smallest := float32(in.elem.smallest)
	for row := lo; row < hi; row++ {
		n, from := int64(row)/h.out, int64(row)%h.out*h.stride-h.before
		for j := range w.out {
			to := y[(int64(row)*w.out+j)*channels:][:channels]
			for c := range to {
				to[c] = smallest
			}
			for i := max(from, 0); i < min(from+h.size, height); i++ {
				for k := max(j*w.stride-w.before, 0); k < min(j*w.stride-w.before+w.size, width); k++ {
					for c, v := range x[((n*height+i)*width+k)*channels:][:channels] {
						if v > to[c] {
							to[c] = v
						}
					}
				}
			}
		}
	}
}

// singles is the memory of a tensor of f32, which is aligned.
func singles(t *Dense) []float32 {
	b := t.Data()
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func flatten(in, out *Dense) error {
	if len(in.Data()) != len(out.Data()) || len(in.dims) == 0 || len(out.dims) == 0 || in.dims[0] != out.dims[0] {
		return fmt.Errorf("Flatten output shape %s does not match the input shape %s", formatDims(out.dims), formatDims(in.dims))
	}
	copy(out.Data(), in.Data())
	return nil
}

// matmulKernel forwards the chain of what it has done. A large product is computed in a task.
func matmulKernel[T int32 | float32]() runtime.Kernel {
	return runtime.Params8(func(ctx runtime.ExecContext, alpha runtime.Argument[T], a, b MatrixArgument[T], beta runtime.Argument[T], c MatrixArgument[T],
		in runtime.Argument[async.Chain], out runtime.Result[async.Chain]) error {
		p := &product[T]{alpha.Get(), a.Get(), b.Get(), beta.Get(), c.Get()}
		if err := p.check(); err != nil {
			return err
		}
		if p.isSmall() || ctx.Queue == nil {
			p.plain()
			out.Set(in.Ref())
			return nil
		}
		inTask(&ctx, out, []*async.Value{a.Value(), b.Value(), c.Value()}, func(q workqueue.Queue) { p.blocked(q) })
		return nil
	})
}

// inTask has a task do work on tensors, and gives out the chain of its end.
func inTask(ctx *runtime.ExecContext, out runtime.Result[async.Chain], tensors []*async.Value, work func(workqueue.Queue)) {
	done := async.MakeUnconstructed[async.Chain]().Value()
	kept := keep(tensors)
	out.SetValue(done)
	q := ctx.Queue
	q.AddTask(func() {
		work(q)
		dropAll(kept)
		async.Emplace(done, async.Chain{})
	})
}

// rectify makes the elements of out those of in, and zero for negative ones.
func rectify(in, out []float32) {
	for i, x := range in {
		out[i] = max(x, 0)
	}
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
