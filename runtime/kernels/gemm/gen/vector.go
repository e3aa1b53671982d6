package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectorLoops builds the loops of products of a matrix and a vector: for rows that lie together, inner products of one of them or of
// four; for columns that do, sums of eight of them.
func (g generator) vectorLoops() {
	for _, e := range []element{{name: "float32", size: 4}, {name: "float64", size: 8}} {
		for _, width := range []int{64, 32} {
			name := fmt.Sprintf("F%d%s", 8*e.size, map[int]string{64: "AVX512", 32: "AVX2"}[width])
			v := vectors{g, e, width}
			v.inner("inner1"+name, 1, 8)
			v.inner("inner4"+name, 4, 2)
			v.combine("combine"+name, 8)
		}
	}
}

// inner multiplies rows with x, of which k, a multiple of the lanes, elements count, in chains vectors of sums for each row.
func (v vectors) inner(name string, rows, chains int) {
	v.Function(name)
	v.Attributes(attr.NOSPLIT)
	v.SignatureExpr(fmt.Sprintf("func(k int, x, a *%s, stride int, y *%[1]s)", v.name))
	v.Doc(fmt.Sprintf("%s sets y to the inner products of x and %d rows of a, stride apart. k is a multiple of the elements of a vector.", name, rows))
	v.Pragma("noescape")
	k, x, a := v.Load(v.Param("k"), v.GP64()), v.Load(v.Param("x"), v.GP64()), v.Load(v.Param("a"), v.GP64())
	at := []reg.Register{a}
	if rows > 1 {
		stride := v.Load(v.Param("stride"), v.GP64())
		v.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(v.size)))), stride)
		for len(at) < rows {
			r := v.GP64()
			v.LEAQ(operand.Mem{Base: at[len(at)-1], Index: stride, Scale: 1}, r)
			at = append(at, r)
		}
	}
	sums := make([][]reg.VecVirtual, rows)
	for r := range sums {
		for range chains {
			s := v.register()
			v.zero(s)
			sums[r] = append(sums[r], s)
		}
	}
	i := v.GP64()
	v.XORQ(i, i)
	lanes := v.width / v.size
	v.eachStep(k, i, lanes, chains, func(c int) {
		xs := v.register()
		v.load(operand.Mem{Base: x, Index: i, Scale: uint8(v.size), Disp: c * v.width}, xs)
		for r := range at {
			v.fma(operand.Mem{Base: at[r], Index: i, Scale: uint8(v.size), Disp: c * v.width}, xs, sums[r][c])
		}
	})
	y := v.Load(v.Param("y"), v.GP64())
	for r := range sums {
		for n := chains; n > 1; n /= 2 {
			for c := range n / 2 {
				v.add(sums[r][c+n/2], sums[r][c])
			}
		}
		v.total(sums[r][0], operand.Mem{Base: y, Disp: r * v.size})
	}
	v.VZEROUPPER()
	v.RET()
}

// eachStep goes through k elements, several vectors at a time while there are as many, then one by one.
func (v vectors) eachStep(k, i reg.Register, lanes, unroll int, step func(c int)) {
	many := operand.I32(int32(lanes * unroll))
	v.CMPQ(k, many)
	v.JLT(operand.LabelRef("rest"))
	v.Label("many")
	for c := range unroll {
		step(c)
	}
	v.ADDQ(many, i)
	v.SUBQ(many, k)
	v.CMPQ(k, many)
	v.JGE(operand.LabelRef("many"))
	v.Label("rest")
	v.TESTQ(k, k)
	v.JLE(operand.LabelRef("done"))
	step(0)
	v.ADDQ(operand.I32(int32(lanes)), i)
	v.SUBQ(operand.I32(int32(lanes)), k)
	v.JMP(operand.LabelRef("rest"))
	v.Label("done")
}

