package tile

import (
	"unsafe"
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
	Index  int    // of the input or output
	Offset int    // in bytes
	Value  []byte // of a constant
}

// PlaceKind tells places apart.
type PlaceKind uint8

const (
	Nowhere PlaceKind = iota
	InInput
	InOutput
	InRegister
	InConstant
)

// Calls writes a program over few elements out: the calls that running it consists of, in order, and how many bytes its registers
// take. It reports false for programs over more than limit elements, and for those that have to look for their inputs element by element.
func (p *Program) Calls(limit int) (calls []Call, registers int, ok bool) {
	n := p.Len()
	if n == 0 || n > limit {
		return nil, 0, false
	}
	const widest, align = 16, 64
	room := (n*widest + align - 1) &^ (align - 1)
	at := make([]Place, len(p.regs))
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
	for i := range p.stores {
		if s := &p.stores[i]; s.direct {
			at[s.reg] = Place{Kind: InOutput, Index: s.out}
		}
	}
	if len(p.counters) > 0 {
		return nil, 0, false
	}
	for i := range p.loads {
		l := &p.loads[i]
		width := l.typ.ByteSize()
		src := Place{Kind: InInput, Index: l.arg, Offset: int(l.view.Base) * width}
		switch {
		case l.mode == gathered && n > 1:
			return nil, 0, false
		case l.mode == uniform && n > 1:
			from := src
			if l.widen != nil {
				calls = append(calls, Call{Loop: l.widen, N: 1, D: at[l.reg], A: src})
				from, width = at[l.reg], 4
			}
			fill := fillLoop(width)
			if fill == nil {
				return nil, 0, false
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
	return calls, len(slots) * room, true
}

func fillLoop(width int) loop {
	switch width {
	case 1:
		return fill8
	case 2:
		return fill16
	case 4:
		return fill32
	case 8:
		return fill64
	}
	return nil
}
