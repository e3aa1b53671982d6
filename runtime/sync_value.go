package runtime

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime/async"
)

// SyncValue is a value of a synchronous function: a scalar of up to eight bytes in place, or a reference to an available
// async value for everything else. The zero SyncValue is empty.
type SyncValue struct {
	scalar *scalarType // of bits; nil if value is set or the SyncValue is empty
	bits   uint64
	value  *async.Value
}

// scalarType identifies a type that is kept in place.
type scalarType struct {
	box func(bits uint64) *async.Value
}

var scalarTypes sync.Map // reflect.Type → *scalarType

// scalarTypeOf returns the descriptor of T, or nil if values of T are not kept in place. Adapters ask once, when they
// are made.
func scalarTypeOf[T any]() *scalarType {
	t := reflect.TypeFor[T]()
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
	default:
		return nil
	}
	if s, ok := scalarTypes.Load(t); ok {
		return s.(*scalarType)
	}
	s, _ := scalarTypes.LoadOrStore(t, &scalarType{box: func(bits uint64) *async.Value {
		return async.MakeAvailable(*(*T)(unsafe.Pointer(&bits))).Value()
	}})
	return s.(*scalarType)
}

// load reads a value whose type has descriptor s. A scalar of another type is a program's type error, and panics: the
// caller of the kernel turns it into one.
func load[T any](v *SyncValue, s *scalarType) T {
	if s != nil && v.scalar == s {
		return *(*T)(unsafe.Pointer(&v.bits))
	}
	return loadBoxed[T](v)
}

// loadBoxed and storeOther are apart so that load and store are inlined: mostly a register has a scalar of the same type as
// in the last execution.
func loadBoxed[T any](v *SyncValue) T { return async.Get[T](v.async()) }

func store[T any](v *SyncValue, s *scalarType, x T) {
	if s == nil || v.scalar != s {
		storeOther(v, s, x)
		return
	}
	*(*T)(unsafe.Pointer(&v.bits)) = x
}

func storeOther[T any](v *SyncValue, s *scalarType, x T) {
	if s == nil {
		*v = SyncValue{value: async.MakeAvailable(x).Value()}
		return
	}
	v.scalar = s
	*(*T)(unsafe.Pointer(&v.bits)) = x
}

// async returns the value as an async value, borrowed from v.
func (v *SyncValue) async() *async.Value {
	if v.value == nil && v.scalar != nil {
		v.value = v.scalar.box(v.bits)
		v.scalar = nil
	}
	return v.value
}

// Value returns v as an async value, borrowed from v.
func (v *SyncValue) Value() *async.Value { return v.async() }

// setAsync makes v stand for an available value, whose reference it takes over.
func (v *SyncValue) setAsync(x *async.Value) { *v = SyncValue{value: x} }

// takeAsync empties v and returns its value with the reference.
func (v *SyncValue) takeAsync() *async.Value {
	x := v.async()
	*v = SyncValue{}
	return x
}

// Clear empties v and releases what it holds.
func (v *SyncValue) Clear() {
	if v.value != nil {
		v.value.DropRef()
	}
	*v = SyncValue{}
}

// MakeSyncValue returns a value holding x.
func MakeSyncValue[T any](x T) SyncValue {
	var v SyncValue
	store(&v, scalarTypeOf[T](), x)
	return v
}

// SyncGet reads a value; it panics if that is not of type T.
func SyncGet[T any](v *SyncValue) T { return load[T](v, scalarTypeOf[T]()) }

// SyncArg reads argument i of a call. Kernels on a hot path are better made with the Pure adapters, which look the type
// up once.
func SyncArg[T any](f *SyncFrame, i int) T { return SyncGet[T](f.Arg(i)) }

// SyncReturn sets result i of a call.
func SyncReturn[T any](f *SyncFrame, i int, x T) { store(f.Result(i), scalarTypeOf[T](), x) }
