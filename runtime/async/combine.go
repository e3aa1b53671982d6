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
	return mapInline(src, mapping[T, R]{plain: f})
}

// MapOn is Map with f run on ex.
func MapOn[T, R any](ex Executor, src Ref[T], f func(T) R) Ref[R] {
	return mapOn(ex, src, mapping[T, R]{plain: f})
}

// TryMap is Map for an f that may fail.
func TryMap[T, R any](src Ref[T], f func(T) (R, error)) Ref[R] {
	return mapInline(src, mapping[T, R]{try: f})
}

// TryMapOn is TryMap with f run on ex.
func TryMapOn[T, R any](ex Executor, src Ref[T], f func(T) (R, error)) Ref[R] {
	return mapOn(ex, src, mapping[T, R]{try: f})
}

func mapInline[T, R any](src Ref[T], f mapping[T, R]) Ref[R] {
	if src.IsConcrete() {
		y, err := f.apply(src.Get())
		if err != nil {
			return MakeErrorRef[R](err)
		}
		return MakeAvailable(y)
	}
	if src.IsError() {
		return Ref[R](src.CopyRef())
	}
	m := newMapped(src, f)
	src.v.AndThenCall(&m.waiter, runDeferred, m)
	return Ref[R]{&m.Value}
}

func mapOn[T, R any](ex Executor, src Ref[T], f mapping[T, R]) Ref[R] {
	m := newMapped(src, f)
	src.AndThen(func() {
		ex.AddTask(func() { m.run().Run() })
	})
	return Ref[R]{&m.Value}
}

// mapping is the function of a Map or a TryMap: one of the two is set.
type mapping[T, R any] struct {
	plain func(T) R
	try   func(T) (R, error)
}

// apply calls the function and turns a panic into an error, so that a result
// is set whatever happens.
func (f mapping[T, R]) apply(x T) (y R, err error) {
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
	if f.plain != nil {
		y = f.plain(x)
	} else {
		y, err = f.try(x)
	}
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

// deferred is a result together with what is needed to compute it later.
type deferred interface{ run() Ready }

func runDeferred(arg any) Ready { return arg.(deferred).run() }

// mapped is the result of a Map whose source is not available yet.
type mapped[T, R any] struct {
	Concrete[R]
	waiter Waiter
	src    Ref[T]
	f      mapping[T, R]
}

func newMapped[T, R any](src Ref[T], f mapping[T, R]) *mapped[T, R] {
	m := &mapped[T, R]{src: src.CopyRef(), f: f}
	m.init()
	m.AddRef() // the producer's, dropped by run
	track(&m.Value)
	return m
}

func (m *mapped[T, R]) run() (ready Ready) {
	src, f := m.src, m.f
	m.src, m.f = Ref[T]{}, mapping[T, R]{}
	if st := src.Status(); st != nil {
		ready = m.SetErrorLater(st)
	} else if y, err := f.apply(src.Get()); err != nil {
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
		return applyFlat(f, src.Get())
	}
	if src.IsError() {
		return Ref[R](src.CopyRef())
	}
	m := newFlatMapped(src, f)
	src.v.AndThenCall(&m.source, runDeferred, m)
	return Ref[R]{&m.Value}
}

// FlatMapOn is FlatMap with f run on ex.
func FlatMapOn[T, R any](ex Executor, src Ref[T], f func(T) Ref[R]) Ref[R] {
	m := newFlatMapped(src, f)
	src.AndThen(func() {
		ex.AddTask(func() { m.run().Run() })
	})
	return Ref[R]{&m.Value}
}

func applyFlat[T, R any](f func(T) Ref[R], x T) Ref[R] {
	inner, err := mapping[T, Ref[R]]{plain: f}.apply(x)
	if err == nil && inner.IsEmpty() {
		err = Errorf(Internal, "mapping returned no value")
	}
	if err != nil {
		return MakeErrorRef[R](err)
	}
	return inner
}

// flatMapped is the result of a FlatMap whose source is not available yet.
type flatMapped[T, R any] struct {
	Indirect
	source Waiter
	src    Ref[T]
	f      func(T) Ref[R]
}

func newFlatMapped[T, R any](src Ref[T], f func(T) Ref[R]) *flatMapped[T, R] {
	m := &flatMapped[T, R]{src: src.CopyRef(), f: f}
	m.init()
	m.want = ofType[R]{}
	m.AddRef() // the producer's, dropped by run
	track(&m.Value)
	return m
}

func (m *flatMapped[T, R]) run() (ready Ready) {
	src, f := m.src, m.f
	m.src, m.f = Ref[T]{}, nil
	if st := src.Status(); st != nil {
		ready = m.SetErrorLater(st)
	} else {
		ready = m.ForwardLater(applyFlat(f, src.Get()).v)
	}
	src.Drop()
	m.DropRef()
	return ready
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
		x, err := mapping[struct{}, T]{try: func(struct{}) (T, error) { return f() }}.apply(struct{}{})
		if err != nil {
			r.SetError(err)
		} else {
			r.Emplace(x)
		}
		r.Drop()
	})
	return out
}
