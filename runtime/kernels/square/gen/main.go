// Command gen writes the assembly of package square: gen_square_amd64.s and its declarations. Run it by go generate in the directory
// above.
package main

import (
	"fmt"
	"iter"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the files by name.
func generate() (asmgen.Files, error) {
	c := build.NewContext()
	c.ConstraintExpr("amd64")
	kernel(c, 8, 8, "8-bit", bytes8)
	kernel(c, 16, 8, "16-bit", words8)
	kernel(c, 32, 8, "32-bit", dwords8)
	kernel(c, 64, 4, "64-bit", qwords4)
	wideQwords(c)
	rows(c, "rows32", false)
	rows(c, "rowsBF16AVX2", true)
	wideRows(c, false)
	wideRows(c, true)
	return asmgen.Compile(c, "runtime/kernels/square", "square")
}

// lines is where the rows, or the columns, of a square are: up to eight, a stride apart.
type lines struct{ base, base4, stride, stride3 reg.GPVirtual }

func (l lines) at(i int) operand.Mem {
	base := l.base
	if i >= 4 {
		base = l.base4
	}
	switch i % 4 {
	case 1:
		return operand.Mem{Base: base, Index: l.stride, Scale: 1}
	case 2:
		return operand.Mem{Base: base, Index: l.stride, Scale: 2}
	case 3:
		return operand.Mem{Base: base, Index: l.stride3, Scale: 1}
	}
	return operand.Mem{Base: base}
}

// kernel writes the loops over squares of k by k elements around the transposition of one.
func kernel(c *build.Context, bits, k int, what string, square func(c *build.Context, src, dst lines)) {
	loops(c, fmt.Sprintf("transpose%d", bits), bits, k, what, func() {}, square)
}

// wideQwords is kernel for squares of eight elements of 64 bits, with vectors of 512 bits.
func wideQwords(c *build.Context) {
	var lanes [4]reg.OpmaskVirtual
	loops(c, "wide64", 64, 8, "64-bit", func() { lanes = laneMasks(c) }, func(c *build.Context, src, dst lines) { qwords8(c, src, dst, lanes) })
}

// loops writes a function that goes through squares; before is outside of the loops.
func loops(c *build.Context, name string, bits, k int, what string, before func(), square func(c *build.Context, src, dst lines)) {
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *byte, dstStride, srcStride, rows, cols uintptr)")
	c.Doc(fmt.Sprintf("%s transposes rows by cols squares of %d by %[2]d %s elements. Strides are in bytes.", name, k, what))
	load := func(param string) reg.GPVirtual {
		r := c.GP64()
		c.Load(c.Param(param), r)
		return r
	}
	dst, src := load("dst"), load("src")
	to := lines{base: c.GP64(), base4: c.GP64(), stride: load("dstStride"), stride3: c.GP64()}
	from := lines{base: c.GP64(), base4: c.GP64(), stride: load("srcStride"), stride3: c.GP64()}
	rows, cols := load("rows"), load("cols")
	for _, l := range []lines{to, from} {
		c.LEAQ(operand.Mem{Base: l.stride, Index: l.stride, Scale: 2}, l.stride3)
	}
	left := c.GP64()
	width := bits / 8
	before()
	c.Label(name + "row")
	c.MOVQ(dst, to.base)
	c.MOVQ(src, from.base)
	c.MOVQ(cols, left)
	c.Label(name + "square")
	for _, l := range []lines{to, from} {
		c.LEAQ(operand.Mem{Base: l.base, Index: l.stride, Scale: 4}, l.base4)
	}
	square(c, from, to)
	c.ADDQ(operand.Imm(uint64(k*width)), from.base)
	c.LEAQ(operand.Mem{Base: to.base, Index: to.stride, Scale: uint8(k)}, to.base)
	c.DECQ(left)
	c.JNZ(operand.LabelRef(name + "square"))
	c.LEAQ(operand.Mem{Base: src, Index: from.stride, Scale: uint8(k)}, src)
	c.ADDQ(operand.Imm(uint64(k*width)), dst)
	c.DECQ(rows)
	c.JNZ(operand.LabelRef(name + "row"))
	c.VZEROUPPER()
	c.RET()
}

// pointers are lines wherever they are.
type pointers [8]reg.GPVirtual

func (p pointers) at(i int) operand.Mem { return operand.Mem{Base: p[i]} }