// total stores the sum of the lanes of x, added by halves.
func (v vectors) total(x reg.VecVirtual, to operand.Mem) {
	if v.width == 64 {
		half := v.YMM()
		v.VEXTRACTF64X4(operand.U8(1), x, half)
		v.add2(half, x.AsY(), x.AsY())
	}
	quarter := v.XMM()
	v.VEXTRACTF128(operand.U8(1), x.AsY(), quarter)
	v.add2(quarter, x.AsX(), x.AsX())
	swapped := v.XMM()
	if v.size == 8 {
		v.VPERMILPD(operand.U8(1), x.AsX(), swapped)
		v.VADDSD(swapped, x.AsX(), x.AsX())
		v.VMOVSD(x.AsX(), to)
		return
	}
	v.VPERMILPS(operand.U8(0x4e), x.AsX(), swapped)
	v.VADDPS(swapped, x.AsX(), x.AsX())
	v.VPERMILPS(operand.U8(0xb1), x.AsX(), swapped)
	v.VADDSS(swapped, x.AsX(), x.AsX())
	v.VMOVSS(x.AsX(), to)
}

// add2 adds registers of any width.
func (v vectors) add2(x, y, to operand.Op) {
	if v.size == 4 {
		v.VADDPS(x, y, to)
		return
	}
	v.VADDPD(x, y, to)
}

// fma adds a·x to sum.
func (v vectors) fma(a operand.Mem, x, sum reg.VecVirtual) {
	if v.size == 4 {
		v.VFMADD231PS(a, x, sum)
		return
	}
	v.VFMADD231PD(a, x, sum)
}

// combine adds rows times elements of x to y, of which n, a multiple of the lanes, elements count.
func (v vectors) combine(name string, rows int) {
	v.Function(name)
	v.Attributes(attr.NOSPLIT)
	v.SignatureExpr(fmt.Sprintf("func(n int, x, a *%s, stride int, y *%[1]s)", v.name))
	v.Doc(fmt.Sprintf("%s adds %d rows of a, stride apart, times elements of x to y. n is a multiple of the elements of a vector.", name, rows))
	v.Pragma("noescape")
	n, x, a := v.Load(v.Param("n"), v.GP64()), v.Load(v.Param("x"), v.GP64()), v.Load(v.Param("a"), v.GP64())
	stride, y := v.Load(v.Param("stride"), v.GP64()), v.Load(v.Param("y"), v.GP64())
	v.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(v.size)))), stride)
	// Eight rows are at a + {0, 1, 2, 4}·stride and at three strides after: scaled indices reach 0, 1, 2, 4 and 8 of them.
	third := v.GP64()
	v.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, third)
	later := v.GP64()
	v.LEAQ(operand.Mem{Base: a, Index: third, Scale: 1}, later)
	fifth := v.GP64()
	v.LEAQ(operand.Mem{Base: later, Index: stride, Scale: 2}, fifth)
	seventh := v.GP64()
	v.LEAQ(operand.Mem{Base: fifth, Index: stride, Scale: 2}, seventh)
	at := []operand.Mem{{Base: a}, {Base: a, Index: stride, Scale: 1}, {Base: a, Index: stride, Scale: 2}, {Base: later},
		{Base: later, Index: stride, Scale: 1}, {Base: fifth}, {Base: fifth, Index: stride, Scale: 1}, {Base: seventh}}
	var xs []reg.VecVirtual
	for r := range rows {
		b := v.register()
		from := operand.Mem{Base: x, Disp: r * v.size}
		if v.size == 4 {
			v.VBROADCASTSS(from, b)
		} else {
			v.VBROADCASTSD(from, b)
		}
		xs = append(xs, b)
	}
	bytes := operand.I32(int32(v.width))
	v.Label("loop")
	even, odd := v.register(), v.register()
	v.zero(even) // y, which may be large, is rounded once for all rows
	v.zero(odd)
	for r := 0; r < rows; r += 2 {
		v.fma(at[r], xs[r], even)
		v.fma(at[r+1], xs[r+1], odd)
	}
	v.add(odd, even)
	v.add(operand.Mem{Base: y}, even)
	v.load(even, operand.Mem{Base: y})
	for _, p := range []reg.Register{a, later, fifth, seventh, y} {
		v.ADDQ(bytes, p)
	}
	v.SUBQ(operand.I32(int32(v.width/v.size)), n)
	v.JG(operand.LabelRef("loop"))
	v.VZEROUPPER()
	v.RET()
}
