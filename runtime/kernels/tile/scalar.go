package tile

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	"github.com/gohalo/halo/runtime/scalar"
)

// Scalar writes the program for each of its points in turn, by instructions of package scalar and, for what has none, by calls of the
// program's own loops. element is an element of an input; the result has the elements of each output.
func (p *Program) Scalar(b *scalar.Builder, element func(arg int, at int64) scalar.Value) (outs [][]scalar.Value, ok bool) {
	n := int(p.Len())
	if len(p.tables) > 0 || slices.Max(p.widths) > 8 || n > maxCalled && p.hasCalls() && (n > maxInlined || !p.inlinesCalls()) {
		return nil, false
	}
	outs = make([][]scalar.Value, len(p.stores))
	for i := range n {
		w := scalarWriter{b: b, regs: make([]scalar.Value, len(p.regs))}
		w.inputs(p, i, element)
		for k := range p.steps {
			w.step(p, k)
		}
		for _, s := range p.stores {
			outs[s.out] = append(outs[s.out], w.narrowed(&s, w.regs[s.reg]))
		}
	}
	return outs, true
}

// maxCalled is the number of points up to which calling a loop for each is no worse than calling it for all.
const maxCalled = 2

// maxInlined is the number of points up to which computing each in place is no worse than leaving the code for a loop over all.
const maxInlined = 4

// inlinesCalls reports whether all loops that package scalar has no instructions for are computed in place.
func (p *Program) inlinesCalls() bool {
	for k, name := range p.names {
		if scalar.Known(name) {
			continue
		}
		if e, ok := p.element(&p.steps[k]); !ok || e.Args() != p.arity[k] {
			return false
		}
	}
	return !slices.ContainsFunc(p.stores, func(s store) bool { return s.narrow != nil })
}

// element is the body of a step's loop, if it can be computed in place.
func (p *Program) element(s *step) (*native.Element, bool) {
	if s.exchanged {
		return nil, false
	}
	below := 0
	if isTurn(s.vector) {
		below = mostTurned
	}
	return native.NewElement(s.vector, below)
}

// hasCalls reports whether package scalar has no instructions for a part of the program.
func (p *Program) hasCalls() bool {
	for _, name := range p.names {
		if !scalar.Known(name) {
			return true
		}
	}
	return slices.ContainsFunc(p.stores, func(s store) bool { return s.narrow != nil })
}

// scalarWriter writes one point of a program.
type scalarWriter struct {
	b    *scalar.Builder
	regs []scalar.Value
}

func (w *scalarWriter) inputs(p *Program, i int, element func(arg int, at int64) scalar.Value) {
	var at walk
	for k := range p.loads {
		l := &p.loads[k]
		at.start(&p.space, &l.view, i)
		w.regs[l.reg] = w.widened(l, element(l.arg, at.offset))
	}
	for k := range p.counters {
		c := &p.counters[k]
		at = walk{}
		at.start(&p.space, &c.view, i)
		var number [8]byte
		c.fill(unsafe.Pointer(&number), 1, &at, nil)
		w.regs[c.reg] = w.b.ConstBytes(number[:p.widths[c.reg]])
	}
	for k := range p.splats {
		s := &p.splats[k]
		w.regs[s.reg] = w.b.ConstBytes(s.value[:min(8, s.width)])
	}
}

func (w *scalarWriter) step(p *Program, k int) {
	s, name := &p.steps[k], p.names[k]
	operands := [...]int{s.a, s.b, s.c}
	args := make([]scalar.Value, 0, 3)
	for _, r := range operands[:p.arity[k]] {
		args = append(args, w.regs[r])
	}
	known := args
	if s.exchanged {
		known = []scalar.Value{args[1], args[0]}
	}
	v, ok := w.b.Named(name, known...)
	if !ok {
		v, ok = w.usual(s, name, args)
	}
	if !ok {
		var inline scalar.Inline
		if e, ok := p.element(s); ok && e.Args() == len(args) {
			inline = e
		}
		v = w.b.Call(scalar.Loop(s.fn), inline, p.widths[s.d], args...)
	}
	w.regs[s.d] = v
}

// ScalarTypes are the types that package scalar knows.
var ScalarTypes = map[hlo.PrimitiveType]scalar.Type{
	hlo.PRED: scalar.Pred, hlo.S8: scalar.S8, hlo.S16: scalar.S16, hlo.S32: scalar.S32, hlo.S64: scalar.S64, hlo.U8: scalar.U8, hlo.U16: scalar.U16,
	hlo.U32: scalar.U32, hlo.U64: scalar.U64, hlo.F32: scalar.F32, hlo.F64: scalar.F64, hlo.C64: scalar.C64,
}

// scalarName is the name of an op on registers of type t in package scalar, or none for types that it does not know.
func scalarName(op string, t hlo.PrimitiveType) scalar.Name {
	if typ, ok := ScalarTypes[lane(t)]; ok {
		return scalar.Name{Op: op, Type: typ}
	}
	return scalar.Name{}
}

// scalarConvert is the name of a conversion.
func scalarConvert(from, to hlo.PrimitiveType) scalar.Name {
	name := scalarName("convert", from)
	typ, ok := ScalarTypes[to]
	if !ok {
		return scalar.Name{}
	}
	name.To = typ
	return name
}

// scalarCompare is the name of a comparison in package scalar, or none where registers do not keep the order. It is that of the opposite direction
// where operands are exchanged.
func scalarCompare(t hlo.PrimitiveType, dir hlo.Direction, typ hlo.CompareType) scalar.Name {
	name := scalarName([...]string{hlo.EQ: "eq", hlo.NE: "ne", hlo.LT: "lt", hlo.LE: "le", hlo.GT: "lt", hlo.GE: "le"}[dir], t)
	if typ == hlo.CompareTotalOrder && t.IsFloat() {
		if t != hlo.F32 && t != hlo.F64 {
			return scalar.Name{}
		}
		name.Total = true
	}
	return name
}