// rows writes the loop over squares of eight rows that are anywhere. Those of bf16 are moved as squares of pairs, which become two columns of f32 each.
func rows(c *build.Context, name string, widens bool) {
	doc, width := "8 by 8 32-bit elements", 4
	if widens {
		doc, width = "8 rows and 16 columns of bf16, as f32", 2
	}
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *byte, offsets *[8]int, dstStride, cols, ahead uintptr)")
	c.Doc(fmt.Sprintf("%s transposes cols squares of %s, the rows of which begin at offsets from src. The stride is in bytes, offsets in elements.", name, doc),
		"It asks for the memory ahead bytes behind what it reads, which will be needed.")
	load := func(param string) reg.GPVirtual {
		r := c.GP64()
		c.Load(c.Param(param), r)
		return r
	}
	src, offsets := load("src"), load("offsets")
	var from pointers
	for i := range from {
		from[i] = c.GP64()
		c.MOVQ(operand.Mem{Base: offsets, Disp: 8 * i}, from[i])
		c.LEAQ(operand.Mem{Base: src, Index: from[i], Scale: uint8(width)}, from[i])
	}
	to := lines{base: load("dst"), base4: c.GP64(), stride: load("dstStride"), stride3: c.GP64()}
	left, ahead := load("cols"), load("ahead")
	c.LEAQ(operand.Mem{Base: to.stride, Index: to.stride, Scale: 2}, to.stride3)
	var high reg.VecVirtual // the upper half of each pair
	if widens {
		high = c.YMM()
		c.VPCMPEQD(high, high, high)
		c.VPSLLD(operand.Imm(16), high, high)
	}
	c.Label(name + "square")
	for _, p := range from {
		c.PREFETCHT0(operand.Mem{Base: p, Index: ahead, Scale: 1})
	}
	next := func(columns int) {
		c.LEAQ(operand.Mem{Base: to.base, Index: to.stride, Scale: uint8(columns)}, to.base)
	}
	c.LEAQ(operand.Mem{Base: to.base, Index: to.stride, Scale: 4}, to.base4)
	for i, line := range transposed8(c, from) {
		if !widens {
			c.VMOVUPS(line, to.at(i))
			continue
		}
		if i == 4 {
			next(8)
			c.LEAQ(operand.Mem{Base: to.base, Index: to.stride, Scale: 4}, to.base4)
		}
		even := c.YMM()
		c.VPSLLD(operand.Imm(16), line, even)
		c.VPAND(high, line, line)
		c.VMOVDQU(even, to.at(2*i%8))
		c.VMOVDQU(line, to.at(2*i%8+1))
	}
	for _, p := range from {
		c.ADDQ(operand.Imm(32), p)
	}
	next(8)
	c.DECQ(left)
	c.JNZ(operand.LabelRef(name + "square"))
	c.VZEROUPPER()
	c.RET()
}

