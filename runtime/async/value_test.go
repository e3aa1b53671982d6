package async

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buffer is a counted payload that notes when it is released.
type buffer struct {
	refs     atomic.Int32
	released atomic.Int32
	data     int
}

func newBuffer(data int) *buffer {
	b := &buffer{data: data}
	b.refs.Store(1)
	return b
}

func (b *buffer) AddRef() { b.refs.Add(1) }
func (b *buffer) DropRef() {
	switch left := b.refs.Add(-1); {
	case left == 0:
		b.released.Add(1)
	case left < 0:
		panic("buffer released twice")
	}
}

// tasks is an executor that runs nothing until told.
type tasks struct {
	mu   sync.Mutex
	list []func()
}

func (ts *tasks) AddTask(f func()) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.list = append(ts.list, f)
}

func (ts *tasks) len() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.list)
}

// run runs all tasks, and those they add.
func (ts *tasks) run() {
	for ts.len() > 0 {
		ts.mu.Lock()
		f := ts.list[0]
		ts.list = ts.list[1:]
		ts.mu.Unlock()
		f()
	}
}

var errTest = errors.New("test error")

// flags are all the answers a value gives about its state.
type flags struct {
	state                                    State
	available, unavailable, concrete, failed bool
}

func flagsOf(v *Value) flags {
	return flags{v.State(), v.IsAvailable(), v.IsUnavailable(), v.IsConcrete(), v.IsError()}
}

var (
	isUnconstructed = flags{Unconstructed, false, true, false, false}
	isConstructed   = flags{Constructed, false, true, false, false}
	isAvailable     = flags{Available, true, false, true, false}
	isFailed        = flags{Failed, true, false, false, true}
)

func TestV10StateChangesOnce(t *testing.T) {
	for _, tt := range []struct {
		name    string
		make    func() Ref[int]
		before  flags
		publish func(Ref[int])
		after   flags
	}{
		{"constructed to error", func() Ref[int] { return MakeConstructed(7) }, isConstructed, func(r Ref[int]) { r.SetError(errTest) }, isFailed},
		{"constructed to concrete", func() Ref[int] { return MakeConstructed(7) }, isConstructed, Ref[int].SetConcrete, isAvailable},
		{"constructed, then emplaced", func() Ref[int] { return MakeConstructed(1) }, isConstructed, func(r Ref[int]) { r.Emplace(7) }, isAvailable},
		{"unconstructed, emplaced", MakeUnconstructed[int], isUnconstructed, func(r Ref[int]) { r.Emplace(7) }, isAvailable},
		{"unconstructed, constructed, published", MakeUnconstructed[int], isUnconstructed, func(r Ref[int]) {
			r.Construct(6)
			assert.Equal(t, isConstructed, flagsOf(r.Value()))
			*r.Payload() = 7
			r.SetConcrete()
		}, isAvailable},
		{"unconstructed to error", MakeUnconstructed[int], isUnconstructed, func(r Ref[int]) { r.SetError(errTest) }, isFailed},
		{"indirect to concrete", func() Ref[int] { return Cast[int](&MakeIndirect().Value) }, isUnconstructed, func(r Ref[int]) { r.Emplace(7) }, isAvailable},
		{"indirect to error", func() Ref[int] { return Cast[int](&MakeIndirect().Value) }, isUnconstructed, func(r Ref[int]) { r.SetError(errTest) }, isFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			CheckLeaks(t)
			r := tt.make()
			require.Equal(t, tt.before, flagsOf(r.Value()))
			calls := 0
			r.AndThen(func() { calls++ })
			assert.Zero(t, calls)
			tt.publish(r)
			check := func() {
				assert.Equal(t, tt.after, flagsOf(r.Value()))
				assert.Equal(t, 1, calls)
				if tt.after == isAvailable {
					assert.Equal(t, 7, r.Get())
					assert.NoError(t, r.Err())
				} else {
					assert.ErrorIs(t, r.Err(), errTest)
					assert.Equal(t, Internal, r.Status().Code)
				}
			}
			check()
			if !debug { // a later publication changes nothing
				late := Stats().LatePublications
				r.Emplace(8)
				r.SetError(errors.New("other"))
				check()
				assert.Equal(t, late+2, Stats().LatePublications)
			}
			r.Drop()
		})
	}
}

