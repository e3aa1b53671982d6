// Command gen writes the vector forms of the inner loop of matrix multiplication: gen_micro_amd64.s and its declarations. Run it by go
// generate in the directory above.
package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the assembly and the Go file that declares its functions.
func generate() (asmgen.Files, error) {
	g := generator{build.NewContext()}
	g.ConstraintExpr("amd64")
	f32, f64 := element{name: "float32", size: 4}, element{name: "float64", size: 8}
	i32, pairs := element{name: "int32", size: 4, integer: true}, element{name: "int32", size: 4, integer: true, pairs: true}
	for _, m := range []struct {
		name         string
		element      element
		rows, vector int
	}{
		{"f32AVX512", f32, 14, 64}, {"f32AVX512Few", f32, 8, 64}, {"f32AVX2", f32, 6, 32}, {"f32AVX2Few", f32, 4, 32},
		{"f64AVX512", f64, 14, 64}, {"f64AVX512Few", f64, 8, 64}, {"f64AVX2", f64, 6, 32}, {"f64AVX2Few", f64, 4, 32},
		{"i32AVX512", i32, 12, 64}, {"i32AVX2", i32, 6, 32},
		{"pairsAVX512", pairs, 12, 64}, {"pairsAVX2", pairs, 6, 32},
	} {
		g.micro(m.name, m.element, m.rows, m.vector, onPanels)
		g.micro(m.name+"Packing", m.element, m.rows, m.vector, packing)
		g.micro(m.name+"OnRows", m.element, m.rows, m.vector, onRows)
	}
	for _, e := range []element{f32, f64} {
		name := fmt.Sprintf("f%dAVX512", 8*e.size)
		g.micro(name+"InPlace", e, 8, 64, inPlace)
		g.anywhere(name+"Narrow", e, 1, false)
		g.anywhere(name+"NarrowPart", e, 1, true)
		g.anywhere(name+"WidePart", e, 2, true)
	}
	g.micro("f32AVX2InPlace", f32, 6, 32, inPlace)
	g.micro("f64AVX2InPlace", f64, 6, 32, inPlace)
	g.vectorLoops()
	g.lineLoops()
	g.runs("runsAVX512", 64)
	g.runs("runsAVX2", 32)
	g.runsOfBF16("runsBF16AVX512")
	g.peak("peakAVX512", 64)
	g.peak("peakAVX2", 32)
	return asmgen.Compile(g.Context, "runtime/kernels/gemm", "micro")
}

type generator struct{ *build.Context }

// element is a Go type and its size. Pairs are integers of 16 bits, two in an element, whose products are added.
type element struct {
	name           string
	size           int
	integer, pairs bool
}

