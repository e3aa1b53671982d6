package async

import rtdebug "runtime/debug"

// The functions here make a new value from others. They borrow their
// arguments, and hold a reference to a source until the mapping has run. An
// error of the source becomes the error of the result, with the same Status, and
// the mapping is not called. A mapping that panics makes the result an
// Internal error. The forms ending in On run the mapping on an executor,
// always, even if the source is available.

// Map returns the value of f applied to the payload of src.
func Map[T, R any](src Ref[T], f func(T) R) Ref[R] {
	return TryMap(src, func(x T) (R, error) { return f(x), nil })
}

// MapOn is Map with f run on ex.
func MapOn[T, R any](ex Executor, src Ref[T], f func(T) R) Ref[R] {
	return TryMapOn(ex, src, func(x T) (R, error) { return f(x), nil })
}

// TryMap is Map for an f that may fail.
func TryMap[T, R any](src Ref[T], f func(T) (R, error)) Ref[R] {
	if src.IsConcrete() {
		y, err := protect(f, src.Get())
		if err != nil {
			return MakeErrorRef[R](err)
		}
		return MakeAvailable(y)
	}
	if src.IsError() {
		return Ref[R](src.CopyRef())
	}
	m := newMapping(src, f)
	src.v.AndThenCall(&m.waiter, runMapping[T, R], m)
	return Ref[R]{&m.Value}
}

// TryMapOn is TryMap with f run on ex.
func TryMapOn[T, R any](ex Executor, src Ref[T], f func(T) (R, error)) Ref[R] {
	m := newMapping(src, f)
	src.AndThen(func() {
		ex.AddTask(func() { runMapping[T, R](m).Run() })
	})
	return Ref[R]{&m.Value}
}

// mapping is the result of a TryMap whose source is not available yet, in one
// object with all that is needed to compute it.
type mapping[T, R any] struct {
	Concrete[R]
	waiter Waiter
	src    Ref[T]
	f      func(T) (R, error)
}

func newMapping[T, R any](src Ref[T], f func(T) (R, error)) *mapping[T, R] {
	m := &mapping[T, R]{src: src.CopyRef(), f: f}
	m.init()
	m.AddRef() // the producer's, dropped by runMapping
	track(&m.Value)
	return m
}

func runMapping[T, R any](arg any) (ready Ready) {
	m := arg.(*mapping[T, R])
	src, f := m.src, m.f
	m.src, m.f = Ref[T]{}, nil
	if st := src.Status(); st != nil {
		ready = m.SetErrorLater(st)
	} else if y, err := protect(f, src.Get()); err != nil {
		ready = m.SetErrorLater(err)
	} else {
		ready = m.emplace(y)
	}
	src.Drop()
	m.DropRef()
	return ready
}

// FlatMap returns the value of the reference that f returns for the payload of
// src. If src is concrete it is that reference itself.
func FlatMap[T, R any](src Ref[T], f func(T) Ref[R]) Ref[R] {
	if src.IsConcrete() {
		inner, err := protect(flat(f), src.Get())
		if err != nil {
			return MakeErrorRef[R](err)
		}
		return inner
	}
	if src.IsError() {
		return Ref[R](src.CopyRef())
	}
	m := newFlatMapping(src, f)
	src.v.AndThenCall(&m.source, runFlatMapping[T, R], m)
	return Ref[R]{&m.Value}
}

// FlatMapOn is FlatMap with f run on ex.
func FlatMapOn[T, R any](ex Executor, src Ref[T], f func(T) Ref[R]) Ref[R] {
	m := newFlatMapping(src, f)
	src.AndThen(func() {
		ex.AddTask(func() { runFlatMapping[T, R](m).Run() })
	})
	return Ref[R]{&m.Value}
}

type flatMapping[T, R any] struct {
	Indirect
	source Waiter
	src    Ref[T]
	f      func(T) Ref[R]
}

func newFlatMapping[T, R any](src Ref[T], f func(T) Ref[R]) *flatMapping[T, R] {
	m := &flatMapping[T, R]{src: src.CopyRef(), f: f}
	m.init()
	m.want, m.check = (*R)(nil), IsType[R]
	m.AddRef() // the producer's, dropped by runFlatMapping
	track(&m.Value)
	return m
}

func runFlatMapping[T, R any](arg any) (ready Ready) {
	m := arg.(*flatMapping[T, R])
	src, f := m.src, m.f
	m.src, m.f = Ref[T]{}, nil
	if st := src.Status(); st != nil {
		ready = m.SetErrorLater(st)
	} else if inner, err := protect(flat(f), src.Get()); err != nil {
		ready = m.SetErrorLater(err)
	} else {
		ready = m.ForwardLater(inner.v)
	}
	src.Drop()
	m.DropRef()
	return ready
}

func flat[T, R any](f func(T) Ref[R]) func(T) (Ref[R], error) {
	return func(x T) (Ref[R], error) {
		r := f(x)
		if r.IsEmpty() {
			return r, Errorf(Internal, "mapping returned no value")
		}
		return r, nil
	}
}

// MapTo returns a value that becomes x when src is concrete. It takes over the
// caller's reference to a counted x.
func MapTo[R any](src *Value, x R) Ref[R] {
	if src.IsConcrete() {
		return MakeAvailable(x)
	}
	r := MakeConstructed(x)
	out := r.CopyRef()
	src.AndThen(func() {
		if st := src.Status(); st != nil {
			r.SetError(st)
		} else {
			r.SetConcrete()
		}
		r.Drop()
	})
	return out
}

// ToChain returns a chain that is available when src is, an error if src is
// one.
func ToChain(src *Value) Ref[Chain] { return MapTo(src, Chain{}) }

// MakeAsync runs f on ex and returns its result-to-be.
func MakeAsync[T any](ex Executor, f func() (T, error)) Ref[T] {
	r := MakeUnconstructed[T]()
	out := r.CopyRef()
	ex.AddTask(func() {
		x, err := protect(func(struct{}) (T, error) { return f() }, struct{}{})
		if err != nil {
			r.SetError(err)
		} else {
			r.Emplace(x)
		}
		r.Drop()
	})
	return out
}

// protect calls f and turns a panic into an error, so that the result of a
// mapping is set whatever happens.
func protect[T, R any](f func(T) (R, error), x T) (y R, err error) {
	finished := false
	defer func() {
		if !finished {
			if p := recover(); p != nil {
				err = panicStatus(p)
			} else {
				err = Errorf(Internal, "goroutine exited inside a mapping")
			}
		}
	}()
	y, err = f(x)
	finished = true
	return y, err
}

func panicStatus(p any) *Status {
	st := Errorf(Internal, "panic: %v", p)
	if err, ok := p.(error); ok {
		st.Cause = err
	}
	st.Payload = rtdebug.Stack()
	return st
}
