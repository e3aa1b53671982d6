package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mostHalf is half of the largest radix, rounded down: what there is memory for.
const mostHalf = 30

// odd builds a pass of any odd radix, 2·half+1, as [passes.pass] is one. Inputs that are as far from both ends are added and subtracted; the sums and differences, these
// with their parts swapped, lie in memory. Outputs k and radix-k are the same sum of the former times cosines, less and plus i times that of the latter times sines; two
// such sums are made at a time. Constants are 1, and for each k the cosine and sine of each j.
func (g *passes) odd() {
	name := fmt.Sprintf("passoddf%dx%d", 8*g.size, 8*g.width)
	g.Function(name)
	g.SignatureExpr("func(half, m, s int, dst, src, twiddles, constants *byte)")
	g.Doc(fmt.Sprintf("%s is a pass of radix 2·half+1 on vectors of %d bits of float%d.", name, 8*g.width, 8*g.size))
	g.Pragma("noescape")
	work := g.AllocLocal(2 * mostHalf * g.width)
	left := g.AllocLocal(8) // butterflies
	shift := operand.U8(5)
	if g.width == 64 {
		shift = 6
	}
	count := g.Load(g.Param("m"), g.GP64())
	g.MOVQ(count, left)
	to, from, tw := g.Load(g.Param("dst"), g.GP64()), g.Load(g.Param("src"), g.GP64()), g.Load(g.Param("twiddles"), g.GP64())
	row := g.Load(g.Param("s"), g.GP64())
	g.SHLQ(shift, row)
	g.ones = g.register()
	c := g.Load(g.Param("constants"), g.GP64())
	g.broadcast(operand.Mem{Base: c}, g.ones)

	g.Label("butterfly")
	q := g.Load(g.Param("s"), g.GP64())
	g.Label("vector")
	between := g.Load(g.Param("m"), g.GP64())
	g.IMULQ(row, between)
	n, p := g.Load(g.Param("half"), g.GP64()), g.GP64()
	forth, back := g.GP64(), g.GP64()
	g.LEAQ(operand.Mem{Base: from, Index: between, Scale: 1}, forth)
	g.MOVQ(n, back)
	g.IMULQ(between, back)
	g.LEAQ(operand.Mem{Base: from, Index: back, Scale: 2}, back)
	g.LEAQ(work, p)
	x0 := g.register()
	g.load(operand.Mem{Base: from}, x0)
	first := g.copy(x0)
	g.Label("sums")
	u, v := g.register(), g.register()
	g.load(operand.Mem{Base: forth}, u)
	g.load(operand.Mem{Base: back}, v)
	a, b := g.add(u, v), g.sub(u, v)
	g.swap(b, b)
	g.load(a, operand.Mem{Base: p})
	g.load(b, operand.Mem{Base: p, Disp: g.width})
	g.choose(func() { g.VADDPS(a, first, first) }, func() { g.VADDPD(a, first, first) })
	g.ADDQ(between, forth)
	g.SUBQ(between, back)
	g.ADDQ(operand.U32(uint32(2*g.width)), p)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("sums"))
	g.load(first, operand.Mem{Base: to})

	half := g.Load(g.Param("half"), g.GP64()) // of which outputs are left
	c = g.Load(g.Param("constants"), g.GP64())
	g.ADDQ(operand.U32(uint32(g.size)), c)
	o := &oddOutputs{passes: g, c: c, work: work, p: g.GP64(), n: g.GP64(), x0: x0, row: row,
		forth: g.GP64(), back: g.GP64(), twForth: g.GP64(), twBack: g.GP64()}
	g.LEAQ(operand.Mem{Base: to, Index: row, Scale: 1}, o.forth)
	g.MOVQ(half, o.back)
	g.IMULQ(row, o.back)
	g.LEAQ(operand.Mem{Base: to, Index: o.back, Scale: 2}, o.back)
	g.MOVQ(tw, o.twForth)
	g.MOVQ(half, o.twBack)
	g.SHLQ(operand.U8(map[int]uint8{4: 4, 8: 5}[g.size]), o.twBack)
	g.LEAQ(operand.Mem{Base: tw, Index: o.twBack, Scale: 1, Disp: -2 * g.size}, o.twBack)
	g.Label("outputs")
	g.CMPQ(half, operand.U8(2))
	g.JLT(operand.LabelRef("single"))
	o.emit("pairs", 2)
	g.SUBQ(operand.U8(2), half)
	g.JNZ(operand.LabelRef("outputs"))
	g.JMP(operand.LabelRef("next"))
	g.Label("single")
	o.emit("last", 1)
	g.Label("next")
	g.ADDQ(operand.U32(uint32(g.width)), from)
	g.ADDQ(operand.U32(uint32(g.width)), to)
	g.DECQ(q)
	g.JNZ(operand.LabelRef("vector"))
	// The outputs of the next butterfly begin 2·half rows after where this one's first have ended, and so do its twiddles.
	half = g.Load(g.Param("half"), g.GP64())
	rows := g.GP64()
	g.MOVQ(half, rows)
	g.IMULQ(row, rows)
	g.LEAQ(operand.Mem{Base: to, Index: rows, Scale: 2}, to)
	g.SHLQ(operand.U8(map[int]uint8{4: 4, 8: 5}[g.size]), half)
	g.ADDQ(half, tw)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("butterfly"))
	g.VZEROUPPER()
	g.RET()
}

