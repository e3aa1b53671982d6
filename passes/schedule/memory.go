package schedule

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// memory says how large the values of a computation are, and who reads them. Parameters and constants are there anyway.
type memory struct {
	bytes []int64 // by position: of what it computes
	reads [][]int // by position: whose values it reads, seen through what only hands them on
	root  []int   // whose values are the result
}

func newMemory(d *analysis.Dependencies) memory {
	m := memory{bytes: make([]int64, len(d.Order)), reads: make([][]int, len(d.Order))}
	holds := make([][]int, len(d.Order)) // whose values it is, or holds
	read := make([]int, len(d.Order))    // by position: one past the last that reads it
	for i, in := range d.Order {
		for id := range in.OperandIDs() {
			for _, h := range holds[d.Position(id)] {
				if read[h] != i+1 {
					read[h] = i + 1
					m.reads[i] = append(m.reads[i], h)
				}
			}
		}
		switch {
		case hlo.Info(in.Opcode()).Traits.Has(hlo.TraitForwards), in.Opcode() == hlo.OpBitcast, analysis.IsDone(in), in.Opcode() == hlo.OpAsyncUpdate:
			holds[i] = handed(d, in, m.reads[i], holds)
		case in.Opcode() == hlo.OpParameter, in.Opcode() == hlo.OpConstant:
		case analysis.IsStart(in):
			m.bytes[i] = ResultOf(in).ByteSize()
			holds[i] = append(slices.Clone(m.reads[i]), i) // the chain reads its operands until it is done
		default:
			m.bytes[i] = in.Shape().ByteSize()
			holds[i] = []int{i}
		}
		if in.IsRoot() {
			m.root = holds[i]
		}
	}
	return m
}

// handed lists whose values an instruction that reads the given ones hands on.
func handed(d *analysis.Dependencies, in hlo.Instruction, reads []int, holds [][]int) []int {
	if in.Opcode() == hlo.OpGetTupleElement {
		if t := in.OperandInstr(0); t.Opcode() == hlo.OpTuple {
			return holds[d.Position(t.Operand(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)))]
		}
	}
	if analysis.IsDone(in) { // the operands of the chain are free
		start := in.OperandInstr(0)
		for start.Opcode() == hlo.OpAsyncUpdate {
			start = start.OperandInstr(0)
		}
		return []int{d.Position(start.ID())}
	}
	return reads
}

// ResultOf is the shape of what a start computes.
func ResultOf(start hlo.Instruction) hlo.Shape {
	s := start.Shape()
	result := 1 // of a generic chain
	if pair := hlo.Info(start.Opcode()).Pair; !pair.IsZero() {
		result = pair.Result
	}
	if result == hlo.WholeResult || result >= s.NumElems() {
		return s
	}
	return s.Elem(result)
}

// tracker follows the memory of an order from its end.
type tracker struct {
	m    *memory
	live []bool // read by what is placed
	now  int64
	peak int64
}

func (m *memory) track() *tracker {
	t := &tracker{m: m, live: make([]bool, len(m.bytes))}
	t.read(m.root)
	t.peak = t.now
	return t
}

func (t *tracker) read(values []int) {
	for _, v := range values {
		if !t.live[v] {
			t.live[v] = true
			t.now += t.m.bytes[v]
		}
	}
}

// growth is by how much placing i would change what is needed before it.
func (t *tracker) growth(i int) (bytes int64) {
	for _, v := range t.m.reads[i] {
		if !t.live[v] {
			bytes += t.m.bytes[v]
		}
	}
	if t.live[i] {
		bytes -= t.m.bytes[i]
	}
	return bytes
}

func (t *tracker) place(i int) {
	if !t.live[i] {
		t.now += t.m.bytes[i] // nothing reads it, but it is made
	}
	t.read(t.m.reads[i])
	t.peak = max(t.peak, t.now)
	t.now -= t.m.bytes[i]
	t.live[i] = false
}

// peak is the memory that an order needs.
func (m *memory) peak(order []int) int64 {
	t := m.track()
	for _, i := range slices.Backward(order) {
		t.place(i)
	}
	return t.peak
}
