package async

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestV21BlockUntilReady(t *testing.T) {
	for _, fail := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, b := MakeUnconstructed[int](), MakeUnconstructed[int]()
			go func() {
				time.Sleep(time.Second)
				a.Emplace(1)
				time.Sleep(time.Second)
				if fail {
					b.SetError(errTest)
				} else {
					b.Emplace(2)
				}
			}()
			start := time.Now()
			BlockUntilReady(a.Value(), b.Value(), a.Value())
			assert.Equal(t, 2*time.Second, time.Since(start))
			assert.True(t, b.IsAvailable())
			BlockUntilReady()
			BlockUntilReady(a.Value())
		})
	}
	t.Run("given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.ErrorIs(t, Await(ctx, MakeUnconstructed[int]().Value()), context.Canceled)
		assert.NoError(t, Await(ctx, Int32(1)), "ready values need no time")
	})
}

func TestV22RunWhenReady(t *testing.T) {
	for n := range 5 {
		for failing := -1; failing < n; failing++ {
			for ready := 0; ready <= n; ready++ {
				t.Run(fmt.Sprintf("%d values, error %d, %d ready", n, failing, ready), func(t *testing.T) {
					CheckLeaks(t)
					refs := make([]Ref[int], n)
					vs := make([]*Value, n)
					for i := range refs {
						refs[i] = MakeUnconstructed[int]()
						vs[i] = refs[i].Value()
					}
					publish := func(i int) {
						if i == failing {
							refs[i].SetError(errTest)
						} else {
							refs[i].Emplace(i)
						}
					}
					for i := range ready {
						publish(i)
					}
					calls := 0
					RunWhenReady(vs, func() { calls++ })
					for i := ready; i < n; i++ {
						require.Zero(t, calls)
						publish(i)
					}
					assert.Equal(t, 1, calls)
				})
			}
		}
	}
	t.Run("one value twice", func(t *testing.T) {
		r := MakeUnconstructed[int]()
		calls := 0
		RunWhenReady([]*Value{r.Value(), r.Value()}, func() { calls++ })
		r.Emplace(1)
		assert.Equal(t, 1, calls)
	})
}

func TestV24CountDownOfZero(t *testing.T) {
	r := MakeConstructed(5)
	c := NewCountDown(r.CopyRef(), 0)
	assert.True(t, r.IsConcrete())
	assert.True(t, c.CountDown(0, nil))
	assert.Panics(t, func() { c.CountDown(1, nil) })
	assert.Panics(t, func() { NewCountDown(r, -1) })
}

func TestV25CountDown(t *testing.T) {
	CheckLeaks(t)
	b := newBuffer(5)
	r := MakeConstructed(b)
	c := NewCountDown(r.CopyRef(), 4)
	for _, k := range []int{1, 0, 2, 0} {
		assert.False(t, c.CountDown(k, nil))
		assert.False(t, r.IsAvailable())
	}
	assert.True(t, c.CountDown(1, nil))
	assert.True(t, c.CountDown(0, nil))
	assert.Equal(t, 5, r.Get().data)
	assert.True(t, r.IsUnique(), "the countdown has let go")
	r.Drop()
	assert.EqualValues(t, 1, b.released.Load())
}

func TestV26CountDownWithErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		errs []error
		want error
	}{
		{"error then success", []error{errTest, nil}, errTest},
		{"success then error", []error{nil, errTest}, errTest},
		{"the last one wins", []error{context.Canceled, errTest, nil}, errTest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := MakeConstructed(5)
			c := NewCountDown(r.CopyRef(), len(tt.errs))
			for i, err := range tt.errs {
				assert.False(t, r.IsAvailable(), "an error only at the end")
				assert.Equal(t, i == len(tt.errs)-1, c.CountDown(1, err))
			}
			assert.ErrorIs(t, r.Err(), tt.want)
		})
	}
}

func TestV29Promise(t *testing.T) {
	t.Run("kept", func(t *testing.T) {
		p := NewPromise[int]()
		assert.True(t, p.IsUnique())
		f := p.Future()
		g := f
		assert.False(t, p.IsUnique(), "a future can tell")
		assert.False(t, f.IsReady())
		calls := 0
		f.OnReady(func(x int, err error) { calls++; assert.Equal(t, 3, x); assert.NoError(t, err) })
		p.Set(3)
		p.Close()
		assert.Equal(t, 1, calls)
		x, err := g.Await(context.Background())
		assert.NoError(t, err)
		assert.Equal(t, 3, x)
	})
	t.Run("not set", func(t *testing.T) {
		p := NewPromise[int]()
		f := p.Future()
		assert.False(t, p.IsSet())
		p.Close()
		assert.True(t, p.IsSet())
		_, err := f.Await(context.Background())
		var st *Status
		require.ErrorAs(t, err, &st)
		assert.Equal(t, Aborted, st.Code)
	})
	t.Run("set twice", func(t *testing.T) {
		p := NewPromise[int]()
		p.SetError(errTest)
		assert.Panics(t, func() { p.Set(1) })
		assert.Panics(t, func() { p.SetError(errTest) })
		_, err := p.Future().Await(context.Background())
		assert.ErrorIs(t, err, errTest)
	})
	t.Run("waiting given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := NewPromise[int]().Future().Await(ctx)
		assert.ErrorIs(t, err, context.Canceled)
		_, err = Future[int]{}.Await(ctx)
		assert.ErrorIs(t, err, errInvalidFuture)
	})
	t.Run("detached", func(t *testing.T) {
		queue := new(tasks)
		p := NewPromise[int]()
		f := p.Future().Detach(queue)
		calls := 0
		f.OnReady(func(int, error) { calls++ })
		p.Set(1)
		assert.Zero(t, calls)
		queue.run()
		assert.Equal(t, 1, calls)
	})
	t.Run("mapped", func(t *testing.T) {
		p := NewPromise[int]()
		f := FutureOf(Map(p.Future().Ref(), func(x int) string { return fmt.Sprint(x) }))
		p.Set(12)
		x, _ := f.Await(context.Background())
		assert.Equal(t, "12", x)
	})
}

func TestV30JoinFutures(t *testing.T) {
	other := fmt.Errorf("other")
	for _, tt := range []struct {
		name string
		errs []error
		want error
	}{
		{"none", nil, nil},
		{"all good", []error{nil, nil, nil}, nil},
		{"one failing", []error{nil, errTest, nil}, errTest},
		{"first of two", []error{nil, other, errTest}, other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			CheckLeaks(t)
			var ps []*Promise[int]
			var fs []Future[int]
			for range tt.errs {
				p := NewPromise[int]()
				ps, fs = append(ps, p), append(fs, p.Future())
			}
			all := JoinFutures(fs...)
			for i := len(ps) - 1; i >= 0; i-- {
				assert.False(t, all.IsReady(), "waits for all, errors or not")
				if tt.errs[i] != nil {
					ps[i].SetError(tt.errs[i])
				} else {
					ps[i].Set(i)
				}
			}
			require.True(t, all.IsReady())
			_, err := all.Await(context.Background())
			assert.ErrorIs(t, err, tt.want)
		})
	}
	t.Run("an invalid one", func(t *testing.T) {
		all := JoinFutures(NewPromise[int]().Future(), Future[int]{})
		_, err := all.Await(context.Background())
		assert.ErrorIs(t, err, errInvalidFuture)
	})
}