// oddOutputs emits outputs of a butterfly, from both ends towards the middle.
type oddOutputs struct {
	*passes
	c, p, n, row                 reg.Register // of the constants, which it leaves behind those it has read
	work                         operand.Mem
	x0                           reg.VecVirtual
	forth, back, twForth, twBack reg.GPVirtual
}

// emit makes so many outputs, and those as far from the end.
func (o *oddOutputs) emit(label string, many int) {
	g := o.passes
	o.LEAQ(o.work, o.p)
	half := o.Load(o.Param("half"), o.GP64())
	o.MOVQ(half, o.n)
	o.SHLQ(operand.U8(map[int]uint8{4: 3, 8: 4}[o.size]), half) // bytes of the constants of an output
	even, odd := make([]reg.VecVirtual, many), make([]reg.VecVirtual, many)
	for i := range many {
		even[i], odd[i] = o.copy(o.x0), o.zero()
	}
	o.Label(label)
	a, b := o.register(), o.register()
	o.load(operand.Mem{Base: o.p}, a)
	o.load(operand.Mem{Base: o.p, Disp: o.width}, b)
	for i := range many {
		at := operand.Mem{Base: o.c}
		if i == 1 {
			at = operand.Mem{Base: o.c, Index: half, Scale: 1}
		}
		o.mulAddEach(at, a, even[i])
		at.Disp = o.size
		o.mulAddEach(at, b, odd[i])
	}
	o.ADDQ(operand.U32(uint32(2*o.size)), o.c)
	o.ADDQ(operand.U32(uint32(2*o.width)), o.p)
	o.DECQ(o.n)
	o.JNZ(operand.LabelRef(label))
	if many == 2 {
		o.ADDQ(half, o.c)
	}
	for i := range many {
		plus := o.copy(even[i])
		o.minusI(even[i], odd[i])
		o.plusI(plus, odd[i])
		g.twiddle(even[i], o.twForth, 0)
		g.twiddle(plus, o.twBack, 0)
		o.load(even[i], operand.Mem{Base: o.forth})
		o.load(plus, operand.Mem{Base: o.back})
		o.ADDQ(o.row, o.forth)
		o.SUBQ(o.row, o.back)
		o.ADDQ(operand.U32(uint32(2*o.size)), o.twForth)
		o.SUBQ(operand.U32(uint32(2*o.size)), o.twBack)
	}
}

// mulAddEach is x += c·y for a number c in memory.
func (g *passes) mulAddEach(c operand.Mem, y, x reg.VecVirtual) {
	if g.width == 64 {
		g.choose(func() { g.VFMADD231PS_BCST(c, y, x) }, func() { g.VFMADD231PD_BCST(c, y, x) })
		return
	}
	t := g.register()
	g.broadcast(c, t)
	g.mulAdd(t, y, x)
}
