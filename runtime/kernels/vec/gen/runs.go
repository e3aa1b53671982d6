package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const runs = "-runs."

// runFolds fold runs of n elements at a that follow each other, each onto the element at b, into those at d, the last of which is at c.
func runFolds() (all []kernel) {
	add := func(key string, lane int, whole func(m *machine)) {
		all = append(all, kernel{key: key, doc: "folds runs of n elements at a, each onto the element at b, into those at d, the last of which is at c.", lane: lane, whole: whole})
	}
	// Extremes of integers, and sums of them, are the same in any order.
	anyOrder := func(name, typ string, lane int, identity uint64, body func(m *machine, x, y vector) vector) {
		add(name+runs+typ, lane, func(m *machine) { m.reduceRuns(mostBeside, identity, folding{any: body}) })
		all = append(all, kernel{key: name + "-pairs." + typ, doc: "folds pairs of neighbours at a into n elements at d, a multiple of those in a vector.", lane: lane,
			whole: func(m *machine) { m.reducePairs(body) }})
	}
	for typ, lane := range pairs("f32", 4, "f64", 8) {
		add("sum"+runs+typ, lane, func(m *machine) {
			m.reduceRuns(0, 0, folding{any: func(m *machine, x, y vector) vector { return m.add(x, y) }})
		})
		add("greatest"+runs+typ, lane, func(m *machine) { m.reduceRuns(0, floatCode(math.Inf(-1), lane), greatest) })
		add("least"+runs+typ, lane, func(m *machine) { m.reduceRuns(0, floatCode(math.Inf(1), lane), least) })
		add("product"+runs+typ, lane, func(m *machine) { m.onlyBeside(func(m *machine, x, y vector) vector { return m.mul(x, y) }) })
	}
	integer := func(name string) func(m *machine, x, y vector) vector {
		return func(m *machine, x, y vector) vector { return m.integer3(name, x, y) }
	}
	for typ, lane := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
		top, ones := uint64(1)<<(8*lane-1), ^uint64(0)>>(64-8*lane)
		for _, op := range []struct {
			name, sign, instruction string
			identity                uint64
		}{
			{"greatest", "s", "MAXS", top}, {"least", "s", "MINS", top - 1}, {"greatest", "u", "MAXU", 0}, {"least", "u", "MINU", ones}, {"sum", "i", "ADD", 0},
		} {
			switch typ := op.sign + typ; {
			case lane < 4 && op.name != "sum":
				add(op.name+runs+typ, lane, func(m *machine) { m.narrowBeside(integer(op.instruction)) })
			case lane >= 4:
				anyOrder(op.name, typ, lane, op.identity, integer(op.instruction))
				for i := range 2 {
					all[len(all)-1-i].wideOnly = lane == 8 && op.name != "sum"
				}
			}
		}
	}
	return all
}

// mostBeside is up to how many integers of a run it is better to fold many runs beside each other than one along itself.
const mostBeside = 9

// reduceRuns folds as many runs as there are lanes at once if runs have no more elements than beside says, and what is left, or all, one by one.
func (m *machine) reduceRuns(beside int, identity uint64, by folding) {
	n, d, x, last := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("c")
	if beside > 0 {
		m.CMPQ(n, operand.I32(int32(beside)))
		m.JG(operand.LabelRef("along"))
		m.besides(by.any, n, d, x, last)
		m.CMPQ(d, last)
		m.JG(operand.LabelRef("done"))
		m.Label("along")
	}
	m.alongRuns(identity, by, n, d, x, last)
}

// onlyBeside folds as many runs as there are lanes at once, each in order. Their number is a multiple of that.
func (m *machine) onlyBeside(body func(m *machine, x, y vector) vector) {
	m.besides(body, m.argument("n"), m.argument("d"), m.argument("a"), m.argument("c"))
}

// reducePairs folds neighbours: those with even places in two vectors and those with odd ones are two vectors.
func (m *machine) reducePairs(body func(m *machine, x, y vector) vector) {
	n, d, a := m.argument("n"), m.argument("d"), m.argument("a")
	low, high := operand.Mem{Base: a}, operand.Mem{Base: a, Disp: m.width()}
	var orders [2]vector
	if m.wide {
		for i, name := range []string{"even_lanes", "odd_lanes"} {
			orders[i] = m.copyOf(m.global(fmt.Sprint(name, 8*m.lane), func() {
				for k := range m.lanes() {
					if m.lane == 4 {
						m.AppendDatum(operand.U32(uint32(2*k + i)))
					} else {
						m.AppendDatum(operand.U64(uint64(2*k + i)))
					}
				}
			}))
		}
	}
	m.Label("pairs")
	var parts [2]vector
	for i := range parts {
		parts[i] = m.copyOf(low)
		switch {
		case m.wide:
			m.float("VPERMT2", high, orders[i], parts[i])
			continue
		case m.lane == 4:
			m.op("VSHUFPS", operand.U8(0x88+0x55*i), high, parts[i], parts[i])
		default:
			m.op([]string{"VUNPCKLPD", "VUNPCKHPD"}[i], high, parts[i], parts[i])
		}
		m.op("VPERMPD", operand.U8(0xd8), parts[i], parts[i]) // from halves of vectors to the whole
	}
	m.float("VMOVU", body(m, parts[0], parts[1]), operand.Mem{Base: d})
	m.ADDQ(operand.I32(int32(2*m.width())), a)
	m.ADDQ(operand.I32(int32(m.width())), d)
	m.SUBQ(operand.I32(int32(m.lanes())), n)
	m.JNZ(operand.LabelRef("pairs"))
}

