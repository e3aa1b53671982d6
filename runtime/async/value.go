package async

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Value is the header of every asynchronous value and its type-erased handle.
// It is always embedded in a [Concrete], an [Indirect] or an error value, and
// must not be copied. All methods are safe for concurrent use unless they say
// otherwise.
type Value struct {
	// head is state and waiter list in one word. While the value is
	// unavailable it points to the waiter registered last, or is nil; the
	// marks below are the two final states.
	head atomic.Pointer[Waiter]

	// self is the object this header is embedded in.
	self holder

	// err is claimed before head becomes errorMark. It may be set for an
	// instant in a value that turns out concrete, so read it through Status.
	err atomic.Pointer[Status]

	// refs and bits are accessed with the functions of sync/atomic, not as
	// atomic types: their first value is written plainly, before the value is
	// shared, which an atomic store would make five times dearer.
	refs int32
	bits uint32
}

// The two final heads. They are compared by address and never run.
var concreteMark, errorMark Waiter

// Bits of Value.bits. All but the last three are fixed at creation.
const (
	bitIndirect uint32 = 1 << iota // self is an *Indirect
	bitCounted                     // refs is maintained
	bitTracked                     // seen by the leak accounting
	bitPayload                     // an unpublished or failed value holds a payload
	bitClaimed                     // ForwardTo or SetError of an indirect has been called
	bitAwaited                     // another indirect has been forwarded to this one
)

// holder is what a header needs of the object around it.
type holder interface {
	destroy()         // the last reference is gone: release the payload
	payload() any     // boxed payload, for dynamic type tests
	typeName() string // for messages
}

// Counted is implemented by payloads that own something: tensor buffers,
// device handles, files. A value with such a payload counts its references,
// owns one reference of the payload, and drops it when its own last reference
// goes. Both methods must be safe for concurrent use. A payload type is
// examined by its zero value, hence an interface type is never counted.
type Counted interface {
	AddRef()
	DropRef()
}

// State is the position of a value in its life.
type State uint8

// The states of a value, in the order it passes through them.
const (
	Unconstructed State = iota // no payload yet
	Constructed                // payload built but not published
	Available                  // published with a payload ("concrete")
	Failed                     // published with a Status ("error")
)

