package main

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reductions fold n elements at a into one at d. There are as many chains as in 256 bytes: element i belongs to chain i modulo their
// number, and chains are folded by halves. So all widths of vectors, and Go, compute the same bits.
func reductions() (all []kernel) {
	foldBy := func(key string, lane int, identity uint64, by folding, wideOnly bool) {
		all = append(all, kernel{key: key, doc: "folds n elements at a into one at d.", lane: lane, wideOnly: wideOnly, chunk: chainBytes / lane,
			whole: func(m *machine) { m.reduce(elements(m.lane), identity, by) }})
	}
	rows := func(op, typ string, lane int, size []form, form func(m *machine) form, identity float64, by folding) {
		all = append(all, kernel{key: op + "-rows." + typ, doc: "folds rows of n elements at a, each onto the element at b, into those at d, the last of which is at c.", lane: lane, in: size, chunk: chainBytes / lane,
			whole: func(m *machine) { m.reduceRows(form(m), floatCode(identity, lane), by) }})
	}
	fold := func(key string, lane int, identity uint64, body func(m *machine, x, y vector) vector, wideOnly bool) {
		foldBy(key, lane, identity, folding{any: body}, wideOnly)
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		both := func(key string, identity float64, by folding) {
			foldBy(key+"."+typ, lane, floatCode(identity, lane), by, false)
			rows(key, typ, lane, nil, func(m *machine) form { return elements(m.lane) }, identity, by)
		}
		both("sum", 0, sum)
		both("greatest", math.Inf(-1), greatest)
		both("least", math.Inf(1), least)
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		fold("magnitude."+typ, lane, 0, func(m *machine, x, y vector) vector { return m.integer3("MAXU", m.abs(x), m.abs(y)) }, lane == 8)
	}
	integer := func(name string) func(m *machine, x, y vector) vector {
		return func(m *machine, x, y vector) vector { return m.integer3(name, x, y) }
	}
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		fold("sum.i"+typ, lane, 0, integer("ADD"), false)
		top := uint64(1) << (8*lane - 1)
		fold("greatest.s"+typ, lane, top, integer("MAXS"), lane == 8)
		fold("least.s"+typ, lane, top-1, integer("MINS"), lane == 8)
		fold("greatest.u"+typ, lane, 0, integer("MAXU"), lane == 8)
		fold("least.u"+typ, lane, ^uint64(0)>>(64-8*lane), integer("MINU"), lane == 8)
	}
	for _, typ := range []string{"bf16", "f16"} {
		in := func(m *machine) form {
			if typ == "bf16" {
				return m.apart()
			}
			return halves
		}
		narrow := func(name string, identity float64, by folding) {
			const lane = 4
			size := []form{{size: 2}}
			all = append(all, kernel{key: name + "." + typ, doc: "folds n elements at a, as f32, into one f32 at d.", lane: lane, in: size, chunk: chainBytes / lane,
				whole: func(m *machine) { m.reduce(in(m), floatCode(identity, lane), by) }})
			rows(name, typ, lane, size, in, identity, by)
		}
		narrow("sum", 0, sum)
		narrow("greatest", math.Inf(-1), greatest)
		narrow("least", math.Inf(1), least)
	}
	for _, op := range []string{"and", "or", "xor"} {
		identity := map[string]uint64{"and": ^uint64(0)}[op]
		fold("fold-"+op+".64", 8, identity, func(m *machine, x, y vector) vector { return m.bits(strings.ToUpper(op), x, y) }, false)
	}
	return all
}

// chainBytes is the size of one element of every chain.
const chainBytes = 256

// sum adds.
var sum = folding{any: func(m *machine, x, y vector) vector { return m.add(x, y) }, take: func(m *machine, x vector, y operand.Op) { m.float("VADD", y, x, x) }}

// product is the fold by multiplication.
var product = folding{any: func(m *machine, x, y vector) vector { return m.mul(x, y) }, take: func(m *machine, x vector, y operand.Op) { m.float("VMUL", y, x, x) }}

// reduce folds elements of a form in memory.
func (m *machine) reduce(in form, identity uint64, by folding) {
	m.reduceRow(in, identity, by, func() (n, x reg.Register) { return m.argument("n"), m.argument("a") },
		func(v vector) { m.storeFirst(v, operand.Mem{Base: m.argument("d")}) })
}

// reduceRows folds rows that follow each other.
func (m *machine) reduceRows(in form, identity uint64, by folding) {
	n, row, d, last := m.argument("n"), m.argument("a"), m.argument("d"), m.argument("c")
	bytes := m.GP64()
	m.MOVQ(n, bytes)
	m.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(in.size)))), bytes)
	if m.readsDirectly(in, by) {
		m.rowPairs(n, row, d, last, bytes, identity, by)
	}
	first := m.vector()
	m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("b")}, first)
	begin := func() (count, x reg.Register) {
		count, x = m.GP64(), m.GP64()
		m.MOVQ(n, count)
		m.MOVQ(row, x)
		return count, x
	}
	m.Label("row")
	m.reduceRow(in, identity, by, begin, func(v vector) {
		m.storeFirst(by.any(m, first, v), operand.Mem{Base: d})
		m.ADDQ(operand.I32(int32(m.lane)), d)
		m.ADDQ(bytes, row)
		m.CMPQ(d, last)
		m.JLE(operand.LabelRef("row"))
	})
}

