package runtime

import (
	"fmt"
	"io"
	"reflect"
	"sync"
)

// ResourceContext holds named values that live longer than a request: variables, caches, results of tfrt.once. It is safe
// for concurrent use.
type ResourceContext struct {
	mu      sync.Mutex
	entries map[string]*resource
	order   []string
}

type resource struct {
	once  sync.Once
	value any
	err   error
}

// NewResourceContext returns an empty context.
func NewResourceContext() *ResourceContext {
	return &ResourceContext{entries: make(map[string]*resource)}
}

// GetOrCreateResource returns the value of that name, made by create at the first call. Concurrent callers wait for the
// one that creates; an error is kept as the value is. It is an error if the value has another type.
func GetOrCreateResource[T any](c *ResourceContext, name string, create func() (T, error)) (T, error) {
	c.mu.Lock()
	r := c.entries[name]
	if r == nil {
		r = &resource{}
		c.entries[name] = r
		c.order = append(c.order, name)
	}
	c.mu.Unlock()
	r.once.Do(func() { r.value, r.err = create() })
	var zero T
	if r.err != nil {
		return zero, r.err
	}
	v, ok := r.value.(T)
	if !ok {
		return zero, fmt.Errorf("resource %q is a %T, not a %v", name, r.value, reflect.TypeFor[T]())
	}
	return v, nil
}

// Close releases the values in the reverse order of their first mention, calling Close on those that have it, and empties
// the context. It returns the first error.
func (c *ResourceContext) Close() error {
	c.mu.Lock()
	entries, order := c.entries, c.order
	c.entries, c.order = make(map[string]*resource), nil
	c.mu.Unlock()
	var first error
	for i := len(order) - 1; i >= 0; i-- {
		if closer, ok := entries[order[i]].value.(io.Closer); ok {
			if err := closer.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}
