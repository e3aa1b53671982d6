package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// micro builds a function that multiplies panels of rows rows, one behind the other, with one of two or three vectors of columns. All sums of a panel stay in registers: with 512
// bits two columns of 14, the two vectors of b and one broadcast element take 31 of 32; with 256 bits two columns of 6 and those take 15 of 16. Elements of a are
// broadcast into a register, once for both multiplications; with 512 bits, as many of them as there is time to load twice are operands in memory instead: a core that
// two threads share begins few instructions of each in a cycle. Integers are not multiplied and added by one instruction, so they need registers for an element and
// a product.
//
// One that packs reads columns where they are and leaves them as a panel on the way, for which there is time. It takes one panel of rows. One on rows does the same
// without a panel: where there is nothing else to multiply with it, what is written only keeps loads waiting whose addresses look alike. With few rows it takes three
// vectors of columns, so that each element of a serves three multiplications, and with half as many four, of panels whose other rows it leaves out. One in place reads
// rows where they are: each has a register, and a list says where its elements are.
func (g generator) micro(name string, e element, rows, vector int, kind microKind) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(fmt.Sprintf([...]string{
		onPanels: "func(panels, k int, a, b, c *%[1]s, ldc int, add bool, next *%[1]s, step int)",
		packing:  "func(k int, a, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool, panel *%[1]s)",
		decoding: "func(k int, a *%[1]s, b *uint16, ldb int, c *%[1]s, ldc int, add bool, panel *%[1]s)",
		onRows:   "func(k int, a, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool)",
		onBroad:  "func(k int, a, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool)",
		onHalf:   "func(k int, a, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool)",
		inPlace:  "func(panels, k int, a *%[1]s, rows, ks *int, b, c *%[1]s, ldc int, add bool)",
	}[kind], e.name))
	each := " for each panel"
	if kind.isOnRows() {
		each = ""
	}
	g.Doc(fmt.Sprintf("%s sets c, of %d rows%s and %d columns, to a·b over k, or adds it.", name, rows, each, kind.vectors()*vector/e.size), [...]string{
		onPanels: "It asks for the memory of c, and from next on, step bytes for each of k or, if step is more than a row of b has, one such row every step bytes, which will be needed.",
		packing:  "It copies the columns of b, whose rows are ldb apart, to a panel, and asks for the memory of c.",
		decoding: "It decodes the columns of b, which are bf16 and whose rows are ldb apart, to a panel, and asks for the memory of c.",
		onRows:   "Rows of b are ldb apart. It asks for the memory of c.",
		onBroad:  "Rows of b are ldb apart. It asks for the memory of c.",
		onHalf:   fmt.Sprintf("Panels of a have %d rows. Rows of b are ldb apart. It asks for the memory of c.", 2*rows),
		inPlace:  "Elements of a are at the sum of a number of rows and one of ks. It asks for the memory of c.",
	}[kind])
	g.Pragma("noescape")
	m := micro{vectors: vectors{g, e, vector}, kind: kind, c: g.Load(g.Param("c"), g.GP64()), ldc: g.Load(g.Param("ldc"), g.GP64())}
	g.SHLQ(m.shift(), m.ldc)
	for range rows {
		m.sums = append(m.sums, m.registers())
	}
	m.ldb = m.line()
	switch kind {
	case onPanels:
		m.a, m.to, m.step = g.Load(g.Param("a"), g.GP64()), g.Load(g.Param("next"), g.GP64()), g.Load(g.Param("step"), g.GP64())
	case packing, decoding, onRows, onBroad, onHalf:
		ldb := g.Load(g.Param("ldb"), g.GP64())
		if kind == decoding {
			g.SHLQ(operand.U8(1), ldb)
		} else {
			g.SHLQ(m.shift(), ldb)
		}
		m.a, m.step, m.ldb = g.Load(g.Param("a"), g.GP64()), g.GP64(), ldb
		if kind.packs() {
			m.to = g.Load(g.Param("panel"), g.GP64())
		}
		g.IMUL3Q(operand.U8(rowsAhead), ldb, m.step)
	case inPlace:
		m.rowsAt = g.Load(g.Param("rows"), g.GP64())
	}
	if !kind.isOnRows() {
		g.Label("panel")
	}
	m.panel(turn(rows, vector, kind))
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
		m.askForMore(turn(rows, vector, kind))
	}
}

