package tile

import "unsafe"

// Single is a program that is one op from inputs, read from front to back, to output 0: it can be run without the program. Operands of
// the op beyond Arity are the first one again, or not touched.
type Single struct {
	Loop    func(n int, d, a, b, c unsafe.Pointer)
	Arity   int
	Args    [3]int // input of each operand
	Offsets [3]int // in bytes, where the operand begins in it
}

// Single reports whether the program is of that kind.
func (p *Program) Single() (s Single, ok bool) {
	if !p.plain || p.stores[0].out != 0 {
		return s, false
	}
	step := &p.steps[0]
	s.Loop, s.Arity = step.fn, 1
	for i, reg := range [...]int{step.a, step.b, step.c} {
		l := &p.loads[min(reg, len(p.loads)-1)]
		s.Args[i], s.Offsets[i] = l.arg, int(l.view.Base)*l.typ.ByteSize()
		if reg != step.a {
			s.Arity = i + 1
		}
	}
	return s, true
}