// narrowBeside is onlyBeside for elements of 8 or 16 bits of which it does not matter whether one is folded twice: runs of at least 32 bits are words, the last of
// which may begin within the one before, and so are their results until the end.
func (m *machine) narrowBeside(body func(m *machine, x, y vector) vector) {
	words, size := m.as(4), m.lane
	n, d, x, last := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("c")
	for by := size; by > 1; by /= 2 {
		m.ADDQ(n, n)
	}
	first := m.vector()
	m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("b")}, first)
	end := m.GP64()
	m.LEAQ(operand.Mem{Base: n, Disp: -4}, end)
	words.eachGroup(n, d, x, last, size, func(places vector) {
		folded, k := m.copyOf(first), m.GP64()
		m.XORQ(k, k)
		m.Label("element")
		m.float("VMOVA", body(m, folded, words.gathered(x, k, places)), folded)
		m.CMPQ(k, end)
		m.JGE(operand.LabelRef("store"))
		m.ADDQ(operand.I32(4), k)
		m.CMPQ(k, end)
		m.CMOVQGT(end, k)
		m.JMP(operand.LabelRef("element"))
		m.Label("store")
		for by := 16; by >= 8*size; by /= 2 {
			m.float("VMOVA", body(m, folded, words.shift("SRL", folded, by)), folded)
		}
		words.store(truncated(size), folded, operand.Mem{Base: d}, nil)
	})
}

// besides folds as many runs as there are lanes at once, while there are as many.
func (m *machine) besides(body func(m *machine, x, y vector) vector, n, d, x, last reg.Register) {
	first, bytes := m.vector(), m.GP64()
	m.op(map[int]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[m.lane], operand.Mem{Base: m.argument("b")}, first)
	m.MOVQ(n, bytes)
	m.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(m.lane)))), bytes)
	m.eachGroup(bytes, d, x, last, m.lane, func(places vector) {
		folded, k := m.copyOf(first), m.GP64()
		m.XORQ(k, k)
		m.Label("element")
		m.float("VMOVA", body(m, folded, m.gathered(x, k, places)), folded)
		m.ADDQ(operand.I32(int32(m.lane)), k)
		m.CMPQ(k, bytes)
		m.JLT(operand.LabelRef("element"))
		m.store(elements(m.lane), folded, operand.Mem{Base: d}, nil)
	})
}

// eachGroup goes through runs of so many bytes at x, as many as there are lanes at a time, while there are as many up to the result at last. Results have a size. What a
// group is done with gets the places of its runs.
func (m *machine) eachGroup(bytes, d, x, last reg.Register, size int, group func(places vector)) {
	places := m.vector()
	if m.lane == 8 {
		places = m.part(4)
	}
	step, end := m.XMM(), m.GP64()
	m.VMOVD(bytes.(reg.GP).As32(), step)
	m.op("VPBROADCASTD", step, places)
	m.op("VPMULLD", m.indices(), places, places)
	m.LEAQ(operand.Mem{Base: last, Disp: -(m.lanes() - 1) * size}, end)
	all := m.GP64()
	m.MOVQ(bytes, all)
	m.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(m.lanes())))), all)
	m.Label("group")
	m.CMPQ(d, end)
	m.JG(operand.LabelRef("groups"))
	group(places)
	m.ADDQ(all, x)
	m.ADDQ(operand.I32(int32(m.lanes()*size)), d)
	m.JMP(operand.LabelRef("group"))
	m.Label("groups")
}

// gathered are lanes from the places behind x + k.
func (m *machine) gathered(x, k reg.Register, places vector) vector {
	v, at := m.zero(), m.GP64() // zero: the gather has to wait for nothing
	m.LEAQ(operand.Mem{Base: x, Index: k, Scale: 1}, at)
	from, name := operand.Mem{Base: at, Index: places.VecVirtual, Scale: 1}, map[int]string{4: "VPGATHERDD", 8: "VPGATHERDQ"}[m.lane]
	if m.wide {
		all := m.K()
		m.KXNORW(all, all, all)
		m.op(name, from, all, v)
		return v
	}
	all := m.vector()
	m.op("VPCMPEQD", all, all, all)
	m.op(name, all, from, v)
	return v
}

