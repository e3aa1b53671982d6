package proto

import (
	"math"
	"reflect"
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
)

func codecOf(t reflect.Type) codec {
	switch t {
	case reflect.TypeFor[hlo.OptInt]():
		return optIntCodec
	case reflect.TypeFor[fixed32s]():
		return fixedCodec(protowire.Fixed32Type, 4)
	case reflect.TypeFor[fixed64s]():
		return fixedCodec(protowire.Fixed64Type, 8)
	case reflect.TypeFor[rawMsg]():
		return rawCodec
	case reflect.TypeFor[[]byte]():
		return bytesCodec
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Int32, reflect.Uint64, reflect.Uint32, reflect.Bool:
		return varintCodec
	case reflect.Float32:
		return float32Codec
	case reflect.Float64:
		return float64Codec
	case reflect.String:
		return stringCodec
	case reflect.Pointer:
		return codec{readMessage, writeMessage}
	case reflect.Slice:
		switch e := t.Elem(); e.Kind() {
		case reflect.Pointer, reflect.String, reflect.Slice:
			return repeatedCodec(codecOf(e))
		default:
			return packedCodec
		}
	}
	panic("proto: no wire form of " + t.String())
}

func wrongType(typ protowire.Type) error { return errorf("unexpected wire type %d", typ) }

func setVarint(v reflect.Value, x uint64) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(x != 0)
	case reflect.Int32:
		v.SetInt(int64(int32(x)))
	case reflect.Int64:
		v.SetInt(int64(x))
	case reflect.Uint32:
		v.SetUint(uint64(uint32(x)))
	default:
		v.SetUint(x)
	}
}

func getVarint(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	case reflect.Int32, reflect.Int64:
		return uint64(v.Int())
	}
	return v.Uint()
}

var varintCodec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		if typ != protowire.VarintType {
			return 0, wrongType(typ)
		}
		x, n := protowire.ConsumeVarint(b)
		setVarint(v, x)
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		if v.IsZero() {
			return b
		}
		return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), getVarint(v))
	},
}

var optIntCodec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		if typ != protowire.VarintType {
			return 0, wrongType(typ)
		}
		x, n := protowire.ConsumeVarint(b)
		v.Set(reflect.ValueOf(hlo.SomeInt(int64(x))))
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		o := v.Interface().(hlo.OptInt)
		if !o.Set {
			return b
		}
		return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(o.Value))
	},
}

var float32Codec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		if typ != protowire.Fixed32Type {
			return 0, wrongType(typ)
		}
		x, n := protowire.ConsumeFixed32(b)
		v.SetFloat(float64(math.Float32frombits(x)))
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		x := math.Float32bits(float32(v.Float()))
		if x == 0 {
			return b
		}
		return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), x)
	},
}

var float64Codec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		if typ != protowire.Fixed64Type {
			return 0, wrongType(typ)
		}
		x, n := protowire.ConsumeFixed64(b)
		v.SetFloat(math.Float64frombits(x))
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		x := math.Float64bits(v.Float())
		if x == 0 {
			return b
		}
		return protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), x)
	},
}

var stringCodec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		if typ != protowire.BytesType {
			return 0, wrongType(typ)
		}
		x, n := protowire.ConsumeBytes(b)
		v.SetString(unsafe.String(unsafe.SliceData(x), len(x))) // shares the input
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		if v.Len() == 0 {
			return b
		}
		return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v.String())
	},
}

// bytesCodec keeps a reference to the input.
var bytesCodec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		if typ != protowire.BytesType {
			return 0, wrongType(typ)
		}
		x, n := protowire.ConsumeBytes(b)
		if n >= 0 {
			v.SetBytes(x[:len(x):len(x)])
		}
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		if v.Len() == 0 {
			return b
		}
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v.Bytes())
	},
}

// rawCodec is bytesCodec for a message: where one occurs again, the two are one.
var rawCodec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, depth int) (int, error) {
		if v.Len() == 0 {
			return bytesCodec.read(v, typ, b, depth)
		}
		first := v.Bytes()
		n, err := bytesCodec.read(v, typ, b, depth)
		if n >= 0 && err == nil {
			v.SetBytes(slices.Concat(first, v.Bytes()))
		}
		return n, err
	},
	write: bytesCodec.write,
}

