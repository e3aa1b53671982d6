package eager

import (
	"fmt"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/stack"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/kernels"
)

// kernelStep is the fast path: the op's kernel, bound once.
type kernelStep struct {
	p        *plan
	kernel   string // for errors
	bound    runtime.Bound
	in, out  []runtime.TensorType
	inPlace  bool // results may take the place of operands of their size
	deferred bool // more work than should be done while the caller waits
	calls    sync.Pool
}

func (rt *Runtime) kernelStep(p *plan, m hlo.Module) (step, error) {
	root := m.Entry().Root()
	in, out := tensorTypes(p.in), tensorTypes(p.out)
	binding, err := runtime.NewBinding("hlo."+root.Opcode().String(), "", in, out)
	if err != nil {
		return nil, async.StatusOf(err)
	}
	bound, err := rt.registry.Bind(kernels.Subject(binding, m, root))
	if err != nil {
		return nil, async.StatusOf(err)
	}
	s := newKernelStep(p, bound, in, out)
	traits := hlo.Info(root.Opcode()).Traits
	s.inPlace = traits.Has(hlo.TraitElementwise)
	s.deferred = bound.RunAsync != nil || estimate(root) > inlineWork
	return s, nil
}

func newKernelStep(p *plan, bound runtime.Bound, in, out []runtime.TensorType) *kernelStep {
	return &kernelStep{p: p, kernel: p.op, bound: bound, in: in, out: out}
}

// inlineWork is how much an op may do while its caller waits, in elements touched: about ten microseconds. Less is not worth handing over.
const inlineWork = 1 << 14

// estimate is the work of an op, roughly.
func estimate(in hlo.Instruction) int64 {
	work := int64(1)
	for _, s := range leavesOf(in.Shape()) {
		work = max(work, s.NumElements())
	}
	for i := range in.NumOperands() {
		for _, s := range leavesOf(in.OperandInstr(i).Shape()) {
			work = max(work, s.NumElements())
		}
	}
	const perElement = 16 // where an element of the result takes more than an operation
	switch {
	case in.NumCallees() > 0, hlo.Info(in.Opcode()).NewAttrs != nil && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitMovesData) && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise):
		if work > inlineWork {
			return work
		}
		work *= perElement
	}
	return work
}

// call is one execution of a kernel, used again for the next.
type call struct {
	step     *kernelStep
	rt       *Runtime
	ctx      runtime.ExecContext
	frame    *runtime.TensorFrame
	bufs     []runtime.Buffer // operands, then results
	results  []Tensor
	args     []TensorHandle // of a deferred call
	promised []*async.Value
	chain    async.Ref[async.Chain]
	done     async.Ref[async.Chain]
	request  *runtime.Request
	location async.Location
}

func (s *kernelStep) newCall(rt *Runtime) *call {
	if c, ok := s.calls.Get().(*call); ok {
		return c
	}
	c := &call{step: s, rt: rt, bufs: make([]runtime.Buffer, len(s.in)+len(s.out)), results: make([]Tensor, len(s.out))}
	pointers := make([]*runtime.Buffer, len(c.bufs))
	for i := range c.bufs {
		pointers[i] = &c.bufs[i]
	}
	for i, t := range s.in {
		c.bufs[i].Type, c.bufs[i].Dims = t.Type, t.Dims
	}
	for i, t := range s.out {
		c.bufs[len(s.in)+i].Type, c.bufs[len(s.in)+i].Dims = t.Type, t.Dims
	}
	c.frame = runtime.NewTensorFrame(&c.ctx, pointers[:len(s.in)], pointers[len(s.in):], runtime.AlignedBytes(s.bound.Scratch))
	return c
}

// free makes the call ready for the next. What it points to in the meantime the pool forgets at the next collection.
func (c *call) free() {
	if c.promised != nil {
		c.args, c.promised = nil, nil
		c.chain, c.done = async.Ref[async.Chain]{}, async.Ref[async.Chain]{}
	}
	c.step.calls.Put(c)
}

