package async

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mapper applies x ↦ 2x in one of the styles of this package; the mapping
// fails for negative x and counts its calls.
type mapper struct {
	name  string
	mayBe bool // whether the mapping may fail
	apply func(ex Executor, src Ref[int], calls *int) Ref[string]
}

func double(calls *int) func(int) (string, error) {
	return func(x int) (string, error) {
		*calls++
		if x < 0 {
			return "", errTest
		}
		return string(rune('a' + 2*x)), nil
	}
}

var mappers = []mapper{
	{"Map", false, func(ex Executor, src Ref[int], calls *int) Ref[string] {
		f := func(x int) string { s, _ := double(calls)(x); return s }
		if ex != nil {
			return MapOn(ex, src, f)
		}
		return Map(src, f)
	}},
	{"TryMap", true, func(ex Executor, src Ref[int], calls *int) Ref[string] {
		if ex != nil {
			return TryMapOn(ex, src, double(calls))
		}
		return TryMap(src, double(calls))
	}},
	{"FlatMap", true, func(ex Executor, src Ref[int], calls *int) Ref[string] {
		f := func(x int) Ref[string] {
			s, err := double(calls)(x)
			if err != nil {
				return MakeErrorRef[string](err)
			}
			return MakeAvailable(s)
		}
		if ex != nil {
			return FlatMapOn(ex, src, f)
		}
		return FlatMap(src, f)
	}},
}

// forEachMapping runs the rows V15, V17 and V18, inline and, as row V19 wants,
// on an executor.
func forEachMapping(t *testing.T, m mapper, onExecutor bool) {
	for _, tt := range []struct {
		name      string
		late      bool
		x         int
		err       error
		wantCalls int
		want      string
		wantErr   bool
	}{
		{"available", false, 1, nil, 1, "c", false},
		{"unavailable", true, 2, nil, 1, "e", false},
		{"error", false, 0, errTest, 0, "", true},
		{"later error", true, 0, errTest, 0, "", true},
		{"failing mapping", false, -1, nil, 1, "", m.mayBe},
		{"failing mapping, later", true, -1, nil, 1, "", m.mayBe},
	} {
		t.Run(tt.name, func(t *testing.T) {
			CheckLeaks(t)
			var ex Executor
			queue := new(tasks)
			if onExecutor {
				ex = queue
			}
			src := MakeUnconstructed[int]()
			publish := func() {
				if tt.err != nil {
					src.SetError(tt.err)
				} else {
					src.Emplace(tt.x)
				}
			}
			calls := 0
			var out Ref[string]
			if tt.late {
				out = m.apply(ex, src, &calls)
				assert.False(t, out.IsAvailable())
				publish()
			} else {
				publish()
				out = m.apply(ex, src, &calls)
			}
			if onExecutor {
				assert.False(t, out.IsAvailable())
				assert.Zero(t, calls, "only the executor calls the mapping")
				queue.run()
			}
			require.True(t, out.IsAvailable())
			assert.Equal(t, tt.wantCalls, calls)
			if tt.wantErr {
				require.ErrorIs(t, out.Err(), errTest)
				if tt.err != nil {
					assert.Same(t, src.Status(), out.Status())
				}
			} else {
				require.NoError(t, out.Err())
				assert.Equal(t, tt.want, out.Get())
			}
			out.Drop()
		})
	}
}

func TestV15Map(t *testing.T)     { forEachMapping(t, mappers[0], false) }
func TestV17TryMap(t *testing.T)  { forEachMapping(t, mappers[1], false) }
func TestV18FlatMap(t *testing.T) { forEachMapping(t, mappers[2], false) }

func TestV19OnAnExecutor(t *testing.T) {
	for _, m := range mappers {
		t.Run(m.name, func(t *testing.T) { forEachMapping(t, m, true) })
	}
	t.Run("AndThen", func(t *testing.T) {
		CheckLeaks(t)
		for _, late := range []bool{false, true} {
			queue := new(tasks)
			b := newBuffer(1)
			r := MakeUnconstructed[*buffer]()
			if !late {
				r.Emplace(b)
			}
			ran := false
			r.AndThenOn(queue, func() { ran = true; assert.Zero(t, b.released.Load()) })
			if late {
				r.Emplace(b)
			}
			assert.False(t, ran)
			r.Drop()
			assert.Zero(t, b.released.Load(), "the task holds a reference")
			queue.run()
			assert.True(t, ran)
			assert.EqualValues(t, 1, b.released.Load())
		}
	})
	t.Run("MakeAsync", func(t *testing.T) {
		CheckLeaks(t)
		queue := new(tasks)
		good := MakeAsync(queue, func() (int, error) { return 1, nil })
		bad := MakeAsync(queue, func() (int, error) { return 0, errTest })
		ugly := MakeAsync(queue, func() (int, error) { panic("ugly") })
		assert.False(t, good.IsAvailable())
		queue.run()
		assert.Equal(t, 1, good.Get())
		assert.ErrorIs(t, bad.Err(), errTest)
		assert.ErrorContains(t, ugly.Err(), "panic: ugly")
	})
}

