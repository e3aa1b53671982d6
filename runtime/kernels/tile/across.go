package tile

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// A program that folds across rows has a space whose last dimension but one is folded: each column of the last one has a chain of its own, so that nothing is
// joined in the end. That is what a comparison of all elements of one array with all of another is, or their distances, however the program spells it.

// AcrossRows is how many rows are folded before their result is shown: it keeps rounding errors of long sums small.
const AcrossRows = 256

// LeastAcross is the number of columns of which chains are whole, whatever the lanes; of elements of more than a byte, fewer are enough.
const LeastAcross = native.ChainBytes

// FoldAcross folds v across the last dimension but one of the space, by an op: see [Program.RunAcross].
func (b *Builder) FoldAcross(v Value, op hlo.Opcode) bool {
	t := b.values[v].typ
	identity := acrossIdentity(op, t)
	if identity == nil || len(b.space.Dims) < 2 {
		return false
	}
	o := operation{}
	o.fn, o.weight = binaryLoop(op, t)
	o.vectorize(vectorName(op, t))
	if o.fn == nil {
		return false
	}
	b.folds = append(b.folds, rowFold{reg: int(b.use(v)), width: t.ByteSize(), identity: identity, pair: o.fn, vector: o.vector, truth: t == hlo.PRED})
	b.across = true
	return true
}

// acrossIdentity is the element with which chains begin, or nil.
func acrossIdentity(op hlo.Opcode, t hlo.PrimitiveType) []byte {
	if isWide(t) {
		return nil
	}
	element := func(bits uint64) []byte { return binary.LittleEndian.AppendUint64(nil, bits)[:t.ByteSize()] }
	switch {
	case t == hlo.PRED:
		switch vectorName(op, t).Op {
		case hlo.OpOr:
			return element(0)
		case hlo.OpAnd:
			return element(1)
		}
		return nil
	case op == hlo.OpAdd && t == hlo.F32:
		return element(uint64(math.Float32bits(float32(math.Copysign(0, -1)))))
	case op == hlo.OpAdd && t == hlo.F64:
		return element(math.Float64bits(math.Copysign(0, -1)))
	}
	return foldIdentity(op, t)
}

// IsAcross reports whether code can fold the program: all that it reads are neighbours along a row, or the same element.
func (p *Program) IsAcross() bool {
	for i := range p.loads {
		if p.loads[i].isKept() {
			return false
		}
	}
	return p.across && len(p.counters) == 0 && p.alongRows() > 0
}

// RunAcross folds columns [column, column+n) of a unit, which is an index of the dimensions before the last two, and shows the results of up to AcrossRows rows
// at a time to v. There are at most [Size] columns, and LeastAcross bytes of them, or more, up to the end. The first results include first, an element.
func (p *Program) RunAcross(unit, column, n int, first []byte, b Buffers, v Visitor) {
	last := len(p.space.Dims) - 1
	rows, row := int(p.space.Dims[last-1]), int(p.space.Dims[last])
	f := p.begin(0, Size, b)
	code := p.compiled(f, rows*n)
	if code != nil && code.repeats {
		p.repeatUniforms(f, b)
	}
	f.makeColumns()
	for k := 0; k < rows; k += AcrossRows {
		at, some := (unit*rows+k)*row+column, min(AcrossRows, rows-k)
		if code == nil {
			p.acrossTiles(f, at, some, n, row, first, b)
		} else {
			p.acrossCode(code, f, at, some, n, row, first, b)
		}
		v.Tile(at, n, unsafe.Pointer(&f.chains[0]))
		first = p.folds[0].identity
	}
	p.pool.Put(f)
}

// makeColumns makes room for the chains of a tile, and of a few more columns.
func (f *frame) makeColumns() {
	if f.chains == nil {
		const widest, line = 8, 64
		f.chains = make([]byte, (Size+LeastAcross)*widest+line)
		f.chains = f.chains[-uintptr(unsafe.Pointer(&f.chains[0]))%line:]
	}
}

