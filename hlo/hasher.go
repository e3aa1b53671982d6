package hlo

import (
	"encoding/binary"
	"math"
	"math/bits"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// hasher is a fast hash of 128 bits, the same in every process. It is not proof against an adversary.
type hasher struct{ a, b uint64 }

const (
	hashK0 = 0x9E3779B97F4A7C15
	hashK1 = 0xD6E8FEB86659FD93
	hashK2 = 0xA0761D6478BD642F
	hashK3 = 0xE7037ED1A0B428DB
)

// fold is the 128-bit product, folded.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

func newHasher(seed uint64) hasher { return hasher{hashK0 ^ seed, hashK3 + seed} }

func (h *hasher) word(x uint64) {
	h.a = fold(h.a^x, hashK1) + hashK0
	h.b = fold(h.b+x, hashK2) ^ bits.RotateLeft64(h.a, 29)
}

func (h *hasher) bool(x bool) {
	if x {
		h.word(1)
	} else {
		h.word(0)
	}
}

func (h *hasher) bytes(s []byte) {
	h.word(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h.word(binary.LittleEndian.Uint64(s))
	}
	if len(s) > 0 {
		var w uint64
		for i, c := range s {
			w |= uint64(c) << (8 * i)
		}
		h.word(w)
	}
}

func (h *hasher) string(s string) {
	h.word(uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	if len(s) > 0 {
		var w uint64
		for i := range len(s) {
			w |= uint64(s[i]) << (8 * i)
		}
		h.word(w)
	}
}

func (h *hasher) sum() (hi, lo uint64) { return fold(h.a, hashK2) ^ h.b, fold(h.b, hashK1) ^ h.a }

// sum64 is 64 bits of the sum, never 0, which caches take for "not computed".
func (h *hasher) sum64() uint64 {
	_, lo := h.sum()
	return max(lo, 1)
}

// shape hashes what [Shape.Equal] compares, by the hash that every shape keeps.
func (h *hasher) shape(s Shape) {
	if s.d == nil {
		h.word(0)
		return
	}
	x := atomic.LoadUint64(&s.d.hash)
	if x == 0 {
		x = hashShape(s.d)
		atomic.StoreUint64(&s.d.hash, x)
	}
	h.word(x)
}

// hashShape hashes one shape and its parts. The first word says what follows, so that no two shapes make the same sequence.
func hashShape(d *shapeData) uint64 {
	h := newHasher(15)
	layout := d.layout
	if d.typ.IsArray() && len(d.dims) == 0 {
		layout = cmpLayout(layout)
	}
	head := uint64(d.typ)<<56 | uint64(len(d.dims))<<24 | uint64(len(d.elems))
	if d.dyn != nil {
		head |= 1 << 55
	}
	if layout != nil {
		head |= 1 << 54
	}
	h.word(head)
	for _, n := range d.dims {
		h.word(uint64(n))
	}
	for _, dyn := range d.dyn {
		h.bool(dyn)
	}
	if layout != nil {
		h.layout(layout)
	}
	for _, e := range d.elems {
		h.shape(e)
	}
	return h.sum64()
}

func (h *hasher) layout(l *Layout) {
	h.ints(l.MinorToMajor)
	h.bool(l.hasFields())
	if !l.hasFields() {
		return
	}
	h.word(uint64(len(l.Tiles)))
	for _, t := range l.Tiles {
		h.ints(t)
	}
	h.word(uint64(max(l.TailPaddingAlignment, 1)))
	h.word(uint64(l.IndexType)<<8 | uint64(l.PointerType))
	h.word(uint64(l.ElementSizeInBits))
	h.word(uint64(l.MemorySpace))
	h.value(reflect.ValueOf(l.SplitConfigs))
	h.word(uint64(l.MetadataPrefixBytes))
}

func (h *hasher) literal(l *Literal) {
	if l == nil {
		h.word(0)
		return
	}
	h.word(l.hash())
}

// attrs hashes an op's own attributes so that what EqualAttrs calls equal hashes alike.
func (h *hasher) attrs(a OpAttrs) {
	if a == nil {
		h.word(0)
		return
	}
	p, base := attrPlanOf(a), attrMemory(a)
	h.word(p.hash)
	for i := range p.cells {
		c := &p.cells[i]
		at := unsafe.Add(base, c.offset)
		switch c.kind {
		case cellInt64:
			h.word(uint64(*(*int64)(at)))
		case cellByte:
			h.word(uint64(*(*uint8)(at)))
		case cellInts:
			h.ints(*(*[]int64)(at))
		case cellLiteral:
			h.literal(*(**Literal)(at))
		default:
			h.value(reflect.NewAt(c.typ, at).Elem())
		}
	}
}

func (h *hasher) ints(l []int64) {
	h.word(uint64(len(l)))
	for _, n := range l {
		h.word(uint64(n))
	}
}

// meaning hashes the common attributes that say something about the value or how to compute it: all but metadata, origin and
// statistics.
func (h *hasher) meaning(c *Common) {
	if meaningless(c) {
		h.word(0)
		return
	}
	h.string(c.BackendConfig)
	optional(h, c.Sharding)
	optional(h, c.FrontendAttributes)
	optional(h, c.ResultAccuracy)
	h.word(uint64(len(c.ParameterReplication)))
	for _, r := range c.ParameterReplication {
		h.bool(r)
	}
	h.word(uint64(len(c.Unknown)))
	for _, u := range c.Unknown {
		h.string(u.Key)
		h.string(u.Text)
	}
}

func meaningless(c *Common) bool {
	return c == nil || c.BackendConfig == "" && c.Sharding == nil && c.FrontendAttributes == nil && c.ResultAccuracy == nil &&
		c.ParameterReplication == nil && c.Unknown == nil
}

// story hashes the other common attributes.
func (h *hasher) story(c *Common) {
	if c == nil {
		h.word(0)
		return
	}
	optional(h, c.Statistics)
	optional(h, c.Origin)
	if m := c.Metadata; m == nil {
		h.word(0)
	} else {
		h.string(m.OpType)
		h.string(m.OpName)
		h.string(m.SourceFile)
		h.word(uint64(uint32(m.SourceLine))<<32 | uint64(uint32(m.SourceEndLine)))
		h.word(uint64(uint32(m.SourceColumn))<<32 | uint64(uint32(m.SourceEndColumn)))
		h.ints(m.ProfileType)
		h.string(m.DeduplicatedName)
		h.string(m.SchedulingName)
		h.word(uint64(uint32(m.StackFrameID)))
		h.string(m.Payload)
		h.bool(m.HasPayload)
	}
}

// optional hashes a pointer to a rare struct.
func optional[T any](h *hasher, p *T) {
	if p == nil {
		h.word(0)
	} else {
		h.word(1)
		h.value(reflect.ValueOf(p).Elem())
	}
}

var (
	shapeType   = reflect.TypeFor[Shape]()
	literalType = reflect.TypeFor[*Literal]()
)

// value hashes what EqualAttr compares: exported fields, pointees, elements. Unexported fields and maps do not count; -0 is 0.
func (h *hasher) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		h.bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		h.word(v.Uint())
	case reflect.Float32, reflect.Float64:
		h.word(math.Float64bits(v.Float() + 0))
	case reflect.String:
		h.string(v.String())
	case reflect.Slice, reflect.Array:
		h.word(uint64(v.Len()))
		for i := range v.Len() {
			h.value(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			h.word(0)
		} else if v.Type() == literalType {
			h.literal(v.Interface().(*Literal))
		} else {
			h.word(1)
			h.value(v.Elem())
		}
	case reflect.Struct:
		t := v.Type()
		if t == shapeType {
			h.shape(v.Interface().(Shape))
			return
		}
		for i := range t.NumField() {
			if f := v.Field(i); f.CanInterface() { // it is exported
				h.value(f)
			}
		}
	}
}

// any hashes a value with its type.
func (h *hasher) any(a Attr) {
	v := reflect.ValueOf(a)
	if !v.IsValid() {
		h.word(0)
		return
	}
	h.string(v.Type().String())
	h.value(v)
}
