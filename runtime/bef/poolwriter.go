package bef

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
)

// PoolWriter collects constants. Equal ones are stored once. The zero value is
// ready to use.
type PoolWriter struct {
	// DenseAlign places the data of tensors of at least BigDense bytes on
	// multiples of it (a power of two from 8, for instance 64), and the section
	// with it. 0 means what the format asks for: 8.
	DenseAlign int

	data  []byte
	align int
	types []PoolEntry
	ends  []uint32 // of each entry's payload
	seed  maphash.Seed
	index map[poolKey]int32 // the last entry with that type and hash
	same  []int32           // for each entry: the one before it with its type and hash, or -1
	room  []byte            // for payloads
}

// BigDense is the size in bytes from which tensor data is aligned to DenseAlign.
const BigDense = 4096

type poolKey struct {
	typ  AttrType
	hash uint64
}

// PoolEntry is the type of the constant at an offset.
type PoolEntry struct {
	Offset uint32
	Type   AttrType
}

// Limits of the 16-bit prefix size.
const (
	maxAggregate = (math.MaxUint16 - 12) / 4
	maxRank      = (math.MaxUint16 - 20) / 8
)

// Add stores a value, unless an equal one is there, and returns its reference,
// without a name. It refuses values that the format cannot hold.
func (p *PoolWriter) Add(v Value) (Attr, error) {
	if err := v.check(0); err != nil {
		return Attr{}, err
	}
	e := payload{b: p.room[:0]}
	e.add(v)
	p.room = e.b
	// A tensor's data need not be copied to find out that it is there already.
	var tail []byte
	if v.Type == DenseType {
		tail = v.Data
	}
	if p.index == nil {
		p.index = make(map[poolKey]int32)
		p.seed = maphash.MakeSeed()
	}
	var h maphash.Hash
	h.SetSeed(p.seed)
	h.Write(e.b)
	h.Write(tail)
	key := poolKey{v.Type, h.Sum64()}
	last, ok := p.index[key]
	if !ok {
		last = -1
	}
	for i := last; i >= 0; i = p.same[i] {
		old := p.data[p.types[i].Offset:p.ends[i]]
		if len(old) == len(e.b)+len(tail) && bytes.Equal(old[:len(e.b)], e.b) && bytes.Equal(old[len(e.b):], tail) {
			return Attr{Offset: p.types[i].Offset, Type: v.Type}, nil
		}
	}

	align := e.align
	if v.Type == DenseType && p.DenseAlign > align && len(tail) >= BigDense {
		align = p.DenseAlign
	}
	for (len(p.data)+e.lead)%align != 0 {
		p.data = append(p.data, padByte)
	}
	p.align = max(p.align, align)
	off := len(p.data)
	if uint64(off)+uint64(len(e.b))+uint64(len(tail)) > math.MaxUint32 {
		return Attr{}, fail(AttributesSection, uint64(off), "attribute pool exceeds 4 GiB")
	}
	p.data = append(append(p.data, e.b...), tail...)
	p.index[key] = int32(len(p.types))
	p.same = append(p.same, last)
	p.types = append(p.types, PoolEntry{uint32(off), v.Type})
	p.ends = append(p.ends, uint32(len(p.data)))
	return Attr{Offset: uint32(off), Type: v.Type}, nil
}

// Pool returns what was collected. The writer must not be used after.
func (p *PoolWriter) Pool() Pool {
	return Pool{Data: p.data, Align: max(p.align, 1), Types: p.types}
}

// check refuses what cannot be encoded.
func (v *Value) check(depth int) error {
	bad := func(format string, args ...any) error {
		return fail(AttributesSection, uint64(v.Type), format, args...)
	}
	switch {
	case depth > maxAttrDepth:
		return bad("aggregate nested more than %d deep", maxAttrDepth)
	case !v.Type.Known() || v.Type == Resource || v.Type == Variant:
		return bad("attribute of type %v cannot be stored", v.Type)
	case v.Type.IsArray():
		if len(v.Data)%v.Type.Elem().Size() != 0 {
			return bad("%v: %d bytes are no whole number of elements", v.Type, len(v.Data))
		}
	case v.Type.Size() > 0 && len(v.Data) != v.Type.Size():
		return bad("%v: got %d bytes, want %d", v.Type, len(v.Data), v.Type.Size())
	case v.Type == ShapeType:
		if len(v.Dims) > maxRank {
			return bad("shape of rank %d, at most %d can be stored", len(v.Dims), maxRank)
		}
		for _, d := range v.Dims {
			if d < -1 {
				return bad("shape with extent %d", d)
			}
		}
	case v.Type == DenseType:
		if len(v.Dims) > maxRank {
			return bad("tensor of rank %d, at most %d can be stored", len(v.Dims), maxRank)
		}
		size := v.Elem.Size()
		n, ok := elementCount(v.Dims)
		if size == 0 || !ok || n > math.MaxUint32 || n*uint64(size) != uint64(len(v.Data)) {
			return bad("tensor of %v%v does not have %d bytes", v.Elem, v.Dims, len(v.Data))
		}
		if uint64(len(v.Data)) > math.MaxUint32-8*maxRank-20 {
			return bad("tensor of %d bytes, at most 4 GiB can be stored", len(v.Data))
		}
	case v.Type == AggregateType:
		if len(v.Elems) > maxAggregate {
			return bad("aggregate of %d elements, at most %d can be stored", len(v.Elems), maxAggregate)
		}
		for i := range v.Elems {
			if err := v.Elems[i].check(depth + 1); err != nil {
				return err
			}
		}
	case v.Type == SymbolRefType && v.Symbol == nil:
		return bad("symbol reference without a symbol")
	}
	return nil
}

