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
			{"greatest", "s", "MAXS", top}, {"least", "s", "MINS", top - 1}, {"greatest", "u", "MAXU", 0}, {"least", "u", "MINU", ones}, {"sum", "i", "ADD", 0}, {"product", "i", "MULL", 1},
		} {
			typ, body := op.sign+typ, integer(op.instruction) // of signs, sums and products know none
			if lane == 1 && op.name == "product" {
				body = (*machine).multiplyBytes
			}
			if lane < 4 {
				add(op.name+runs+typ, lane, func(m *machine) { m.narrowBeside(op.identity, body) })
				continue
			}
			anyOrder(op.name, typ, lane, op.identity, body)
			for i := range 2 {
				all[len(all)-1-i].wideOnly = lane == 8 && op.name != "sum"
			}
		}
	}
	for _, typ := range []string{"bf16", "f16"} {
		narrow := func(key string, identity float64, body func(m *machine, x vector, y operand.Op) vector) {
			add(key+runs+typ, 4, func(m *machine) {
				m.decodedBeside(typ, identity, func(m *machine, x, y vector) vector { return body(m, x, y) })
			})
			all[len(all)-1].wideOnly = typ == "f16"
		}
		narrow("sum", math.Copysign(0, -1), (*machine).add)
		narrow("product", 1, (*machine).mul)
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

// narrowBeside is onlyBeside for elements of 8 or 16 bits: runs of at least 32 bits are words, and so are their results until the end. What they are folded onto is in one
// element of each, and what changes nothing in the others.
func (m *machine) narrowBeside(identity uint64, body func(m *machine, x, y vector) vector) {
	words, size := m.as(4), m.lane
	one, nothing := uint64(1)<<(8*size)-1, identity
	for by := 8 * size; by < 32; by *= 2 {
		nothing |= nothing << by
	}
	first := m.vector()
	m.op("VPBROADCAST"+m.integerSuffix(), operand.Mem{Base: m.argument("b")}, first)
	m.float("VMOVA", words.bits("OR", words.bits("AND", first, words.pattern(one)), words.pattern(nothing&^one)), first)
	join := func(folded, word vector) vector { return body(m, folded, word) }
	words.wordsBeside(size, size, nothing, first, join, func(folded vector, to operand.Mem) {
		for by := 16; by >= 8*size; by /= 2 {
			m.float("VMOVA", body(m, folded, words.shift("SRL", folded, by)), folded)
		}
		words.store(truncated(size), folded, to, nil)
	})
}

// multiplyBytes multiplies those with even and with odd places in words.
func (m *machine) multiplyBytes(x, y vector) vector {
	w := m.as(2)
	low := w.bits("AND", w.integer3("MULL", x, y), w.pattern(0xff))
	high := w.shift("SLL", w.integer3("MULL", w.shift("SRL", x, 8), w.shift("SRL", y, 8)), 8)
	return w.bits("OR", low, high)
}

// decodedBeside is onlyBeside for bf16 and f16, which are folded as f32.
func (m *machine) decodedBeside(typ string, identity float64, body func(m *machine, x, y vector) vector) {
	first := m.vector()
	m.op("VBROADCASTSS", operand.Mem{Base: m.argument("b")}, first)
	decode := func(word vector) (low, high vector) {
		return m.shift("SLL", word, 16), m.bits("AND", word, m.pattern(0xffff0000))
	}
	code := uint64(math.Float32bits(float32(identity)) >> 16)
	if typ == "f16" {
		code = map[float64]uint64{0: 1 << 15, 1: 0x3c00}[identity]
		half := func(word vector) vector {
			codes, d := m.part(2), m.vector()
			m.op("VPMOVDW", word, codes)
			m.op("VCVTPH2PS", codes, d)
			return d
		}
		decode = func(word vector) (low, high vector) { return half(word), half(m.shift("SRL", word, 16)) }
	}
	join := func(folded, word vector) vector {
		low, high := decode(word)
		return body(m, body(m, folded, low), high)
	}
	m.wordsBeside(2, 4, code|code<<16, first, join, func(folded vector, to operand.Mem) { m.store(elements(4), folded, to, nil) })
}

// wordsBeside folds as many runs of elements of a size as a vector has words at once, each word by word, into results of a size. The last word of a run may begin within the one
// before: those of its elements that were folded are then such as change nothing, as those of a word that says so.
func (m *machine) wordsBeside(size, result int, nothing uint64, first vector, join func(folded, word vector) vector, store func(folded vector, to operand.Mem)) {
	n, d, x, last := m.argument("n"), m.argument("d"), m.argument("a"), m.argument("c")
	for by := size; by > 1; by /= 2 {
		m.ADDQ(n, n)
	}
	end, over, by, keep := m.GP64(), m.GP64(), m.XMM(), m.vector()
	m.LEAQ(operand.Mem{Base: n, Disp: -4}, end)
	m.MOVQ(n, over)
	m.NEGQ(over)
	m.ANDQ(operand.I32(3), over)
	m.SHLQ(operand.U8(3), over)
	m.VMOVD(over.As32(), by)
	ones := m.copyOf(m.pattern(1<<32 - 1))
	m.op("VPSLLD", by, ones, keep)
	instead := m.bits("ANDN", keep, m.pattern(nothing))
	m.eachGroup(n, d, x, last, result, func(places vector) {
		folded, k := m.copyOf(first), m.GP64()
		set := func(v vector) { m.float("VMOVA", v, folded) }
		m.XORQ(k, k)
		m.Label("word")
		m.CMPQ(k, end)
		m.JGE(operand.LabelRef("last"))
		set(join(folded, m.gathered(x, k, places)))
		m.ADDQ(operand.I32(4), k)
		m.JMP(operand.LabelRef("word"))
		m.Label("last")
		set(join(folded, m.bits("OR", m.bits("AND", m.gathered(x, end, places), keep), instead)))
		store(folded, operand.Mem{Base: d})
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