// micro builds a function that multiplies panels of rows rows, one behind the other, with one of two vectors of columns. All sums of a panel stay in registers: with 512
// bits two columns of 14, the two vectors of b and one broadcast element take 31 of 32; with 256 bits two columns of 6 and those take 15 of 16. Elements of a are
// broadcast into a register, once for both multiplications; with 512 bits, as many of them as there is time to load twice are operands in memory instead: a core that
// two threads share begins few instructions of each in a cycle. Integers are not multiplied and added by one instruction, so they need registers for an element and
// a product.
//
// One that packs reads columns where they are and leaves them as a panel on the way, for which there is time. It takes one panel of rows. One on rows does the same
// without a panel: where there is nothing else to multiply with it, what is written only keeps loads waiting whose addresses look alike. One in place reads rows
// where they are: each has a register, and a list says where its elements are.
func (g generator) micro(name string, e element, rows, vector int, kind microKind) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(fmt.Sprintf([...]string{
		onPanels: "func(panels, k int, a, b, c *%[1]s, ldc int, add bool, next *%[1]s, step int)",
		packing:  "func(k int, a, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool, panel *%[1]s)",
		onRows:   "func(k int, a, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool)",
		inPlace:  "func(panels, k int, a *%[1]s, rows, ks *int, b, c *%[1]s, ldc int, add bool)",
	}[kind], e.name))
	each := " for each panel"
	if kind.isOnRows() {
		each = ""
	}
	g.Doc(fmt.Sprintf("%s sets c, of %d rows%s and %d columns, to a·b over k, or adds it.", name, rows, each, 2*vector/e.size), [...]string{
		onPanels: "It asks for the memory of c, and from next on, step bytes for each of k, which will be needed.",
		packing:  "It copies the columns of b, whose rows are ldb apart, to a panel, and asks for the memory of c.",
		onRows:   "Rows of b are ldb apart. It asks for the memory of c.",
		inPlace:  "Elements of a are at the sum of a number of rows and one of ks. It asks for the memory of c.",
	}[kind])
	g.Pragma("noescape")
	m := micro{vectors: vectors{g, e, vector}, kind: kind, c: g.Load(g.Param("c"), g.GP64()), ldc: g.Load(g.Param("ldc"), g.GP64())}
	g.SHLQ(m.shift(), m.ldc)
	m.sums = make([][2]reg.VecVirtual, rows)
	for i := range m.sums {
		m.sums[i] = [2]reg.VecVirtual{m.register(), m.register()}
	}
	m.ldb = operand.U32(uint32(2 * vector))
	switch kind {
	case onPanels:
		m.a, m.to, m.step = g.Load(g.Param("a"), g.GP64()), g.Load(g.Param("next"), g.GP64()), g.Load(g.Param("step"), g.GP64())
	case packing, onRows:
		ldb := g.Load(g.Param("ldb"), g.GP64())
		g.SHLQ(m.shift(), ldb)
		m.a, m.step, m.ldb = g.Load(g.Param("a"), g.GP64()), g.GP64(), ldb
		if kind == packing {
			m.to = g.Load(g.Param("panel"), g.GP64())
		}
		g.IMUL3Q(operand.U8(rowsAhead), ldb, m.step)
	case inPlace:
		m.rowsAt = g.Load(g.Param("rows"), g.GP64())
	}
	if !kind.isOnRows() {
		g.Label("panel")
	}
	m.panel(turn(rows, kind))
	if !kind.isOnRows() {
		g.ADDQ(m.ldc, m.c)
		panels, err := g.Param("panels").Resolve()
		if err != nil {
			panic(err)
		}
		g.DECQ(panels.Addr)
		g.JNZ(operand.LabelRef("panel"))
	}
	g.VZEROUPPER()
	g.RET()
	if kind == onPanels {
		m.askForMore(turn(rows, kind))
	}
}

// microKind is where a loop finds its operands.
type microKind int

const (
	onPanels microKind = iota
	packing
	onRows
	inPlace
)

// isOnRows reports whether the rows of b are where they are.
func (k microKind) isOnRows() bool { return k == packing || k == onRows }

// turn is how many of k are multiplied between jumps back. On panels it is a power of two, which memory is asked for together.
func turn(rows int, kind microKind) int {
	switch {
	case kind != onPanels:
		return max(1, 28/rows)
	case rows < 6:
		return 8
	}
	return 4
}

// micro is a loop in the making.
type micro struct {
	vectors
	kind     microKind
	sums     [][2]reg.VecVirtual
	a, b     reg.Register
	c, ldc   reg.Register
	to, step reg.Register // what is asked for or, by a loop that packs, written
	ldb      operand.Op
	rowsAt   reg.Register   // of one in place: the list of rows,
	rowAt    []reg.Register // those of a panel,
	ks       reg.Register   // and the list of elements
}

// shift is by how many bits a number of elements becomes one of bytes.
func (m *micro) shift() operand.Op { return operand.U8(uint8(bits.TrailingZeros(uint(m.size)))) }

// panel multiplies one panel, several of k at a time, and moves c to its last row.
func (m *micro) panel(unroll int) {
	row := m.GP64()
	m.MOVQ(m.c, row)
	for i, s := range m.sums {
		m.zero(s[0])
		m.zero(s[1])
		if i > 0 {
			m.ADDQ(m.ldc, row)
		}
		m.PREFETCHT0(operand.Mem{Base: row})
		m.PREFETCHT0(operand.Mem{Base: row, Disp: m.width})
	}
	if m.kind == inPlace {
		m.findRows()
	}
	k := m.Load(m.Param("k"), m.GP64())
	m.b = m.Load(m.Param("b"), m.GP64())
	b0, b1 := m.register(), m.register()
	m.SUBQ(operand.U8(uint8(unroll)), k)
	m.JLT(operand.LabelRef("rest"))
	m.Label("loop")
	m.steps(unroll, b0, b1)
	m.SUBQ(operand.U8(uint8(unroll)), k)
	m.JGE(operand.LabelRef("loop"))
	m.Label("rest")
	m.ADDQ(operand.U8(uint8(unroll)), k)
	m.JZ(operand.LabelRef("store"))
	m.Label("one")
	m.steps(1, b0, b1)
	m.DECQ(k)
	m.JNZ(operand.LabelRef("one"))
	m.Label("store")
	add := m.Load(m.Param("add"), m.GP8())
	m.TESTB(add, add)
	m.JZ(operand.LabelRef("set"))
	row = m.GP64()
	m.MOVQ(m.c, row)
	m.vectors.rows(m.sums, row, m.ldc, func(at operand.Mem, x reg.VecVirtual) { m.add(at, x) })
	m.Label("set")
	m.vectors.rows(m.sums, m.c, m.ldc, func(at operand.Mem, x reg.VecVirtual) { m.load(x, at) })
}

