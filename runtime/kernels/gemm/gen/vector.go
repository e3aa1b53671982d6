package main

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectorLoops builds the loops of products of a matrix and a vector: for rows that lie together, inner products of one of them or of
// four; for columns that do, sums of one, four or eight of them.
func (g generator) vectorLoops() {
	g.StaticGlobal(masks)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AppendDatum(operand.U64(map[bool]uint64{true: math.MaxUint64}[i < 4]))
	}
	for _, e := range []element{{name: "float32", size: 4}, {name: "float64", size: 8}, {name: "int32", size: 4, integer: true}, {name: "int64", size: 8, integer: true}} {
		for _, width := range []int{64, 32} {
			if e.integer && e.size == 8 && width == 32 {
				continue // which has no multiplication for them
			}
			name := fmt.Sprintf("%s%d%s", map[bool]string{false: "F", true: "I"}[e.integer], 8*e.size, map[int]string{64: "AVX512", 32: "AVX2"}[width])
			v := vectors{g, e, width}
			v.inner("inner1"+name, 1, 8)
			v.inner("inner4"+name, 4, 2)
			v.combine("combine1"+name, 1)
			v.combine("combine4"+name, 4)
			v.combine("combine8"+name, 8)
		}
	}
}

// masks is the name of a vector of 256 ones with as many zeros behind it: read from before its end, it is a mask of the first elements.
const masks = "masks"