// microKind is where a loop finds its operands.
type microKind int

const (
	onPanels microKind = iota
	packing
	decoding // packing, of bf16
	onRows
	onBroad // onRows, for three vectors of columns
	onHalf  // onRows, for four vectors of columns and half of the rows of a panel
	inPlace
)

// isOnRows reports whether the rows of b are where they are.
func (k microKind) isOnRows() bool { return k.packs() || k == onRows || k == onBroad || k == onHalf }

// packs reports whether columns become a panel by the way.
func (k microKind) packs() bool { return k == packing || k == decoding }

// vectors is how many of them a row of b has.
func (k microKind) vectors() int {
	switch k {
	case onBroad:
		return 3
	case onHalf:
		return 4
	}
	return 2
}

// turn is how many of k are multiplied between jumps back. On panels it is a power of two, which memory is asked for together. With 256 bits, eight at a time took
// 0.97 of the time of four in products of 1024 on Zen 3.
func turn(rows, vector int, kind microKind) int {
	switch {
	case kind != onPanels:
		return max(1, 28/rows)
	case vector < 64:
		return 8
	}
	return 4
}

// micro is a loop in the making.
type micro struct {
	vectors
	kind     microKind
	sums     [][]reg.VecVirtual
	a, b     reg.Register
	c, ldc   reg.Register
	to, step reg.Register // what is asked for or, by a loop that packs, written
	ldb      operand.Op
	rowsAt   reg.Register   // of one in place: the list of rows,
	rowAt    []reg.Register // those of a panel,
	ks       reg.Register   // and the list of elements
}

// registers are for a row of b, or of sums.
func (m *micro) registers() (v []reg.VecVirtual) {
	for range m.kind.vectors() {
		v = append(v, m.register())
	}
	return v
}

// line is how many bytes a row of b has.
func (m *micro) line() operand.Op { return operand.U32(uint32(m.kind.vectors() * m.width)) }

// panelRows is how many rows a panel of a has.
func (m *micro) panelRows() int {
	if m.kind == onHalf {
		return 2 * len(m.sums)
	}
	return len(m.sums)
}

// shift is by how many bits a number of elements becomes one of bytes.
func (m *micro) shift() operand.Op { return operand.U8(uint8(bits.TrailingZeros(uint(m.size)))) }