// wideRows writes the loop over squares of sixteen rows that are anywhere, with vectors of 512 bits. Those of bf16 are moved as squares of pairs, which become two
// columns of f32 each where they are stored.
func wideRows(c *build.Context, widens bool) {
	name, doc, width := "wideRows32", "16 by 16 32-bit elements", 4
	if widens {
		name, doc, width = "wideRowsBF16", "16 rows and 32 columns of bf16, as f32", 2
	}
	c.Function(name)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *byte, offsets *[16]int, dstStride, cols uintptr, kept uint16)")
	c.Doc(fmt.Sprintf("%s transposes cols squares of %s, the rows of which begin at offsets from src; of each column it writes the elements of kept.", name, doc),
		"The stride is in bytes, offsets in elements.")
	load := func(param string) reg.GPVirtual {
		r := c.GP64()
		c.Load(c.Param(param), r)
		return r
	}
	src, offsets := load("src"), load("offsets")
	to := lines{base: load("dst"), base4: c.GP64(), stride: load("dstStride"), stride3: c.GP64()}
	left := load("cols")
	c.LEAQ(operand.Mem{Base: to.stride, Index: to.stride, Scale: 2}, to.stride3)
	high := c.ZMM() // the upper half of each pair
	if widens {
		c.VPTERNLOGD(operand.Imm(0xff), high, high, high)
		c.VPSLLD(operand.Imm(16), high, high)
	}
	bits, kept := c.GP32(), c.K()
	c.Load(c.Param("kept"), bits)
	c.KMOVW(bits, kept)
	lanes := laneMasks(c)
	c.Label(name + "square")
	var quarters [4][4]reg.VecVirtual // of columns: one lane for each four rows
	for r := range 16 {
		row := c.GP64()
		c.MOVQ(operand.Mem{Base: offsets, Disp: 8 * r}, row)
		for q := range quarters {
			from := operand.Mem{Base: src, Index: row, Scale: uint8(width), Disp: 16 * q}
			if r < 4 {
				quarters[q][r] = c.ZMM()
				c.VMOVUPS(from, quarters[q][r].AsX())
			} else {
				c.VBROADCASTF32X4(from, lanes[r/4], quarters[q][r%4])
			}
		}
	}
	for _, r := range quarters {
		if widens {
			c.LEAQ(operand.Mem{Base: to.base, Index: to.stride, Scale: 4}, to.base4)
		}
		var t [4]reg.VecVirtual
		for i := 0; i < 4; i += 2 {
			t[i], t[i+1] = c.ZMM(), c.ZMM()
			c.VUNPCKLPS(r[i+1], r[i], t[i])
			c.VUNPCKHPS(r[i+1], r[i], t[i+1])
		}
		for i := range 4 {
			line := c.ZMM()
			if i%2 == 0 {
				c.VUNPCKLPD(t[2+i/2], t[i/2], line)
			} else {
				c.VUNPCKHPD(t[2+i/2], t[i/2], line)
			}
			if !widens {
				c.VMOVUPS(line, kept, to.at(i))
				continue
			}
			even := c.ZMM()
			c.VPSLLD(operand.Imm(16), line, even)
			c.VPANDD(high, line, line)
			c.VMOVUPS(even, kept, to.at(2*i))
			c.VMOVUPS(line, kept, to.at(2*i+1))
		}
		c.LEAQ(operand.Mem{Base: to.base, Index: to.stride, Scale: uint8(16 / width)}, to.base)
	}
	c.ADDQ(operand.Imm(64), src)
	c.DECQ(left)
	c.JNZ(operand.LabelRef(name + "square"))
	c.VZEROUPPER()
	c.RET()
}

// laneMasks returns masks of the second, third and fourth 128 bits of a vector.
func laneMasks(c *build.Context) (lanes [4]reg.OpmaskVirtual) {
	for i := 1; i < 4; i++ {
		bits := c.GP32()
		lanes[i] = c.K()
		c.MOVL(operand.U32(0xf<<(4*i)), bits)
		c.KMOVW(bits, lanes[i])
	}
	return lanes
}

// dwords8 transposes eight vectors of eight.
func dwords8(c *build.Context, src, dst lines) {
	for i, line := range transposed8(c, src) {
		c.VMOVUPS(line, dst.at(i))
	}
}

// transposed8 are eight vectors of eight transposed, by pairs of rows, pairs of pairs, and the halves. They come in the order of memory, and only one takes a register
// at a time: see square.Rows.
func transposed8(c *build.Context, src interface{ at(i int) operand.Mem }) iter.Seq2[int, reg.VecVirtual] {
	return func(yield func(int, reg.VecVirtual) bool) {
		var r, t [8]reg.VecVirtual
		for i := range r {
			r[i] = c.YMM()
			c.VMOVUPS(src.at(i), r[i])
		}
		for i := 0; i < 8; i += 2 {
			t[i], t[i+1] = c.YMM(), c.YMM()
			c.VUNPCKLPS(r[i+1], r[i], t[i])
			c.VUNPCKHPS(r[i+1], r[i], t[i+1])
		}
		for i := 0; i < 8; i += 4 {
			for j := range 2 {
				r[i+2*j], r[i+2*j+1] = c.YMM(), c.YMM()
				c.VUNPCKLPD(t[i+2+j], t[i+j], r[i+2*j])
				c.VUNPCKHPD(t[i+2+j], t[i+j], r[i+2*j+1])
			}
		}
		for half, which := range []uint64{0x20, 0x31} {
			for i := range 4 {
				line := c.YMM()
				c.VPERM2F128(operand.Imm(which), r[i+4], r[i], line)
				if !yield(4*half+i, line) {
					return
				}
			}
		}
	}
}

