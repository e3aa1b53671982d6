package async

// Functions here go from an erased Value to its payload. The type test is a
// comparison of one word; only when it fails is the payload examined as an
// interface would be.

// IsType reports whether v may be used as a value of type T: its payload type
// is T or, for an interface T, implements it. An indirect answers for its
// target once resolved; before, only if it was made for T. An error value is
// of every type.
func IsType[T any](v *Value) bool {
	if v.IsError() {
		return true
	}
	v = v.Target()
	if _, ok := v.self.(*Concrete[T]); ok {
		return true
	}
	if in, ok := v.self.(*Indirect); ok {
		return in.want == payloadType(ofType[T]{})
	}
	_, ok := v.self.payload().(T)
	return ok
}

// Cast returns v as a typed reference, taking over the caller's reference. It
// panics if v is known to have another type; use [DynCast] where that is
// possible. An unresolved indirect of no type passes, and is checked by Get.
func Cast[T any](v *Value) Ref[T] {
	if !v.has(bitIndirect) && !IsType[T](v) {
		wrongType[T](v)
	}
	return Ref[T]{v}
}

// DynCast returns v as a typed reference, taking over the caller's reference,
// or false if v is not of type T, in which case the caller keeps it.
func DynCast[T any](v *Value) (Ref[T], bool) {
	if !IsType[T](v) {
		return Ref[T]{}, false
	}
	return Ref[T]{v}, true
}

// Get returns the payload of a concrete value, seen through indirects. It
// never waits: calling it before the value is concrete breaks a promise and
// panics in debug builds. A counted payload is borrowed.
func Get[T any](v *Value) T {
	if debug && !v.IsConcrete() {
		panic("async: Get of a value that is not concrete: " + v.String() + origin(v))
	}
	if c, ok := v.Target().self.(*Concrete[T]); ok {
		return c.v
	}
	x, ok := v.Target().self.payload().(T)
	if !ok {
		wrongType[T](v)
	}
	return x
}

// GetIfPresent returns the payload and true if v is concrete and of type T.
func GetIfPresent[T any](v *Value) (x T, ok bool) {
	if !v.IsConcrete() {
		return x, false
	}
	if c, ok := v.Target().self.(*Concrete[T]); ok {
		return c.v, true
	}
	x, ok = v.Target().self.payload().(T)
	return x, ok
}

// Payload returns a pointer to the payload, for producers that fill it in
// place and for consumers of large ones. It is nil unless the payload's type
// is exactly T. What a concrete value holds must not be written.
func Payload[T any](v *Value) *T {
	if c, ok := v.Target().self.(*Concrete[T]); ok {
		return &c.v
	}
	return nil
}

// Emplace publishes x as the payload of v and runs the waiters on the calling
// goroutine. It takes over the caller's reference to a counted x. An indirect
// is forwarded to a new value holding x.
func Emplace[T any](v *Value, x T) { EmplaceLater(v, x).Run() }

// EmplaceLater is Emplace that leaves running the waiters to the caller.
func EmplaceLater[T any](v *Value, x T) Ready {
	if c, ok := v.self.(*Concrete[T]); ok {
		return c.emplace(x)
	}
	if in, ok := v.self.(*Indirect); ok {
		return in.ForwardLater(MakeAvailable(x).v)
	}
	wrongType[T](v)
	return Ready{}
}

// TypeError is what using a value as another type panics with. Programs that were not checked can bring it about.
type TypeError struct {
	Value string // what it is
	Want  string // the type it was used as
}

func (e *TypeError) Error() string { return e.Value + " used as " + e.Want }

func wrongType[T any](v *Value) {
	panic(&TypeError{v.String() + origin(v), nameOf[T]()})
}
