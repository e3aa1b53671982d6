package tile

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// rowFold folds each row of the space into one element, in the order of the reductions of package vec: element i belongs to chain i modulo their number, and
// chains are folded by halves. Rows longer than foldBlock are folded block by block, and blocks by halves.
type rowFold struct {
	out      int
	reg      int
	width    int
	identity []byte
	pair     loop // of as many pairs as there are
	join     loop // folds the n elements at a, or is nil
	vector   vectors.Name
	truth    bool // of truth values, across rows
	// runs folds n runs of a length, which is up to longest, one behind the other; or is nil.
	runs    func(n int, d, a unsafe.Pointer, length int)
	longest int
	// Where the elements are, if not in a register of their own: in an output, or where a load is; else -1.
	stored, loaded int
}

const (
	chainBytes = native.ChainBytes
	foldBlock  = 4096
	foldRows   = 16 // that are folded by one call
)

// Fold makes element i of output out, as registers hold it, what row i of v folds to by an op: add, maximum or minimum. A row is the last dimension of
// the space. A program with folds is run by [Program.RunRows].
func (b *Builder) Fold(out int, v Value, op hlo.Opcode) bool {
	t := lane(b.values[v].typ)
	identity := foldIdentity(op, t)
	if identity == nil {
		return false
	}
	o := operation{}
	o.fn, o.weight = binaryLoop(op, t)
	o.vectorize(vectorName(op, t))
	if o.fn == nil {
		return false
	}
	f := rowFold{out: out, reg: int(b.use(v)), width: t.ByteSize(), identity: identity, pair: o.fn, vector: o.vector, stored: -1, loaded: -1}
	f.runs, f.longest = foldRuns(op, t, identity)
	f.join = vectors.Find(vectorName(op, t).In(vectors.Folding), nil)
	b.folds = append(b.folds, f)
	return true
}

// foldIdentity is the element that changes no other one, or nil if an op is no fold of type t.
func foldIdentity(op hlo.Opcode, t hlo.PrimitiveType) []byte {
	if t != hlo.F32 && t != hlo.F64 && (!t.IsInteger() || t.Bits() < 32) {
		return nil
	}
	var bits uint64
	top := uint64(1) << (t.Bits() - 1)
	switch op {
	case hlo.OpAdd:
	case hlo.OpMaximum, hlo.OpMinimum:
		sign := 1
		if op == hlo.OpMaximum {
			sign = -1
		}
		switch {
		case t == hlo.F32:
			bits = uint64(math.Float32bits(float32(math.Inf(sign))))
		case t == hlo.F64:
			bits = math.Float64bits(math.Inf(sign))
		case op == hlo.OpMaximum && !t.IsUnsigned():
			bits = top
		case op == hlo.OpMinimum && !t.IsUnsigned():
			bits = top - 1
		case op == hlo.OpMinimum:
			bits = math.MaxUint64
		}
	default:
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:t.ByteSize()]
}

// IsIdentity reports whether an element of type t is what changes no other one when it is joined with it by op, bit for bit.
func IsIdentity(op hlo.Opcode, t hlo.PrimitiveType, element []byte) bool {
	identity := foldIdentity(op, lane(t))
	if isWide(t) {
		wide := make([]byte, 4)
		widenLoop(t)(1, unsafe.Pointer(&wide[0]), unsafe.Pointer(&element[0]), nil, nil)
		element = wide
	}
	return identity != nil && bytes.Equal(identity, element)
}