// findRows makes pointers of the next panel's rows.
func (m *micro) findRows() {
	a := m.Load(m.Param("a"), m.GP64())
	m.rowAt = nil
	for i := range m.sums {
		r := m.GP64()
		m.MOVQ(operand.Mem{Base: m.rowsAt, Disp: 8 * i}, r)
		m.LEAQ(operand.Mem{Base: a, Index: r, Scale: uint8(m.size)}, r)
		m.rowAt = append(m.rowAt, r)
	}
	m.ADDQ(operand.U8(uint8(8*len(m.sums))), m.rowsAt)
	m.ks = m.Load(m.Param("ks"), m.GP64())
}

// steps multiplies n of k.
func (m *micro) steps(n int, b0, b1 reg.VecVirtual) {
	if m.kind == onPanels {
		m.ask(n)
	}
	for s := range n {
		at := operand.Mem{Base: m.b}
		if !m.kind.isOnRows() {
			at.Disp = s * 2 * m.width
		}
		m.load(at, b0)
		m.load(at.Offset(m.width), b1)
		var off reg.Register
		switch m.kind {
		case packing, onRows:
			m.PREFETCHT0(operand.Mem{Base: m.b, Index: m.step, Scale: 1})
			m.PREFETCHT0(operand.Mem{Base: m.b, Index: m.step, Scale: 1, Disp: 2*m.width - 1})
			if m.kind == packing {
				m.load(b0, operand.Mem{Base: m.to})
				m.load(b1, operand.Mem{Base: m.to, Disp: m.width})
				m.ADDQ(operand.U32(uint32(2*m.width)), m.to)
			}
			m.ADDQ(m.ldb, m.b)
		case inPlace:
			off = m.GP64()
			m.MOVQ(operand.Mem{Base: m.ks, Disp: 8 * s}, off)
		}
		for i, sums := range m.sums {
			from := operand.Mem{Base: m.a, Disp: (s*len(m.sums) + i) * m.size}
			if m.kind == inPlace {
				from = operand.Mem{Base: m.rowAt[i], Index: off, Scale: uint8(m.size)}
			}
			if m.inMemory(i) {
				m.multiplyInMemory(from, b0, b1, sums)
			} else {
				m.multiply(from, b0, b1, sums)
			}
		}
	}
	if m.kind == inPlace {
		m.ADDQ(operand.U8(uint8(8*n)), m.ks)
	} else {
		m.ADDQ(operand.U32(uint32(n*len(m.sums)*m.size)), m.a)
	}
	if !m.kind.isOnRows() {
		m.ADDQ(operand.U32(uint32(n*2*m.width)), m.b)
	}
}

// ask asks for the memory that will be needed, for n of k at a time: for one line, or for a whole turn's share of a panel where so few panels of rows use one that its
// lines are needed faster.
func (m *micro) ask(n int) {
	if n == 1 {
		m.ADDQ(m.step, m.to)
		return
	}
	m.PREFETCHT1(operand.Mem{Base: m.to})
	m.CMPQ(m.step, operand.U8(uint8(line/n)))
	m.JGT(operand.LabelRef("more"))
	m.Label("asked")
	m.LEAQ(operand.Mem{Base: m.to, Index: m.step, Scale: uint8(n)}, m.to)
}

// askForMore is what a loop jumps to for the rest of a turn's share.
func (m *micro) askForMore(n int) {
	m.Label("more")
	for at := line; at < n*2*m.width; at += line {
		m.PREFETCHT1(operand.Mem{Base: m.to, Disp: at})
	}
	m.JMP(operand.LabelRef("asked"))
}