// readMessage merges a message that occurs again, as protobuf does, and tells an empty message from none.
func readMessage(v reflect.Value, typ protowire.Type, b []byte, depth int) (int, error) {
	if typ != protowire.BytesType {
		return 0, wrongType(typ)
	}
	x, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return n, nil
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return n, unmarshalValue(x, v.Elem(), depth+1)
}

func writeMessage(b []byte, num protowire.Number, v reflect.Value) []byte {
	if v.IsNil() {
		return b
	}
	return appendMessage(b, num, v.Elem())
}

func appendMessage(b []byte, num protowire.Number, v reflect.Value) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	// The length is not known yet: leave one byte for it, which is enough for most, and move the rest when it is not.
	start := len(b) + 1
	b = marshalValue(append(b, 0), v)
	size := len(b) - start
	if extra := protowire.SizeVarint(uint64(size)) - 1; extra > 0 {
		b = append(b, "         "[:extra]...)
		copy(b[start+extra:], b[start:start+size])
	}
	protowire.AppendVarint(b[:start-1], uint64(size))
	return b
}

// repeatedCodec is a list of strings, bytes or messages; elements with zero values are written, too.
func repeatedCodec(e codec) codec {
	return codec{
		read: func(v reflect.Value, typ protowire.Type, b []byte, depth int) (int, error) {
			v.Grow(1)
			v.SetLen(v.Len() + 1)
			n, err := e.read(v.Index(v.Len()-1), typ, b, depth)
			if err != nil {
				return n, within(err, at("", v.Len()-1))
			}
			return n, nil
		},
		write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
			for i := range v.Len() {
				x := v.Index(i)
				if k := x.Kind(); (k == reflect.String || k == reflect.Slice) && x.Len() == 0 {
					b = append(protowire.AppendTag(b, num, protowire.BytesType), 0)
					continue
				}
				b = e.write(b, num, x)
			}
			return b
		},
	}
}

// packedCodec is a list of integers or booleans; the reader takes packed and single values.
var packedCodec = codec{
	read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
		switch typ {
		case protowire.VarintType:
			x, n := protowire.ConsumeVarint(b)
			v.Grow(1)
			v.SetLen(v.Len() + 1)
			setVarint(v.Index(v.Len()-1), x)
			return n, nil
		case protowire.BytesType:
		default:
			return 0, wrongType(typ)
		}
		packed, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return n, nil
		}
		count := 0
		for _, c := range packed {
			if c < 0x80 {
				count++
			}
		}
		v.Grow(count)
		for len(packed) > 0 {
			x, k := protowire.ConsumeVarint(packed)
			if k < 0 {
				return k, nil
			}
			packed = packed[k:]
			v.SetLen(v.Len() + 1)
			setVarint(v.Index(v.Len()-1), x)
		}
		return n, nil
	},
	write: func(b []byte, num protowire.Number, v reflect.Value) []byte {
		if v.Len() == 0 {
			return b
		}
		size := 0
		for i := range v.Len() {
			size += protowire.SizeVarint(getVarint(v.Index(i)))
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.BytesType), uint64(size))
		for i := range v.Len() {
			b = protowire.AppendVarint(b, getVarint(v.Index(i)))
		}
		return b
	},
}

func fixedCodec(single protowire.Type, size int) codec {
	return codec{
		read: func(v reflect.Value, typ protowire.Type, b []byte, _ int) (int, error) {
			var x []byte
			n := size
			switch typ {
			case single:
				if len(b) < size {
					return 0, errorf("cut short")
				}
				x = b[:size]
			case protowire.BytesType:
				if x, n = protowire.ConsumeBytes(b); n < 0 {
					return n, nil
				}
				if len(x)%size != 0 {
					return 0, errorf("%d bytes of values of %d bytes", len(x), size)
				}
				if v.Len() == 0 { // share the input
					v.SetBytes(x[:len(x):len(x)])
					return n, nil
				}
			default:
				return 0, wrongType(typ)
			}
			v.SetBytes(append(v.Bytes(), x...))
			return n, nil
		},
		write: bytesCodec.write,
	}
}
