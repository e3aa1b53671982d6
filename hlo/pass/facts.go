package pass

import (
	"reflect"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// Fact returns what find says about the module, and remembers it as long as the module is the current one of the pipeline: passes that follow
// one that changed nothing get the same answer for nothing. Facts are told apart by their type T, so a fact is of a type of its own and
// must not be written to. It may be asked for by several goroutines.
//
//	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
func Fact[T any](ctx *Context, m hlo.Module, find func(hlo.Module) T) T {
	return remember(ctx, m, func() T { return find(m) })
}

// FactOf is Fact for what depends on one computation alone: it stays as long as the computation does, in whichever module.
func FactOf[T any](ctx *Context, c hlo.Computation, find func(hlo.Computation) T) T {
	return remember(ctx, c, func() T { return find(c) })
}

// facts is the memory of a runner. Versions are pointers, so a version is the key.
type facts struct {
	mu    sync.Mutex
	known map[factKey]any
}

type factKey struct {
	version any // hlo.Module or hlo.Computation
	kind    reflect.Type
}

func remember[T any](ctx *Context, version any, find func() T) T {
	f, key := &ctx.runner.facts, factKey{version, reflect.TypeFor[T]()}
	f.mu.Lock()
	v, ok := f.known[key]
	f.mu.Unlock()
	if ok {
		return v.(T)
	}
	found := find()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = make(map[factKey]any)
	}
	f.known[key] = found
	return found
}

// outdate drops what is about modules, of which there is another version now, and reports whether there is anything about computations.
func (f *facts) outdate() (left bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.known {
		if _, ok := key.version.(hlo.Module); ok {
			delete(f.known, key)
		}
	}
	return len(f.known) > 0
}

// forget drops what is about versions that m does not hold.
func (f *facts) forget(m hlo.Module) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.known {
		current := key.version == any(m)
		if c, ok := key.version.(hlo.Computation); ok {
			now, exists := m.Computation(c.ID())
			current = exists && now == c
		}
		if !current {
			delete(f.known, key)
		}
	}
}