// line is what memory comes in.
const line = 64

// inMemory reports whether row i's element of a is an operand in memory: two of three rows, spread evenly. Loads are then fewer than multiplications, of which a
// processor begins as many in a cycle.
func (m *micro) inMemory(i int) bool {
	if m.width < 64 || m.integer || m.kind == inPlace {
		return false
	}
	rows := len(m.sums)
	some := rows * 2 / 3
	return (i+1)*some/rows > i*some/rows
}

// runs builds a function that cuts rows into panels of two vectors of columns. A row is read from front to back, while memory is asked for rows ahead: their
// pages are others, so that the processor does not foresee them.
func (g generator) runs(name string, vector int) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k, panels int, src *byte, stride int, dst *byte, panel int)")
	g.Doc(fmt.Sprintf("%s copies k rows of panels times %d bytes, stride bytes apart, to panels that are panel bytes apart.", name, 2*vector))
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, src, stride, dst, panel := load("k"), load("src"), load("stride"), load("dst"), load("panel")
	v := vectors{g, element{name: "float32", size: 4}, vector}
	from, ahead, to, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Label("row")
	g.MOVQ(src, from)
	g.LEAQ(operand.Mem{Base: src, Index: stride, Scale: runsAhead}, ahead)
	g.MOVQ(dst, to)
	g.Load(g.Param("panels"), left)
	g.Label("panel")
	x, y := v.register(), v.register()
	v.load(operand.Mem{Base: from}, x)
	v.load(operand.Mem{Base: from, Disp: vector}, y)
	g.PREFETCHT0(operand.Mem{Base: ahead})
	if vector == 64 {
		g.PREFETCHT0(operand.Mem{Base: ahead, Disp: vector})
	}
	v.load(x, operand.Mem{Base: to})
	v.load(y, operand.Mem{Base: to, Disp: vector})
	g.ADDQ(operand.U32(uint32(2*vector)), from)
	g.ADDQ(operand.U32(uint32(2*vector)), ahead)
	g.ADDQ(panel, to)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))
	g.ADDQ(stride, src)
	g.ADDQ(operand.U32(uint32(2*vector)), dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}

// runsAhead is how many rows ahead memory is asked for.
const runsAhead = 4

// runsOfBF16 builds a function that cuts rows of bf16 into panels of f32 of up to 32 columns. Masks say how many columns a panel has, and of how many
// there is something in memory; the others become zeros.
func (g generator) runsOfBF16(name string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(k, panels int, src *byte, stride, step int, dst *byte, panel, line int, has, wants uint32)")
	g.Doc(fmt.Sprintf("%s writes k rows, stride bytes apart, as f32 to panels: to each, step bytes of them, to lines that are line bytes apart.", name),
		"Panels are panel bytes apart. The bits of wants are the columns of a line, those of has the ones that are read; the others are 0.")
	g.Pragma("noescape")
	load := func(param string) reg.Register { return g.Load(g.Param(param), g.GP64()) }
	k, src, stride, step, dst, panel, line := load("k"), load("src"), load("stride"), load("step"), load("dst"), load("panel"), load("line")
	halves := func(param string) (low, high reg.Register) {
		bits := g.Load(g.Param(param), g.GP32())
		l, h := g.K(), g.K()
		g.KMOVW(bits, l)
		g.SHRL(operand.U8(16), bits)
		g.KMOVW(bits, h)
		return l, h
	}
	has0, has1 := halves("has")
	wants0, wants1 := halves("wants")
	from, ahead, to, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.Label("row")
	g.MOVQ(src, from)
	g.LEAQ(operand.Mem{Base: src, Index: stride, Scale: runsAhead}, ahead)
	g.MOVQ(dst, to)
	g.Load(g.Param("panels"), left)
	g.Label("panel")
	x, y := g.ZMM(), g.ZMM()
	g.VPMOVZXWD_Z(operand.Mem{Base: from}, has0, x)
	g.VPMOVZXWD_Z(operand.Mem{Base: from, Disp: 32}, has1, y)
	g.PREFETCHT0(operand.Mem{Base: ahead})
	g.VPSLLD(operand.U8(16), x, x)
	g.VPSLLD(operand.U8(16), y, y)
	g.VMOVUPS(x, wants0, operand.Mem{Base: to})
	g.VMOVUPS(y, wants1, operand.Mem{Base: to, Disp: 64})
	g.ADDQ(step, from)
	g.ADDQ(step, ahead)
	g.ADDQ(panel, to)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("panel"))
	g.ADDQ(stride, src)
	g.ADDQ(line, dst)
	g.DECQ(k)
	g.JNZ(operand.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}

