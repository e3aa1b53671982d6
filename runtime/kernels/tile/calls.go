package tile

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/runtime/scalar"
)

// Call is one call of an inner loop, on places.
type Call struct {
	Loop       func(n int, d, a, b, c unsafe.Pointer)
	N          int
	D, A, B, C Place
}

// Place is where an operand of a call is. One of the first three counts.
type Place struct {
	Kind   PlaceKind
	Index  int     // of the input or output
	Offset int     // in bytes
	Value  []byte  // of a constant
	Table  []Place // of a table of addresses
}

// PlaceKind tells places apart.
type PlaceKind uint8

const (
	Nowhere PlaceKind = iota
	InInput
	InOutput
	InRegister
	InConstant
	InTable
)

// MostInCalls is the number of elements up to which a program may be written as calls.
const MostInCalls = 512

// Calls writes a program over few elements out: the calls that running it consists of, in order, and how many bytes its registers
// take. It reports false for programs over more elements, and for those of which the calls together take longer than the way to the program, and
// code made for it at run time, would.
func (p *Program) Calls() (calls []Call, registers int, ok bool) {
	calls, _, registers, ok = p.calls()
	return calls, registers, ok
}

// ResultCalls is Calls for a program with a result, and where that is then.
func (p *Program) ResultCalls() (calls []Call, result Place, registers int, ok bool) {
	calls, at, registers, ok := p.calls()
	if !ok || at[p.result].Kind == Nowhere {
		return nil, Place{}, 0, false
	}
	return calls, at[p.result], registers, true
}

// calls is Calls, and where the registers are.
func (p *Program) calls() (calls []Call, at []Place, registers int, ok bool) {
	n := p.Len()
	if n == 0 || n > MostInCalls {
		return nil, nil, 0, false
	}
	const align = 64
	room := (n*max(1, slices.Max(p.widths)) + align - 1) &^ (align - 1)
	at = make([]Place, len(p.regs))
	slots := make(map[int]int) // register memory → place
	for i, r := range p.regs {
		if r.slot < 0 {
			continue
		}
		k, seen := slots[r.offset]
		if !seen {
			k = len(slots)
			slots[r.offset] = k
		}
		at[i] = Place{Kind: InRegister, Offset: k * room}
	}
	for _, s := range p.splats {
		value := make([]byte, n*s.width)
		fillTile(unsafe.Pointer(&value[0]), unsafe.Pointer(&s.value[0]), s.width, n)
		at[s.reg] = Place{Kind: InConstant, Value: value}
	}
	for _, t := range p.tables {
		at[t.reg] = Place{Kind: InInput, Index: t.arg}
	}
	for i := range p.stores {
		if s := &p.stores[i]; s.direct {
			at[s.reg] = Place{Kind: InOutput, Index: s.out}
		}
	}
	for i := range p.counters {
		numbers := p.numbers(&p.counters[i])
		if reg := p.counters[i].reg; p.regs[reg].slot < 0 {
			calls = append(calls, Call{Loop: copyLoop(p.widths[reg]), N: n, D: at[reg], A: numbers})
		} else {
			at[reg] = numbers
		}
	}
	gathers := 0 // elements
	for i := range p.loads {
		l := &p.loads[i]
		width := l.typ.ByteSize()
		src := Place{Kind: InInput, Index: l.arg, Offset: int(l.view.Base) * width}
		switch {
		case l.mode == gathered && n > 1:
			if l.widen != nil || at[l.reg].Kind == Nowhere {
				return nil, nil, 0, false
			}
			bring, single, whole := p.gathering(l, n)
			switch {
			case bring == nil:
				return nil, nil, 0, false
			case whole && l.direct < 0:
				at[l.reg] = Place{Kind: InInput, Index: l.arg, Offset: single * width}
				continue
			case !whole:
				gathers += n
			}
			calls = append(calls, Call{Loop: bring, N: n, D: at[l.reg], A: Place{Kind: InInput, Index: l.arg}})
		case l.mode == uniform && n > 1:
			from := src
			if l.widen != nil {
				calls = append(calls, Call{Loop: l.widen, N: 1, D: at[l.reg], A: src})
				from, width = at[l.reg], 4
			}
			fill := fillLoop(width)
			if fill == nil {
				return nil, nil, 0, false
			}
			calls = append(calls, Call{Loop: fill, N: n, D: at[l.reg], A: from})
		case l.widen != nil:
			calls = append(calls, Call{Loop: l.widen, N: n, D: at[l.reg], A: src})
		case l.direct >= 0:
			calls = append(calls, Call{Loop: copyLoop(width), N: n, D: at[l.reg], A: src})
		default:
			at[l.reg] = src
		}
	}
	for _, s := range p.steps {
		calls = append(calls, Call{Loop: s.fn, N: n, D: at[s.d], A: at[s.a], B: at[s.b], C: at[s.c]})
	}
	for _, s := range p.stores {
		out := Place{Kind: InOutput, Index: s.out}
		switch {
		case s.direct:
		case s.narrow != nil:
			calls = append(calls, Call{Loop: s.narrow, N: n, D: out, A: at[s.reg]})
		default:
			calls = append(calls, Call{Loop: copyLoop(s.typ.ByteSize()), N: n, D: out, A: at[s.reg]})
		}
	}
	return calls, at, len(slots) * room, n <= fewInCalls && !p.IsLong() || len(calls)*(callCost+n/callElements)+max(0, gathers-freeGathers) <= wayToProgram
}

