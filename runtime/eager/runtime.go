package eager

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/kernels"
)

// Options configure a Runtime. The zero value runs HLO ops on one thread.
type Options struct {
	// Host is where ops run. Nil means a new one with a single-threaded queue, on which deferred ops run when somebody awaits them.
	Host *runtime.Host
	// Register adds kernels: those of host programs for [Runtime.MakeKernel], and tensor kernels of others.
	Register []func(*runtime.Registry)
	// Data is what kernels find in invocations without a request of their own. Ops that talk to the host or to other devices look for a
	// *kernels.World there, as they do in a request's data.
	Data []any
	// Handlers are asked for ops in this order, before the one that knows HLO.
	Handlers []OpHandler
	// CacheSize bounds how many ops, and how many preparations of ops for certain shapes, are kept. Zero means 1024 of each.
	CacheSize int
	// General makes every op that can take the general path: for tests of the two against each other.
	General bool
}

const defaultCacheSize = 1024

// Runtime makes ops and holds what has been prepared for them. It is safe for concurrent use.
type Runtime struct {
	host     *runtime.Host
	registry *runtime.Registry
	request  *runtime.Request // of invocations without one
	general  bool

	mu         sync.Mutex
	handlers   []OpHandler
	registered map[string]OpDef

	ops     *cache[*Op]
	plans   *cache[*plan]
	kernels *cache[*runtime.Function]
}

// NewRuntime returns a runtime.
func NewRuntime(o Options) *Runtime {
	size := o.CacheSize
	if size <= 0 {
		size = defaultCacheSize
	}
	rt := &Runtime{host: o.Host, registry: runtime.NewRegistry(), general: o.General, registered: make(map[string]OpDef),
		ops: newCache[*Op](size), plans: newCache[*plan](size), kernels: newCache[*runtime.Function](size)}
	if rt.host == nil {
		rt.host = runtime.NewHost(runtime.HostOptions{})
	}
	rt.request = runtime.NewRequest(context.Background(), rt.host, runtime.RequestOptions{Data: o.Data})
	kernels.Register(rt.registry)
	for _, register := range o.Register {
		register(rt.registry)
	}
	rt.registry.Freeze()
	rt.handlers = append(append(rt.handlers, o.Handlers...), cpu{rt})
	return rt
}

// Host is where ops run.
func (rt *Runtime) Host() *runtime.Host { return rt.host }

// Quiesce waits until nothing runs any more. It must not be called on a worker of the host's queue.
func (rt *Runtime) Quiesce() { rt.host.Quiesce() }

// Stats counts the use of the cache of prepared ops.
func (rt *Runtime) Stats() CacheStats { return rt.plans.statistics() }

// OpHandler makes ops. A handler that does not know a name, or leaves it to the next one, returns an error that is ErrNotHandled.
type OpHandler interface {
	Name() string
	MakeOp(name string, attrs Attrs) (*Op, error)
}

// ErrNotHandled is what a handler says of ops that it does not know.
var ErrNotHandled = errors.New("op is not handled")

// Handler returns the handler of that name, or nil. The one for HLO is called "cpu".
func (rt *Runtime) Handler(name string) OpHandler {
	for _, h := range rt.handlers {
		if h.Name() == name {
			return h
		}
	}
	return nil
}

// MakeOp asks the handlers, one after the other, for an op: a mnemonic of HLO, a name that was registered, or one that another handler knows.
func (rt *Runtime) MakeOp(name string, attrs Attrs) (*Op, error) {
	for _, h := range rt.handlers {
		op, err := h.MakeOp(name, attrs)
		if !errors.Is(err, ErrNotHandled) {
			return op, err
		}
	}
	return nil, async.Errorf(async.NotFound, "no handler knows op %q", name)
}

// Execute makes an op and calls it. Making it anew costs less than its preparation, which is kept; who calls an op often keeps it too.
func (rt *Runtime) Execute(req *runtime.Request, name string, attrs Attrs, args ...TensorHandle) ([]TensorHandle, error) {
	op, err := rt.MakeOp(name, attrs)
	if err != nil {
		return nil, err
	}
	return op.Call(req, args...)
}

// OpDef is an op of the user's own.
type OpDef struct {
	// Metadata tells the shapes of the results from those of the operands, or refuses them. Dispatch computes the results, which
	// are allocated; it is a tensor kernel, called with the attributes' Values.
	Metadata func(args []hlo.Shape, values any) ([]hlo.Shape, error)
	Dispatch func(f *runtime.TensorFrame, values any) error
	// Make stands for both where shapes depend on data: it makes Results tensors, whose metadata is known when they are.
	Make    func(ctx runtime.ExecContext, args []Tensor, values any) ([]Tensor, error)
	Results int
}

// RegisterOp adds an op to those that the cpu handler knows. It panics if the name is taken or the definition makes no sense: a mistake of the program.
func (rt *Runtime) RegisterOp(name string, def OpDef) {
	if _, taken := hlo.OpcodeByName(name); taken {
		panic(fmt.Sprintf("eager: op %q is HLO's", name))
	}
	if static := def.Metadata != nil && def.Dispatch != nil; static == (def.Make != nil) {
		panic(fmt.Sprintf("eager: op %q needs Metadata and Dispatch, or Make", name))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if _, taken := rt.registered[name]; taken {
		panic(fmt.Sprintf("eager: op %q is registered twice", name))
	}
	rt.registered[name] = def
}

// cpu is the handler of HLO ops and of those that were registered.
type cpu struct{ rt *Runtime }

func (cpu) Name() string { return "cpu" }

func (h cpu) MakeOp(name string, attrs Attrs) (*Op, error) {
	if opcode, ok := hlo.OpcodeByName(name); ok {
		return h.rt.hloOp(opcode, attrs)
	}
	h.rt.mu.Lock()
	def, ok := h.rt.registered[name]
	h.rt.mu.Unlock()
	if !ok {
		return nil, ErrNotHandled
	}
	return h.rt.definedOp(name, def, attrs), nil
}
