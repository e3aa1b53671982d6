package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// orders are loops that only move elements.
func orders() (all []kernel) {
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		all = append(all, kernel{key: "reverse." + typ, doc: "sets d to a from back to front; n is at least 64 bytes, and d apart from a.",
			lane: lane, whole: (*machine).reverse})
	}
	for typ, lane := range pairs("16", 2, "32", 4) {
		all = append(all, kernel{key: "permute." + typ, doc: "writes vectors whose elements are chosen from two vectors each, n times as many as the table at b says.",
			lane: lane, wideOnly: lane == 2, whole: (*machine).permute})
	}
	for key, axes := range pairs("pick.32", 1, "pick-by-pairs.32", 2) {
		all = append(all, kernel{key: key, doc: "sets d to n elements of a, a multiple of 16, at indices b, for which c has 16 highest ones and strides.",
			lane: 4, wideOnly: true, whole: func(m *machine) { m.pick(axes) }})
	}
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4) {
		all = append(all, kernel{key: "take." + typ, doc: "sets d to n elements of a at offsets b, of s32. The last four bytes of a begin at c, where that number is repeated.",
			lane: 4, wideOnly: true, whole: func(m *machine) { m.take(lane) }})
	}
	all = append(all, kernel{key: "third.32", doc: "sets d to n elements of a, a multiple of 16, of which each is the third after the one before; it reads the two behind each, too.",
		lane: 4, wideOnly: true, whole: (*machine).third})
	return all
}

// third picks from three vectors: what lies in the first two, and then what lies in the last.
func (m *machine) third() {
	n, d, a := m.argument("n"), m.argument("d"), m.argument("a")
	table := func(of func(i int) int) reg.VecVirtual {
		x := m.ZMM()
		for part := range 4 {
			var bytes [16]byte
			for i := range 4 {
				bytes[4*i] = byte(of(4*part + i))
			}
			if part == 0 {
				m.VMOVDQU32(m.table(bytes), x.(reg.Vec).AsX())
			} else {
				m.VINSERTI32X4(operand.U8(uint8(part)), m.table(bytes), x, x)
			}
		}
		return x
	}
	const fromLast = 11 // 3i lies in the third vector
	inFirst := table(func(i int) int { return 3 * min(i, fromLast-1) })
	inAll := table(func(i int) int {
		if i < fromLast {
			return i
		}
		return 3*i - 32 + 16
	})
	m.Label("many")
	x, second := m.ZMM(), m.ZMM()
	m.VMOVDQA32(inFirst, x)
	m.VMOVDQU32(operand.Mem{Base: a}, second)
	m.VPERMI2D(operand.Mem{Base: a, Disp: 64}, second, x)
	m.VPERMT2D(operand.Mem{Base: a, Disp: 128}, inAll, x)
	m.VMOVDQU32(x, operand.Mem{Base: d})
	m.ADDQ(operand.I32(192), a)
	m.ADDQ(operand.I32(64), d)
	m.SUBQ(operand.I32(16), n)
	m.JNZ(operand.LabelRef("many"))
}

// take gathers words of 32 bits. Of narrower elements it gathers those that begin with them, or at the end of the array those that end there, and shifts.
func (m *machine) take(size int) {
	n, d, a, b, c := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	last := m.ZMM()
	if size < 4 {
		m.VPBROADCASTD(operand.Mem{Base: c}, last)
	}
	take := func(at reg.VecVirtual, store func(x reg.VecVirtual, to operand.Mem)) {
		all, x := m.K(), m.ZMM()
		m.KXNORW(all, all, all)
		m.VPXORD(x, x, x) // the gather has to wait for nothing
		if size == 4 {
			m.VPGATHERDD(operand.Mem{Base: a, Index: at, Scale: 4}, all, x)
			store(x, operand.Mem{Base: d})
			return
		}
		if size == 2 {
			m.VPADDD(at, at, at)
		}
		from := m.ZMM()
		m.VPMINSD(last, at, from)
		m.VPSUBD(from, at, at)
		m.VPSLLD(operand.U8(3), at, at)
		m.VPGATHERDD(operand.Mem{Base: a, Index: from, Scale: 1}, all, x)
		m.VPSRLVD(at, x, x)
		store(x, operand.Mem{Base: d})
	}
	m.CMPQ(n, operand.I32(16))
	m.JLT(operand.LabelRef("rest"))
	m.Label("many")
	at := m.ZMM()
	m.VMOVDQU32(operand.Mem{Base: b}, at)
	take(at, func(x reg.VecVirtual, to operand.Mem) {
		switch size {
		case 1:
			m.VPMOVDB(x, to)
		case 2:
			m.VPMOVDW(x, to)
		default:
			m.VMOVDQU32(x, to)
		}
	})
	m.ADDQ(operand.I32(int32(16*size)), d)
	m.ADDQ(operand.I32(64), b)
	m.SUBQ(operand.I32(16), n)
	m.CMPQ(n, operand.I32(16))
	m.JGE(operand.LabelRef("many"))
	m.Label("rest")
	m.TESTQ(n, n)
	m.JZ(operand.LabelRef("done"))
	ones, mask := m.GP64(), m.K()
	m.MOVQ(operand.I64(0xffff), ones)
	m.BZHIQ(n, ones, ones)
	m.KMOVW(ones.As32(), mask)
	at = m.ZMM()
	m.VMOVDQU32_Z(operand.Mem{Base: b}, mask, at)
	take(at, func(x reg.VecVirtual, to operand.Mem) {
		switch size {
		case 1:
			m.VPMOVDB(x, mask, to)
		case 2:
			m.VPMOVDW(x, mask, to)
		default:
			m.VMOVDQU32(x, mask, to)
		}
	})
	m.Label("done")
}