// What calls cost, in about half nanoseconds: each, and elements of it beyond what code takes for an op on one; gathering an element, beyond what the program takes. And
// what the way to the program costs. Few elements are in calls whatever it is.
const (
	callCost     = 16
	callElements = 32
	freeGathers  = 64
	wayToProgram = 220
	fewInCalls   = 16
)

// IsLong reports whether a program on few elements has so many steps that vectors of them are worth the way to it: a reduction written out, as a rule. Element by element, and
// call by call, its steps take many times as long.
func (p *Program) IsLong() bool { return p.Len() > scalar.FewLanes && p.Len()*len(p.steps) > longWork }

// longWork is the elements times steps from which on a program is long: those of one vector take as long as the way to the program by then.
const longWork = 512

// numbers are those of an iota.
func (p *Program) numbers(o *counter) Place {
	value := make([]byte, p.Len()*p.widths[o.reg])
	var w walk
	w.start(&p.space, &o.view, 0)
	o.fill(unsafe.Pointer(&value[0]), p.Len(), &w, new(series))
	return Place{Kind: InConstant, Value: value}
}

// gathering is the loop of a gathered load of the first n elements. If these lie together, it is whole, and begins at element first of the input. There is none for
// elements of unusual widths.
func (p *Program) gathering(l *load, n int) (bring loop, first int, whole bool) {
	var w walk
	w.start(&p.space, &l.view, 0)
	var rows []gatheredRow
	offsets := make([]int32, 0, n)
	together := true // all rows lie together, and there are few
	for at := 0; at < n; {
		from, count, stride := w.run(n - at)
		rows = append(rows, gatheredRow{at, int(from), count})
		together = together && (stride == 1 || count == 1)
		for k := range int64(count) {
			offsets = append(offsets, int32(from+k*stride))
		}
		at += count
	}
	width := l.typ.ByteSize()
	if together && len(rows) <= mostGatheredRows {
		return gatherRows(rows, width), rows[0].from, len(rows) == 1
	}
	switch width {
	case 1:
		return gatherOffsets[uint8](offsets), 0, false
	case 2:
		return gatherOffsets[uint16](offsets), 0, false
	case 4:
		return gatherOffsets[uint32](offsets), 0, false
	case 8:
		return gatherOffsets[uint64](offsets), 0, false
	}
	return nil, 0, false
}

// gatheredRow is count elements that lie together.
type gatheredRow struct{ at, from, count int }

// mostGatheredRows is how many rows are copied by a call each.
const mostGatheredRows = 4

func gatherRows(rows []gatheredRow, width int) loop {
	return func(_ int, d, a, _, _ unsafe.Pointer) {
		for i := range rows {
			r := &rows[i]
			copyBytes(unsafe.Add(d, r.at*width), unsafe.Add(a, r.from*width), r.count*width)
		}
	}
}

func gatherOffsets[T any](offsets []int32) loop {
	return func(_ int, d, a, _, _ unsafe.Pointer) {
		var e T
		z := vec[T](d, len(offsets))
		for i, o := range offsets {
			z[i] = *(*T)(unsafe.Add(a, uintptr(o)*unsafe.Sizeof(e)))
		}
	}
}
