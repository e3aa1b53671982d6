package main

import (
	"fmt"

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
	all = append(all, kernel{key: "permute.8", doc: "writes 16 bytes that are chosen from two or four times 16 each, n times as many as the table at b says.",
		lane: 1, whole: (*machine).permuteBytes})
	for key, axes := range pairs("pick.32", 1, "pick-by-pairs.32", 2) {
		all = append(all, kernel{key: key, doc: "sets d to n elements of a, a multiple of 16, at indices b, for which c has 16 highest ones and strides.",
			lane: 4, wideOnly: true, whole: func(m *machine) { m.pick(axes) }})
	}
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4) {
		all = append(all, kernel{key: "take." + typ, doc: "sets d to n elements of a at offsets b, of s32. The last four bytes of a begin at c, where that number is repeated.",
			lane: 4, wideOnly: true, whole: func(m *machine) { m.take(lane) }})
	}
	for typ, size := range pairs("8", 1, "16", 2, "32", 4, "64", 8, "c128", 16) {
		for stride := 2; stride <= mostEvery; stride++ {
			if size < 4 && stride&(stride-1) == 0 && stride*size <= 8 {
				continue // the low parts of wider elements
			}
			all = append(all, kernel{key: fmt.Sprintf("every-%d.%s", stride, typ), doc: fmt.Sprintf("sets d to every one of n elements of a, whole vectors, that lie %d apart; it reads those up to the next, too.", stride),
				lane: laneOfEvery(size), wideOnly: size >= 4 && stride > mostEveryNarrow, whole: func(m *machine) {
					if m.lane == 1 || m.lane == 2 && !m.wide {
						m.everyOfChunks(stride)
					} else {
						m.every(stride, size/m.lane)
					}
				}})
		}
	}
	return all
}

// Strides from which there are loops, and those with vectors of 256 bits, of which each is permuted by itself.
const (
	mostEvery       = 8
	mostEveryNarrow = 6
)

// laneOfEvery is the size of the lanes that are picked for elements of a size: those of 16 bytes are several.
func laneOfEvery(size int) int {
	if size > 8 {
		return 4
	}
	return size
}

// every picks from as many vectors as elements are apart: what lies in the first two, and then what lies in each of the others. An element is so many lanes.
func (m *machine) every(stride, size int) {
	n, d, a := m.argument("n"), m.argument("d"), m.argument("a")
	lanes := m.lanes()
	order := func(of func(i int) int) vector {
		var bytes [32]byte
		for i := range lanes {
			bytes[i] = byte(of(i))
		}
		x := m.vector()
		if m.lane >= 4 {
			m.op(map[int]string{4: "VPMOVZXBD", 8: "VPMOVZXBQ"}[m.lane], m.table([16]byte(bytes[:])), x)
			return x
		}
		high := m.YMM()
		m.op("VPMOVZXBW", m.table([16]byte(bytes[:])), x.VecVirtual.(reg.Vec).AsY())
		m.op("VPMOVZXBW", m.table([16]byte(bytes[16:])), high)
		m.op("VINSERTI64X4", operand.U8(1), high, x, x)
		return x
	}
	from := func(j int) operand.Mem { return operand.Mem{Base: a, Disp: j * m.width()} }
	place := func(i int) int { return i/size*stride*size + i%size } // of lane i of the result
	orders := make([]vector, stride)
	for j := range orders {
		if m.lane == 8 && !m.wide {
			continue // which has the order in the instruction
		}
		orders[j] = order(func(i int) int {
			switch at := place(i); {
			case !m.wide:
				return at % lanes
			case j > 1 && at/lanes == j:
				return lanes + at%lanes
			case j > 1: // where it is already
				return i
			default:
				return at % (2 * lanes)
			}
		})
	}
	m.Label("many")
	x := m.vector()
	if m.wide {
		second := m.vector()
		m.op("VMOVDQA32", orders[1], x)
		m.op("VMOVDQU32", from(0), second)
		m.op("VPERMI2"+m.integerSuffix(), from(1), second, x)
		for j := 2; j < stride; j++ {
			m.op("VPERMT2"+m.integerSuffix(), from(j), orders[j], x)
		}
		m.op("VMOVDQU32", x, operand.Mem{Base: d})
	} else {
		permute := func(j int, x vector) {
			if m.lane == 4 {
				m.op("VPERMD", from(j), orders[j], x)
				return
			}
			inLane := 0
			for i := range lanes {
				inLane |= stride * i % lanes << (2 * i)
			}
			m.op("VPERMQ", operand.U8(uint8(inLane)), from(j), x)
		}
		permute(0, x)
		for j := 1; j < stride; j++ {
			next, here := m.vector(), 0
			for i := range lanes {
				if place(i)/lanes == j {
					words := m.lane / 4
					here |= (1<<words - 1) << (i * words)
				}
			}
			permute(j, next)
			m.op("VPBLENDD", operand.U8(uint8(here)), next, x, x)
		}
		m.op("VMOVDQU", x, operand.Mem{Base: d})
	}
	m.ADDQ(operand.I32(int32(stride*m.width())), a)
	m.ADDQ(operand.I32(int32(m.width())), d)
	m.SUBQ(operand.I32(int32(lanes/size)), n)
	m.JNZ(operand.LabelRef("many"))
}

