package runtime

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/scalar"
)

// tensorRun is an instance of an entry function: one arena, an activation for the function and for every call site below
// it, all frames filled in. It serves one execution at a time and is pooled between executions, so that starting one
// binds the caller's memory and nothing else.
type tensorRun struct {
	entry  *tensorFunction
	host   *Host
	arena  []byte
	main   fiber
	ctx    ExecContext
	tracer Tracer
	meter  *Meter // for which the activations measure
	update func(Update) error
	seen   bool // there is a tracer or a meter, or somebody sees updates

	stepwise bool // there is a tracer, or somebody sees updates: no step may be part of another
	lanes    int

	rounds  *atomic.Int64 // of loops, counted if not nil
	worked  WorkTracer    // the tracer, if it is one
	workers workers       // counted for it

	stop      atomic.Pointer[Error] // the first failure; everything goes on carefully from it, or stops
	cancelled atomic.Bool           // everything stops
	pending   atomic.Int32          // fibers that have not ended, and the watcher of the caller's context
	state     atomic.Uint32         // runRunning, then runAwaited or runFinished
	done      *async.Value          // published at the end if there is a waiter and the queue needs its help
	signal    chan struct{}         // sent at the end if there is another waiter
	release   func(*tensorRun)      // set if there is no waiter: gives the instance back
	unwatch   func() bool

	rest     func(rests bool) // RunOptions.Rest
	awakened atomic.Int32     // fibers at work or in a queue; counted only for rest

	static []*asyncOp // starts whose memory is in the arena

	mu       sync.Mutex
	parent   context.Context
	derived  context.Context // made on demand for kernels that ask
	cancel   context.CancelCauseFunc
	failed   map[*Buffer]bool // registers whose values are not to be had
	late     []*asyncOp       // running, with operands still to be bound
	detached []*asyncOp       // started and not done
	blocks   [][]byte         // memory of detached ops, in use or not
}

const (
	runRunning uint32 = iota
	runAwaited
	runFinished
)

// activation is the place of one function in an instance: its registers bound to memory and a frame for each step.
type activation struct {
	fn     *tensorFunction
	caller *activation
	run    *tensorRun
	regs   []Buffer
	frames []TensorFrame
	outs   [][]byte   // memory for the results, given by the caller
	events []*asyncOp // per register; nil if the function has no tokens
	sites  []site

	parallel *parallel // of a function with segments

	often     bool           // it is run many times, so binding its stretches pays
	moved     bool           // the memory of arguments or results has changed since its stretches were bound
	stretches []boundStretch // of fn.stretches
	moves     []boundCall    // of fn.copies
	rounds    int            // how often its stretches ran
	linked    []linkedSteps  // of fn.linked, once they ran often
	later     []laterState   // of fn.later, from then on

	meter *meter // nil without a measurement

	pc    int
	phase int   // of the control step at pc; 0 before it starts
	iter  int64 // of the loop at pc
	pred  [1]byte
}

// site is what a control step owns in an instance.
type site struct {
	children []*activation // of a call, loop or conditional
	scalar   *scalar.State // of a loop over scalars; nil before its first run
	op       *asyncOp      // of an async start
	free     []*asyncOp    // of a detached one: not in use
}

func newTensorRun(entry *tensorFunction, host *Host) (*tensorRun, error) {
	r := &tensorRun{entry: entry, host: host}
	frame := alignUp(entry.frame, BufferAlign)
	arena, err := host.allocator.Allocate(frame+entry.working(), BufferAlign)
	if err != nil {
		return nil, err
	}
	r.arena = arena
	r.ctx.run = r
	b := instanceBuilder{run: r, scratch: arena[frame:]}
	b.fiber(&r.main, entry, arena[:entry.frame:entry.frame], nil)
	return r, nil
}

// instanceBuilder lays activations over the arena.
type instanceBuilder struct {
	run     *tensorRun
	scratch []byte // and what is kept for loops: not given out yet
	owner   *asyncOp
	op      *asyncOp // whose fiber is being made
}