// pick moves indices inside of the array, so that 0 is the lowest. With two axes pairs of them lie together.
func (m *machine) pick(axes int) {
	n, d, a, b, c := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	lowest, highest, strides := m.ZMM(), m.ZMM(), m.ZMM()
	m.VPXORD(lowest, lowest, lowest)
	m.VMOVDQU32(operand.Mem{Base: c}, highest)
	m.VMOVDQU32(operand.Mem{Base: c, Disp: 64}, strides)
	places := func(at int) reg.VecVirtual {
		x := m.ZMM()
		m.VPMAXSD(operand.Mem{Base: b, Disp: at}, lowest, x)
		m.VPMINSD(highest, x, x)
		m.VPMULLD(strides, x, x)
		return x
	}
	m.Label("many")
	at := places(0)
	if axes == 2 {
		sums := func(x reg.VecVirtual) reg.VecVirtual {
			high := m.ZMM()
			m.VPSRLQ(operand.U8(32), x, high)
			m.VPADDD(high, x, x)
			m.VPMOVQD(x, x.(reg.Vec).AsY())
			return x
		}
		at = sums(at)
		m.VINSERTI64X4(operand.U8(1), sums(places(64)).(reg.Vec).AsY(), at, at)
	}
	all, x := m.K(), m.ZMM()
	m.KXNORW(all, all, all)
	m.VPXORD(x, x, x) // the gather has to wait for nothing
	m.VPGATHERDD(operand.Mem{Base: a, Index: at, Scale: 4}, all, x)
	m.VMOVDQU32(x, operand.Mem{Base: d})
	m.ADDQ(operand.I32(64), d)
	m.ADDQ(operand.I32(int32(64*axes)), b)
	m.SUBQ(operand.I32(16), n)
	m.JNZ(operand.LabelRef("many"))
}

// reverse writes vectors; the last one overlaps the one before.
func (m *machine) reverse() {
	n, d, a := m.argument("n"), m.argument("d"), m.argument("a")
	end := m.GP64()
	m.LEAQ(operand.Mem{Base: a, Index: n, Scale: uint8(m.lane)}, end)
	var order [16]byte
	for i := range order {
		order[i] = byte((16/m.lane-1-i/m.lane)*m.lane + i%m.lane)
	}
	inPart := m.copyOf(m.table(order))
	move := func(from, to operand.Mem) {
		x := m.vector()
		if m.wide {
			m.op("VSHUFI64X2", operand.U8(0x1b), m.copyOf(from), m.copyOf(from), x)
		} else {
			m.op("VPERMQ", operand.U8(0x4e), from, x)
		}
		m.op("VPSHUFB", inPart, x, x)
		m.float("VMOVU", x, to)
	}
	lanes := operand.I32(int32(m.lanes()))
	m.Label("many")
	m.SUBQ(operand.I32(int32(m.width())), end)
	move(operand.Mem{Base: end}, operand.Mem{Base: d})
	m.ADDQ(operand.I32(int32(m.width())), d)
	m.SUBQ(lanes, n)
	m.CMPQ(n, lanes)
	m.JGE(operand.LabelRef("many"))
	m.TESTQ(n, n)
	m.JZ(operand.LabelRef("done"))
	m.SUBQ(lanes, n)
	m.LEAQ(operand.Mem{Base: d, Index: n, Scale: uint8(m.lane)}, d)
	move(operand.Mem{Base: a}, operand.Mem{Base: d})
	m.Label("done")
}

// permute has a table: the number of entries, and how far the bytes at a and at c are from one round to the next. An entry is two offsets,
// from a and from c, and what each element of a vector is: its index among the elements of the two vectors there. For 256 bits, masks
// of the elements that come from the second vector follow.
func (m *machine) permute() {
	n, d, a, b, c := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	entries, at, left, offset := m.GP64(), m.GP64(), m.GP64(), m.GP64()
	m.MOVQ(operand.Mem{Base: b}, entries)
	m.Label("round")
	m.LEAQ(operand.Mem{Base: b, Disp: 24}, at)
	m.MOVQ(entries, left)
	m.Label("entry")
	first, second := m.vector(), m.vector()
	m.MOVQ(operand.Mem{Base: at}, offset)
	m.float("VMOVU", operand.Mem{Base: a, Index: offset, Scale: 1}, first)
	m.MOVQ(operand.Mem{Base: at, Disp: 8}, offset)
	m.float("VMOVU", operand.Mem{Base: c, Index: offset, Scale: 1}, second)
	order := m.copyOf(operand.Mem{Base: at, Disp: 16})
	size := 16 + m.width()
	if m.wide {
		m.op("VPERMI2"+m.integerSuffix(), second, first, order)
	} else {
		m.op("VPERMD", first, order, first)
		m.op("VPERMD", second, order, second)
		order = m.choose(m.copyOf(operand.Mem{Base: at, Disp: 16 + m.width()}), second, first)
		size += m.width()
	}
	m.float("VMOVU", order, operand.Mem{Base: d})
	m.ADDQ(operand.I32(int32(m.width())), d)
	m.ADDQ(operand.I32(int32(size)), at)
	m.DECQ(left)
	m.JNZ(operand.LabelRef("entry"))
	m.ADDQ(operand.Mem{Base: b, Disp: 8}, a)
	m.ADDQ(operand.Mem{Base: b, Disp: 16}, c)
	m.DECQ(n)
	m.JNZ(operand.LabelRef("round"))
}
