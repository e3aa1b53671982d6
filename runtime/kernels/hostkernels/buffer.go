package hostkernels

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

var errNoBuffer = errors.New("Cannot allocate host buffer")

// errNoSlice is the same with a full stop, which is TFRT's.
var errNoSlice = errors.New("Cannot allocate host buffer.")

func registerBuffers(reg *runtime.Registry) {
	type chain = async.Chain
	type buffer = *runtime.HostBuffer
	allocate := runtime.Kernel{
		Signature: &runtime.Signature{Args: 2, Results: 1, Payloads: true},
		Run: func(f *runtime.Frame) {
			b, err := allocateBuffer(f.Ctx(), runtime.Arg[int64](f, 0), runtime.Arg[int64](f, 1))
			if err != nil {
				f.ReportError(err)
				return
			}
			runtime.Return(f, 0, b)
		},
		Sync: func(f *runtime.SyncFrame) error {
			b, err := allocateBuffer(f.Ctx(), runtime.SyncArg[int64](f, 0), runtime.SyncArg[int64](f, 1))
			if err == nil {
				runtime.SyncReturn(f, 0, b)
			}
			return err
		},
	}
	reg.Kernel("tfrt_dht.allocate_buffer", allocate)
	reg.Sync("tfrt_dht_sync.allocate_buffer", allocate)
	reg.Kernel("tfrt_dht.get_buffer", runtime.Params4(
		func(t runtime.Argument[*Dense], _ runtime.Argument[chain], out runtime.Result[buffer], done runtime.Result[chain]) error {
			t.Get().buf.AddRef()
			out.Emplace(t.Get().buf)
			done.Emplace(chain{})
			return nil
		}))
	reg.Kernel("tfrt_dht.get_buffer_slice", sliceKernel())
	reg.Sync("tfrt_dht_sync.get_buffer_slice", sliceKernel())
	reg.Kernel("tfrt_dht.print_buffer", printing(func(b buffer) string {
		return fmt.Sprintf("HostBuffer<pointer=%#x, size=%d>", uintptr(unsafe.Pointer(unsafe.SliceData(b.Data()))), len(b.Data()))
	}))
	for _, e := range elems {
		reg.Kernel("tfrt_dht.make_tensor."+e.suffix, runtime.Params5(
			func(b runtime.Argument[buffer], s runtime.Argument[Shape], _ runtime.Argument[chain], out runtime.Result[*Dense], done runtime.Result[chain]) error {
				t, err := makeTensor("dht.make_tensor", e, b.Get(), s.Get())
				if err != nil {
					return err
				}
				out.Emplace(t)
				done.Emplace(chain{})
				return nil
			}))
		reg.Sync("tfrt_dht_sync.make_tensor."+e.suffix, runtime.Try2(func(b buffer, s Shape) (*Dense, error) {
			return makeTensor("tfrt_dht_sync.make_tensor", e, b, s)
		}))
	}
}

// maxAlign is the largest alignment that makes sense: a huge page.
const maxAlign = 1 << 21

func allocateBuffer(ctx runtime.ExecContext, size, align int64) (*runtime.HostBuffer, error) {
	if align <= 0 || align > maxAlign || align&(align-1) != 0 {
		return nil, errNoBuffer
	}
	b, err := runtime.NewHostBuffer(ctx.Host().Allocator(), size, align)
	if err != nil {
		return nil, errNoBuffer
	}
	clear(b.Data())
	return b, nil
}

func sliceKernel() runtime.Kernel {
	return runtime.Kernel{
		Signature: &runtime.Signature{Args: 3, Results: 1, Payloads: true},
		Run: func(f *runtime.Frame) {
			s, err := sliceBuffer(runtime.Arg[*runtime.HostBuffer](f, 0), runtime.Arg[int64](f, 1), runtime.Arg[int64](f, 2))
			if err != nil {
				f.ReportError(err)
				return
			}
			runtime.Return(f, 0, s)
		},
		Sync: func(f *runtime.SyncFrame) error {
			s, err := sliceBuffer(runtime.SyncArg[*runtime.HostBuffer](f, 0), runtime.SyncArg[int64](f, 1), runtime.SyncArg[int64](f, 2))
			if err == nil {
				runtime.SyncReturn(f, 0, s)
			}
			return err
		},
	}
}

func sliceBuffer(b *runtime.HostBuffer, offset, size int64) (*runtime.HostBuffer, error) {
	n := int64(len(b.Data()))
	if offset < 0 || size < 0 || offset > n || size > n-offset {
		return nil, errNoSlice
	}
	return b.Slice(offset, size), nil
}

// makeTensor returns a tensor in memory that is there already.
func makeTensor(kernel string, e *elem, b *runtime.HostBuffer, s Shape) (*Dense, error) {
	if size, ok := byteSize(e, s); !ok || size != int64(len(b.Data())) {
		return nil, fmt.Errorf("%s failed: buffer_size (%d) is not equal to the number of elements in shape (%s) times element size (%d)",
			kernel, len(b.Data()), formatDims(s), e.size)
	}
	b.AddRef()
	return &Dense{elem: e, dims: slices.Clone(s), buf: b}, nil
}
