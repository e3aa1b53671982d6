package tile

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/square"
)

// columns are most of the columns of rows of a few elements, which a program loads one by one. They are brought into registers together, as a transposition: so the rows are read
// once, and not once for each column.
type columns struct {
	arg    int
	typ    hlo.PrimitiveType
	base   int // element of the input with which the first row begins
	length int // of a row
	stages []int
}

// Rows of which columns are brought together are so long. In shorter ones each column is found by itself as fast.
const (
	leastColumns = 5
	mostColumns  = 16
)

// findColumns makes groups of the loads that are columns of the same rows, and gives each its register.
func (b *Builder) findColumns(p *Program, m *memoryPlan, direct []bool) {
	type rows struct {
		arg    int
		typ    hlo.PrimitiveType
		base   int64
		length int64
	}
	var members map[rows]int
	key := func(i int) (k rows, column int, ok bool) {
		l := b.values[i].load
		if l == nil || direct[i] || p.space.mode(&l.view) != gathered || p.space.period(&l.view) > 0 {
			return k, 0, false
		}
		a := p.space.alone(&l.view)
		if len(a.space.Dims) != 1 || a.view.Turns != nil || a.view.Strides[0] < leastColumns || a.view.Strides[0] > mostColumns || l.typ.ByteSize() > 8 {
			return k, 0, false
		}
		length := a.view.Strides[0]
		column = int(a.view.Base % length)
		return rows{l.arg, l.typ, a.view.Base - int64(column), length}, column, a.view.Base >= 0
	}
	for i := range b.values {
		if k, _, ok := key(i); ok {
			if members == nil {
				members = make(map[rows]int)
			}
			members[k]++
		}
	}
	if members == nil {
		return
	}
	groups := make(map[rows]int)
	for i := range b.values {
		k, column, ok := key(i)
		if !ok || 3*members[k] < 2*int(k.length) {
			continue
		}
		g, is := groups[k]
		if !is {
			g = len(p.columns)
			groups[k] = g
			c := columns{arg: k.arg, typ: k.typ, base: int(k.base), length: int(k.length)}
			first := len(p.regs)
			p.regs = append(p.regs, m.takeTogether(k.typ.ByteSize(), c.length)...)
			for n := range c.length {
				c.stages = append(c.stages, first+n)
			}
			p.columns = append(p.columns, c)
		}
		l := b.values[i].load
		l.columns, l.stage = g+1, p.columns[g].stages[column]
	}
}

// bringColumns brings the columns of the next n rows into their registers, unless they are there. It reports false where the last row ends behind the input.
func (p *Program) bringColumns(f *frame, g, at, n int, data []byte) bool {
	c := &p.columns[g]
	width := c.typ.ByteSize()
	first := c.base + at*c.length
	if (first+n*c.length)*width > len(data) {
		return false
	}
	if f.columns[g] == at+1 {
		return true
	}
	f.columns[g] = at + 1
	src, dst := unsafe.Pointer(&data[first*width]), f.own[c.stages[0]]
	switch width {
	case 1:
		transposeColumns[uint8](dst, src, n, c.length)
	case 2:
		transposeColumns[uint16](dst, src, n, c.length)
	case 4:
		transposeColumns[uint32](dst, src, n, c.length)
	case 8:
		transposeColumns[uint64](dst, src, n, c.length)
	}
	return true
}

// transposeColumns goes square by square, which writes to a few lines of memory at a time.
func transposeColumns[T square.Element](dst, src unsafe.Pointer, n, length int) {
	const side = 8
	var e T
	step := Size + skew/int(unsafe.Sizeof(e))
	d, s := vec[T](dst, (length-1)*step+n), vec[T](src, n*length)
	for at := 0; at < length; at += side {
		from := max(0, min(at, length-side))
		square.Transpose(d[from*step:], s[from:], n, min(side, length), step, length)
	}
}

// takeTogether is take for registers one behind the other.
func (m *memoryPlan) takeTogether(width, n int) []register {
	r := make([]register, n)
	for i := range r {
		r[i] = register{slot: width, offset: m.size, out: -1}
		m.size += width*Size + skew
	}
	return r
}
