package runtime

import (
	"fmt"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/scalar"
)

// TensorKernel computes on buffers: it reads In, fills every byte of Out and returns, or returns an error. It allocates no
// tensor memory, waits for nothing (but the parts of its own ParallelFor), and keeps no reference to the frame or to its
// buffers. It may read an In that shares memory with an Out only where the op allows it, as elementwise ones do at the
// same index. It may run on several goroutines at once, with different frames.
type TensorKernel func(*TensorFrame) error

// AsyncTensorKernel is a TensorKernel that may finish later, as one that meets other devices does. It returns nil or an
// available value if it is done, or else a value that becomes available when its outputs are filled; until then the
// frame and its buffers stay valid and nothing else in the same sequence runs. The driver suspends without holding a
// goroutine. A kernel of this kind must see to it that its value becomes available when Ctx().Context() is cancelled.
type AsyncTensorKernel func(*TensorFrame) *async.Value

// Bound is an implementation chosen for one kernel of a program. Exactly one of Run and RunAsync is set, or none: then
// there is nothing to do at run time, as for a bitcast whose output shares the input's memory.
type Bound struct {
	Run      TensorKernel
	RunAsync AsyncTensorKernel
	// Small, if set, does what Run does, in this order. It is for kernels on so few elements that calling them is most of the work.
	Small []SmallCall
	// Later, if set, is asked once where the kernel has run some thousand times, for what had better be called from then on.
	Later func() LaterCalls
	// Code, if set, does what Run does as part of a program over scalars. It is for kernels on so few elements, too, and may refuse.
	Code scalar.Code
	// CodeDiffers says that Code may give other bits than Run: it adds in another order, or rounds products that Run does not round. What runs
	// at first by Run is never run by such code later.
	CodeDiffers bool
	// Scratch is the number of bytes that TensorFrame.Scratch gives to every call.
	Scratch int64
	// Prepare, if set, is what had better be done once where the kernel runs again and again on an input that stays the same.
	Prepare *Preparation
	// Evaluated says that this is the meaning of the op from the reference evaluator, for want of a fast implementation.
	Evaluated bool
}

// TensorBinder chooses the implementation of a kernel. It is called once for each use of the kernel in a program, when
// the program is loaded. It must check that types and attributes are what the kernel can work with: what it accepts, it
// has to run.
type TensorBinder func(*Binding) (Bound, error)

// Binding describes one use of a tensor kernel to its binder. It is valid during the call only, but the slices of
// TensorType.Dims and ConstIn may be kept.
type Binding struct {
	Kernel   string // name, as in "hlo.dot"
	Location bef.Location
	In, Out  []TensorType

	attrs    []bef.Attr
	pool     *bef.Pool
	inSlots  []Slot
	outSlots []Slot
	consts   []byte
	module   any
}

// NewBinding describes a use that is in no program, for tests of binders. Its one attribute is the given text.
func NewBinding(kernel, text string, in, out []TensorType) (*Binding, error) {
	b := bef.NewBuilder()
	attr := b.Attr(bef.String(text))
	f, err := b.File()
	if err != nil {
		return nil, err
	}
	return &Binding{Kernel: kernel, In: in, Out: out, attrs: []bef.Attr{attr}, pool: &f.Attrs}, nil
}

// NumAttrs returns the number of attributes.
func (b *Binding) NumAttrs() int { return len(b.attrs) }

// Attr returns attribute i; attributes are in the byte order of their names.
func (b *Binding) Attr(i int) bef.Attr { return b.attrs[i] }

// Pool is where the attributes' payloads are.
func (b *Binding) Pool() *bef.Pool { return b.pool }

// StringAttr returns attribute i as text.
func (b *Binding) StringAttr(i int) (string, error) {
	if i >= len(b.attrs) {
		return "", missingAttr(i, b.Kernel)
	}
	text, err := b.pool.Text(b.attrs[i].Offset)
	return string(text), err
}