func (b *instanceBuilder) fiber(f *fiber, fn *tensorFunction, frame []byte, op *asyncOp) {
	b.name(f, op)
	scratch := b.take(fn.scratch)
	outer := b.op
	b.op = op
	f.base = b.activation(fn, nil, frame, scratch)
	b.op = outer
}

// take gives out memory.
func (b *instanceBuilder) take(n int64) []byte {
	mem := b.scratch[:n:n]
	b.scratch = b.scratch[n:]
	return mem
}

// ctx is the context of the kernels that are being placed.
func (b *instanceBuilder) ctx() *ExecContext {
	if b.op != nil {
		return &b.op.ctx
	}
	return &b.run.ctx
}

// name makes f a fiber of the instance.
func (b *instanceBuilder) name(f *fiber, op *asyncOp) {
	f.run, f.op, f.lane = b.run, op, b.run.lanes
	b.run.lanes++
	f.resume = f.task
}

// parallel makes views of a, in which its segments run.
func (b *instanceBuilder) parallel(a *activation) {
	n := len(a.fn.segments)
	p := &parallel{views: make([]activation, n), fibers: make([]fiber, n), waits: make([]atomic.Int32, n)}
	a.parallel = p
	for i := 1; i < n; i++ {
		p.views[i] = *a
		b.name(&p.fibers[i], b.op)
		p.fibers[i].base, p.fibers[i].first, p.fibers[i].segment = &p.views[i], a.fn.segments[i].first, true
	}
}

func (b *instanceBuilder) activation(fn *tensorFunction, caller *activation, frame, scratch []byte) *activation {
	a := &activation{
		fn:     fn,
		caller: caller,
		run:    b.run,
		regs:   make([]Buffer, len(fn.regs)),
		frames: make([]TensorFrame, len(fn.steps)),
		outs:   make([][]byte, len(fn.results)),
		sites:  make([]site, fn.numSites),
		moved:  true,
	}
	if fn.events {
		a.events = make([]*asyncOp, len(fn.regs))
	}
	consts := fn.fn.program.consts
	for i := range fn.regs {
		r := &fn.regs[i]
		reg := &a.regs[i]
		reg.Type, reg.Dims = r.Type, r.Dims
		switch off := r.Slot.Index; r.Slot.Kind {
		case SlotArena:
			reg.Data = frame[off : off+r.Bytes : off+r.Bytes]
		case SlotConst:
			reg.Data = consts[off : off+r.Bytes : off+r.Bytes]
		}
	}
	operands := 0
	for i := range fn.steps {
		operands += len(fn.steps[i].in) + len(fn.steps[i].out)
	}
	pointers := make([]*Buffer, 0, operands)
	list := func(regs []int32) []*Buffer {
		first := len(pointers)
		for _, r := range regs {
			pointers = append(pointers, &a.regs[r])
		}
		return pointers[first:len(pointers):len(pointers)]
	}
	if len(fn.segments) > 0 {
		b.parallel(a)
	}
	whole := scratch
	for i := range fn.steps {
		s := &fn.steps[i]
		within := a
		if a.parallel != nil {
			n := fn.segmentOf(i)
			own := &fn.segments[n]
			scratch = whole[own.scratch:][:own.bytes:own.bytes]
			if n > 0 {
				within = &a.parallel.views[n]
			}
		}
		if s.site >= 0 {
			b.site(within, s, frame, scratch)
		} else if s.kind == stepKernel || s.kind == stepAsyncKernel {
			a.frames[i] = TensorFrame{in: list(s.in), out: list(s.out), scratch: scratch[:s.scratch:s.scratch], ctx: b.ctx()}
		}
	}
	return a
}