func TestV16MapSeveralTimes(t *testing.T) {
	CheckLeaks(t)
	src := MakeUnconstructed[int]()
	var outs []Ref[int]
	for i := range 4 {
		outs = append(outs, Map(src, func(x int) int { return x * i }))
	}
	chained := Map(Map(src, func(x int) int { return x + 1 }), func(x int) int { return -x })
	src.Emplace(10)
	for i := range 4 {
		assert.Equal(t, 10*i, outs[i].Get())
	}
	assert.Equal(t, -11, chained.Get())
}

func TestV18FlatMapIdentity(t *testing.T) {
	inner := MakeUnconstructed[string]()
	out := FlatMap(MakeAvailable(1), func(int) Ref[string] { return inner })
	assert.Same(t, inner.Value(), out.Value(), "no indirect if the source is concrete")

	src := MakeUnconstructed[int]()
	out = FlatMap(src, func(int) Ref[string] { return inner })
	assert.True(t, out.Value().IsIndirect())
	src.Emplace(1)
	assert.False(t, out.IsAvailable())
	inner.Emplace("later")
	assert.Equal(t, "later", out.Get())

	src = MakeUnconstructed[int]()
	out = FlatMap(src, func(int) Ref[string] { return Ref[string]{} })
	src.Emplace(1)
	assert.ErrorContains(t, out.Err(), "mapping returned no value")
}

func TestV20DeferredInnerValueOnAnExecutor(t *testing.T) {
	CheckLeaks(t)
	queue := new(tasks)
	out := FlatMapOn(queue, MakeAvailable(20), func(x int) Ref[int] {
		return MakeAsync(queue, func() (int, error) { return x + 1, nil })
	})
	assert.Equal(t, 1, queue.len())
	queue.run()
	assert.Equal(t, 21, out.Get())
	out.Drop()
}

func TestMapHoldsItsSource(t *testing.T) {
	CheckLeaks(t)
	b := newBuffer(3)
	src := MakeUnconstructed[*buffer]()
	out := Map(src, func(b *buffer) int { return b.data })
	v := src.Release()
	v.AddRef()
	v.DropRef()
	Emplace(v, b)
	assert.Equal(t, 3, out.Get())
	v.DropRef()
	assert.EqualValues(t, 1, b.released.Load())
}

func TestMapPanicBecomesAnError(t *testing.T) {
	for _, late := range []bool{false, true} {
		src := MakeUnconstructed[int]()
		if !late {
			src.Emplace(1)
		}
		boom := errors.New("boom")
		a := Map(src, func(int) int { panic(boom) })
		b := FlatMap(src, func(int) Ref[int] { panic("bang") })
		if late {
			src.Emplace(1)
		}
		assert.ErrorIs(t, a.Err(), boom)
		assert.Contains(t, string(a.Status().Payload), "TestMapPanicBecomesAnError", "the stack")
		assert.ErrorContains(t, b.Err(), "panic: bang")
	}
}

func TestMapToAndToChain(t *testing.T) {
	CheckLeaks(t)
	assert.Equal(t, "x", MapTo(Int32(3), "x").Get())
	assert.Same(t, ReadyChain().Value(), ToChain(Int32(3)).Value())

	src := MakeUnconstructed[int]()
	b := newBuffer(1)
	out, chain := MapTo(src.Value(), b), ToChain(src.Value())
	assert.False(t, out.IsAvailable())
	src.Emplace(1)
	assert.Same(t, b, out.Get())
	assert.True(t, chain.IsConcrete())
	out.Drop()
	assert.EqualValues(t, 1, b.released.Load())

	for _, late := range []bool{false, true} {
		src := MakeUnconstructed[int]()
		if !late {
			src.SetError(errTest)
		}
		b := newBuffer(1)
		out := MapTo(src.Value(), b)
		if late {
			src.SetError(errTest)
		}
		assert.Same(t, src.Status(), out.Status())
		assert.EqualValues(t, 1, b.released.Load())
		out.Drop()
	}
}