// rowPairs folds two rows at a time, side by side, while there are two, if they are whole chunks: the processor reads ahead in both.
func (m *machine) rowPairs(n, row, d, last, bytes reg.Register, identity uint64, by folding) {
	chunk := chainBytes / m.lane
	m.TESTQ(operand.I32(int32(chunk-1)), n)
	m.JNZ(operand.LabelRef("single"))
	end := m.GP64()
	m.LEAQ(operand.Mem{Base: last, Disp: -m.lane}, end)
	m.Label("pair")
	m.CMPQ(d, end)
	m.JG(operand.LabelRef("odd"))
	var pair [2][]vector
	for k := range pair {
		for range chainBytes / m.width() {
			pair[k] = append(pair[k], m.copyOf(m.pattern(identity)))
		}
	}
	left := m.GP64()
	m.MOVQ(n, left)
	m.Label("both")
	for k, chains := range pair {
		for i, c := range chains {
			at := operand.Mem{Base: row, Disp: i * m.width()}
			if k == 1 {
				at.Index, at.Scale = bytes, 1
			}
			by.take(m, c, at)
		}
	}
	m.ADDQ(operand.I32(chainBytes), row)
	m.SUBQ(operand.I32(int32(chunk)), left)
	m.JNZ(operand.LabelRef("both"))
	m.ADDQ(bytes, row)
	for k, chains := range pair {
		for half := len(chains) / 2; half > 0; half /= 2 {
			for i := range half {
				by.take(m, chains[i], chains[half+i].VecVirtual)
			}
		}
		v := m.joinLanes(chains[0], m.lanes(), by.any)
		first := m.vector()
		m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("b")}, first)
		m.storeFirst(by.any(m, first, v), operand.Mem{Base: d, Disp: k * m.lane})
	}
	m.ADDQ(operand.I32(int32(2*m.lane)), d)
	m.JMP(operand.LabelRef("pair"))
	m.Label("odd")
	m.CMPQ(d, last)
	m.JG(operand.LabelRef("done"))
	m.Label("single")
}

// reduceRow folds a row, which begin puts into registers, and hands what is then in the first lane to end. Where some elements are NaN, it begins again with
// what serves them, too.
func (m *machine) reduceRow(in form, identity uint64, by folding, begin func() (n, x reg.Register), end func(v vector)) {
	if by.usual != nil {
		n, x := begin()
		if in.codes != nil {
			end(m.extremeOfCodes(n, x, *in.codes, by.isGreatest, "nan"))
		} else {
			end(m.reduceChains(n, x, in, identity, folding{any: by.usual}, "usual_", "nan"))
		}
		m.JMP(operand.LabelRef("done"))
		m.Label("nan")
	}
	n, x := begin()
	end(m.reduceChains(n, x, in, identity, by, "", ""))
	m.Label("done")
}

// readsDirectly reports whether a fold takes elements of a form from memory without loading them first: what is under way in the processor reaches further then. Loops for AVX-512 do
// not: it has not been measured there.
func (m *machine) readsDirectly(in form, by folding) bool {
	return !m.wide && by.take != nil && in.load == nil && !in.apart
}

