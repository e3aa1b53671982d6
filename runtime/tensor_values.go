package runtime

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// TensorValues says how values of general functions hold dense arrays. With it, general functions use tensor kernels like any others, and
// call tensor functions. A package of kernels for general functions gives it to the registry together with them.
type TensorValues struct {
	// Type reads a register's type, as in "tensor<2x3xf32>", and reports false if that does not say a dense array's.
	Type func(name string) (TensorType, bool)
	// View returns the array in a concrete value, borrowed, and reports false if there is none.
	View func(v *async.Value) (Buffer, bool)
	// Make returns a value that holds an array. It takes over the reference to the memory.
	Make func(t TensorType, memory *HostBuffer) *async.Value
}

// TensorValues sets how values of general functions hold dense arrays. There is one way per registry.
func (r *Registry) TensorValues(v TensorValues) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkOpen("tensor values")
	r.values = &v
}

// views lists the arrays that arguments hold.
func (tv *TensorValues) views(args []*async.Value) ([]Buffer, *Error) {
	views := make([]Buffer, len(args))
	for i, v := range args {
		b, ok := tv.View(v)
		if !ok {
			return nil, async.Errorf(async.InvalidArgument, "argument %d is %v, not a dense tensor", i, v)
		}
		if len(b.Data) > 0 && dataAddress(b.Data)%naturalAlign(int64(len(b.Data)), b.NumElements()) != 0 { // a slice of something else
			aligned := AlignedBytes(int64(len(b.Data)))
			copy(aligned, b.Data)
			b.Data = aligned
		}
		views[i] = b
	}
	return views, nil
}

// tensorMemory is the memory of tensor results that are being computed.
type tensorMemory struct {
	types   []TensorType
	buffers []*HostBuffer
	views   []Buffer
}

func newTensorMemory(host *Host, types []TensorType) (*tensorMemory, *Error) {
	m := &tensorMemory{types: types}
	for _, t := range types {
		b, err := NewHostBuffer(host.Allocator(), t.Bytes, BufferAlign)
		if err != nil {
			m.drop()
			return nil, async.StatusOf(err)
		}
		m.buffers = append(m.buffers, b)
		m.views = append(m.views, Buffer{Data: b.Data(), Type: t.Type, Dims: t.Dims})
	}
	return m, nil
}

func (m *tensorMemory) drop() {
	for _, b := range m.buffers {
		b.DropRef()
	}
}

// values hands the memory over to values, or frees it if the computation failed.
func (m *tensorMemory) values(tv *TensorValues, failed *Error) []*async.Value {
	return m.validValues(tv, failed, nil)
}

// validValues is values of a computation that may have failed in part; nil means that none of its results is valid then.
func (m *tensorMemory) validValues(tv *TensorValues, failed *Error, valid []bool) []*async.Value {
	values := make([]*async.Value, len(m.types))
	var e *async.Value
	for i, t := range m.types {
		if failed == nil || valid != nil && valid[i] {
			values[i] = tv.Make(t, m.buffers[i])
			continue
		}
		if e == nil {
			e = async.MakeError(failed)
		}
		m.buffers[i].DropRef()
		values[i] = e
	}
	return values
}

// tensorUse is a tensor kernel among general ones. It is bound to the types that its arguments turn out to have; results have those that
// the program says.
type tensorUse struct {
	bind    TensorBinder
	tv      *TensorValues
	kernel  *planKernel
	results []TensorType

	mu    sync.Mutex
	bound []*boundUse
}

// boundUse is an implementation for arguments of some types.
type boundUse struct {
	in    []TensorType
	bound Bound
}

// maxBoundTypes bounds how many implementations one use keeps.
const maxBoundTypes = 64

// loadTensorUse makes a general kernel of a tensor kernel.
func (l *generalLoader) loadTensorUse(fn *Function, k *bef.Kernel, p *planKernel, bind TensorBinder) error {
	u := &tensorUse{bind: bind, tv: l.reg.values, kernel: p}
	typeName := func(r bef.RegID) string {
		if t := fn.def.Registers[r].Type; t != bef.NoType {
			return l.program.file.Types[t]
		}
		return "unknown"
	}
	for i, r := range k.Results {
		t, ok := u.tv.Type(typeName(r))
		if !ok {
			return l.fail(fn, k, "kernel '%s': result %d is of type %s, which does not say a tensor's shape", p.name(), i, typeName(r))
		}
		if t.Bytes > l.program.options.maxBytes() {
			return l.fail(fn, k, "kernel '%s': result %d has %d bytes, the limit is %d", p.name(), i, t.Bytes, l.program.options.maxBytes())
		}
		u.results = append(u.results, t)
	}
	known := make([]TensorType, 0, len(k.Args))
	for _, r := range k.Args {
		if t, ok := u.tv.Type(typeName(r)); ok {
			known = append(known, t)
		}
	}
	if len(known) == len(k.Args) {
		if _, err := u.boundTo(known); err != nil {
			return l.fail(fn, k, "kernel '%s': %w", p.name(), err)
		}
	}
	p.run = u.run
	return nil
}