func (s *kernelStep) execute(rt *Runtime, p *plan, inv *Invocation) error {
	ready, failed := inv.state()
	if failed != nil {
		inv.fail(p, failed)
		return nil
	}
	c := s.newCall(rt)
	c.request, c.location = inv.Request, inv.Location
	if !ready || s.deferred {
		c.later(p, inv)
		return nil
	}
	if err := c.run(inv.Args, inv.Consume); err != nil {
		inv.fail(p, async.MakeError(err))
	} else {
		for _, t := range c.results {
			inv.Results = append(inv.Results, TensorHandle{shape: t.shape, value: async.MakeAvailable(t).Value()})
		}
		inv.consume()
	}
	c.free()
	return nil
}

// run allocates the results and calls the kernel.
func (c *call) run(args []TensorHandle, consume bool) error {
	if err := c.bind(args, consume); err != nil {
		return err
	}
	err := c.kernel()
	if err != nil {
		for _, t := range c.results {
			t.DropRef()
		}
		return c.status(err)
	}
	return nil
}

func (c *call) status(err error) error { return async.StatusOf(err).At(c.step.kernel, c.location) }

// bind gives the frame its memory.
func (c *call) bind(args []TensorHandle, consume bool) error {
	s := c.step
	c.ctx.Request, c.ctx.Queue = c.request, c.rt.host.Queue()
	if c.ctx.Request == nil {
		c.ctx.Request = c.rt.request
	}
	for i := range args {
		c.bufs[i].Data = async.Get[Tensor](args[i].value).Data()
	}
	for i := range s.out {
		t, err := c.result(i, args, consume && s.inPlace)
		if err != nil {
			for _, t := range c.results[:i] {
				t.DropRef()
			}
			return c.status(err)
		}
		c.results[i] = t
		c.bufs[len(s.in)+i].Data = t.Data()
	}
	return nil
}

// result makes result i: of an operand's memory that has no other use, or new.
func (c *call) result(i int, args []TensorHandle, inPlace bool) (Tensor, error) {
	s := c.step
	if inPlace {
		for k, h := range args {
			if s.in[k].Bytes != s.out[i].Bytes || len(s.in[k].Dims) != len(s.out[i].Dims) || !h.value.IsUnique() {
				continue
			}
			if buf := async.Get[Tensor](h.value).buf; buf.IsExclusiveOwner() {
				buf.AddRef()
				return Tensor{s.p.out[i], buf}, nil
			}
		}
	}
	buf, err := runtime.NewHostBuffer(c.rt.host.Allocator(), s.out[i].Bytes, runtime.BufferAlign)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{s.p.out[i], buf}, nil
}

// kernel calls the kernel, unless there is nothing to do.
func (c *call) kernel() (err error) {
	if c.step.bound.Run == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = &async.Status{Code: async.Internal, Message: fmt.Sprintf("kernel panicked: %v", r), Cause: stack.Caught(r)}
		}
	}()
	return c.step.bound.Run(c.frame)
}

// later promises the results, and runs the call as a task when everything is there.
func (c *call) later(p *plan, inv *Invocation) {
	c.args = inv.keepArgs()
	waits := values(c.args)
	c.promised = make([]*async.Value, len(p.out))
	for i, s := range p.out {
		ref := async.MakeUnconstructed[Tensor]()
		c.promised[i] = ref.CopyRef().Value()
		inv.Results = append(inv.Results, TensorHandle{shape: s, value: ref.Value()})
	}
	if inv.Chain != nil {
		c.chain = *inv.Chain
		c.done = async.MakeUnconstructed[async.Chain]()
		*inv.Chain = c.done.CopyRef()
		waits = append(waits, c.chain.Value())
	}
	queue := c.rt.host.Queue()
	if len(waits) == 0 {
		queue.AddTask(c.task)
		return
	}
	async.RunWhenReady(waits, func() { queue.AddTask(c.task) })
}

