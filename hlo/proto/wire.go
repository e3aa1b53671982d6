package proto

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
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
