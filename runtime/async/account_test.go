package async

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeTB collects what CheckLeaks reports.
type fakeTB struct {
	cleanups []func()
	errors   []string
}

func (t *fakeTB) Helper()          {}
func (t *fakeTB) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }
func (t *fakeTB) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

func TestCheckLeaks(t *testing.T) {
	var keep []any
	for _, tt := range []struct {
		name string
		leak func() (cleanup func())
		want string
	}{
		{"nothing", func() func() { return func() {} }, ""},
		{"balanced", func() func() {
			r := MakeUnconstructed[*buffer]()
			r.AndThen(func() {})
			r.Emplace(newBuffer(1))
			r.Drop()
			return func() {}
		}, ""},
		{"unpublished with waiters", func() func() {
			r := MakeUnconstructed[int]()
			r.AndThen(func() {})
			r.AndThen(func() {})
			return func() { r.Emplace(1) }
		}, "1 unpublished, 0 counted, 2 waiters"},
		{"counted", func() func() {
			r := MakeAvailable(newBuffer(1))
			return r.Drop
		}, "0 unpublished, 1 counted, 0 waiters"},
		{"unresolved indirect", func() func() {
			in := MakeIndirect()
			return func() { in.ForwardTo(Int32(1)); in.DropRef() }
		}, "1 unpublished, 1 counted, 0 waiters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := Stats()
			tb := new(fakeTB)
			CheckLeaks(tb)
			cleanup := tt.leak()
			for _, f := range tb.cleanups {
				f()
			}
			if tt.want == "" {
				assert.Empty(t, tb.errors)
			} else {
				require.Len(t, tb.errors, 1)
				assert.Contains(t, tb.errors[0], tt.want)
				if debug {
					assert.Contains(t, tb.errors[0], "account_test.go", "where it was made")
				}
			}
			cleanup()
			assert.Equal(t, before, Stats())
		})
	}
	_ = keep
}

func TestDebugBuildsRefuse(t *testing.T) {
	if !debug {
		t.Skip("needs the build tag halodebug")
	}
	r := MakeUnconstructed[int]()
	assert.PanicsWithValue(t, prefixed("async: Get of a value that is not concrete"), func() { recoverPrefix(func() { r.Get() }) })
	r.Emplace(1)
	for _, f := range []func(){func() { r.Emplace(2) }, func() { r.SetError(errTest) }} {
		assert.Panics(t, f)
	}
	v := MakeAvailable(newBuffer(1)).Value()
	v.DropRef()
	assert.Panics(t, v.DropRef)
	assert.Panics(t, v.AddRef)
}

// prefixed and recoverPrefix compare a panic by how it begins.
type prefixed string

func recoverPrefix(f func()) {
	defer func() {
		p := fmt.Sprint(recover())
		panic(prefixed(p[:min(len(p), len("async: Get of a value that is not concrete"))]))
	}()
	f()
}

func TestStatus(t *testing.T) {
	loc := Location{File: "a.mlir", Line: 3, Col: 7}
	base := Errorf(ResourceExhausted, "cannot allocate: %w", errTest)
	assert.EqualError(t, base, "cannot allocate: test error")
	assert.ErrorIs(t, base, errTest)
	at := base.At("halo.dot", loc)
	assert.EqualError(t, at, "a.mlir:3:7: halo.dot: cannot allocate: test error")
	assert.EqualError(t, at.At("other", Location{File: "b"}), at.Error(), "the first place stays")
	assert.Empty(t, base.Kernel, "the original is not written")
	assert.EqualError(t, &Status{Code: NotFound}, "NOT_FOUND")
	assert.Equal(t, "unknown location", Location{}.String())

	assert.Same(t, base, StatusOf(base))
	wrapped := StatusOf(fmt.Errorf("outside: %w", base))
	assert.Equal(t, ResourceExhausted, wrapped.Code)
	assert.EqualError(t, wrapped, "outside: cannot allocate: test error")
	assert.Equal(t, Internal, StatusOf(errors.New("x")).Code, "the default")
	assert.Equal(t, Internal, StatusOf(nil).Code)
	assert.Equal(t, Internal, StatusOf((*Status)(nil)).Code)
	assert.Equal(t, Cancelled, StatusOf(context.Canceled).Code)
	assert.Equal(t, DeadlineExceeded, StatusOf(context.DeadlineExceeded).Code)
	assert.ErrorIs(t, Errorf(Cancelled, "Cancelled"), context.Canceled)
	assert.ErrorIs(t, Errorf(DeadlineExceeded, "late"), context.DeadlineExceeded)
	assert.NotErrorIs(t, Errorf(Internal, "x"), context.Canceled)

	seen := map[string]bool{}
	for c := OK; c <= DistributedContextAlreadyExists; c++ {
		assert.NotEmpty(t, c.String())
		assert.False(t, seen[c.String()])
		seen[c.String()] = true
	}
	assert.Equal(t, "INTERNAL", Internal.String())
	assert.Equal(t, "CODE_200", Code(200).String())
}
