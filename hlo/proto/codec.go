package proto

import (
	"iter"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
)

// Types of fields besides those whose wire form follows from Go. All of them share memory with what was read.
type (
	rawMsg   []byte   // a message left encoded, so that many small ones do not grow before they are looked at; nil: none
	apart    struct{} // messages that are read with elements and written with openMessage, one at a time
	spans    []rawMsg // runs of fields
	varints  []byte   // packed varints left encoded
	fixed32s []byte   // packed fixed32 values, little-endian as in a literal
	fixed64s []byte   // packed fixed64 values
)

// codec reads and writes fields of one Go type. p is the address of a field.
type codec interface {
	// read merges a value at the beginning of b into the field, and returns its length, or an error of protowire when that is negative.
	read(p unsafe.Pointer, typ protowire.Type, b []byte, depth int) (int, error)
	// unset reports whether the field is as when nothing was read.
	unset(p unsafe.Pointer) bool
	// put appends the field, with its tag.
	put(b []byte, num protowire.Number, p unsafe.Pointer) []byte
}

func codecOf(t reflect.Type) codec {
	switch t {
	case reflect.TypeFor[hlo.OptInt]():
		return optIntCodec{}
	case reflect.TypeFor[varints]():
		return packedCodec{protowire.VarintType}
	case reflect.TypeFor[fixed32s]():
		return packedCodec{protowire.Fixed32Type}
	case reflect.TypeFor[fixed64s]():
		return packedCodec{protowire.Fixed64Type}
	case reflect.TypeFor[rawMsg]():
		return rawCodec{}
	case reflect.TypeFor[apart]():
		return apartCodec{}
	case reflect.TypeFor[[]byte]():
		return bytesCodec{}
	}
	switch t.Kind() {
	case reflect.Int64:
		return intCodec[int64]{}
	case reflect.Int32:
		return intCodec[int32]{}
	case reflect.Bool:
		return boolCodec{}
	case reflect.Float32:
		return float32Codec{}
	case reflect.Float64:
		return float64Codec{}
	case reflect.String:
		return stringCodec{}
	case reflect.Pointer:
		return messageCodec{planOf(t.Elem())}
	case reflect.Slice:
		switch e := t.Elem(); e.Kind() {
		case reflect.Int64:
			return intsCodec{}
		case reflect.Bool:
			return boolsCodec{}
		case reflect.Pointer:
			return listCodec[unsafe.Pointer]{codecOf(e)}
		case reflect.String:
			return listCodec[string]{codecOf(e)}
		case reflect.Slice:
			return listCodec[[]byte]{codecOf(e)}
		}
	}
	panic("proto: no wire form of " + t.String())
}

func wrongType(typ protowire.Type) error { return errorf("unexpected wire type %d", typ) }

func appendVarint(b []byte, num protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), x)
}

func readVarint(typ protowire.Type, b []byte) (uint64, int, error) {
	if typ != protowire.VarintType {
		return 0, 0, wrongType(typ)
	}
	x, n := protowire.ConsumeVarint(b)
	return x, n, nil
}

// readBytes returns a part of b that has no room behind it.
func readBytes(typ protowire.Type, b []byte) ([]byte, int, error) {
	if typ != protowire.BytesType {
		return nil, 0, wrongType(typ)
	}
	x, n := protowire.ConsumeBytes(b)
	return slices.Clip(x), n, nil
}

type intCodec[T int32 | int64] struct{}

func (intCodec[T]) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	x, n, err := readVarint(typ, b)
	*(*T)(p) = T(x)
	return n, err
}

func (intCodec[T]) unset(p unsafe.Pointer) bool { return *(*T)(p) == 0 }

func (intCodec[T]) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return appendVarint(b, num, uint64(*(*T)(p)))
}

type boolCodec struct{}

func (boolCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	x, n, err := readVarint(typ, b)
	*(*bool)(p) = x != 0
	return n, err
}

func (boolCodec) unset(p unsafe.Pointer) bool { return !*(*bool)(p) }

func (boolCodec) put(b []byte, num protowire.Number, _ unsafe.Pointer) []byte {
	return appendVarint(b, num, 1)
}

// optIntCodec distinguishes a 0 that is written from a missing field.
type optIntCodec struct{}

func (optIntCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	x, n, err := readVarint(typ, b)
	*(*hlo.OptInt)(p) = hlo.SomeInt(int64(x))
	return n, err
}

