package proto

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// A plan is what the tags of a struct of schema.go say, compiled once: reading and writing are walks over its table of fields, and a field
// is an address in the struct and a codec for what is there.
type plan struct {
	typ    reflect.Type
	once   sync.Once
	fields []field
	low    [128]uint8 // by number: index into fields plus one; other numbers are few and looked for
	rest   int        // offset of the field tagged `*`; -1: none
}

// field is one field of a message.
type field struct {
	num    protowire.Number
	offset uintptr
	name   string
	codec  codec
}

// restTag marks a field of type spans that takes what the struct has no fields for.
const restTag = "*"

// maxDepth bounds nesting of messages.
const maxDepth = 1000

var plans sync.Map // reflect.Type → *plan

// planOf is the plan of a struct type. Messages may contain themselves, so the plan is compiled when it is first used.
func planOf(t reflect.Type) *plan {
	p, ok := plans.Load(t)
	if !ok {
		p, _ = plans.LoadOrStore(t, &plan{typ: t, rest: -1})
	}
	return p.(*plan)
}

func (p *plan) compiled() *plan {
	p.once.Do(func() { p.add(p.typ, 0) })
	return p
}

// add compiles the fields of a struct, and of those that it embeds.
func (p *plan) add(t reflect.Type, base uintptr) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("pb")
		if f.Anonymous {
			p.add(f.Type, base+f.Offset)
			continue
		}
		if tag == restTag {
			p.rest = int(base + f.Offset)
			continue
		}
		num, err := strconv.Atoi(tag)
		if err != nil {
			panic("proto: bad tag on " + t.Name() + "." + f.Name)
		}
		p.fields = append(p.fields, field{protowire.Number(num), base + f.Offset, strings.ToLower(f.Name), codecOf(f.Type)})
		if num < len(p.low) {
			p.low[num] = uint8(len(p.fields))
		}
	}
}

func (p *plan) find(num protowire.Number) *field {
	if int(num) < len(p.low) {
		if i := p.low[num]; i > 0 {
			return &p.fields[i-1]
		}
		return nil
	}
	for i := len(p.fields) - 1; i >= 0; i-- {
		if p.fields[i].num == num {
			return &p.fields[i]
		}
	}
	return nil
}

// number is the number of a field of a message.
func number[T any](name string) protowire.Number {
	f, _ := reflect.TypeFor[T]().FieldByName(name)
	n, err := strconv.Atoi(f.Tag.Get("pb"))
	if err != nil {
		panic("proto: no field " + name)
	}
	return protowire.Number(n)
}

// message is a plan and the type that it is of.
type message[T any] struct{ plan *plan }

func messageOf[T any]() message[T] { return message[T]{planOf(reflect.TypeFor[T]())} }

// unmarshal merges b into msg. Fields that T does not have are skipped.
func (m message[T]) unmarshal(b []byte, msg *T) error { return m.plan.read(b, unsafe.Pointer(msg), 0) }

// marshal appends msg. A message appended to another of its type is merged with it, so that one may be written in parts.
func (m message[T]) marshal(b []byte, msg *T) []byte { return m.plan.append(b, unsafe.Pointer(msg)) }

// Those of every instruction are looked up once.
var (
	instructions = messageOf[instructionMsg]()
	extras       = messageOf[instructionExtra]()
	commons      = messageOf[commonMsg]()
)

// Numbers of fields that are read and written apart from what they are in.
var (
	modulesModule           = number[withConfigMsg]("Module")
	modulesConfig           = number[withConfigMsg]("Config")
	moduleComputations      = number[moduleMsg]("Computations")
	computationInstructions = number[computationMsg]("Instructions")
	instructionOpcode       = number[instructionMsg]("Opcode")
	instructionExtras       = number[instructionMsg]("Extra")
	ownLiteral              = number[ownMsg]("Literal")
)

func unmarshal[T any](b []byte, msg *T) error { return messageOf[T]().unmarshal(b, msg) }

func marshal[T any](b []byte, msg *T) []byte { return messageOf[T]().marshal(b, msg) }

func (p *plan) read(b []byte, msg unsafe.Pointer, depth int) error {
	if depth > maxDepth {
		return errorf("messages nest deeper than %d", maxDepth)
	}
	p.compiled()
	var run []byte // from the first of the fields that we do not have
	for len(b) > 0 {
		num, typ, n := consumeTag(b)
		if n < 0 {
			return wireError(n)
		}
		f := p.find(num)
		if f == nil {
			size := protowire.ConsumeFieldValue(num, typ, b[n:])
			if size < 0 {
				return within(wireError(size), "field "+strconv.Itoa(int(num)))
			}
			if run == nil {
				run = b
			}
			b = b[n+size:]
			continue
		}
		if run != nil {
			p.keep(msg, run[:len(run)-len(b)])
			run = nil
		}
		b = b[n:]
		n, err := f.codec.read(unsafe.Add(msg, f.offset), typ, b, depth)
		if err != nil {
			return within(err, f.name)
		}
		if n < 0 {
			return within(wireError(n), f.name)
		}
		b = b[n:]
	}
	if run != nil {
		p.keep(msg, run)
	}
	return nil
}

// consumeTag is [protowire.ConsumeTag], quick where numbers have one byte or two.
func consumeTag(b []byte) (protowire.Number, protowire.Type, int) {
	if x := b[0]; x >= 1<<3 && x < 0x80 {
		return protowire.Number(x >> 3), protowire.Type(x & 7), 1
	} else if len(b) > 1 && x >= 0x80 && b[1]-1 < 0x7f {
		return protowire.Number(b[1])<<4 | protowire.Number(x>>3&0xf), protowire.Type(x & 7), 2
	}
	return protowire.ConsumeTag(b)
}

// keep puts fields aside for which the message has none, if it cares.
func (p *plan) keep(msg unsafe.Pointer, run []byte) {
	if p.rest >= 0 {
		rest := (*spans)(unsafe.Add(msg, p.rest))
		*rest = append(*rest, run)
	}
}

func (p *plan) append(b []byte, msg unsafe.Pointer) []byte {
	fields := p.compiled().fields
	for i := range fields {
		f := &fields[i]
		if at := unsafe.Add(msg, f.offset); !f.codec.unset(at) {
			b = f.codec.put(b, f.num, at)
		}
	}
	return b
}

// openMessage begins a field that is a message; closeMessage ends the one whose content began at start. The length is not known before
// the end: one byte is left for it, which is enough for most, and when it is not, the content moves.
func openMessage(b []byte, num protowire.Number) (_ []byte, start int) {
	b = append(protowire.AppendTag(b, num, protowire.BytesType), 0)
	return b, len(b)
}

func closeMessage(b []byte, start int) []byte {
	size := len(b) - start
	if size < 0x80 {
		b[start-1] = byte(size)
		return b
	}
	extra := protowire.SizeVarint(uint64(size)) - 1
	b = append(b, "         "[:extra]...)
	copy(b[start+extra:], b[start:start+size])
	protowire.AppendVarint(b[:start-1], uint64(size))
	return b
}