func (b *instanceBuilder) site(a *activation, s *step, frame, scratch []byte) {
	site := &a.sites[s.site]
	if s.kind == stepAsyncStart {
		if s.control.Detached {
			return // made when it starts
		}
		callee := s.callees[0]
		off := s.control.Frames[0]
		site.op = &asyncOp{step: s, callee: callee}
		b.fiber(&site.op.fiber, callee, frame[off:off+callee.frame:off+callee.frame], site.op)
		site.op.outs = site.op.fiber.base.outs
		if b.owner == nil {
			b.run.static = append(b.run.static, site.op)
		} else {
			b.owner.nested = append(b.owner.nested, site.op)
		}
		return
	}
	for i, callee := range s.callees {
		off := s.control.Frames[i]
		site.children = append(site.children, b.activation(callee, a, frame[off:off+callee.frame:off+callee.frame], scratch))
	}
	for _, pc := range s.prepares {
		body := site.children[1]
		n := body.fn.steps[pc].prepare.Bytes
		body.frames[pc].kept = b.take(alignUp(n, BufferAlign))[:n:n]
	}
}

// bindArg gives the memory for argument i.
func (a *activation) bindArg(i int, data []byte) {
	for _, r := range a.fn.argRegs[i] {
		a.moved = a.moved || !sameMemory(a.regs[r].Data, data)
		a.regs[r].Data = data
	}
}

// bindOut gives the memory for result i.
func (a *activation) bindOut(i int, data []byte) {
	a.moved = a.moved || !sameMemory(a.outs[i], data)
	a.outs[i] = data
	for _, r := range a.fn.outRegs[i] {
		a.regs[r].Data = data
	}
}

// instancePool keeps instances of one function for the next executions on the same host. Beyond its limit an instance's
// memory goes back to the allocator. The instance that came back last stands apart, since executions one after the other need no lock for it.
type instancePool struct {
	last  atomic.Pointer[tensorRun]
	mu    sync.Mutex
	idle  []*tensorRun // the others
	limit int
}

func (p *instancePool) get(fn *tensorFunction, host *Host) (*tensorRun, error) {
	if r := p.last.Swap(nil); r != nil {
		if r.host == host {
			return r, nil
		}
		p.keep(r)
	}
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if r := p.idle[i]; r.host == host {
			last := len(p.idle) - 1
			p.idle[i], p.idle[last] = p.idle[last], nil
			p.idle = p.idle[:last]
			p.mu.Unlock()
			return r, nil
		}
	}
	p.mu.Unlock()
	return newTensorRun(fn, host)
}

func (p *instancePool) put(r *tensorRun) {
	if p.limit > 0 {
		r = p.last.Swap(r)
	}
	if r != nil {
		p.keep(r)
	}
}

// keep is put for one that does not come back last.
func (p *instancePool) keep(r *tensorRun) {
	p.mu.Lock()
	if len(p.idle) < p.limit-1 {
		p.idle = append(p.idle, r)
		r = nil
	}
	p.mu.Unlock()
	if r != nil {
		r.free()
	}
}

// trim gives all idle memory back.
func (p *instancePool) trim() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	if r := p.last.Swap(nil); r != nil {
		r.free()
	}
	for _, r := range idle {
		r.free()
	}
}

// free gives the instance's memory back.
func (r *tensorRun) free() {
	r.host.allocator.Deallocate(r.arena)
	for _, b := range r.blocks {
		r.host.allocator.Deallocate(b)
	}
}

// DetachedBytes is the memory that each execution of the function takes that an asynchronous start begins whose done the plan cannot see.
func (f *Function) DetachedBytes() int64 { return f.tensor.detached().size }

// detachedLayout is where an execution in memory of its own has what: the frame first, then arguments, results and scratch.
type detachedLayout struct {
	size    int64
	offsets []int64 // of arguments and results
	scratch int64
}

func (t *tensorFunction) detached() (l detachedLayout) {
	l.size = alignUp(t.frame, BufferAlign)
	place := func(bytes int64) (offset int64) {
		offset = l.size
		l.size += alignUp(bytes, BufferAlign)
		return offset
	}
	for i := range t.numArgs {
		l.offsets = append(l.offsets, place(t.argType(i).Bytes))
	}
	for i := range t.results {
		l.offsets = append(l.offsets, place(t.resultType(i).Bytes))
	}
	l.scratch = place(t.working())
	return l
}