func (optIntCodec) unset(p unsafe.Pointer) bool { return !(*hlo.OptInt)(p).Set }

func (optIntCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return appendVarint(b, num, uint64((*hlo.OptInt)(p).Value))
}

type float32Codec struct{}

func (float32Codec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	if typ != protowire.Fixed32Type {
		return 0, wrongType(typ)
	}
	x, n := protowire.ConsumeFixed32(b)
	*(*float32)(p) = math.Float32frombits(x)
	return n, nil
}

func (float32Codec) unset(p unsafe.Pointer) bool { return *(*uint32)(p) == 0 } // -0 is set

func (float32Codec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), *(*uint32)(p))
}

type float64Codec struct{}

func (float64Codec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	if typ != protowire.Fixed64Type {
		return 0, wrongType(typ)
	}
	x, n := protowire.ConsumeFixed64(b)
	*(*float64)(p) = math.Float64frombits(x)
	return n, nil
}

func (float64Codec) unset(p unsafe.Pointer) bool { return *(*uint64)(p) == 0 }

func (float64Codec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), *(*uint64)(p))
}

type stringCodec struct{}

func (stringCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	x, n, err := readBytes(typ, b)
	*(*string)(p) = sharedString(x)
	return n, err
}

func (stringCodec) unset(p unsafe.Pointer) bool { return *(*string)(p) == "" }

func (stringCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), *(*string)(p))
}

// sharedString is a string in the memory of b, which is never written again.
func sharedString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

type bytesCodec struct{}

func (bytesCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	x, n, err := readBytes(typ, b)
	*(*[]byte)(p) = x
	return n, err
}

func (bytesCodec) unset(p unsafe.Pointer) bool { return len(*(*[]byte)(p)) == 0 }

func (bytesCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), *(*[]byte)(p))
}

// rawCodec is bytesCodec for a message: where one occurs again, the two are one, and an empty one is not none.
type rawCodec struct{ bytesCodec }

func (rawCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	x, n, err := readBytes(typ, b)
	if n < 0 || err != nil {
		return n, err
	}
	if raw := (*rawMsg)(p); *raw == nil {
		*raw = x // clipped, so that nothing is ever added in place
	} else {
		*raw = append(*raw, x...)
	}
	return n, nil
}

func (rawCodec) unset(p unsafe.Pointer) bool { return *(*rawMsg)(p) == nil }

// apartCodec looks only whether the messages are there in full.
type apartCodec struct{}

func (apartCodec) read(_ unsafe.Pointer, typ protowire.Type, b []byte, _ int) (int, error) {
	_, n, err := readBytes(typ, b)
	return n, err
}

func (apartCodec) unset(unsafe.Pointer) bool { return true }

func (apartCodec) put(b []byte, _ protowire.Number, _ unsafe.Pointer) []byte { return b }

// elements yields what is in the fields of the given number of b, as far as b is well-formed.
func elements(b []byte, num protowire.Number) iter.Seq2[int, rawMsg] {
	return func(yield func(int, rawMsg) bool) {
		for i := 0; len(b) > 0; {
			n, typ, tag := consumeTag(b)
			if tag < 0 {
				return
			}
			size := protowire.ConsumeFieldValue(n, typ, b[tag:])
			if size < 0 {
				return
			}
			if n == num && typ == protowire.BytesType {
				raw, _ := protowire.ConsumeBytes(b[tag:])
				if !yield(i, slices.Clip(raw)) {
					return
				}
				i++
			}
			b = b[tag+size:]
		}
	}
}

// messageCodec is a pointer to a message, which is merged with one that occurs again.
type messageCodec struct{ plan *plan }

func (c messageCodec) read(p unsafe.Pointer, typ protowire.Type, b []byte, depth int) (int, error) {
	x, n, err := readBytes(typ, b)
	if n < 0 || err != nil {
		return n, err
	}
	msg := (*unsafe.Pointer)(p)
	if *msg == nil {
		*msg = reflect.New(c.plan.typ).UnsafePointer()
	}
	return n, c.plan.read(x, *msg, depth+1)
}

func (messageCodec) unset(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil }

func (c messageCodec) put(b []byte, num protowire.Number, p unsafe.Pointer) []byte {
	b, start := openMessage(b, num)
	return closeMessage(c.plan.append(b, *(*unsafe.Pointer)(p)), start)
}