// everyOfChunks is every for elements of which no instruction moves one from everywhere in a vector: 16 bytes are picked from as many chunks of 16 as elements are apart.
func (m *machine) everyOfChunks(stride int) {
	n, d, a := m.argument("n"), m.argument("d"), m.argument("a")
	lanes := chunkBytes / m.lane
	orders := make([]reg.VecVirtual, stride)
	for j := range orders {
		var order [chunkBytes]byte
		for i := range lanes {
			for k := range m.lane {
				from := stride*i*m.lane + k - chunkBytes*j
				if from < 0 || from >= chunkBytes {
					from = 1 << 7 // zero
				}
				order[i*m.lane+k] = byte(from)
			}
		}
		orders[j] = m.XMM()
		m.VMOVDQU(m.table(order), orders[j])
	}
	m.Label("many")
	var x reg.VecVirtual
	for j, order := range orders {
		part := m.XMM()
		m.VMOVDQU(operand.Mem{Base: a, Disp: chunkBytes * j}, part)
		m.VPSHUFB(order, part, part)
		if j > 0 {
			m.VPOR(x, part, part)
		}
		x = part
	}
	m.VMOVDQU(x, operand.Mem{Base: d})
	m.ADDQ(operand.I32(int32(stride*chunkBytes)), a)
	m.ADDQ(operand.I32(chunkBytes), d)
	m.SUBQ(operand.I32(int32(lanes)), n)
	m.JNZ(operand.LabelRef("many"))
}

// chunkBytes is the size of what one instruction permutes by bytes.
const chunkBytes = 16

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

// permuteBytes has a table: the number of entries, how far the bytes at a and at c are from one round to the next, and whether entries are long. An entry is an offset from a and one from c, of a
// long one two each, and for each of these which of the 16 bytes there come where. What comes from elsewhere has the highest bit set.
func (m *machine) permuteBytes() {
	n, d, a, b, c := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("b"), m.argument("c")
	entries, at, left, offset, long := m.GP64(), m.GP64(), m.GP64(), m.GP64(), m.GP64()
	m.MOVQ(operand.Mem{Base: b}, entries)
	m.MOVQ(operand.Mem{Base: b, Disp: 24}, long)
	pick := func(base reg.Register, source, sources int) reg.VecVirtual {
		x := m.XMM()
		m.MOVQ(operand.Mem{Base: at, Disp: 8 * source}, offset)
		m.VMOVDQU(operand.Mem{Base: base, Index: offset, Scale: 1}, x)
		m.VPSHUFB(operand.Mem{Base: at, Disp: 8*sources + 16*source}, x, x)
		return x
	}
	m.Label("round")
	m.LEAQ(operand.Mem{Base: b, Disp: 32}, at)
	m.MOVQ(entries, left)
	m.Label("entry")
	m.TESTQ(long, long)
	m.JNZ(operand.LabelRef("long"))
	x := pick(a, 0, 2)
	m.VPOR(pick(c, 1, 2), x, x)
	m.VMOVDQU(x, operand.Mem{Base: d})
	m.ADDQ(operand.I32(2*24), at)
	m.JMP(operand.LabelRef("next"))
	m.Label("long")
	x = pick(a, 0, 4)
	m.VPOR(pick(a, 1, 4), x, x)
	y := pick(c, 2, 4)
	m.VPOR(pick(c, 3, 4), y, y)
	m.VPOR(y, x, x)
	m.VMOVDQU(x, operand.Mem{Base: d})
	m.ADDQ(operand.I32(4*24), at)
	m.Label("next")
	m.ADDQ(operand.I32(16), d)
	m.DECQ(left)
	m.JNZ(operand.LabelRef("entry"))
	m.ADDQ(operand.Mem{Base: b, Disp: 8}, a)
	m.ADDQ(operand.Mem{Base: b, Disp: 16}, c)
	m.DECQ(n)
	m.JNZ(operand.LabelRef("round"))
}