func missingAttr(i int, kernel string) error {
	return fmt.Errorf("attribute %d of kernel %s is missing", i, kernel)
}

// ConstIn returns the bytes of input i if it is a constant of the program, so that a binder may prepare it (pack a
// matrix, say). The bytes are read-only and stay valid as long as the program.
func (b *Binding) ConstIn(i int) ([]byte, bool) {
	if i >= len(b.inSlots) || b.inSlots[i].Kind != SlotConst {
		return nil, false
	}
	s := b.inSlots[i]
	return b.consts[s.Index : s.Index+b.In[i].Bytes], true
}

// InPlace reports whether the plan puts output out and input in at the same place. Results of calls and arguments may
// still be the same memory at run time where the caller chose so; compare Data where it matters.
func (b *Binding) InPlace(out, in int) bool {
	return out < len(b.outSlots) && in < len(b.inSlots) &&
		b.outSlots[out].Kind != SlotNone && b.outSlots[out] == b.inSlots[in]
}

// TensorFrame is one call of a tensor kernel. Its buffers belong to the driver; all frames of an execution are made
// before it starts.
type TensorFrame struct {
	in, out []*Buffer
	scratch []byte
	kept    []byte
	ctx     *ExecContext

	divisions atomic.Pointer[divisions] // of ParallelFor; nil before the first one
}

// NewTensorFrame makes a frame outside of a program, for tests and for calling a kernel by hand. A nil ctx means no
// queue and the background context.
func NewTensorFrame(ctx *ExecContext, in, out []*Buffer, scratch []byte) *TensorFrame {
	if ctx == nil {
		ctx = &ExecContext{}
	}
	return &TensorFrame{in: in, out: out, scratch: scratch, ctx: ctx}
}

// NumIn returns the number of inputs.
func (f *TensorFrame) NumIn() int { return len(f.in) }

// In returns input i. Its Data may be read only.
func (f *TensorFrame) In(i int) *Buffer { return f.in[i] }

// NumOut returns the number of outputs.
func (f *TensorFrame) NumOut() int { return len(f.out) }

// Out returns output i, allocated before the call. Its contents are undefined until the kernel fills them, unless the
// output shares memory with an input.
func (f *TensorFrame) Out(i int) *Buffer { return f.out[i] }

// Scratch returns as many bytes as the binder asked for, aligned to BufferAlign, with undefined contents. They are the
// kernel's until it returns, or until its value is available.
func (f *TensorFrame) Scratch() []byte { return f.scratch }

// Kept returns what the kernel's Preparation has written for the present contents of its input, or nil where it has not run.
func (f *TensorFrame) Kept() []byte { return f.kept }

// Ctx returns the context of the execution: cancellation, queue, device, request data.
func (f *TensorFrame) Ctx() *ExecContext { return f.ctx }

// Workers returns how many goroutines ParallelFor may use at once, itself included. It is for choosing a partition; no result may depend on it.
func (f *TensorFrame) Workers() int {
	if f.ctx.Queue == nil {
		return 1
	}
	return max(1, f.ctx.Queue.ParallelismLevel())
}

// ParallelFor calls body for consecutive ranges that together are [0, n), and returns when all calls have returned. The
// ranges are of grain elements, the last one maybe shorter, whatever the number of threads is, so a kernel that keeps
// partial results by lo/grain computes the same bits everywhere. Ranges run on the calling goroutine and on workers that
// happen to be free, in any order. Choose grain so that a range is worth handing over: two microseconds or more.
func (f *TensorFrame) ParallelFor(n, grain int, body func(lo, hi int)) {
	if op := f.ctx.op; op != nil && f.ctx.run.update != nil && n > 0 {
		body = op.progress.counted(n, max(grain, 1), body)
	}
	if queue := f.ctx.Queue; queue != nil && n > grain && queue.ParallelismLevel() > 1 {
		f.parallelFor(queue, n, max(grain, 1), body)
		return
	}
	parallelFor(f.ctx.Queue, n, grain, body)
}
