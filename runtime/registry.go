package runtime

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gohalo/halo/runtime/async"
)

// Registry maps kernel names to implementations: tensor kernels, general kernels and kernels of synchronous functions
// share one name space. Native functions have another. Fill it, then load programs with it; the first Load freezes it,
// and from then on it is safe for concurrent use.
type Registry struct {
	mu      sync.Mutex
	frozen  bool
	kernels map[string]*registered
	family  Family
	natives map[string]*Kernel
	values  *TensorValues // nil: general functions have no tensors

	modules Modules
}

// registered is what one name stands for. A name may have a general and a synchronous implementation.
type registered struct {
	tensor  TensorBinder
	general *Kernel
	sync    *Kernel
}

// Family is a set of tensor kernels with something in common that are made when a program names them: most programs name few of many.
type Family struct {
	Names func() []string
	Find  func(name string) (TensorBinder, bool)
}

// Family registers the tensor kernels of a family, of which there is one at most.
func (r *Registry) Family(f Family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkOpen("a family of kernels")
	for name := range r.kernels {
		if _, ok := f.Find(name); ok {
			panic(fmt.Sprintf("runtime: kernel %q is registered twice", name))
		}
	}
	if r.family.Find != nil {
		panic("runtime: two families of kernels are registered")
	}
	r.family = f
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{kernels: make(map[string]*registered), natives: make(map[string]*Kernel)}
}

// Tensor registers a tensor kernel. Registering a name twice panics, as does registering after Freeze.
func (r *Registry) Tensor(name string, bind TensorBinder) {
	e := r.entry(name)
	if e.tensor != nil || e.general != nil || e.sync != nil {
		panic(fmt.Sprintf("runtime: kernel %q is registered twice", name))
	}
	e.tensor = bind
}

// Kernel registers a general kernel.
func (r *Registry) Kernel(name string, k Kernel) {
	if k.Run == nil {
		panic(fmt.Sprintf("runtime: kernel %q has no implementation", name))
	}
	e := r.entry(name)
	if e.tensor != nil || e.general != nil {
		panic(fmt.Sprintf("runtime: kernel %q is registered twice", name))
	}
	e.general = &k
}

// Sync registers the synchronous implementation of k: only synchronous functions may use the name then, unless Kernel
// registers it too.
func (r *Registry) Sync(name string, k Kernel) {
	if k.Sync == nil {
		panic(fmt.Sprintf("runtime: kernel %q has no synchronous implementation", name))
	}
	e := r.entry(name)
	if e.tensor != nil || e.sync != nil {
		panic(fmt.Sprintf("runtime: kernel %q is registered twice", name))
	}
	e.sync = &k
}

// Native registers a native function: a Go function that programs declare by name and signature. It is called when all
// arguments are available and none is an error; its results may be unavailable.
func (r *Registry) Native(name string, f Kernel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkOpen(name)
	if r.natives[name] != nil {
		panic(fmt.Sprintf("runtime: native function %q is registered twice", name))
	}
	r.natives[name] = &f
}

func (r *Registry) entry(name string) *registered {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkOpen(name)
	e := r.lookup(name)
	if e == nil {
		e = &registered{}
		r.kernels[name] = e
	}
	return e
}

func (r *Registry) checkOpen(name string) {
	if r.frozen {
		panic(fmt.Sprintf("runtime: %q is registered after the registry was frozen", name))
	}
}

// Freeze ends registration.
func (r *Registry) Freeze() {
	r.mu.Lock()
	r.frozen = true
	r.mu.Unlock()
}

// Names returns all kernel names, sorted.
func (r *Registry) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	if r.family.Names != nil {
		names = r.family.Names()
	}
	for name := range r.kernels {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Bind chooses the implementation of a tensor kernel for a use outside of any program, as loading does for those inside. It freezes r.
// A binder that panics gives an error.
func (r *Registry) Bind(b *Binding) (Bound, error) {
	r.Freeze()
	e := r.lookup(b.Kernel)
	if e == nil || e.tensor == nil {
		return Bound{}, async.Errorf(async.NotFound, "no tensor kernel is called %s", b.Kernel)
	}
	return callBinder(e.tensor, b)
}

// lookup finds a kernel in a frozen registry.
func (r *Registry) lookup(name string) *registered {
	if e := r.kernels[name]; e != nil {
		return e
	}
	if r.family.Find != nil {
		if bind, ok := r.family.Find(name); ok {
			return &registered{tensor: bind}
		}
	}
	return nil
}