// acrossTiles folds rows from element at on by steps.
func (p *Program) acrossTiles(f *frame, at, rows, n, row int, first []byte, b Buffers) {
	o, chains := &p.folds[0], unsafe.Pointer(&f.chains[0])
	fillTile(chains, unsafe.Pointer(&first[0]), o.width, n)
	for range rows {
		p.tile(f, at, n, b)
		o.pair(n, chains, chains, f.ptr[o.reg], nil)
		at += row
	}
}

// acrossCode is acrossTiles by code: a bundle of rows for as many columns as there are chains. The last of these bundles ends with the columns, and may compute
// some of them again.
func (p *Program) acrossCode(c *nativeSteps, f *frame, at, rows, n, row int, first []byte, b Buffers) {
	o, chains := &p.folds[0], unsafe.Pointer(&f.chains[0])
	width := native.ChainBytes / c.Lane
	whole := n / width
	bundles := whole
	if n%width > 0 {
		bundles++
	}
	if o.truth {
		fillTile(chains, unsafe.Pointer(&wideTruths[first[0]][0]), c.Lane, bundles*width)
	} else {
		fillTile(chains, unsafe.Pointer(&first[0]), o.width, bundles*width)
	}
	each := min(rows, max(1, c.Most/width)) // rows in a call
	group := max(1, c.Most/(each*width))    // bundles
	for k := 0; k < rows; k += each {
		from, some := at+k*row, min(each, rows-k)
		for i := 0; i < whole; i += group {
			p.callAcross(c, f, from+i*width, min(group, whole-i), some, width, i, b)
		}
		if bundles > whole {
			p.callAcross(c, f, from+n-width, 1, some, width, whole, b)
		}
	}
	if o.truth && c.Lane > 1 {
		truths(c.Lane)(bundles*width, chains, chains, nil, nil)
	}
	if rest := n % width; rest > 0 {
		copyBytes(unsafe.Add(chains, whole*width*o.width), unsafe.Add(chains, (bundles*width-rest)*o.width), rest*o.width)
	}
}

// wideTruths are 0 and 1 in up to 8 bytes.
var wideTruths = [2][8]byte{{}, {1}}

// truths is the loop that makes bytes of truth values that are as wide as lanes. Bytes that it writes are of elements that it has read.
func truths(lane int) loop {
	return truthLoops()[lane]
}

var truthLoops = sync.OnceValue(func() map[int]loop {
	return map[int]loop{
		2: vectors.Find(convertName(hlo.U16, hlo.U8), narrowed[uint16]),
		4: vectors.Find(convertName(hlo.U32, hlo.U8), narrowed[uint32]),
		8: vectors.Find(convertName(hlo.U64, hlo.U8), narrowed[uint64]),
	}
})

func narrowed[T unsignedInt](n int, d, a, _, _ unsafe.Pointer) {
	for i, x := range vec[T](a, n) {
		vec[uint8](d, n)[i] = uint8(x)
	}
}

// callAcross runs the code over rows of as many elements as there are chains, of some bundles, from element at on; their chains begin with bundle first.
func (p *Program) callAcross(c *nativeSteps, f *frame, at, bundles, rows, width, first int, b Buffers) {
	f.forCode(c)
	jumps, last := f.strides[len(c.slots):], len(p.space.Dims)-1
	for i, s := range c.slots {
		switch s.kind {
		case ofLoad, ofRow:
			l := &p.loads[s.index]
			size := int64(l.typ.ByteSize())
			f.slots[i] = element(p.in(b, l.arg), p.offset(&l.view, at), int(size))
			f.strides[i] = l.view.Strides[last-1] * size
			jumps[i] = l.view.Strides[last]*int64(width)*size - int64(rows)*f.strides[i]
		case ofUniform:
			f.slots[i], f.strides[i], jumps[i] = p.uniform(s.index, b), 0, 0
		case ofFold:
			f.slots[i], f.strides[i], jumps[i] = unsafe.Pointer(&f.chains[first*native.ChainBytes]), 0, native.ChainBytes
		default:
			f.slots[i], f.strides[i], jumps[i] = f.ptr[s.index], 0, 0
		}
	}
	c.Run(bundles, rows, width, f.slots, f.strides, f.space)
}