func TestV11LastReferenceReleasesPayload(t *testing.T) {
	for _, tt := range []struct {
		name string
		use  func(b *buffer) (unreleased *Value)
	}{
		{"available", func(b *buffer) *Value { r := MakeAvailable(b); return r.Release() }},
		{"emplaced", func(b *buffer) *Value { r := MakeUnconstructed[*buffer](); r.Emplace(b); return r.Release() }},
		{"filled in place", func(b *buffer) *Value { r := MakeConstructed(b); r.SetConcrete(); return r.Release() }},
		{"behind an indirect", func(b *buffer) *Value {
			in := MakeIndirect()
			r := MakeAvailable(b)
			in.ForwardTo(r.Release())
			return &in.Value
		}},
		{"behind two indirects, forwarded late", func(b *buffer) *Value {
			outer, inner := MakeIndirect(), MakeIndirect()
			outer.ForwardTo(&inner.Value)
			r := MakeAvailable(b)
			inner.ForwardTo(r.Release())
			return &outer.Value
		}},
		{"mapped", func(b *buffer) *Value {
			src := MakeUnconstructed[int]()
			r := Map(src, func(int) *buffer { return b })
			src.Emplace(1)
			return r.Release()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			CheckLeaks(t)
			b := newBuffer(1)
			v := tt.use(b)
			assert.True(t, v.IsUnique())
			assert.Equal(t, 1, v.NumRefs())
			v.AddRefs(3)
			assert.Equal(t, 4, v.NumRefs())
			assert.False(t, v.IsUnique())
			v.DropRef()
			v.DropRefs(2)
			assert.Zero(t, b.released.Load())
			assert.True(t, v.IsUnique())
			v.DropRef()
			assert.EqualValues(t, 1, b.released.Load())
			v = nil
		})
	}
	t.Run("never published", func(t *testing.T) {
		b := newBuffer(1)
		r := MakeConstructed(b)
		r.Drop()
		assert.EqualValues(t, 1, b.released.Load())
		r = MakeUnconstructed[*buffer]()
		r.Drop()
		r.Drop() // an emptied reference
	})
	t.Run("constructed twice", func(t *testing.T) {
		b, c := newBuffer(1), newBuffer(2)
		r := MakeConstructed(b)
		r.Construct(c)
		assert.EqualValues(t, 1, b.released.Load())
		r.Emplace(newBuffer(3))
		assert.EqualValues(t, 1, c.released.Load())
		assert.Equal(t, 3, r.Get().data)
	})
	t.Run("too many drops", func(t *testing.T) {
		v := MakeAvailable(newBuffer(1)).Value()
		assert.Panics(t, func() { v.DropRefs(2) })
	})
	t.Run("taken", func(t *testing.T) {
		b := newBuffer(1)
		r := MakeAvailable(b)
		s := r.CopyRef()
		require.Same(t, b, r.Take())
		assert.EqualValues(t, 2, b.refs.Load(), "copied out: the value has one too")
		require.Same(t, b, s.Take())
		assert.EqualValues(t, 2, b.refs.Load(), "moved out")
		assert.True(t, s.IsEmpty())
	})
}

func TestV12PayloadOfAnError(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(*Value, error)
		kept bool
	}{
		{"released", (*Value).SetError, false},
		{"kept", (*Value).SetErrorKeepPayload, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			CheckLeaks(t)
			b := newBuffer(5)
			r := MakeConstructed(b)
			tt.fail(r.Value(), errTest)
			assert.True(t, r.IsError())
			if tt.kept {
				assert.Equal(t, 5, (*r.Payload()).data)
				assert.Zero(t, b.released.Load())
			} else {
				assert.EqualValues(t, 1, b.released.Load())
			}
			r.Drop()
			assert.EqualValues(t, 1, b.released.Load())
		})
	}
}

func TestV13AndThen(t *testing.T) {
	type registrar struct {
		name string
		wait func(r Ref[int], saw func(int, error))
	}
	for _, how := range []registrar{
		{"plain", func(r Ref[int], saw func(int, error)) { r.AndThen(func() { saw(r.Result()) }) }},
		{"pointer", func(r Ref[int], saw func(int, error)) { r.Ptr().AndThen(func() { saw(r.Result()) }) }},
		{"status", func(r Ref[int], saw func(int, error)) {
			r.Value().AndThenStatus(func(st *Status) {
				if st != nil {
					saw(0, st)
				} else {
					saw(r.Get(), nil)
				}
			})
		}},
		{"value or status", func(r Ref[int], saw func(int, error)) { r.AndThenResult(saw) }},
		{"intrusive", func(r Ref[int], saw func(int, error)) {
			r.Value().AndThenCall(new(Waiter), func(any) Ready { saw(r.Result()); return Ready{} }, nil)
		}},
		{"intrusive, deferred", func(r Ref[int], saw func(int, error)) {
			r.Value().AndThenLater(new(Waiter), func(any) Ready { saw(r.Result()); return Ready{} }, nil).Run()
		}},
	} {
		for _, when := range []string{"before", "after"} {
			for _, outcome := range []string{"value", "error"} {
				t.Run(how.name+"/"+when+"/"+outcome, func(t *testing.T) {
					CheckLeaks(t)
					r := MakeUnconstructed[int]()
					publish := func() { r.Emplace(3) }
					if outcome == "error" {
						publish = func() { r.SetError(errTest) }
					}
					calls := 0
					saw := func(x int, err error) {
						calls++
						if outcome == "value" {
							assert.Equal(t, 3, x)
							assert.NoError(t, err)
						} else {
							assert.ErrorIs(t, err, errTest)
						}
					}
					if when == "before" {
						how.wait(r, saw)
						assert.Zero(t, calls)
						publish()
					} else {
						publish()
						how.wait(r, saw)
					}
					assert.Equal(t, 1, calls)
				})
			}
		}
	}
}

