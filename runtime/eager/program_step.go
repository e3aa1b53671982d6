package eager

import (
	"context"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/verifier"
)

// programStep is the general path: a program of one function.
type programStep struct {
	fn    *runtime.Function
	small bool // it may run while the caller waits
}

// compile takes a module through passes and lowering, as any program.
func (rt *Runtime) compile(m hlo.Module) (*runtime.Function, error) {
	pipeline, err := passes.Parse("cpu")
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if m, err = (&pass.Runner{}).Run(ctx, pipeline, m); err != nil {
		return nil, err
	}
	file, err := lower.Module(ctx, m)
	if err != nil {
		return nil, err
	}
	program, err := runtime.Load(file, rt.registry, runtime.LoadOptions{Host: rt.host})
	if err != nil {
		return nil, err
	}
	return program.Entry(), nil
}

func (rt *Runtime) programStep(m hlo.Module) (step, error) {
	fn, err := rt.compile(m)
	if err != nil {
		return nil, async.StatusOf(err)
	}
	return &programStep{fn, isSmall(m)}, nil
}

// isSmall reports whether all of a program is little work that never waits. Loops count as more, since their length is unknown.
func isSmall(m hlo.Module) bool {
	work := int64(0)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpParameter {
				continue
			}
			traits := hlo.Info(in.Opcode()).Traits
			if in.Opcode() == hlo.OpWhile || hlo.IsAsync(in.Opcode()) || traits.Has(hlo.TraitSideEffect) || traits.Has(hlo.TraitCollective) {
				return false
			}
			if work += estimate(in); work > inlineWork {
				return false
			}
		}
	}
	return true
}

// MakeComposite makes an op of a whole module: a program that is executed as one op. Its operands are the leaves of the parameters.
func (rt *Runtime) MakeComposite(m hlo.Module) (*Op, error) {
	if err := verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err(); err != nil {
		return nil, err
	}
	fn, err := rt.compile(m)
	if err != nil {
		return nil, err
	}
	s := m.Entry().Signature()
	p := &plan{op: m.Name(), in: leavesOf(s.Parameters...), out: leavesOf(s.Result), step: &programStep{fn, isSmall(m)}}
	return &Op{rt: rt, name: m.Name(), prepare: func(args []hlo.Shape) (*plan, error) {
		if len(args) != len(p.in) {
			return nil, async.Errorf(async.InvalidArgument, "takes %d operands, got %d", len(p.in), len(args))
		}
		for i, s := range args {
			if !s.Equal(p.in[i]) {
				return nil, async.Errorf(async.InvalidArgument, "operand %d is %v, want %v", i, s, p.in[i])
			}
		}
		return p, nil
	}}, nil
}

func (s *programStep) execute(rt *Runtime, p *plan, inv *Invocation) error {
	g := newGathered(rt, p.op, inv, p.out)
	g.startRun = func(args []Tensor, done func([]Tensor, error)) { s.start(g, p, args, done) }
	if s.small && g.isReady() {
		g.task()
		return nil
	}
	g.start()
	return nil
}

// start executes the program on tensors.
func (s *programStep) start(g *gathered, p *plan, args []Tensor, done func([]Tensor, error)) {
	in, out := make([]runtime.Buffer, len(args)), make([]runtime.Buffer, len(p.out))
	for i, t := range args {
		in[i] = buffer(t)
	}
	results := make([]Tensor, len(p.out))
	for i, shape := range p.out {
		buf, err := runtime.NewHostBuffer(g.rt.host.Allocator(), shape.ByteSize(), runtime.BufferAlign)
		if err != nil {
			dropTensors(results[:i])
			done(nil, err)
			return
		}
		results[i] = Tensor{shape, buf}
		out[i] = buffer(results[i])
	}
	ctx := g.context()
	over := s.fn.Start(ctx.Context(), runtime.RunOptions{Request: ctx.Request}, in, out)
	over.AndThen(func() {
		if err := over.Err(); err != nil {
			dropTensors(results)
			done(nil, err)
			return
		}
		done(results, nil)
	})
}