// reduceChains folds by one way of folding, with labels of its own. It jumps to a label when it comes to NaN, if that is not empty.
func (m *machine) reduceChains(n, x reg.Register, in form, identity uint64, by folding, labels, nan string) vector {
	body := by.any
	chains := make([]vector, chainBytes/m.width())
	for i := range chains {
		chains[i] = m.copyOf(m.pattern(identity))
	}
	// set replaces a chain, keeping its register, as the loop comes back to it.
	set := func(i int, to vector) { m.float("VMOVA", to, chains[i]) }
	all, ask := operand.I32(int32(chainBytes/m.lane)), func() {}
	if m.wide { // processors without AVX-512 read a stream ahead as well without being asked: Zen 3 does
		ahead := m.ahead()
		ask = func() { m.askAhead(x, ahead, chainBytes/m.lane*in.size) }
	}
	m.CMPQ(n, all)
	m.JLT(operand.LabelRef(labels + "rest"))
	m.Label(labels + "many")
	ask()
	const together = 2 // vectors that are looked through for NaN
	for i := 0; i < len(chains); i += together {
		if m.readsDirectly(in, by) {
			for j := i; j < i+together; j++ {
				by.take(m, chains[j], operand.Mem{Base: x, Disp: j * m.width()})
			}
			continue
		}
		read := m.next(in, operand.Mem{Base: x, Disp: i * m.lanes() * in.size})
		if len(read) < together {
			read = append(read, m.next(in, operand.Mem{Base: x, Disp: (i + 1) * m.lanes() * in.size})...)
		}
		if nan != "" {
			m.jumpIfNaN(nan, read...)
		}
		for j, v := range read {
			set(i+j, body(m, chains[i+j], v))
		}
	}
	m.ADDQ(operand.I32(int32(chainBytes/m.lane*in.size)), x)
	m.SUBQ(all, n)
	m.CMPQ(n, all)
	m.JGE(operand.LabelRef(labels + "many"))
	m.Label(labels + "rest")
	for i := 0; i < len(chains) && (m.wide || m.lane >= 4 && !in.isNarrow()); { // else there are no masked loads: the rest is the caller's
		m.TESTQ(n, n)
		m.JLE(operand.LabelRef(labels + "fold"))
		read := m.rest(in, operand.Mem{Base: x, Disp: i * m.lanes() * in.size}, n, identity)
		if nan != "" {
			m.jumpIfNaN(nan, read...)
		}
		for j, v := range read {
			set(i+j, body(m, chains[i+j], v))
		}
		m.SUBQ(operand.I32(int32(len(read)*m.lanes())), n)
		i += len(read)
	}
	m.Label(labels + "fold")
	for len(chains) > in.together() {
		half := len(chains) / 2
		for i := range half {
			chains[i] = body(m, chains[i], chains[i+half])
		}
		chains = chains[:half]
	}
	v := vector{}
	if in.apart {
		v = m.joinApart(chains[0], chains[1], body)
	} else {
		v = m.joinLanes(chains[0], m.lanes(), body)
	}
	if m.lane <= 2 { // so far within 32 bits
		v = body(m, v, m.as(4).shift("SRL", v, 16))
	}
	if m.lane == 1 {
		v = body(m, v, m.as(2).shift("SRL", v, 8))
	}
	return v
}

// ahead is how far ahead of what is read memory is asked for, in a register: a variable of package vec, as processors differ.
func (m *machine) ahead() reg.Register {
	r := m.GP64()
	m.MOVQ(operand.NewDataAddr(operand.Symbol{Name: "·ahead"}, 0), r)
	return r
}

// askAhead asks for as many bytes as are read next.
func (m *machine) askAhead(x, ahead reg.Register, bytes int) {
	for at := 0; at < bytes; at += 64 {
		m.PREFETCHT0(operand.Mem{Base: x, Index: ahead, Scale: 1, Disp: at})
	}
}

// storeFirst stores the first lane.
func (m *machine) storeFirst(v vector, d operand.Mem) {
	switch m.lane {
	case 8:
		m.VMOVSD(v.AsX(), d)
	case 4:
		m.VMOVSS(v.AsX(), d)
	case 2:
		m.VPEXTRW(operand.U8(0), v.AsX(), d)
	default:
		m.VPEXTRB(operand.U8(0), v.AsX(), d)
	}
}

// next loads the elements of the next chains: a vector of them, or two where they lie apart.
func (m *machine) next(in form, at operand.Mem) []vector {
	switch {
	case in.apart:
		return m.nextApart(in, at)
	case in.load != nil:
		return []vector{in.load(m, at, nil)}
	default:
		return []vector{m.copyOf(at)}
	}
}

// rest is next where n elements are left. What is missing are identities.
func (m *machine) rest(in form, at operand.Mem, n reg.Register, identity uint64) []vector {
	if in.apart {
		return m.restApart(in, at, n, identity)
	}
	mask, v := m.tail(n), m.vector()
	switch {
	case in.load != nil:
		m.float("VMOVU", m.pattern(identity), v)
		m.float("VMOVA", in.load(m, at, mask), mask, v)
	case m.lane < 4:
		m.op("VMOVDQU64", m.pattern(identity), v)
		m.op("VMOVDQU"+fmt.Sprint(8*m.lane), at, mask, v)
	case m.wide:
		m.float("VMOVU", m.pattern(identity), v)
		m.float("VMOVU", at, mask, v)
	default:
		m.float("VMASKMOV", at, mask, v)
		m.float("VBLENDV", mask, v, m.copyOf(m.pattern(identity)), v)
	}
	return []vector{v}
}

// joinLanes folds the lanes of a vector, by halves, into the first one; lanes of less than 32 bits into the first 32 bits. Lanes behind those in use change nothing.
func (m *machine) joinLanes(v vector, used int, body func(m *machine, x, y vector) vector) vector {
	half := m.lanes()
	swapped := func(name string, imm uint8, twice bool) {
		if half /= 2; used <= half {
			return
		}
		d := m.vector()
		if twice {
			m.op(name, operand.U8(imm), v, v, d)
		} else {
			m.op(name, operand.U8(imm), v, d)
		}
		v = body(m, v, d)
	}
	if m.wide {
		swapped("VSHUFF64X2", 0x4e, true)
		swapped("VSHUFF64X2", 0xb1, true)
	} else {
		swapped("VPERM2F128", 1, true)
	}
	if m.lane == 8 {
		swapped("VPERMILPD", 0x55, false)
		return v
	}
	swapped("VPERMILPS", 0x4e, false)
	swapped("VPERMILPS", 0xb1, false)
	return v
}
