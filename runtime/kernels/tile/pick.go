package tile

import (
	"encoding/binary"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// Pick is what the elements that a program picks from an array depend on besides the point: numbers, each of which is moved into the range from 0 to Highest and
// adds so often a stride.
type Pick struct {
	At              Value
	Highest, Stride int64
}

// table is an input of which any element may be read.
type table struct {
	arg int
	reg int
}

// Pick loads elements of argument arg, which has so many of type t: at each point the one at an offset that is the sum of what picks and own say. All offsets in
// bytes are numbers of 32 bits.
func (b *Builder) Pick(arg int, t hlo.PrimitiveType, elements int64, own View, picks []Pick) (Value, bool) {
	number := func(x int64) Value { return b.Constant(hlo.S32, binary.LittleEndian.AppendUint32(nil, uint32(x))) }
	at := noValue
	add := func(v Value) {
		if at == noValue {
			at = v
			return
		}
		at = b.integers(hlo.OpAdd, hlo.U32, add[uint32], at, v)
	}
	for _, p := range picks {
		if p.Highest == 0 || p.Stride == 0 {
			continue
		}
		v, ok := b.inside(p.At, p.Highest)
		if !ok {
			return 0, false
		}
		if p.Stride != 1 {
			v = b.integers(hlo.OpMultiply, hlo.U32, multiply[uint32], v, number(p.Stride))
		}
		add(v)
	}
	if !isStill(own.Strides) {
		v, ok := b.Iota(hlo.S32, own)
		if !ok {
			return 0, false
		}
		add(v)
	} else if own.Base != 0 || at == noValue {
		add(number(own.Base))
	}
	return b.take(arg, t, elements, at), true
}

func isStill(strides []int64) bool {
	for _, s := range strides {
		if s != 0 {
			return false
		}
	}
	return true
}

// inside is an index moved into the range from 0 to highest, as a number of 32 bits.
func (b *Builder) inside(v Value, highest int64) (Value, bool) {
	t := b.values[v].typ
	if t.Bits() < 32 {
		var ok bool
		if v, ok = b.Convert(hlo.S32, v); !ok {
			return 0, false
		}
		t = hlo.S32
	}
	limit := b.Constant(t, binary.LittleEndian.AppendUint64(nil, uint64(highest)))
	if t.IsSigned() {
		zero := b.Constant(t, make([]byte, 8))
		v = b.integers(hlo.OpClamp, t, clampLoop(t), zero, v, limit)
	} else {
		fn, _ := binaryLoop(hlo.OpMinimum, t)
		v = b.integers(hlo.OpMinimum, t, fn, v, limit)
	}
	if t.Bits() == 32 {
		return b.sameLanes(hlo.S32, nil, v), true
	}
	return b.Convert(hlo.S32, v)
}

// integers appends an op on integers.
func (b *Builder) integers(op hlo.Opcode, t hlo.PrimitiveType, fn loop, args ...Value) Value {
	o := operation{fn: fn, weight: 1}
	o.vectorize(vectors.Of(op, t))
	d := b.step(t, b.loopOf(&o), nil, o.weight, args...)
	b.steps[len(b.steps)-1].vector = o.vector
	return d
}

// take loads elements at offsets. Narrow floats are then brought into the form that registers have.
func (b *Builder) take(arg int, t hlo.PrimitiveType, elements int64, at Value) Value {
	width := t.ByteSize()
	raw := t
	if isWide(t) {
		raw = vectors.Sized(width)
	}
	from := b.tableOf(arg)
	args := []Value{from, at}
	fn := takeLoop(width)
	if name := vectors.Of(hlo.OpGather, vectors.Sized(width)).In(vectors.Taking); vectors.Has(name) && elements*int64(width) >= takenTogether {
		fn = vectors.Find(name, nil)
		if width < takenTogether {
			args = append(args, b.Constant(hlo.S32, binary.LittleEndian.AppendUint32(nil, uint32(elements*int64(width)-takenTogether))))
		}
	}
	v := b.step(raw, fn, nil, takeWeight, args...)
	b.steps[len(b.steps)-1].takes = true
	if raw != t {
		v = b.step(t, widenLoop(t), nil, 1, v)
		b.steps[len(b.steps)-1].vector = vectors.Of(hlo.OpConvert, t, hlo.F32)
	}
	return v
}

const (
	takenTogether = 4 // bytes that vector loops load for each element at least
	takeWeight    = 8 // memory of any distance
)

func takeLoop(width int) loop {
	switch width {
	case 1:
		return takeAt[uint8]
	case 2:
		return takeAt[uint16]
	case 4:
		return takeAt[uint32]
	}
	return takeAt[uint64]
}

func takeAt[T any](n int, d, a, b, _ unsafe.Pointer) {
	var e T
	z := vec[T](d, n)
	for i, at := range vec[int32](b, n) {
		z[i] = *(*T)(unsafe.Add(a, uintptr(at)*unsafe.Sizeof(e)))
	}
}

// tableOf is an input as a whole: its register is where it begins.
func (b *Builder) tableOf(arg int) Value {
	for i, v := range b.values {
		if v.table != nil && v.table.arg == arg {
			return Value(i)
		}
	}
	return b.define(value{typ: hlo.U8, def: -1, same: noValue, table: &table{arg: arg}})
}