func TestV13EveryWaiterOnceLastFirst(t *testing.T) {
	r := MakeUnconstructed[int]()
	var order []int
	for i := range 5 {
		r.AndThen(func() { order = append(order, i) })
	}
	r.Emplace(1)
	assert.Equal(t, []int{4, 3, 2, 1, 0}, order)
}

func TestV14CallbackThatOwnsWhatItCaptured(t *testing.T) {
	CheckLeaks(t)
	b := newBuffer(1)
	owned := MakeAvailable(b)
	r := MakeUnconstructed[int]()
	func(moved Ref[*buffer]) {
		r.AndThen(func() { moved.Drop() })
	}(Ref[*buffer]{owned.Release()})
	assert.Zero(t, b.released.Load())
	r.Emplace(1)
	assert.EqualValues(t, 1, b.released.Load())
}

func TestV27ValueThatRefersToItself(t *testing.T) {
	CheckLeaks(t)
	b := newBuffer(1)
	r := MakeUnconstructed[*buffer]()
	self := r.CopyRef()
	r.AndThen(func() { self.Drop() }) // a cycle until publication
	v := r.Release()
	Emplace(v, b)
	assert.Zero(t, b.released.Load())
	assert.True(t, v.IsUnique())
	v.DropRef()
	assert.EqualValues(t, 1, b.released.Load())
}

func TestV28StaticValuesIgnoreCounts(t *testing.T) {
	b := newBuffer(1)
	for name, v := range map[string]*Value{
		"static":       MakeStatic(b).Value(),
		"ready chain":  ReadyChain().Value(),
		"small int32":  Int32(-16),
		"small int64":  Int64(255),
		"bool":         Bool(true),
		"uncounted":    MakeAvailable("text").Value(),
		"error":        MakeError(errTest),
		"plain number": Int32(1 << 20),
	} {
		t.Run(name, func(t *testing.T) {
			v.DropRefs(5)
			v.AddRef()
			v.DropRef()
			assert.Zero(t, v.NumRefs())
			assert.False(t, v.IsUnique())
			assert.False(t, v.IsCounted())
			assert.True(t, v.IsAvailable())
		})
	}
	assert.Zero(t, b.released.Load())
}

func TestSharedValues(t *testing.T) {
	assert.Same(t, Int32(5), MakeAvailable[int32](5).Value())
	assert.NotSame(t, Int32(256), Int32(256))
	assert.NotSame(t, Int64(-17), Int64(-17))
	assert.Same(t, ReadyChain().Value(), MakeAvailable(Chain{}).Value())
	assert.NotSame(t, Bool(false), Bool(true))
	for i := int32(-20); i < 260; i++ {
		require.Equal(t, i, Get[int32](Int32(i)))
		require.Equal(t, int64(i), Get[int64](Int64(int64(i))))
	}
	assert.True(t, Get[bool](Bool(true)))
	assert.False(t, Get[bool](Bool(false)))
}

func TestIsUnique(t *testing.T) {
	b := newBuffer(1)
	in := MakeIndirect()
	assert.False(t, in.IsUnique(), "an unresolved indirect never is")
	r := MakeAvailable(b)
	other := r.CopyRef()
	in.ForwardTo(r.Release())
	assert.False(t, in.IsUnique(), "the value behind it has another user")
	other.Drop()
	assert.True(t, in.IsUnique())
	in.AddRef()
	assert.False(t, in.IsUnique())
}

func TestString(t *testing.T) {
	assert.Equal(t, "concrete value of int32", Int32(4).String())
	assert.Equal(t, "unconstructed value of string", MakeUnconstructed[string]().Value().String())
	assert.Equal(t, "constructed value of string", MakeConstructed("x").Value().String())
	assert.Equal(t, "error value (test error)", MakeError(errTest).String())
	assert.Equal(t, "unconstructed value of unresolved indirect", MakeIndirect().String())
	assert.Equal(t, "unconstructed value of string", MakeIndirectOf[string]().String())
	assert.Equal(t, "async.Value(nil)", (*Value)(nil).String())
	assert.Equal(t, "State(9)", State(9).String())
}