// String returns the name of the state.
func (s State) String() string {
	switch s {
	case Unconstructed:
		return "unconstructed"
	case Constructed:
		return "constructed"
	case Available:
		return "concrete"
	case Failed:
		return "error"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// State returns the present state. Unless it is final it may be out of date on
// return.
func (v *Value) State() State {
	switch v.head.Load() {
	case &concreteMark:
		return Available
	case &errorMark:
		return Failed
	}
	if v.has(bitPayload) {
		return Constructed
	}
	return Unconstructed
}

// IsAvailable reports whether v is concrete or an error.
func (v *Value) IsAvailable() bool {
	h := v.head.Load()
	return h == &concreteMark || h == &errorMark
}

// IsUnavailable reports whether v has not been published.
func (v *Value) IsUnavailable() bool { return !v.IsAvailable() }

// IsConcrete reports whether v is available and has a payload.
func (v *Value) IsConcrete() bool { return v.head.Load() == &concreteMark }

// IsError reports whether v is available and has a status instead of a payload.
func (v *Value) IsError() bool { return v.head.Load() == &errorMark }

// Status returns the status of an error value and nil for any other. All
// consumers of one failure see the same pointer.
func (v *Value) Status() *Status {
	if v.IsError() {
		return v.err.Load()
	}
	return nil
}

// Err returns the status of an error value as an error, and nil for any other.
func (v *Value) Err() error {
	if st := v.Status(); st != nil {
		return st
	}
	return nil
}

// IsIndirect reports whether v forwards to another value.
func (v *Value) IsIndirect() bool { return v.has(bitIndirect) }

// Target returns the value that holds the payload: v itself, or for a resolved
// indirect what it stands for. An unresolved or failed indirect is its own
// target. The result is borrowed from v.
func (v *Value) Target() *Value {
	if v.has(bitIndirect) && v.IsConcrete() {
		return v.self.(*Indirect).target.Load()
	}
	return v
}

// IsCounted reports whether AddRef and DropRef have an effect.
func (v *Value) IsCounted() bool { return v.has(bitCounted) }

// AddRef takes a reference.
func (v *Value) AddRef() { v.AddRefs(1) }

// AddRefs takes n references.
func (v *Value) AddRefs(n int) {
	if v.has(bitCounted) && n != 0 {
		if got := atomic.AddInt32(&v.refs, int32(n)); debug && got <= int32(n) {
			panic("async: AddRef of a destroyed value" + origin(v))
		}
	}
}

// DropRef gives a reference back. The last one releases the payload.
func (v *Value) DropRef() { v.DropRefs(1) }

// DropRefs gives n references back. It panics if there were fewer: some owner
// dropped a reference it did not hold.
func (v *Value) DropRefs(n int) {
	if !v.has(bitCounted) || n == 0 {
		return
	}
	// The only owner needs no read-modify-write: no other goroutine can add or drop.
	if !debug && atomic.LoadInt32(&v.refs) == int32(n) {
		v.refs = 0 // so that a reference too many is found out
		v.destroy()
		return
	}
	switch left := atomic.AddInt32(&v.refs, -int32(n)); {
	case left == 0:
		v.destroy()
	case left < 0:
		panic("async: DropRef of a destroyed value" + origin(v))
	}
}

// NumRefs returns the present number of references, and 0 when v is not
// counted.
func (v *Value) NumRefs() int {
	if !v.has(bitCounted) {
		return 0
	}
	return int(atomic.LoadInt32(&v.refs))
}

// IsUnique reports whether the caller's reference is the only way to the
// payload: v, and for an indirect the value behind it, have one reference
// each. Uncounted and static values and unresolved indirects are never unique.
// A true answer stays true as long as the caller keeps its reference to
// itself.
func (v *Value) IsUnique() bool {
	if !v.has(bitCounted) || atomic.LoadInt32(&v.refs) != 1 {
		return false
	}
	if v.has(bitIndirect) {
		return v.IsConcrete() && v.Target().IsUnique()
	}
	return true
}

// String describes v for messages: kind, payload type and state.
func (v *Value) String() string {
	if v == nil {
		return "async.Value(nil)"
	}
	if st := v.Status(); st != nil {
		return fmt.Sprintf("error value (%v)", st)
	}
	return fmt.Sprintf("%v value of %s", v.State(), v.Target().self.typeName())
}

func (v *Value) has(bit uint32) bool { return atomic.LoadUint32(&v.bits)&bit != 0 }
func (v *Value) setBit(bit uint32)   { atomic.OrUint32(&v.bits, bit) }
func (v *Value) clearBit(bit uint32) { atomic.AndUint32(&v.bits, ^bit) }

func (v *Value) destroy() {
	if v.has(bitTracked) {
		untrackCounted(v)
	}
	v.self.destroy()
}

// born makes final the head of a value that is not shared yet. Like the first value of refs it is written plainly: whoever gets to
// know the value does so through something that synchronises.
func (v *Value) born(final *Waiter) { *(**Waiter)(unsafe.Pointer(&v.head)) = final }

// publish makes final the head of v and takes the waiters. It reports false,
// and changes nothing, if v was available already: of several publications the
// first one wins. That is why it compares and swaps where a plain exchange
// would do for a well-behaved producer, at the same cost.
func (v *Value) publish(final *Waiter) (Ready, bool) {
	for {
		h := v.head.Load()
		if h == &concreteMark || h == &errorMark {
			return Ready{}, false
		}
		if v.head.CompareAndSwap(h, final) {
			if v.has(bitTracked) {
				untrackOpen(v, h)
			}
			return Ready{h}, true
		}
	}
}

// fail is the common part of SetError for all kinds of value.
func (v *Value) fail(st *Status) (Ready, bool) {
	if !v.err.CompareAndSwap(nil, st) {
		return Ready{}, false
	}
	return v.publish(&errorMark)
}