func buffer(t Tensor) runtime.Buffer {
	return runtime.Buffer{Data: t.Data(), Type: uint8(t.shape.Type()), Dims: t.shape.Dimensions()}
}

func dropTensors(ts []Tensor) {
	for _, t := range ts {
		t.DropRef()
	}
}

// gathered is an invocation that runs as a task when all its operands are there, with results promised.
type gathered struct {
	rt       *Runtime
	op       string
	request  *runtime.Request
	location async.Location
	args     []TensorHandle
	chain    async.Ref[async.Chain]
	done     async.Ref[async.Chain]
	promised []async.Ref[Tensor]

	run      func(args []Tensor) ([]Tensor, error)           // results at once, or
	startRun func(args []Tensor, done func([]Tensor, error)) // some time
}

// newGathered takes an invocation over and gives it its results. Shapes that are not known are the zero Shape.
func newGathered(rt *Runtime, op string, inv *Invocation, out []hlo.Shape) *gathered {
	g := &gathered{rt: rt, op: op, request: inv.Request, location: inv.Location, args: inv.keepArgs()}
	for _, s := range out {
		ref := async.MakeUnconstructed[Tensor]()
		g.promised = append(g.promised, ref.CopyRef())
		inv.Results = append(inv.Results, TensorHandle{shape: s, value: ref.Value()})
	}
	if inv.Chain != nil {
		g.chain, g.done = *inv.Chain, async.MakeUnconstructed[async.Chain]()
		*inv.Chain = g.done.CopyRef()
	}
	return g
}

// context is what the op's kernels see.
func (g *gathered) context() runtime.ExecContext {
	if g.request != nil {
		return g.request.NewExecContext()
	}
	return g.rt.request.NewExecContext()
}

// isReady reports whether everything that g needs is there.
func (g *gathered) isReady() bool {
	for _, h := range g.args {
		if h.value.IsUnavailable() {
			return false
		}
	}
	return g.chain.IsEmpty() || g.chain.Value().IsAvailable()
}

func (g *gathered) start() {
	waits := values(g.args)
	if !g.chain.IsEmpty() {
		waits = append(waits, g.chain.Value())
	}
	queue := g.rt.host.Queue()
	if len(waits) == 0 {
		queue.AddTask(g.task)
		return
	}
	async.RunWhenReady(waits, func() { queue.AddTask(g.task) })
}

func (g *gathered) task() {
	if err := g.skipped(); err != nil {
		g.publish(nil, err)
		return
	}
	tensors := make([]Tensor, len(g.args))
	for i, h := range g.args {
		tensors[i] = async.Get[Tensor](h.value)
	}
	defer func() {
		if r := recover(); r != nil {
			g.publish(nil, async.Errorf(async.Internal, "op panicked: %v", r))
		}
	}()
	if g.startRun != nil {
		g.startRun(tensors, g.publish)
		return
	}
	g.publish(g.run(tensors))
}

func (g *gathered) skipped() error {
	if g.request != nil {
		if v := g.request.Cancelled(); v != nil {
			return v.Err()
		}
	}
	for _, h := range g.args {
		if err := h.Err(); err != nil {
			return err
		}
	}
	if !g.chain.IsEmpty() {
		return g.chain.Err()
	}
	return nil
}

func (g *gathered) publish(tensors []Tensor, err error) {
	if err != nil {
		err = async.StatusOf(err).At(g.op, g.location)
	}
	for _, h := range g.args {
		h.Drop()
	}
	for i, ref := range g.promised {
		if err != nil {
			ref.SetError(err)
		} else {
			ref.Emplace(tensors[i])
		}
		ref.Drop()
	}
	endChain(g.chain, g.done, err)
}