// inner multiplies rows with x, of which k elements count, in chains vectors of sums for each row.
func (v vectors) inner(name string, rows, chains int) {
	v.Function(name)
	v.Attributes(attr.NOSPLIT)
	v.SignatureExpr(fmt.Sprintf("func(k int, x, a *%s, stride int, y *%[1]s)", v.name))
	v.Doc(fmt.Sprintf("%s sets y to the inner products of x and %d rows of a, stride apart.", name, rows))
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
	v.eachStep(k, i, lanes, chains, func(c int, tail operand.Op) {
		xs := v.loaded(operand.Mem{Base: x, Index: i, Scale: uint8(v.size), Disp: c * v.width}, tail)
		for r := range at {
			v.fma(operand.Mem{Base: at[r], Index: i, Scale: uint8(v.size), Disp: c * v.width}, xs, sums[r][c], tail)
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

// eachStep goes through k elements, several vectors at a time while there are as many, then one by one, and last what does not fill one.
func (v vectors) eachStep(k, i reg.Register, lanes, unroll int, step func(c int, tail operand.Op)) {
	many, one := operand.I32(int32(lanes*unroll)), operand.I32(int32(lanes))
	v.CMPQ(k, many)
	v.JLT(operand.LabelRef("rest"))
	v.Label("many")
	for c := range unroll {
		step(c, nil)
	}
	v.ADDQ(many, i)
	v.SUBQ(many, k)
	v.CMPQ(k, many)
	v.JGE(operand.LabelRef("many"))
	v.Label("rest")
	v.CMPQ(k, one)
	v.JLT(operand.LabelRef("tail"))
	step(0, nil)
	v.ADDQ(one, i)
	v.SUBQ(one, k)
	v.JMP(operand.LabelRef("rest"))
	v.Label("tail")
	v.TESTQ(k, k)
	v.JLE(operand.LabelRef("done"))
	step(0, v.first(k))
	v.Label("done")
}

// first is a mask of the first n elements of a vector, of which n is less than all.
func (v vectors) first(n reg.Register) operand.Op {
	if v.width == 64 {
		ones, k := v.GP64(), v.K()
		v.MOVQ(operand.I32(-1), ones)
		v.BZHIQ(n, ones, ones)
		v.KMOVW(ones.As32(), k)
		return k
	}
	table, back, mask := v.GP64(), v.GP64(), v.YMM()
	v.LEAQ(operand.NewDataAddr(operand.NewStaticSymbol(masks), v.width), table)
	v.MOVQ(n, back)
	v.NEGQ(back)
	v.VMOVUPS(operand.Mem{Base: table, Index: back, Scale: uint8(v.size)}, mask)
	return mask
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
	if v.integer {
		v.VPSHUFD(operand.U8(0x4e), x.AsX(), swapped)
		v.add2(swapped, x.AsX(), x.AsX())
		if v.size == 8 {
			v.VMOVQ(x.AsX(), to)
			return
		}
		v.VPSHUFD(operand.U8(0xb1), x.AsX(), swapped)
		v.add2(swapped, x.AsX(), x.AsX())
		v.VMOVD(x.AsX(), to)
		return
	}
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
	switch {
	case v.integer && v.size == 4:
		v.VPADDD(x, y, to)
	case v.integer:
		v.VPADDQ(x, y, to)
	case v.size == 4:
		v.VADDPS(x, y, to)
	default:
		v.VADDPD(x, y, to)
	}
}

// loaded is a vector in memory: where tail is a mask, zeros are behind the elements of it.
func (v vectors) loaded(from operand.Mem, tail operand.Op) reg.VecVirtual {
	x := v.register()
	switch {
	case tail == nil:
		v.load(from, x)
	case v.width == 64 && v.size == 4:
		v.VMOVUPS_Z(from, tail, x)
	case v.width == 64:
		v.VMOVUPD_Z(from, tail, x)
	case v.size == 4:
		v.VMASKMOVPS(from, tail, x)
	default:
		v.VMASKMOVPD(from, tail, x)
	}
	return x
}

// stored writes a vector to memory, or its elements in the mask tail.
func (v vectors) stored(x reg.VecVirtual, to operand.Mem, tail operand.Op) {
	switch {
	case tail == nil:
		v.load(x, to)
	case v.width == 64 && v.size == 4:
		v.VMOVUPS(x, tail, to)
	case v.width == 64:
		v.VMOVUPD(x, tail, to)
	case v.size == 4:
		v.VMASKMOVPS(x, tail, to)
	default:
		v.VMASKMOVPD(x, tail, to)
	}
}

// fma adds a·x to sum; in a tail, what it adds behind the elements of the mask is nothing.
func (v vectors) fma(a operand.Mem, x, sum reg.VecVirtual, tail operand.Op) {
	switch {
	case v.integer:
		product := v.register()
		if tail == nil {
			v.multiplyIntegers(a, x, product)
		} else {
			v.multiplyIntegers(v.loaded(a, tail), x, product)
		}
		v.add(product, sum)
	case tail == nil && v.size == 4:
		v.VFMADD231PS(a, x, sum)
	case tail == nil:
		v.VFMADD231PD(a, x, sum)
	case v.size == 4:
		v.VFMADD231PS(v.loaded(a, tail), x, sum)
	default:
		v.VFMADD231PD(v.loaded(a, tail), x, sum)
	}
}

// combine adds rows times elements of x to y, of which n elements count.
func (v vectors) combine(name string, rows int) {
	v.Function(name)
	v.Attributes(attr.NOSPLIT)
	v.SignatureExpr(fmt.Sprintf("func(n int, x, a *%s, stride int, y *%[1]s)", v.name))
	v.Doc(fmt.Sprintf("%s adds %d rows of a, stride apart, times elements of x to y.", name, rows))
	v.Pragma("noescape")
	n, x, a := v.Load(v.Param("n"), v.GP64()), v.Load(v.Param("x"), v.GP64()), v.Load(v.Param("a"), v.GP64())
	stride, y := v.Load(v.Param("stride"), v.GP64()), v.Load(v.Param("y"), v.GP64())
	v.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(v.size)))), stride)
	// Eight rows are at a + {0, 1, 2, 4}·stride and at three strides after: scaled indices reach 0, 1, 2, 4 and 8 of them.
	moving, at := []reg.Register{a, y}, []operand.Mem{{Base: a}, {Base: a, Index: stride, Scale: 1}, {Base: a, Index: stride, Scale: 2}}
	if rows > len(at) {
		third, later := v.GP64(), v.GP64()
		v.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, third)
		v.LEAQ(operand.Mem{Base: a, Index: third, Scale: 1}, later)
		moving, at = append(moving, later), append(at, operand.Mem{Base: later}, operand.Mem{Base: later, Index: stride, Scale: 1})
		for next := later; len(at) < rows; {
			from := next
			next = v.GP64()
			v.LEAQ(operand.Mem{Base: from, Index: stride, Scale: 2}, next)
			moving, at = append(moving, next), append(at, operand.Mem{Base: next}, operand.Mem{Base: next, Index: stride, Scale: 1})
		}
	}
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
	bytes, lanes := operand.I32(int32(v.width)), operand.I32(int32(v.width/v.size))
	sum := func(tail operand.Op) {
		even, odd := v.register(), v.register()
		v.zero(even) // y, which may be large, is rounded once for all rows
		v.zero(odd)
		for r := range rows {
			v.fma(at[r], xs[r], []reg.VecVirtual{even, odd}[r%2], tail)
		}
		v.add(odd, even)
		if tail == nil {
			v.add(operand.Mem{Base: y}, even)
		} else {
			v.add(v.loaded(operand.Mem{Base: y}, tail), even)
		}
		v.stored(even, operand.Mem{Base: y}, tail)
	}
	v.CMPQ(n, lanes)
	v.JLT(operand.LabelRef("tail"))
	v.Label("loop")
	sum(nil)
	for _, p := range moving {
		v.ADDQ(bytes, p)
	}
	v.SUBQ(lanes, n)
	v.CMPQ(n, lanes)
	v.JGE(operand.LabelRef("loop"))
	v.Label("tail")
	v.TESTQ(n, n)
	v.JLE(operand.LabelRef("done"))
	sum(v.first(n))
	v.Label("done")
	v.VZEROUPPER()
	v.RET()
}