// boundTo returns the implementation for arguments of the given types.
func (u *tensorUse) boundTo(in []TensorType) (*boundUse, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, b := range u.bound {
		if slices.EqualFunc(b.in, in, func(x, y TensorType) bool { return x.Equal(y) }) {
			return b, nil
		}
	}
	program, def := u.kernel.fn.program, u.kernel.def
	bound, err := callBinder(u.bind, &Binding{Kernel: u.kernel.name(), Location: u.kernel.location(), In: in, Out: u.results,
		attrs: def.Attrs, pool: &program.file.Attrs, module: program.module})
	if err != nil {
		return nil, err
	}
	if bound.Scratch < 0 || bound.Scratch > program.options.maxBytes() {
		return nil, async.Errorf(async.ResourceExhausted, "kernel asks for %d bytes of scratch", bound.Scratch)
	}
	b := &boundUse{in, bound}
	if len(u.bound) < maxBoundTypes {
		u.bound = append(u.bound, b)
	}
	return b, nil
}

// run is the general kernel.
func (u *tensorUse) run(f *Frame) {
	views, st := u.tv.views(f.args)
	if st != nil {
		f.ReportError(st)
		return
	}
	types := make([]TensorType, len(views))
	for i, b := range views {
		types[i] = TensorType{b.Type, b.Dims, int64(len(b.Data))}
	}
	use, err := u.boundTo(types)
	if err != nil {
		f.ReportError(err)
		return
	}
	ctx := f.Ctx()
	allocator := ctx.Host().Allocator()
	scratch, err := allocator.Allocate(use.bound.Scratch, BufferAlign)
	if err != nil {
		f.ReportError(err)
		return
	}
	memory, st := newTensorMemory(ctx.Host(), u.results)
	if st != nil {
		allocator.Deallocate(scratch)
		f.ReportError(st)
		return
	}
	frame := &TensorFrame{in: pointers(views), out: pointers(memory.views), scratch: scratch, ctx: &ctx}
	finish := func(err error) []*async.Value {
		allocator.Deallocate(scratch)
		if err != nil {
			return memory.values(u.tv, Reporter{ctx.Host(), u.kernel}.Report(err))
		}
		return memory.values(u.tv, nil)
	}
	switch {
	case use.bound.RunAsync != nil:
		u.runAsync(f, use.bound.RunAsync, frame, finish)
	case use.bound.Run != nil:
		copy(f.results, finish(use.bound.run(frame)))
	default:
		copy(f.results, finish(nil))
	}
}

func pointers(buffers []Buffer) []*Buffer {
	list := make([]*Buffer, len(buffers))
	for i := range buffers {
		list[i] = &buffers[i]
	}
	return list
}

// run calls the kernel; a panic is its error.
func (b *Bound) run(f *TensorFrame) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicStatus(r)
		}
	}()
	return b.Run(f)
}

// runAsync calls a kernel that may finish later. Its arguments are held until then.
func (u *tensorUse) runAsync(f *Frame, run AsyncTensorKernel, frame *TensorFrame, finish func(error) []*async.Value) {
	done := run(frame)
	if done == nil || done.IsAvailable() {
		var err error
		if done != nil {
			err = done.Err()
			done.DropRef()
		}
		copy(f.results, finish(err))
		return
	}
	args := slices.Clone(f.args)
	for _, v := range args {
		v.AddRef()
	}
	promised := make([]*async.Indirect, len(f.results))
	for i := range promised {
		promised[i] = async.MakeIndirect()
		promised[i].AddRef()
		f.results[i] = &promised[i].Value
	}
	done.AndThen(func() {
		values := finish(done.Err())
		dropAll(args)
		done.DropRef()
		for i, p := range promised {
			p.ForwardTo(values[i])
			p.DropRef()
		}
	})
}