// RunRows computes rows [lo, hi) of the outputs, and what they fold to.
func (p *Program) RunRows(lo, hi int, b Buffers) {
	n := p.rowLength()
	if len(p.folds) == 0 {
		p.Run(lo*n, hi*n, b)
		return
	}
	if lo >= hi {
		return
	}
	f := p.begin(lo*n, hi*n, b)
	code := p.compiled(f, (hi-lo)*n)
	if code != nil && code.repeats {
		p.repeatUniforms(f, b)
	}
	if p.byRuns {
		p.foldShort(code, f, lo, hi, b)
		p.pool.Put(f)
		return
	}
	f.makeChains(p, n)
	for row := lo; row < hi; {
		bundles, rows := 1, 1
		if code != nil && n <= foldBlock {
			bundles, rows = p.regular(row, min(hi-row, foldRows, max(1, code.Most/n)))
		}
		for column := 0; column < n; column += foldBlock {
			k := min(foldBlock, n-column)
			if code != nil {
				p.callRows(code, f, row*n+column, bundles, rows, k, b)
			} else {
				p.foldTiles(f, row*n+column, k, b)
			}
			for i := range p.folds {
				p.finish(f, i, row, bundles*rows, column, n, b)
			}
		}
		row += bundles * rows
	}
	p.pool.Put(f)
}

// makeChains makes room for the chains of foldRows rows of each fold, and for its blocks. Those of the first row begin with a page, where code has no constants.
func (f *frame) makeChains(p *Program, n int) {
	if f.chains == nil {
		f.chains = make([]byte, len(p.folds)*p.foldBytes(n)+native.Page)
		f.chains = f.chains[-uintptr(unsafe.Pointer(&f.chains[0]))%native.Page:]
	}
}

// foldBytes is the memory of a fold of rows of n elements.
func (p *Program) foldBytes(n int) int {
	const widest = 8
	return (foldRows*chainBytes + (n-1)/foldBlock*widest + widest + native.Page - 1) &^ (native.Page - 1)
}

func (p *Program) chains(f *frame, fold int) unsafe.Pointer {
	return unsafe.Pointer(&f.chains[fold*p.foldBytes(p.rowLength())])
}

// foldTiles computes n elements of a row by steps, and folds them.
func (p *Program) foldTiles(f *frame, at, n int, b Buffers) {
	for i := range p.folds {
		o := &p.folds[i]
		fillTile(p.chains(f, i), unsafe.Pointer(&o.identity[0]), o.width, chainBytes/o.width)
	}
	for end := at + n; at < end; {
		k := min(Size, end-at)
		p.tile(f, at, k, b)
		for i := range p.folds {
			o := &p.folds[i]
			c, x, all := p.chains(f, i), f.ptr[o.reg], chainBytes/o.width
			for j := 0; j < k; j += all {
				o.pair(min(all, k-j), c, c, unsafe.Add(x, j*o.width), nil)
			}
		}
		at += k
	}
}

// finish folds the chains of some rows: to the result, or to that of the block that begins at a column.
func (p *Program) finish(f *frame, fold, row, rows, column, n int, b Buffers) {
	o := &p.folds[fold]
	first := p.chains(f, fold)
	blocks := unsafe.Add(first, foldRows*chainBytes)
	results := element(b.Out(o.out), row, o.width)
	if n > foldBlock { // one row at a time
		results = unsafe.Add(blocks, column/foldBlock*o.width)
	}
	for i := range rows {
		c, to := unsafe.Add(first, i*chainBytes), unsafe.Add(results, i*o.width)
		if o.join != nil {
			o.join(chainBytes/o.width, to, c, nil, nil)
			continue
		}
		for half := chainBytes / o.width / 2; half > 0; half /= 2 {
			o.pair(half, c, c, unsafe.Add(c, half*o.width), nil)
		}
		copyBytes(to, c, o.width)
	}
	if n > foldBlock && column+foldBlock >= n {
		o.halves(blocks, n)
		copyBytes(element(b.Out(o.out), row, o.width), blocks, o.width)
	}
}

// halves folds the blocks of n elements into the first one.
func (o *rowFold) halves(blocks unsafe.Pointer, n int) {
	if n <= foldBlock {
		return
	}
	left := (n/2 + foldBlock - 1) / foldBlock
	right := unsafe.Add(blocks, left*o.width)
	o.halves(blocks, left*foldBlock)
	o.halves(right, n-left*foldBlock)
	o.pair(1, blocks, blocks, right, nil)
}