// vectorsOfRun is up to how many vectors long the runs of reduceRuns are.
const vectorsOfRun = 4

// alongRuns folds runs, each as reduce does, where no chain has more than one element: those without any change nothing.
func (m *machine) alongRuns(identity uint64, by folding, n, d, x, last reg.Register) {
	first, none := m.vector(), m.copyOf(m.pattern(identity))
	m.op(map[int]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[m.lane], operand.Mem{Base: m.argument("b")}, first)
	bytes := m.GP64()
	m.MOVQ(n, bytes)
	m.SHLQ(operand.U8(uint8(bits.TrailingZeros(uint(m.lane)))), bytes)
	store := func(v vector) {
		if m.lane == 8 {
			m.VMOVSD(v.AsX(), operand.Mem{Base: d})
		} else {
			m.VMOVSS(v.AsX(), operand.Mem{Base: d})
		}
	}
	lengths := []int{m.lanes()} // up to which there is a loop
	if by.usual != nil {
		lengths = []int{m.lanes() / 4, m.lanes() / 2, m.lanes()}
	}
	for vectors := 2; vectors <= vectorsOfRun; vectors++ {
		lengths = append(lengths, vectors*m.lanes())
	}
	type unusual struct {
		read           []vector
		label, goingOn string
		used           int
	}
	var rest []unusual
	for i, length := range lengths {
		next := fmt.Sprintf("longer%d", i)
		vectors := (length-1)/m.lanes() + 1
		if i < len(lengths)-1 {
			m.CMPQ(n, operand.I32(int32(length-(vectors-1)*m.lanes())))
			m.JG(operand.LabelRef(next))
		}
		mask, again := m.tail(n), fmt.Sprintf("runs%d", i)
		m.Label(again)
		if vectors == 1 { // which is masked, and such loads alone do not make the processor read ahead
			m.PREFETCHT0(operand.Mem{Base: x, Disp: 2048})
		}
		read := make([]vector, vectors)
		for i := range read {
			at := operand.Mem{Base: x, Disp: i * m.width()}
			switch {
			case i < vectors-1:
				read[i] = m.copyOf(at)
			case m.wide:
				read[i] = m.copyOf(none)
				m.float("VMOVU", at, mask, read[i])
			default:
				read[i] = m.vector()
				m.float("VMASKMOV", at, mask, read[i])
				m.float("VBLENDV", mask, read[i], none, read[i])
			}
		}
		used := min(length, m.lanes())
		if by.usual != nil {
			slow := unusual{read, fmt.Sprintf("nan%d", i), fmt.Sprintf("next%d", i), used}
			m.jumpIfNaN(slow.label, append(slices.Clone(read), first)...)
			store(by.usual(m, first, m.joinLanes(m.joinVectors(slices.Clone(read), by.usual), used, by.usual)))
			m.Label(slow.goingOn)
			rest = append(rest, slow)
		} else {
			store(m.foldRun(first, none, read, used, by.any))
		}
		m.ADDQ(bytes, x)
		m.ADDQ(operand.I32(int32(m.lane)), d)
		m.CMPQ(d, last)
		m.JLE(operand.LabelRef(again))
		if i == len(lengths)-1 {
			break
		}
		m.JMP(operand.LabelRef("done"))
		m.Label(next)
		if length%m.lanes() == 0 {
			m.SUBQ(operand.I32(int32(m.lanes())), n)
		}
	}
	if len(rest) > 0 {
		m.JMP(operand.LabelRef("done"))
	}
	for _, u := range rest {
		m.Label(u.label)
		store(m.foldRun(first, none, u.read, u.used, by.any))
		m.JMP(operand.LabelRef(u.goingOn))
	}
	m.Label("done")
}

// foldRun folds the elements that were read onto the first.
func (m *machine) foldRun(first, none vector, read []vector, used int, body func(m *machine, x, y vector) vector) vector {
	chains := make([]vector, len(read))
	for i, v := range read {
		chains[i] = body(m, none, v)
	}
	return body(m, first, m.joinLanes(m.joinVectors(chains, body), used, body))
}

// joinVectors folds vectors, up to vectorsOfRun, by halves into one.
func (m *machine) joinVectors(chains []vector, body func(m *machine, x, y vector) vector) vector {
	for half := vectorsOfRun / 2; half > 0; half /= 2 {
		for i := half; i < len(chains); i++ {
			chains[i-half] = body(m, chains[i-half], chains[i])
		}
		chains = chains[:min(half, len(chains))]
	}
	return chains[0]
}
