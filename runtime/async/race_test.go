package async

import (
	"flag"
	"fmt"
	rtdebug "runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestV31AppendOnlyTable(t *testing.T) {
	for _, writers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d writers", writers), func(t *testing.T) {
			const each = 3000
			type pair struct{ a, b int }
			var table ConcurrentVector[pair]
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range each {
						x := w*each + i
						at := table.Append(pair{x, -x})
						if got := *table.At(at); got.a != x {
							t.Errorf("got %v at %d, want %d", got, at, x)
						}
					}
				})
			}
			for range 2 {
				wg.Go(func() {
					first := table.At
					for n := 0; n < writers*each; n = table.Len() {
						for i := max(0, n-50); i < n; i++ {
							if p := first(i); p.a != -p.b {
								t.Errorf("incomplete element %v at %d", *p, i)
							}
						}
					}
				})
			}
			wg.Wait()
			seen := make(map[int]bool)
			for i := range table.Len() {
				seen[table.At(i).a] = true
			}
			assert.Len(t, seen, writers*each)
			assert.Panics(t, func() { table.At(writers * each) })
			assert.Panics(t, func() { table.At(-1) })
		})
	}
}

// The conformance row wants a million rounds; every day a few will do:
//
//	go test -race -run V32 ./runtime/async -publication-rounds=1000000
var publicationRounds = flag.Int("publication-rounds", 5000, "rounds of TestV32PublicationRace")

func TestV32PublicationRace(t *testing.T) {
	const registrars, each = 8, 2
	type round struct {
		ref   Ref[int]
		calls [registrars * each]atomic.Int32
		nodes [registrars]Waiter
		left  sync.WaitGroup
	}
	var work [registrars]chan *round
	for i := range work {
		work[i] = make(chan *round, 4)
		go func() {
			for r := range work[i] {
				count := func(at int) {
					if r.ref.Get() != 42 {
						t.Errorf("waiter sees %d", r.ref.Get())
					}
					r.calls[at].Add(1)
				}
				r.ref.AndThen(func() { count(each * i) })
				r.ref.Value().AndThenCall(&r.nodes[i], func(any) Ready { count(each*i + 1); return Ready{} }, nil)
				r.left.Done()
			}
		}()
	}
	for n := range *publicationRounds {
		r := &round{ref: MakeUnconstructed[int]()}
		r.left.Add(registrars)
		for i := range work {
			if i == registrars/2 && n%3 == 0 {
				r.ref.Emplace(42)
			}
			work[i] <- r
		}
		if n%3 != 0 {
			r.ref.Emplace(42)
		}
		r.left.Wait()
		for i := range r.calls {
			require.EqualValues(t, 1, r.calls[i].Load(), "round %d waiter %d", n, i)
		}
	}
	for i := range work {
		close(work[i])
	}
}

// A producer and a canceller may race for one value. Whoever wins, the value
// keeps one outcome and the payload is released once.
func TestPublishAgainstCancel(t *testing.T) {
	if debug {
		t.Skip("a second publication panics in debug builds")
	}
	CheckLeaks(t)
	for range 3000 {
		b := newBuffer(1)
		r := MakeUnconstructed[*buffer]()
		var wg sync.WaitGroup
		wg.Go(func() { r.Emplace(b) })
		wg.Go(func() { r.SetError(errTest) })
		wg.Go(func() { r.SetError(errTest) })
		wg.Wait()
		if r.IsError() {
			require.EqualValues(t, 1, b.released.Load())
			require.ErrorIs(t, r.Err(), errTest)
		} else {
			require.Same(t, b, r.Get())
			require.Nil(t, r.Status())
		}
		r.Drop()
		require.EqualValues(t, 1, b.released.Load())
	}
}

func TestForwardCycleRace(t *testing.T) {
	for range 2000 {
		a, b := MakeIndirect(), MakeIndirect()
		a.AddRef() // one for us, one to give away
		b.AddRef()
		var wg sync.WaitGroup
		wg.Go(func() { a.ForwardTo(&b.Value) })
		wg.Go(func() { b.ForwardTo(&a.Value) })
		wg.Wait()
		require.True(t, a.IsError())
		require.True(t, b.IsError())
	}
}

func TestRunWhenReadyRace(t *testing.T) {
	for range 2000 {
		refs := make([]Ref[int], 4)
		vs := make([]*Value, len(refs))
		for i := range refs {
			refs[i] = MakeUnconstructed[int]()
			vs[i] = refs[i].Value()
		}
		var calls atomic.Int32
		var wg sync.WaitGroup
		for _, half := range [][]Ref[int]{refs[:2], refs[2:]} {
			wg.Go(func() {
				for i, r := range half {
					r.Emplace(i)
				}
			})
		}
		wg.Go(func() { RunWhenReady(vs, func() { calls.Add(1) }) })
		wg.Wait()
		require.EqualValues(t, 1, calls.Load())
	}
}

// deepStack is far less than a recursion over deepChain values would need.
const (
	deepChain = 300_000
	deepStack = 16 << 20
)

func TestLongChainsKeepTheStackFlat(t *testing.T) {
	defer rtdebug.SetMaxStack(rtdebug.SetMaxStack(deepStack))
	t.Run("Map", func(t *testing.T) {
		first := MakeUnconstructed[int]()
		last := first
		for range deepChain {
			last = Map(last, func(x int) int { return x + 1 })
		}
		first.Emplace(0)
		assert.Equal(t, deepChain, last.Get())
	})
	t.Run("FlatMap", func(t *testing.T) {
		first := MakeUnconstructed[int]()
		last := first
		for range deepChain {
			last = FlatMap(last, func(x int) Ref[int] { return MakeAvailable(x + 1) })
		}
		first.SetError(errTest)
		assert.ErrorIs(t, last.Err(), errTest)
	})
	t.Run("ForwardTo", func(t *testing.T) {
		first := MakeIndirect()
		last := first
		for range deepChain {
			next := MakeIndirect()
			next.ForwardTo(&last.Value)
			last = next
		}
		first.ForwardTo(Int32(7))
		assert.EqualValues(t, 7, Get[int32](&last.Value))
	})
	t.Run("waiters that return what they release", func(t *testing.T) {
		type link struct {
			Waiter
			out Ref[int]
		}
		first := MakeUnconstructed[int]()
		last := first
		for range deepChain {
			l := &link{out: MakeUnconstructed[int]()}
			last.Value().AndThenCall(&l.Waiter, func(arg any) Ready {
				return EmplaceLater(arg.(*link).out.Value(), 1)
			}, l)
			last = l.out
		}
		first.Emplace(1)
		assert.True(t, last.IsConcrete())
	})
	t.Run("closures that publish at once", func(t *testing.T) {
		first := MakeUnconstructed[int]()
		last := first
		for range deepChain {
			next := MakeUnconstructed[int]()
			last.AndThen(func() { next.Emplace(1) })
			last = next
		}
		first.Emplace(1)
		BlockUntilReady(last.Value()) // the rest may run on another goroutine
	})
}

func TestPanicOfAWaiterSparesTheOthers(t *testing.T) {
	r := MakeUnconstructed[int]()
	calls := 0
	for i := range 5 {
		r.AndThen(func() {
			calls++
			if i%2 == 1 {
				panic(fmt.Sprint("waiter ", i))
			}
		})
	}
	assert.PanicsWithValue(t, "waiter 1", func() { r.Emplace(1) })
	assert.Equal(t, 5, calls)
	assert.True(t, r.IsConcrete())
}
