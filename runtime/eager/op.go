package eager

import (
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Attrs is what an op is given besides its operands. The zero value is none.
type Attrs struct {
	// HLO is the op's own attributes; nil means the defaults. It must not be changed afterwards.
	HLO hlo.OpAttrs
	// Shape is the shape of the result, for ops whose rule cannot infer it: convert, reshape, broadcast, iota, custom-call and the like.
	Shape hlo.Shape
	// Callees are the computations that the op calls, each the entry of a module, in the order of the op table.
	Callees []hlo.Module
	// Operands are the shapes of the operands where one of them is a tuple: the handles of an invocation are the leaves of all. Nil means
	// that every handle is an operand.
	Operands []hlo.Shape
	// Values are the attributes of an op that RegisterOp has added.
	Values any
}

// Invocation is one execution of an op.
type Invocation struct {
	// Request is what the op is executed for: its data and its cancellation. Nil means none.
	Request *runtime.Request
	// Location is told in errors.
	Location async.Location
	// Args are the operands. They are borrowed, unless Consume is set.
	Args []TensorHandle
	// Consume gives the references of Args away, also if the invocation fails: a result may take the place of an operand that has no other owner.
	Consume bool
	// Results receives the results, appended; each has a reference of its own.
	Results []TensorHandle
	// Chain, if it is not nil, orders the invocation: it begins when the chain is there, and replaces it by one that is there when it is
	// over. The reference to the old chain is taken over, that to the new one is the caller's.
	Chain *async.Ref[async.Chain]
}

// Op is an op with its attributes, prepared for the shapes it was executed with last. It is immutable to its users and safe for
// concurrent use.
type Op struct {
	rt   *Runtime
	name string
	// prepare makes the plan for operand shapes.
	prepare func(args []hlo.Shape) (*plan, error)
	key     []byte // canonical text without shapes of operands; nil: plans are not kept but in recent
	recent  atomic.Pointer[plan]
	run     func(inv *Invocation) error // of handlers outside of this package
}

// NewOp makes an op from a function, for op handlers of others. The function appends the results to the invocation's, and keeps the rules
// of Execute.
func NewOp(name string, execute func(inv *Invocation) error) *Op {
	return &Op{name: name, run: execute}
}

// Name is the op's name.
func (op *Op) Name() string { return op.name }

// plan is an op prepared for certain shapes of operands.
type plan struct {
	op      string
	in, out []hlo.Shape // leaves, row-major
	step    step
}

// step is how a plan is executed. The arguments have the plan's shapes.
type step interface {
	execute(rt *Runtime, p *plan, inv *Invocation) error
}

// fits reports whether the plan is for such operands.
func (p *plan) fits(args []TensorHandle) bool {
	if len(args) != len(p.in) {
		return false
	}
	for i := range args {
		if s := args[i].shape; s != p.in[i] && (!s.IsValid() || !s.Equal(p.in[i])) {
			return false
		}
	}
	return true
}

// Call executes the op without chain and location, for a request or nil.
func (op *Op) Call(req *runtime.Request, args ...TensorHandle) ([]TensorHandle, error) {
	inv := Invocation{Request: req, Args: args}
	err := op.Execute(&inv)
	return inv.Results, err
}

// Execute executes the op. It waits for nothing: results may not be there yet, but their shapes are known where the op can tell them.
// Errors in the operands' shapes are returned; results are not touched then.
func (op *Op) Execute(inv *Invocation) error {
	if op.run != nil {
		return op.run(inv)
	}
	p := op.recent.Load()
	if p == nil || !p.fits(inv.Args) {
		var err error
		if p, err = op.planFor(inv); err != nil {
			inv.consume()
			return async.StatusOf(err).At(op.name, inv.Location)
		}
		if p == nil {
			op.executeLater(inv)
			return nil
		}
	}
	return p.step.execute(op.rt, p, inv)
}

// Shapes returns the shapes of the results for operands of the given shapes, or why there are none, without executing anything.
func (op *Op) Shapes(args ...hlo.Shape) ([]hlo.Shape, error) {
	if op.prepare == nil {
		return nil, async.Errorf(async.FailedPrecondition, "shapes of %s are known to its handler only", op.name)
	}
	p, err := op.cached(leavesOf(args...))
	if err != nil {
		return nil, async.StatusOf(err).At(op.name, async.Location{})
	}
	return p.out, nil
}

// planFor finds or makes the plan for the operands of an invocation, or returns none if the shape of one is not known yet.
func (op *Op) planFor(inv *Invocation) (*plan, error) {
	shapes := make([]hlo.Shape, len(inv.Args))
	for i, h := range inv.Args {
		if h.IsZero() {
			return nil, async.Errorf(async.InvalidArgument, "operand %d is no tensor", i)
		}
		s, known := h.Metadata()
		if !known {
			if err := h.Err(); err != nil {
				return nil, err
			}
			return nil, nil
		}
		shapes[i] = s
	}
	p, err := op.cached(shapes)
	if err == nil {
		op.recent.Store(p)
	}
	return p, err
}

func (op *Op) cached(shapes []hlo.Shape) (*plan, error) {
	if op.key == nil {
		return op.prepare(shapes)
	}
	var memory [256]byte
	text := append(memory[:0], op.key...)
	for _, s := range shapes {
		text = append(text, ' ')
		text = s.AppendText(text, false)
	}
	if p, ok := op.rt.plans.get(text); ok {
		return p, nil
	}
	p, err := op.prepare(shapes)
	if err != nil {
		return nil, err
	}
	return op.rt.plans.put(text, p), nil
}

// executeLater executes an op when its operands are there, because the shape of one is not known before. Of such an op nobody knows the
// number of results: one is assumed, and the shapes of the results are not known either.
func (op *Op) executeLater(inv *Invocation) {
	result := async.MakeIndirect()
	later := &Invocation{Request: inv.Request, Location: inv.Location, Args: inv.keepArgs(), Consume: true}
	waits := values(later.Args)
	var done async.Ref[async.Chain]
	if inv.Chain != nil {
		chain := *inv.Chain
		later.Chain = &chain
		done = async.MakeUnconstructed[async.Chain]()
		*inv.Chain = done.CopyRef()
		waits = append(waits, chain.Value())
	}
	result.AddRef()
	inv.Results = append(inv.Results, TensorHandle{value: &result.Value})
	async.RunWhenReady(waits, func() {
		op.rt.host.Queue().AddTask(func() {
			err := op.Execute(later)
			if err == nil && len(later.Results) != 1 {
				err = async.Errorf(async.FailedPrecondition, "%d results, and operands whose shapes come late", len(later.Results)).At(op.name, inv.Location)
			}
			if err != nil {
				for _, h := range later.Results {
					h.Drop()
				}
				result.SetError(err)
			} else {
				result.ForwardTo(later.Results[0].value)
			}
			result.DropRef()
			if later.Chain != nil {
				forwardChain(*later.Chain, done)
			}
		})
	})
}

// forwardChain makes to what from becomes, and takes over both references.
func forwardChain(from, to async.Ref[async.Chain]) {
	from.AndThen(func() {
		if err := from.Err(); err != nil {
			to.SetError(err)
		} else {
			to.Emplace(async.Chain{})
		}
		from.Drop()
		to.Drop()
	})
}

func values(handles []TensorHandle) []*async.Value {
	vs := make([]*async.Value, len(handles), len(handles)+1)
	for i, h := range handles {
		vs[i] = h.value
	}
	return vs
}

// keepArgs returns the operands with references of their own.
func (inv *Invocation) keepArgs() []TensorHandle {
	kept := append([]TensorHandle(nil), inv.Args...)
	if !inv.Consume {
		for _, h := range kept {
			h.value.AddRef()
		}
	}
	return kept
}

// consume gives back what the invocation was given.
func (inv *Invocation) consume() {
	if inv.Consume {
		for _, h := range inv.Args {
			if !h.IsZero() {
				h.Drop()
			}
		}
	}
}

// state reports whether an invocation can run now, or which error it has.
func (inv *Invocation) state() (ready bool, failed *async.Value) {
	ready = true
	if inv.Request != nil {
		if v := inv.Request.Cancelled(); v != nil {
			return true, v
		}
	}
	for i := range inv.Args {
		v := inv.Args[i].value
		if !v.IsConcrete() {
			if v.IsError() {
				return true, v
			}
			ready = false
		}
	}
	if inv.Chain != nil {
		if v := inv.Chain.Value(); !v.IsConcrete() {
			if v.IsError() {
				return true, v
			}
			ready = false
		}
	}
	return ready, nil
}

// fail makes an error all results of an invocation, and its chain.
func (inv *Invocation) fail(p *plan, failed *async.Value) {
	for _, s := range p.out {
		failed.AddRef()
		inv.Results = append(inv.Results, TensorHandle{shape: s, value: failed})
	}
	if inv.Chain != nil {
		inv.Chain.Drop()
		*inv.Chain = async.MakeErrorRef[async.Chain](failed.Status())
	}
	inv.consume()
}
