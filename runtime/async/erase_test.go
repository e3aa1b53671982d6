package async

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type metres float64

func (m metres) String() string { return fmt.Sprintf("%g m", float64(m)) }

func TestV23Types(t *testing.T) {
	resolved := func(in *Indirect, target *Value) *Value {
		in.ForwardTo(target)
		return &in.Value
	}
	m := func() *Value { r := MakeAvailable(metres(2)); return r.Release() }
	for _, tt := range []struct {
		name                   string
		v                      *Value
		exact, base, unrelated bool
	}{
		{"exact", m(), true, true, false},
		{"unavailable", MakeUnconstructed[metres]().Value(), true, true, false},
		{"base", MakeAvailable[fmt.Stringer](metres(2)).Value(), true, true, false},
		{"other", MakeAvailable("x").Value(), false, false, true},
		{"unresolved indirect", &MakeIndirect().Value, false, false, false},
		{"unresolved indirect of the type", &MakeIndirectOf[metres]().Value, true, false, false},
		{"unresolved indirect of another type", &MakeIndirectOf[string]().Value, false, false, true},
		{"resolved indirect", resolved(MakeIndirect(), m()), true, true, false},
		{"resolved indirect of the type", resolved(MakeIndirectOf[metres](), m()), true, true, false},
		{"resolved indirect of the base", resolved(MakeIndirectOf[fmt.Stringer](), m()), true, true, false},
		{"error", MakeError(errTest), true, true, true},
		{"error of another type", func() *Value { r := MakeUnconstructed[string](); r.SetError(errTest); return r.Value() }(), true, true, true},
		{"indirect to an error", resolved(MakeIndirectOf[metres](), MakeError(errTest)), true, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.exact, IsType[metres](tt.v))
			assert.Equal(t, tt.base, IsType[fmt.Stringer](tt.v))
			assert.Equal(t, tt.unrelated, IsType[string](tt.v))

			_, ok := DynCast[metres](tt.v)
			assert.Equal(t, tt.exact, ok)
			if tt.unrelated || tt.v.IsIndirect() {
				assert.NotPanics(t, func() { Cast[string](tt.v) })
			} else {
				assert.Panics(t, func() { Cast[string](tt.v) })
			}
			if tt.exact && tt.v.IsConcrete() {
				assert.Equal(t, metres(2), Get[metres](tt.v))
				assert.Equal(t, "2 m", Get[fmt.Stringer](tt.v).String())
				assert.Panics(t, func() { Get[string](tt.v) })
				x, ok := GetIfPresent[fmt.Stringer](tt.v)
				assert.True(t, ok)
				assert.Equal(t, "2 m", x.String())
			}
			if !tt.v.IsConcrete() {
				_, ok := GetIfPresent[metres](tt.v)
				assert.False(t, ok)
			}
		})
	}
	assert.Panics(t, func() { Emplace(MakeUnconstructed[int]().Value(), "text") })
	assert.Nil(t, Payload[string](m()))
	assert.Equal(t, metres(2), *Payload[metres](m()))
}

func TestRefConversions(t *testing.T) {
	CheckLeaks(t)
	b := newBuffer(1)
	r := MakeAvailable(b)
	erased := r.Release()
	assert.True(t, r.IsEmpty())
	typed := Cast[*buffer](erased)
	assert.Same(t, erased, typed.Value())
	p := typed.Ptr()
	assert.Same(t, b, p.Get())
	assert.True(t, p.IsAvailable())
	assert.True(t, p.IsConcrete())
	assert.False(t, p.IsError())
	assert.Nil(t, p.Status())
	assert.Equal(t, 1, erased.NumRefs(), "a Ptr counts nothing")
	copied := p.CopyRef()
	assert.Equal(t, 2, erased.NumRefs())
	copied.Drop()
	typed.Drop()
	assert.EqualValues(t, 1, b.released.Load())

	q := MakeUnconstructed[int]().Ptr()
	q.Emplace(3)
	assert.Equal(t, 3, Get[int](q.Value()))
	q = MakeUnconstructed[int]().Ptr()
	q.SetError(errTest)
	assert.ErrorIs(t, q.Status(), errTest)
}

func TestIndirect(t *testing.T) {
	t.Run("a long chain is read in one step", func(t *testing.T) {
		CheckLeaks(t)
		const n = 1000
		b := newBuffer(1)
		ins := make([]*Indirect, n)
		for i := range ins {
			ins[i] = MakeIndirect()
			if i > 0 {
				ins[i-1].AddRef()
				ins[i].ForwardTo(&ins[i-1].Value)
			}
		}
		r := MakeAvailable(b)
		ins[0].ForwardTo(r.Release())
		for _, in := range ins {
			assert.Same(t, b, Get[*buffer](&in.Value))
			require.False(t, in.Target().IsIndirect())
		}
		for _, in := range ins {
			assert.Zero(t, b.released.Load())
			in.DropRef()
		}
		assert.EqualValues(t, 1, b.released.Load())
	})
	t.Run("outlives its owners until forwarded", func(t *testing.T) {
		CheckLeaks(t)
		b := newBuffer(1)
		src, in := MakeUnconstructed[*buffer](), MakeIndirect()
		in.ForwardTo(src.Release())
		src = Cast[*buffer](in.target.Load())
		in.DropRef()
		src.Emplace(b)
		assert.EqualValues(t, 1, b.released.Load(), "nobody wanted it")
	})
	t.Run("forwarded twice", func(t *testing.T) {
		if debug {
			t.Skip("panics in debug builds")
		}
		in := MakeIndirect()
		in.ForwardTo(Int32(1))
		b := newBuffer(1)
		r := MakeAvailable(b)
		in.ForwardTo(r.Release())
		assert.EqualValues(t, 1, Get[int32](&in.Value))
		assert.EqualValues(t, 1, b.released.Load())
	})
	t.Run("wrong type", func(t *testing.T) {
		CheckLeaks(t)
		in := MakeIndirectOf[string]()
		b := newBuffer(1)
		r := MakeAvailable(b)
		in.ForwardTo(r.Release())
		assert.EqualError(t, in.Err(), "got a value of *async.buffer, want string")
		assert.EqualValues(t, 1, b.released.Load())
		in.DropRef()
	})
	for _, n := range []int{1, 2, 3, 4, 5, 64, 65, 66, 5000} {
		t.Run(fmt.Sprintf("cycle of %d", n), func(t *testing.T) {
			ins := make([]*Indirect, n)
			for i := range ins {
				ins[i] = MakeIndirect()
				ins[i].AddRef() // one for us, one to give away
			}
			for i := range ins {
				ins[i].ForwardTo(&ins[(i+1)%n].Value)
			}
			for _, in := range ins {
				assert.EqualError(t, in.Err(), "value is forwarded to itself")
			}
		})
	}
}

// TestTooManyDrops: a reference that nobody had is found out, even when it is the one after the last.
func TestTooManyDrops(t *testing.T) {
	if debug {
		t.Skip("debug builds say more")
	}
	r := MakeAvailable(newBuffer(1))
	v := r.Release()
	v.DropRef()
	assert.PanicsWithValue(t, "async: DropRef of a destroyed value", func() { v.DropRef() })
}