// elementCount multiplies extents; false if one is negative or the product overflows.
func elementCount(dims []int64) (uint64, bool) {
	n := uint64(1)
	zero, over := false, false
	for _, d := range dims {
		if d < 0 {
			return 0, false
		}
		zero = zero || d == 0
		hi, lo := bits.Mul64(n, uint64(d))
		over = over || hi != 0
		n = lo
	}
	if zero {
		return 0, true
	}
	return n, !over
}

// payload is an encoded attribute and where it may be put: at offsets with
// (offset + lead) mod align = 0.
type payload struct {
	b           []byte
	lead, align int
}

func (e *payload) u32(v int) { e.b = binary.LittleEndian.AppendUint32(e.b, uint32(v)) }

// prefix writes the eight bytes that shapes, tensors and aggregates begin with.
func (e *payload) prefix(align int, elem AttrType, size, total int) {
	e.b = append(e.b, byte(align), byte(elem), byte(size), byte(size>>8))
	e.u32(total)
	e.lead, e.align = size, align
}

// add encodes v; of a tensor all but the data.
func (e *payload) add(v Value) {
	t := v.Type
	switch {
	case t.IsArray():
		e.align = 4
		if len(v.Data) == 0 {
			e.u32(0)
			return
		}
		// The elements are what must be aligned; the count stands before them.
		size := t.Elem().Size()
		e.lead, e.align = 4, max(4, int(typeTable[t.Elem()].align))
		e.u32(len(v.Data) / size)
		e.b = append(e.b, v.Data...)
	case t.Size() > 0:
		e.align = int(typeTable[t].align)
		e.b = append(e.b, v.Data...)
	case t == StringType || t == FuncType:
		e.align = 4
		e.u32(len(v.Data))
		e.b = append(e.b, v.Data...)
	case t == ShapeType && v.Unranked:
		e.align = 4
		e.u32(0)
	case t == ShapeType:
		e.prefix(8, 0, 12, 12+8*len(v.Dims))
		e.u32(len(v.Dims))
		e.dims(v.Dims)
	case t == DenseType:
		start := 20 + 8*len(v.Dims)
		e.prefix(8, v.Elem, start, start+len(v.Data))
		e.u32(start)
		e.u32(len(v.Data) / v.Elem.Size())
		e.u32(len(v.Dims))
		e.dims(v.Dims)
	case t == AggregateType:
		e.aggregate(v.Elems)
	case t == SymbolRefType:
		e.align = 1
		e.symbol(v.Symbol)
	default:
		panic(fmt.Sprintf("bef: %v passed the check", t))
	}
}

func (e *payload) dims(dims []int64) {
	for _, d := range dims {
		e.b = binary.LittleEndian.AppendUint64(e.b, uint64(d))
	}
}

func (e *payload) aggregate(elems []Value) {
	if len(elems) == 0 {
		e.align = 4
		e.u32(0)
		return
	}
	align := 4
	for _, v := range elems {
		align = max(align, elementAlign(v))
	}
	head := 12 + 4*len(elems)
	offsets := make([]int, len(elems))
	// The place of an element depends on where the aggregate itself stands
	// modulo align, and there the head ends on a multiple of it.
	body := []byte{}
	for i, v := range elems {
		var sub payload
		sub.add(v)
		// At least one byte goes before an element: its type.
		body = append(body, padByte)
		for (len(body)+sub.lead)%sub.align != 0 {
			body = append(body, padByte)
		}
		body[len(body)-1] = byte(v.Type)
		offsets[i] = head + len(body)
		body = append(body, sub.b...)
		if v.Type == DenseType {
			body = append(body, v.Data...)
		}
	}
	e.prefix(align, 0, head, head+len(body))
	e.u32(len(elems))
	for _, o := range offsets {
		e.u32(o)
	}
	e.b = append(e.b, body...)
}

// elementAlign is what an element contributes to its aggregate's alignment.
func elementAlign(v Value) int {
	switch t := v.Type; {
	case t.IsArray():
		return 8
	case t == ShapeType && v.Unranked:
		return 1
	default:
		return int(typeTable[t].align)
	}
}

func (e *payload) symbol(s *Symbol) {
	e.b = appendVBR(e.b, s.ID)
	e.b = appendVBR(e.b, uint64(len(s.Root)))
	e.b = appendVBR(e.b, uint64(len(s.Nested)))
	for _, n := range s.Nested {
		e.b = appendVBR(e.b, uint64(len(n)))
	}
	e.b = appendVBR(e.b, uint64(len(s.Text)))
	e.b = append(e.b, s.Root...)
	for _, n := range s.Nested {
		e.b = append(e.b, n...)
	}
	e.b = append(append(e.b, s.Text...), 0)
}
