package async

import "sync/atomic"

// Indirect is a value that forwards to another one chosen later. It is made
// when a value must exist before its type or its producer is known: a result
// of a function that is still running, a late argument.
type Indirect struct {
	Value
	target atomic.Pointer[Value] // what it waits for; once concrete, what holds the payload
	want   payloadType           // nil if any type will do
	waiter Waiter                // on the target
}

// payloadType is a type as a value. Its only implementation is ofType.
type payloadType interface {
	accepts(v *Value) bool
	name() string
}

type ofType[T any] struct{}

func (ofType[T]) accepts(v *Value) bool { return IsType[T](v) }
func (ofType[T]) name() string          { return nameOf[T]() }

// MakeIndirect returns an unresolved indirect for a value of any type.
func MakeIndirect() *Indirect {
	in := new(Indirect)
	in.init()
	track(&in.Value)
	return in
}

// init prepares a zero Indirect, wherever it is embedded.
func (in *Indirect) init() {
	in.self = in
	in.bits = bitIndirect | bitCounted
	in.refs = 1
}

// MakeIndirectOf returns an unresolved indirect that accepts only targets of
// type T, and errors. Forwarded to anything else it becomes an error.
func MakeIndirectOf[T any]() *Indirect {
	in := MakeIndirect()
	in.want = ofType[T]{}
	return in
}

// AsIndirect returns the indirect that v is the header of, or false if v is of
// another kind.
func AsIndirect(v *Value) (*Indirect, bool) {
	in, ok := v.self.(*Indirect)
	return in, ok
}

// ForwardTo makes in stand for target, whose reference it takes over, and
// publishes in as soon as target is available, running the waiters. It may be
// called once. Forwarding to itself, directly or through other indirects,
// makes in an error.
func (in *Indirect) ForwardTo(target *Value) { in.ForwardLater(target).Run() }

// ForwardLater is ForwardTo that leaves running the waiters to the caller.
func (in *Indirect) ForwardLater(target *Value) Ready {
	if !in.claim("ForwardTo") {
		target.DropRef()
		return Ready{}
	}
	if target.IsAvailable() {
		return in.resolve(target)
	}
	// Order matters: of the forwards that close a cycle at the same time, the
	// one whose target is stored last finds its own mark, and all targets.
	if target.has(bitIndirect) {
		target.setBit(bitAwaited)
	}
	in.target.Store(target)
	if in.waitsForItself() {
		in.target.Store(nil)
		ready, _ := in.fail(Errorf(FailedPrecondition, "value is forwarded to itself"))
		target.DropRef()
		return ready
	}
	in.AddRef() // until forwarded, whatever the owners do
	return target.AndThenLater(&in.waiter, forwardToTarget, in)
}

func forwardToTarget(arg any) Ready {
	in := arg.(*Indirect)
	ready := in.resolve(in.target.Load())
	in.DropRef()
	return ready
}

// resolve publishes in with the outcome of an available target.
func (in *Indirect) resolve(target *Value) Ready {
	if st := target.Status(); st != nil {
		in.target.Store(nil)
		ready, _ := in.fail(st)
		target.DropRef()
		return ready
	}
	if in.want != nil && !in.want.accepts(target) {
		in.target.Store(nil)
		ready, _ := in.fail(Errorf(Internal, "got a value of %s, want %s", target.Target().self.typeName(), in.typeName()))
		target.DropRef()
		return ready
	}
	// A resolved indirect never points to another one, so a chain of any
	// length costs one step to read.
	if inner := target.Target(); inner != target {
		inner.AddRef()
		target.DropRef()
		target = inner
	}
	in.target.Store(target)
	ready, _ := in.publish(&concreteMark)
	return ready
}

// claim reserves the right to resolve in.
func (in *Indirect) claim(op string) bool {
	if atomic.OrUint32(&in.bits, bitClaimed)&bitClaimed == 0 {
		return true
	}
	publishedTwice(&in.Value, op)
	return false
}

// waitsForItself follows pending forwards from in. Only an indirect that others
// are forwarded to can close a cycle, so chains that grow at their beginning,
// as those of nested calls do, are not followed again and again.
func (in *Indirect) waitsForItself() bool {
	v := in.target.Load()
	if v == &in.Value {
		return true
	}
	if !in.has(bitAwaited) {
		return false
	}
	for {
		next, ok := v.self.(*Indirect)
		if !ok {
			return false
		}
		if next == in {
			return true
		}
		if v = next.target.Load(); v == nil {
			return false
		}
	}
}

func (in *Indirect) destroy() {
	if in.IsConcrete() {
		in.target.Load().DropRef()
	}
}

func (in *Indirect) payload() any { return nil }

func (in *Indirect) typeName() string {
	if in.want == nil {
		return "unresolved indirect"
	}
	return in.want.name()
}
