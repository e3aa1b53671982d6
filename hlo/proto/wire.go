package proto

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
)

// A FormatError says where bytes are not what they should be.
type FormatError struct {
	Where string // path of fields: "computations[2].instructions[0].shape"
	Msg   string
	// Rule is the id of the verifier's rule that the module breaks, "" when the fault is one of form only.
	Rule string
}

func (e *FormatError) Error() string {
	if e.Where == "" {
		return "malformed HLO proto: " + e.Msg
	}
	return "malformed HLO proto: " + e.Where + ": " + e.Msg
}

func errorf(format string, args ...any) error { return &FormatError{Msg: fmt.Sprintf(format, args...)} }

// ruleErrorf is errorf for what breaks a rule of the verifier.
func ruleErrorf(rule, format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...), Rule: rule}
}

// within puts a field in front of the path of a FormatError.
func within(err error, where string) error {
	if e, ok := err.(*FormatError); ok {
		if e.Where != "" && e.Where[0] != '[' {
			where += "."
		}
		e.Where = where + e.Where
	}
	return err
}

func at(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// Types of fields besides those whose wire form follows from Go.
type (
	rawMsg   []byte // a message left encoded, so that many small ones do not grow before they are looked at
	fixed32s []byte // packed fixed32 values, little-endian as in a literal
	fixed64s []byte // packed fixed64 values
)

// maxDepth bounds nesting of messages.
const maxDepth = 1000

// field is one field of a message struct.
type field struct {
	num   protowire.Number
	index int
	name  string
	codec codec
}

// codec reads and writes fields of one Go type.
type codec struct {
	// wire types that read understands; others are malformed
	read func(v reflect.Value, typ protowire.Type, b []byte, depth int) (int, error)
	// write appends the field, or nothing when it has its zero value.
	write func(b []byte, num protowire.Number, v reflect.Value) []byte
}

type messagePlan struct {
	fields []field
	low    [128]int16 // by number: index into fields plus one
	high   map[protowire.Number]int
	// words has the fields of each machine word of the struct, ascending; nil when the struct is not made of whole words.
	words [][]int
}

var plans sync.Map // reflect.Type → *messagePlan

func planOf(t reflect.Type) *messagePlan {
	if p, ok := plans.Load(t); ok {
		return p.(*messagePlan)
	}
	p := &messagePlan{high: make(map[protowire.Number]int)}
	for i := range t.NumField() {
		f := t.Field(i)
		n, err := strconv.Atoi(f.Tag.Get("pb"))
		if err != nil {
			panic("proto: bad tag on " + t.Name() + "." + f.Name)
		}
		num := protowire.Number(n)
		if n < len(p.low) {
			p.low[n] = int16(len(p.fields) + 1)
		} else {
			p.high[num] = len(p.fields)
		}
		p.fields = append(p.fields, field{num, i, strings.ToLower(f.Name), codecOf(f.Type)})
	}
	const word = unsafe.Sizeof(uint64(0))
	if t.Size()%word == 0 && t.Align() == int(word) {
		p.words = make([][]int, t.Size()/word)
		for i := range t.NumField() {
			f := t.Field(i)
			for w := f.Offset / word; w*word < f.Offset+f.Type.Size(); w++ {
				p.words[w] = append(p.words[w], i)
			}
		}
	}
	actual, _ := plans.LoadOrStore(t, p)
	return actual.(*messagePlan)
}

func (p *messagePlan) find(num protowire.Number) *field {
	if int(num) < len(p.low) {
		if i := p.low[num]; i > 0 {
			return &p.fields[i-1]
		}
		return nil
	}
	if i, ok := p.high[num]; ok {
		return &p.fields[i]
	}
	return nil
}

// unmarshal reads the message that msg, a pointer to a struct of schema.go, describes. Fields it does not have are skipped.
func unmarshal(b []byte, msg any) error { return unmarshalValue(b, reflect.ValueOf(msg).Elem(), 0) }

func unmarshalValue(b []byte, v reflect.Value, depth int) error {
	if depth > maxDepth {
		return errorf("messages nest deeper than %d", maxDepth)
	}
	plan := planOf(v.Type())
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errorf("%v", protowire.ParseError(n))
		}
		b = b[n:]
		f := plan.find(num)
		if f == nil {
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return errorf("field %d: %v", num, protowire.ParseError(n))
			}
			b = b[n:]
			continue
		}
		n, err := f.codec.read(v.Field(f.index), typ, b, depth)
		if err != nil {
			return within(err, f.name)
		}
		if n < 0 {
			return errorf("%s: %v", f.name, protowire.ParseError(n))
		}
		b = b[n:]
	}
	return nil
}

// marshal appends the message.
func marshal(b []byte, msg any) []byte { return marshalValue(b, reflect.ValueOf(msg).Elem()) }

func marshalValue(b []byte, v reflect.Value) []byte {
	plan := planOf(v.Type())
	if plan.words != nil {
		// Most fields of a message are not set, and what is not set is zero: only words that are not are looked at.
		next := 0
		for w, x := range unsafe.Slice((*uint64)(v.Addr().UnsafePointer()), len(plan.words)) {
			if x == 0 {
				continue
			}
			for _, i := range plan.words[w] {
				if i >= next {
					f := &plan.fields[i]
					b = f.codec.write(b, f.num, v.Field(f.index))
					next = i + 1
				}
			}
		}
		return b
	}
	for i := range plan.fields {
		f := &plan.fields[i]
		b = f.codec.write(b, f.num, v.Field(f.index))
	}
	return b
}

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