// qwords4 transposes four vectors of four.
func qwords4(c *build.Context, src, dst lines) {
	var r, t [4]reg.VecVirtual
	for i := range r {
		r[i], t[i] = c.YMM(), c.YMM()
		c.VMOVUPD(src.at(i), r[i])
	}
	for i := 0; i < 4; i += 2 {
		c.VUNPCKLPD(r[i+1], r[i], t[i])
		c.VUNPCKHPD(r[i+1], r[i], t[i+1])
	}
	for i := range 2 {
		low, high := c.YMM(), c.YMM()
		c.VPERM2F128(operand.Imm(0x20), t[i+2], t[i], low)
		c.VPERM2F128(operand.Imm(0x31), t[i+2], t[i], high)
		c.VMOVUPD(low, dst.at(i))
		c.VMOVUPD(high, dst.at(i+2))
	}
}

// qwords8 transposes eight vectors of eight: two columns of even rows and those of odd ones are read into the lanes of two vectors, which interleaved are the columns.
func qwords8(c *build.Context, src, dst lines, lanes [4]reg.OpmaskVirtual) {
	for pair := range 4 {
		var half [2]reg.VecVirtual
		for i := range 8 {
			from := src.at(i)
			from.Disp = 16 * pair
			if i < 2 {
				half[i] = c.ZMM()
				c.VMOVUPD(from, half[i].AsX())
			} else {
				c.VBROADCASTF32X4(from, lanes[i/2], half[i%2])
			}
		}
		even, odd := c.ZMM(), c.ZMM()
		c.VUNPCKLPD(half[1], half[0], even)
		c.VUNPCKHPD(half[1], half[0], odd)
		c.VMOVUPD(even, dst.at(2*pair))
		c.VMOVUPD(odd, dst.at(2*pair+1))
	}
}

// words8 transposes eight vectors of eight, of 128 bits.
func words8(c *build.Context, src, dst lines) {
	var r, t [8]reg.VecVirtual
	for i := range r {
		r[i] = c.XMM()
		c.VMOVDQU(src.at(i), r[i])
	}
	for i := range 4 { // rows i and i+4: the halves of t hold columns of four interleaved later
		t[2*i], t[2*i+1] = c.XMM(), c.XMM()
		c.VPUNPCKLWD(r[i+4], r[i], t[2*i])
		c.VPUNPCKHWD(r[i+4], r[i], t[2*i+1])
	}
	// t[2i] has rows i, i+4 of columns 0-3, t[2i+1] those of columns 4-7.
	for h := range 2 {
		a, b := c.XMM(), c.XMM() // rows 0, 2, 4, 6
		c.VPUNPCKLWD(t[4+h], t[h], a)
		c.VPUNPCKHWD(t[4+h], t[h], b)
		d, e := c.XMM(), c.XMM() // rows 1, 3, 5, 7
		c.VPUNPCKLWD(t[6+h], t[2+h], d)
		c.VPUNPCKHWD(t[6+h], t[2+h], e)
		for k, pair := range [][2]reg.VecVirtual{{a, d}, {b, e}} {
			low, high := c.XMM(), c.XMM()
			c.VPUNPCKLWD(pair[1], pair[0], low)
			c.VPUNPCKHWD(pair[1], pair[0], high)
			c.VMOVDQU(low, dst.at(4*h+2*k))
			c.VMOVDQU(high, dst.at(4*h+2*k+1))
		}
	}
}

// bytes8 transposes eight rows of eight bytes, which are four vectors after the first round.
func bytes8(c *build.Context, src, dst lines) {
	var r [8]reg.VecVirtual
	for i := range r {
		r[i] = c.XMM()
		c.VMOVQ(src.at(i), r[i])
	}
	var t [4]reg.VecVirtual
	for i := range t { // rows i and i+4
		t[i] = c.XMM()
		c.VPUNPCKLBW(r[i+4], r[i], t[i])
	}
	var u [4]reg.VecVirtual
	for i := range 2 { // rows i, i+2, i+4, i+6: columns 0-3 and 4-7
		u[2*i], u[2*i+1] = c.XMM(), c.XMM()
		c.VPUNPCKLBW(t[i+2], t[i], u[2*i])
		c.VPUNPCKHBW(t[i+2], t[i], u[2*i+1])
	}
	for h := range 2 {
		low, high := c.XMM(), c.XMM()
		c.VPUNPCKLBW(u[2+h], u[h], low)
		c.VPUNPCKHBW(u[2+h], u[h], high)
		for k, v := range []reg.VecVirtual{low, high} {
			c.VMOVQ(v, dst.at(4*h+2*k))
			c.VMOVHPS(v, dst.at(4*h+2*k+1))
		}
	}
}
