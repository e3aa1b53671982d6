package async

// Ref owns one reference to a value whose payload type is T. Pass it on to
// give the reference away; [Ref.CopyRef] makes another, [Ref.Drop] and
// [Ref.Release] empty it. The zero Ref is empty and only IsEmpty, Drop and
// comparison may be used on it. The value behind a Ref may be an indirect or
// an error.
type Ref[T any] struct{ v *Value }

// Ptr points to a value whose payload type is T and owns nothing: it is valid
// while another reference keeps the value alive.
type Ptr[T any] struct{ v *Value }

// IsEmpty reports whether r refers to no value.
func (r Ref[T]) IsEmpty() bool { return r.v == nil }

// Value returns the erased value, borrowed from r.
func (r Ref[T]) Value() *Value { return r.v }

// Ptr returns a pointer borrowed from r.
func (r Ref[T]) Ptr() Ptr[T] { return Ptr[T](r) }

// CopyRef takes another reference.
func (r Ref[T]) CopyRef() Ref[T] {
	r.v.AddRef()
	return r
}

// Release empties r and returns its value together with the reference.
func (r *Ref[T]) Release() *Value {
	v := r.v
	r.v = nil
	return v
}

// Drop empties r and gives the reference back. It does nothing on an empty r.
func (r *Ref[T]) Drop() {
	if v := r.Release(); v != nil {
		v.DropRef()
	}
}

// Take empties r and returns the payload of a concrete value, owned by the
// caller: moved out if r was the only reference, else with a reference of its
// own if it is counted.
func (r *Ref[T]) Take() T {
	x := Get[T](r.v)
	if c, ok := any(x).(Counted); ok {
		c.AddRef() // given back at once by the value if r was the last
	}
	r.Drop()
	return x
}

// State returns the present state of the value.
func (r Ref[T]) State() State { return r.v.State() }

// IsAvailable reports whether the value is concrete or an error.
func (r Ref[T]) IsAvailable() bool { return r.v.IsAvailable() }

// IsConcrete reports whether the value has its payload.
func (r Ref[T]) IsConcrete() bool { return r.v.IsConcrete() }

// IsError reports whether the value is an error.
func (r Ref[T]) IsError() bool { return r.v.IsError() }

// IsUnique reports whether r is the only way to the payload; see
// [Value.IsUnique].
func (r Ref[T]) IsUnique() bool { return r.v.IsUnique() }

// Status returns the status of an error value, else nil.
func (r Ref[T]) Status() *Status { return r.v.Status() }

// Err returns the status of an error value as an error, else nil.
func (r Ref[T]) Err() error { return r.v.Err() }

// Get returns the payload of a concrete value; see the function [Get].
func (r Ref[T]) Get() T { return Get[T](r.v) }

// Result returns the payload of a concrete value or the error of an error
// value.
func (r Ref[T]) Result() (x T, err error) {
	if st := r.v.Status(); st != nil {
		return x, st
	}
	return Get[T](r.v), nil
}

// Payload returns a pointer to the payload; see the function [Payload].
func (r Ref[T]) Payload() *T { return Payload[T](r.v) }

// Emplace publishes x and runs the waiters; see the function [Emplace].
func (r Ref[T]) Emplace(x T) { Emplace(r.v, x) }

// Construct builds the payload without publishing it.
func (r Ref[T]) Construct(x T) {
	c, ok := r.v.self.(*Concrete[T])
	if !ok {
		wrongType[T](r.v)
	}
	c.construct(x)
}

// SetConcrete publishes a constructed payload and runs the waiters.
func (r Ref[T]) SetConcrete() { r.setConcrete().Run() }

func (r Ref[T]) setConcrete() Ready {
	c, ok := r.v.self.(*Concrete[T])
	if !ok {
		wrongType[T](r.v)
	}
	return c.setConcrete()
}

// SetError publishes the value as an error and runs the waiters.
func (r Ref[T]) SetError(err error) { r.v.SetError(err) }

// AndThen runs f when the value is available; see [Value.AndThen].
func (r Ref[T]) AndThen(f func()) { r.v.AndThen(f) }

// AndThenOn runs f on ex when the value is available; see [Value.AndThenOn].
func (r Ref[T]) AndThenOn(ex Executor, f func()) { r.v.AndThenOn(ex, f) }

// AndThenResult runs f when the value is available, with its payload or its
// error. A counted payload is borrowed.
func (r Ref[T]) AndThenResult(f func(x T, err error)) {
	r.v.AndThen(func() { f(r.Result()) })
}

// Value returns the erased value.
func (p Ptr[T]) Value() *Value { return p.v }

// CopyRef takes a reference.
func (p Ptr[T]) CopyRef() Ref[T] { return Ref[T](p).CopyRef() }

// IsAvailable reports whether the value is concrete or an error.
func (p Ptr[T]) IsAvailable() bool { return p.v.IsAvailable() }

// IsConcrete reports whether the value has its payload.
func (p Ptr[T]) IsConcrete() bool { return p.v.IsConcrete() }

// IsError reports whether the value is an error.
func (p Ptr[T]) IsError() bool { return p.v.IsError() }

// Status returns the status of an error value, else nil.
func (p Ptr[T]) Status() *Status { return p.v.Status() }

// Get returns the payload of a concrete value; see the function [Get].
func (p Ptr[T]) Get() T { return Get[T](p.v) }

// Emplace publishes x and runs the waiters; see the function [Emplace].
func (p Ptr[T]) Emplace(x T) { Emplace(p.v, x) }

// SetError publishes the value as an error and runs the waiters.
func (p Ptr[T]) SetError(err error) { p.v.SetError(err) }

// AndThen runs f when the value is available; see [Value.AndThen].
func (p Ptr[T]) AndThen(f func()) { p.v.AndThen(f) }