// peak builds a loop of nothing but multiplications and additions in registers, 14 at once.
func (g generator) peak(name string, vector int) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(rounds int)")
	g.Doc(fmt.Sprintf("%s multiplies and adds %d vectors in every round.", name, peakVectors))
	rounds := g.Load(g.Param("rounds"), g.GP64())
	v := vectors{g, element{name: "float32", size: 4}, vector}
	x, y := v.register(), v.register()
	v.zero(x)
	v.zero(y)
	sums := make([]reg.VecVirtual, peakVectors)
	for i := range sums {
		sums[i] = v.register()
		v.zero(sums[i])
	}
	g.Label("round")
	for _, s := range sums {
		v.VFMADD231PS(x, y, s)
	}
	g.DECQ(rounds)
	g.JNZ(operand.LabelRef("round"))
	g.VZEROUPPER()
	g.RET()
}

// peakVectors is more than a processor has multiplications and additions under way.
const peakVectors = 14

// rowsAhead is how many rows ahead memory is asked for: multiplying as many takes about as long as the last cache.
const rowsAhead = 16

// vectors emits instructions for one element size and vector width.
type vectors struct {
	generator
	element
	width int
}

func (v vectors) register() reg.VecVirtual {
	if v.width == 64 {
		return v.ZMM()
	}
	return v.YMM()
}

func (v vectors) zero(x reg.VecVirtual) {
	if v.width == 64 {
		v.VPXORD(x, x, x)
		return
	}
	v.VXORPS(x, x, x)
}

func (v vectors) load(from, to operand.Op) {
	if v.size == 4 {
		v.VMOVUPS(from, to)
		return
	}
	v.VMOVUPD(from, to)
}

func (v vectors) add(at operand.Op, x reg.VecVirtual) {
	switch {
	case v.integer:
		v.VPADDD(at, x, x)
	case v.size == 4:
		v.VADDPS(at, x, x)
	default:
		v.VADDPD(at, x, x)
	}
}

// multiply adds one element of a times two vectors of b.
func (v vectors) multiply(a operand.Mem, b0, b1 reg.VecVirtual, sums [2]reg.VecVirtual) {
	switch {
	case v.integer:
		x, product := v.register(), v.register()
		v.VPBROADCASTD(a, x)
		v.multiplyIntegers(x, b0, product)
		v.add(product, sums[0])
		v.multiplyIntegers(x, b1, x)
		v.add(x, sums[1])
	case v.size == 4:
		x := v.register()
		v.VBROADCASTSS(a, x)
		v.VFMADD231PS(x, b0, sums[0])
		v.VFMADD231PS(x, b1, sums[1])
	default:
		x := v.register()
		v.VBROADCASTSD(a, x)
		v.VFMADD231PD(x, b0, sums[0])
		v.VFMADD231PD(x, b1, sums[1])
	}
}

// multiplyInMemory is multiply without a register for the element.
func (v vectors) multiplyInMemory(a operand.Mem, b0, b1 reg.VecVirtual, sums [2]reg.VecVirtual) {
	if v.size == 4 {
		v.VFMADD231PS_BCST(a, b0, sums[0])
		v.VFMADD231PS_BCST(a, b1, sums[1])
		return
	}
	v.VFMADD231PD_BCST(a, b0, sums[0])
	v.VFMADD231PD_BCST(a, b1, sums[1])
}

func (v vectors) multiplyIntegers(x, y, to reg.VecVirtual) {
	if v.pairs {
		v.VPMADDWD(x, y, to)
		return
	}
	v.VPMULLD(x, y, to)
}

// rows visits the memory of each sum; c moves to the last row.
func (v vectors) rows(sums [][2]reg.VecVirtual, c, ldc reg.Register, visit func(operand.Mem, reg.VecVirtual)) {
	for i, s := range sums {
		if i > 0 {
			v.ADDQ(ldc, c)
		}
		visit(operand.Mem{Base: c}, s[0])
		visit(operand.Mem{Base: c, Disp: v.width}, s[1])
	}
}
