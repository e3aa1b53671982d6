package async

import "reflect"

// Concrete is a value with its payload inside. Make one with the Make
// functions. Payloads up to 8 bytes fit a 48-byte object; pass what is larger
// than about 48 bytes by pointer.
type Concrete[T any] struct {
	Value
	v T
}

// MakeAvailable returns a new concrete value, or a shared one for booleans and
// small 32- and 64-bit integers. It takes over the caller's reference to v if
// T is [Counted].
func MakeAvailable[T any](v T) Ref[T] {
	s, scalar := shared(v)
	if s != nil {
		return Ref[T]{s}
	}
	c := new(Concrete[T])
	c.self = c
	c.v = v
	c.born(&concreteMark)
	if !scalar && isCounted[T]() {
		c.bits, c.refs = bitCounted, 1
		track(&c.Value)
	}
	return Ref[T]{&c.Value}
}

// MakeOverwritable is MakeAvailable for a value that [Overwrite] may change: it is never a shared one. T must not be
// [Counted].
func MakeOverwritable[T any](v T) Ref[T] {
	c := newConcrete[T]()
	c.v = v
	c.born(&concreteMark)
	return Ref[T]{&c.Value}
}

// Overwrite gives a value from MakeOverwritable another payload, and reports false if v holds one of another type. The
// caller knows that nobody else has the value any more, although it was published: an owner of objects that serve
// again and again can know, nobody else.
func Overwrite[T any](v *Value, x T) bool {
	c, ok := v.self.(*Concrete[T])
	if ok {
		c.v = x
	}
	return ok
}

// MakeUnconstructed returns a new value without payload, to be published with
// Emplace or SetError.
func MakeUnconstructed[T any]() Ref[T] {
	c := newConcrete[T]()
	track(&c.Value)
	return Ref[T]{&c.Value}
}

// MakeConstructed returns a new value whose payload exists but is not
// published. Its producer may fill the payload in place, through
// [Ref.Payload], and then call SetConcrete. Until then only the producer may
// touch the value's payload or fail it. The caller's reference to a counted v
// is taken over.
func MakeConstructed[T any](v T) Ref[T] {
	c := newConcrete[T]()
	c.v = v
	c.bits |= bitPayload
	track(&c.Value)
	return Ref[T]{&c.Value}
}

// MakeStatic returns an available value that does not count references, even
// if T is Counted: AddRef and DropRef do nothing, the payload is never
// released, and the value is never unique. It is meant for constants.
func MakeStatic[T any](v T) Ref[T] {
	c := &Concrete[T]{v: v}
	c.static()
	return Ref[T]{&c.Value}
}

// static makes a Concrete whose payload is set an available value that does not count.
func (c *Concrete[T]) static() {
	c.self = c
	c.born(&concreteMark)
}

func newConcrete[T any]() *Concrete[T] {
	c := new(Concrete[T])
	c.init()
	return c
}

// init prepares a zero Concrete, wherever it is embedded.
func (c *Concrete[T]) init() {
	c.self = c
	if isCounted[T]() {
		c.bits = bitCounted
		c.refs = 1
	}
}

// isCounted reports whether payloads of type T are counted. Most values are not,
// and the common scalars are recognised without a method lookup.
func isCounted[T any]() bool {
	var zero T
	switch any(zero).(type) {
	case int32, int64, bool, float32, float64, Chain, nil:
		return false
	case Counted:
		return true
	}
	return false
}

// emplace publishes v. A publication that comes too late releases v.
func (c *Concrete[T]) emplace(v T) Ready {
	if c.IsAvailable() {
		c.late(v, "Emplace")
		return Ready{}
	}
	if c.has(bitPayload) {
		c.destroy() // built, never published, and now replaced
	}
	c.v = v
	ready, ok := c.publish(&concreteMark)
	if !ok {
		c.late(v, "Emplace")
		if c.IsError() { // SetError was faster
			var zero T
			c.v = zero
		}
	}
	return ready
}

func (c *Concrete[T]) construct(v T) {
	if c.IsAvailable() {
		c.late(v, "Construct")
		return
	}
	if c.has(bitPayload) {
		c.destroy()
	}
	c.v = v
	c.setBit(bitPayload)
}

func (c *Concrete[T]) setConcrete() Ready {
	if !c.IsAvailable() && !c.has(bitPayload) {
		panic("async: SetConcrete of a value without payload" + origin(&c.Value))
	}
	ready, ok := c.publish(&concreteMark)
	if !ok {
		publishedTwice(&c.Value, "SetConcrete")
	}
	return ready
}

// late disposes of a payload that arrived after the value was published.
func (c *Concrete[T]) late(v T, op string) {
	if x, ok := any(v).(Counted); ok && c.IsCounted() {
		x.DropRef()
	}
	publishedTwice(&c.Value, op)
}

func (c *Concrete[T]) destroy() {
	if !c.IsConcrete() && !c.has(bitPayload) {
		return
	}
	v := c.v
	var zero T
	c.v = zero
	c.clearBit(bitPayload)
	if x, ok := any(v).(Counted); ok && c.IsCounted() {
		x.DropRef()
	}
}

func (c *Concrete[T]) payload() any     { return c.v }
func (c *Concrete[T]) typeName() string { return nameOf[T]() }

func nameOf[T any]() string { return reflect.TypeFor[T]().String() }

// SetError publishes v as an error, with err as its status (see [StatusOf]),
// and runs the waiters. A payload that was constructed is released. On an
// indirect it takes the place of forwarding. The first publication wins; see
// [Stats] for those that came too late.
func (v *Value) SetError(err error) { v.SetErrorLater(err).Run() }

// SetErrorLater is SetError that leaves running the waiters to the caller.
func (v *Value) SetErrorLater(err error) Ready {
	keep := false
	return v.setError(StatusOf(err), keep)
}

// SetErrorKeepPayload is SetError for a constructed value whose payload shall
// stay readable to its owner, through [Ref.Payload]. It is released with the
// value.
func (v *Value) SetErrorKeepPayload(err error) {
	keep := true
	v.setError(StatusOf(err), keep).Run()
}

func (v *Value) setError(st *Status, keepPayload bool) Ready {
	if v.has(bitIndirect) && !v.self.(*Indirect).claim("SetError") {
		return Ready{}
	}
	ready, ok := v.fail(st)
	if !ok {
		publishedTwice(v, "SetError")
		return ready
	}
	if !keepPayload && v.has(bitPayload) {
		v.self.destroy()
	}
	return ready
}

// errorValue is a value born as an error.
type errorValue struct{ Value }

// MakeError returns an error value of no particular type: it can stand for a
// value of any.
func MakeError(err error) *Value {
	e := new(errorValue)
	e.self = e
	e.err.Store(StatusOf(err))
	e.born(&errorMark)
	return &e.Value
}

// MakeErrorRef is MakeError for callers that need a typed reference.
func MakeErrorRef[T any](err error) Ref[T] { return Ref[T]{MakeError(err)} }

func (e *errorValue) destroy()         {}
func (e *errorValue) payload() any     { return nil }
func (e *errorValue) typeName() string { return "error" }