// panel multiplies one panel, several of k at a time, and moves c to its last row.
func (m *micro) panel(unroll int) {
	row := m.GP64()
	m.MOVQ(m.c, row)
	for i, s := range m.sums {
		if i > 0 {
			m.ADDQ(m.ldc, row)
		}
		for j, x := range s {
			if !m.quads {
				m.zero(x)
			}
			m.PREFETCHT0(operand.Mem{Base: row, Disp: j * m.width})
		}
	}
	if m.kind == inPlace {
		m.findRows()
	}
	k := m.Load(m.Param("k"), m.GP64())
	m.b = m.Load(m.Param("b"), m.GP64())
	b := m.registers()
	if m.quads {
		m.begin(b, k)
	}
	m.SUBQ(operand.U8(uint8(unroll)), k)
	m.JLT(operand.LabelRef("rest"))
	m.Label("loop")
	m.steps(unroll, b)
	m.SUBQ(operand.U8(uint8(unroll)), k)
	m.JGE(operand.LabelRef("loop"))
	m.Label("rest")
	m.ADDQ(operand.U8(uint8(unroll)), k)
	m.JZ(operand.LabelRef("store"))
	m.Label("one")
	m.steps(1, b)
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
func (m *micro) steps(n int, b []reg.VecVirtual) {
	if m.kind == onPanels {
		m.ask(n)
	}
	for s := range n {
		at := operand.Mem{Base: m.b}
		if !m.kind.isOnRows() {
			at.Disp = s * len(b) * m.width
		}
		bytes := m.width // of b, for a vector
		if m.kind == decoding {
			bytes /= 2
		}
		for i, y := range b {
			m.loadB(at.Offset(i*bytes), y)
		}
		var off reg.Register
		switch m.kind {
		case packing, decoding, onRows, onBroad, onHalf:
			for i := range b[1:] {
				m.PREFETCHT0(operand.Mem{Base: m.b, Index: m.step, Scale: 1, Disp: i * bytes})
			}
			m.PREFETCHT0(operand.Mem{Base: m.b, Index: m.step, Scale: 1, Disp: len(b)*bytes - 1})
			if m.kind.packs() {
				for i, y := range b {
					m.load(y, operand.Mem{Base: m.to, Disp: i * m.width})
				}
				m.ADDQ(m.line(), m.to)
			}
			m.ADDQ(m.ldb, m.b)
		case inPlace:
			off = m.GP64()
			m.MOVQ(operand.Mem{Base: m.ks, Disp: 8 * s}, off)
		}
		for i, sums := range m.sums {
			from := operand.Mem{Base: m.a, Disp: (s*m.panelRows() + i) * m.size}
			if m.kind == inPlace {
				from = operand.Mem{Base: m.rowAt[i], Index: off, Scale: uint8(m.size)}
			}
			if m.inMemory(i) {
				m.multiplyInMemory(from, b, sums)
			} else {
				m.multiply(from, b, sums)
			}
		}
	}
	if m.kind == inPlace {
		m.ADDQ(operand.U8(uint8(8*n)), m.ks)
	} else {
		m.ADDQ(operand.U32(uint32(n*m.panelRows()*m.size)), m.a)
	}
	if !m.kind.isOnRows() {
		m.ADDQ(operand.U32(uint32(n*len(b)*m.width)), m.b)
	}
}

// loadB loads a vector of b, or decodes it.
func (m *micro) loadB(from operand.Mem, to reg.VecVirtual) {
	if m.kind != decoding {
		m.load(from, to)
		return
	}
	m.VPMOVZXWD(from, to)
	m.VPSLLD(operand.U8(16), to, to)
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

// askForMore is what a loop jumps to for the rest of a turn's share, or for a panel's columns of as many rows that lie further apart than those of a panel.
func (m *micro) askForMore(n int) {
	m.Label("more")
	m.CMPQ(m.step, operand.U32(uint32(2*m.width)))
	m.JGT(operand.LabelRef("far"))
	for at := line; at < n*2*m.width; at += line {
		m.PREFETCHT1(operand.Mem{Base: m.to, Disp: at})
	}
	m.JMP(operand.LabelRef("asked"))
	m.Label("far")
	row := m.GP64()
	m.MOVQ(m.to, row)
	for i := range n {
		for at := 0; at < 2*m.width; at += line {
			if i+at > 0 { // which has been asked for
				m.PREFETCHT1(operand.Mem{Base: row, Disp: at})
			}
		}
		if i < n-1 {
			m.ADDQ(m.step, row)
		}
	}
	m.JMP(operand.LabelRef("asked"))
}

// line is what memory comes in.
const line = 64

// inMemory reports whether row i's element of a is an operand in memory: two of three rows, spread evenly. Loads are then fewer than multiplications, of which a
// processor begins as many in a cycle.
func (m *micro) inMemory(i int) bool {
	if m.width < 64 || m.integer && !m.quads || m.kind == inPlace || m.kind == onHalf {
		return false
	}
	rows := len(m.sums)
	some := rows * 2 / 3
	return (i+1)*some/rows > i*some/rows
}
