package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// anywhereRows is the number of rows of a panel, each of which has a register that says where it is.
const anywhereRows = 8

// anywhere builds a function that multiplies rows and columns where they are, with vectors of 512 bits. With one vector of columns there are as many loads as
// multiplications, and an element of a is an operand in memory.
//
// In one that is masked, the last vector may have fewer elements, and nothing beyond them is read or written. A masked load takes the place of a multiplication, so there
// are functions without.
func (g generator) anywhere(name string, e element, columns int, isMasked bool) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(fmt.Sprintf("func(panels, k int, a *%[1]s, rows, ks *int, b *%[1]s, ldb int, c *%[1]s, ldc int, add bool, last uint16)", e.name))
	most, lastHas := "", "all elements, whatever last is"
	if isMasked {
		most, lastHas = "up to ", "the elements of last"
	}
	g.Doc(fmt.Sprintf("%s sets c, of %d rows for each panel and %s%d columns, to a·b over k, or adds it.", name, anywhereRows, most, columns*64/e.size),
		"Elements of a are at the sum of a number of rows and one of ks; rows of b are ldb apart. The last vector has "+lastHas+".")
	g.Pragma("noescape")
	m := anywhere{micro: micro{vectors: vectors{g, e, 64}, kind: inPlace}, columns: columns}
	if isMasked {
		m.mask = g.K()
		g.KMOVW(g.Load(g.Param("last"), g.GP32()), m.mask)
	}
	for range anywhereRows {
		sums := make([]reg.VecVirtual, columns)
		for i := range sums {
			sums[i] = m.register()
		}
		m.all = append(m.all, sums)
	}
	g.Label("panel")
	m.panel()
	panels, err := g.Param("panels").Resolve()
	if err != nil {
		panic(err)
	}
	g.DECQ(panels.Addr)
	g.JNZ(operand.LabelRef("panel"))
	g.VZEROUPPER()
	g.RET()
}

// anywhere is such a loop in the making. What it needs only between panels stays on the stack, for want of registers.
type anywhere struct {
	micro
	columns int
	mask    reg.Register // of the last vector, or nil
	all     [][]reg.VecVirtual
}

// panel multiplies one panel, and moves what is on the stack to the next.
func (m *anywhere) panel() {
	c, ldc := m.cAndStride()
	for i, sums := range m.all {
		for v, s := range sums {
			m.zero(s)
			m.PREFETCHT0(operand.Mem{Base: c, Disp: v * m.width})
		}
		if i < len(m.all)-1 {
			m.ADDQ(ldc, c)
		}
	}
	rows, a := m.Load(m.Param("rows"), m.GP64()), m.Load(m.Param("a"), m.GP64())
	for i := range m.all {
		r := m.GP64()
		m.MOVQ(operand.Mem{Base: rows, Disp: 8 * i}, r)
		m.LEAQ(operand.Mem{Base: a, Index: r, Scale: uint8(m.size)}, r)
		m.rowAt = append(m.rowAt, r)
	}
	m.ADDQ(operand.U8(8*anywhereRows), rows)
	m.Store(rows, m.Param("rows"))
	m.ks = m.Load(m.Param("ks"), m.GP64())
	m.b = m.Load(m.Param("b"), m.GP64())
	ldb := m.Load(m.Param("ldb"), m.GP64())
	m.SHLQ(m.shift(), ldb)
	k := m.Load(m.Param("k"), m.GP64())
	m.SUBQ(operand.U8(together), k)
	m.JLT(operand.LabelRef("rest"))
	m.Label("loop")
	m.steps(together, ldb)
	m.SUBQ(operand.U8(together), k)
	m.JGE(operand.LabelRef("loop"))
	m.Label("rest")
	m.ADDQ(operand.U8(together), k)
	m.JZ(operand.LabelRef("store"))
	m.Label("one")
	m.steps(1, ldb)
	m.DECQ(k)
	m.JNZ(operand.LabelRef("one"))
	m.Label("store")
	add := m.Load(m.Param("add"), m.GP8())
	m.TESTB(add, add)
	m.JZ(operand.LabelRef("set"))
	c, ldc = m.cAndStride()
	m.visit(c, ldc, func(at operand.Mem, x reg.VecVirtual, isLast bool) {
		before := m.register()
		m.loadPart(at, before, isLast)
		m.add(before, x)
	})
	m.Label("set")
	c, ldc = m.cAndStride()
	m.visit(c, ldc, func(at operand.Mem, x reg.VecVirtual, isLast bool) {
		switch {
		case !isLast || m.mask == nil:
			m.load(x, at)
		case m.size == 4:
			m.VMOVUPS(x, m.mask, at)
		default:
			m.VMOVUPD(x, m.mask, at)
		}
	})
	m.Store(c, m.Param("c"))
}

// together is how many of k are multiplied between jumps back.
const together = 3

func (m *anywhere) cAndStride() (c, ldc reg.Register) {
	c, ldc = m.Load(m.Param("c"), m.GP64()), m.Load(m.Param("ldc"), m.GP64())
	m.SHLQ(m.shift(), ldc)
	return c, ldc
}

// visit is called for the memory of each sum; c moves to the next panel.
func (m *anywhere) visit(c, ldc reg.Register, f func(at operand.Mem, x reg.VecVirtual, isLast bool)) {
	for _, sums := range m.all {
		for v, s := range sums {
			f(operand.Mem{Base: c, Disp: v * m.width}, s, v == m.columns-1)
		}
		m.ADDQ(ldc, c)
	}
}

// loadPart loads a vector, or the elements that the last one has.
func (m *anywhere) loadPart(from operand.Op, to reg.VecVirtual, isLast bool) {
	switch {
	case !isLast || m.mask == nil:
		m.load(from, to)
	case m.size == 4:
		m.VMOVUPS_Z(from, m.mask, to)
	default:
		m.VMOVUPD_Z(from, m.mask, to)
	}
}

// steps multiplies n of k.
func (m *anywhere) steps(n int, ldb reg.Register) {
	for s := range n {
		b := make([]reg.VecVirtual, m.columns)
		for v := range b {
			b[v] = m.register()
			m.loadPart(operand.Mem{Base: m.b, Disp: v * m.width}, b[v], v == m.columns-1)
		}
		m.ADDQ(ldb, m.b)
		off := m.GP64()
		m.MOVQ(operand.Mem{Base: m.ks, Disp: 8 * s}, off)
		for i, sums := range m.all {
			from := operand.Mem{Base: m.rowAt[i], Index: off, Scale: uint8(m.size)}
			switch {
			case m.columns == 2:
				m.multiply(from, b, sums)
			case m.size == 4:
				m.VFMADD231PS_BCST(from, b[0], sums[0])
			default:
				m.VFMADD231PD_BCST(from, b[0], sums[0])
			}
		}
	}
	m.ADDQ(operand.U8(uint8(8*n)), m.ks)
}
