//go:build race || halodebug

package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// elsewhere runs f in another goroutine and returns what it panicked with.
func elsewhere(f func()) (panicked any) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	return <-done
}

// TestEditorBelongsToOneGoroutine: use by a second one is found although the two take turns.
func TestEditorBelongsToOneGoroutine(t *testing.T) {
	m := chainModule(t, 3)
	e := m.Edit()
	c := e.Computation(0)
	for name, f := range map[string]func(){
		"editor":      func() { e.SetName("x") },
		"computation": func() { c.SetRoot(0) },
		"instruction": func() { InstrEdit{c.st, 1, c.gen}.SetShape(f32) },
		"builder":     func() { e.NewComputation("x") },
	} {
		p := elsewhere(f)
		assert.Contains(t, p, "goroutine_test.go", name)
		assert.Contains(t, p, "is used by goroutine", name)
	}
	children := e.Fork(0)
	assert.Nil(t, elsewhere(func() { children[0].Computation(0).SetRoot(0) }), "a fork belongs to whoever begins with it")
	assert.NoError(t, e.Join(children...))
	o := e.Own()
	assert.Nil(t, elsewhere(func() { o = o.Move().WithName("y") }), "an Owned handle takes the session along")
	assert.Nil(t, elsewhere(func() { o = o.Move().WithName("z") }))
	assert.Equal(t, "z", o.Share().Name())
}