// task is a deferred call whose operands are there.
func (c *call) task() {
	if failed := c.skipped(); failed != nil {
		c.publish(failed)
		return
	}
	if c.step.bound.RunAsync == nil {
		c.publish(c.run(c.args, true))
		return
	}
	if err := c.bind(c.args, false); err != nil {
		c.publish(err)
		return
	}
	done := c.step.bound.RunAsync(c.frame)
	if done == nil {
		c.publish(nil)
		return
	}
	done.AndThen(func() {
		err := done.Err()
		if err != nil {
			for _, t := range c.results {
				t.DropRef()
			}
			err = c.status(err)
		}
		c.publish(err)
	})
}

// skipped returns the error that keeps a deferred call from running.
func (c *call) skipped() error {
	if c.request != nil {
		if v := c.request.Cancelled(); v != nil {
			return v.Err()
		}
	}
	for _, h := range c.args {
		if err := h.Err(); err != nil {
			return err
		}
	}
	if !c.chain.IsEmpty() {
		return c.chain.Err()
	}
	return nil
}

// publish ends a deferred call.
func (c *call) publish(err error) {
	promised, chain, done := c.promised, c.chain, c.done
	args := c.args
	results := make([]Tensor, len(c.results))
	copy(results, c.results)
	c.free()
	for _, h := range args {
		h.Drop()
	}
	for i, v := range promised {
		if err != nil {
			v.SetError(err)
		} else {
			async.Emplace(v, results[i])
		}
		v.DropRef()
	}
	endChain(chain, done, err)
}

// endChain replaces a chain by one that is over, or has an error.
func endChain(chain, done async.Ref[async.Chain], err error) {
	if done.IsEmpty() {
		return
	}
	chain.Drop()
	if err != nil {
		done.SetError(err)
	} else {
		done.Emplace(async.Chain{})
	}
	done.Drop()
}

// definedOp makes an op that RegisterOp has added.
func (rt *Runtime) definedOp(name string, def OpDef, attrs Attrs) *Op {
	if def.Make != nil {
		return &Op{rt: rt, name: name, run: (&madeOp{rt, name, def, attrs.Values}).execute}
	}
	return &Op{rt: rt, name: name, prepare: func(args []hlo.Shape) (*plan, error) {
		out, err := def.Metadata(args, attrs.Values)
		if err != nil {
			return nil, err
		}
		for _, s := range out {
			if !s.IsStatic() || !s.IsArray() && !s.IsToken() {
				return nil, fmt.Errorf("metadata: a result is %v", s)
			}
		}
		p := &plan{op: name, in: args, out: leavesOf(out...)}
		bound := runtime.Bound{Run: func(f *runtime.TensorFrame) error { return def.Dispatch(f, attrs.Values) }}
		p.step = newKernelStep(p, bound, tensorTypes(p.in), tensorTypes(p.out))
		return p, nil
	}}
}

// madeOp is an op whose results have shapes that only its execution tells.
type madeOp struct {
	rt     *Runtime
	name   string
	def    OpDef
	values any
}

func (o *madeOp) execute(inv *Invocation) error {
	for i, h := range inv.Args {
		if h.IsZero() {
			inv.consume()
			return async.Errorf(async.InvalidArgument, "operand %d is no tensor", i).At(o.name, inv.Location)
		}
	}
	g := newGathered(o.rt, o.name, inv, make([]hlo.Shape, o.def.Results))
	g.run = func(args []Tensor) ([]Tensor, error) {
		tensors, err := o.def.Make(g.context(), args, o.values)
		if err == nil && len(tensors) != o.def.Results {
			err = async.Errorf(async.Internal, "made %d tensors, want %d", len(tensors), o.def.Results)
		}
		return tensors, err
	}
	g.start()
	return nil
}
