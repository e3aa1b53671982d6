package rulecheck

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// hostile are the numbers at which wrong algebra shows, simplest first; tame are those at which rules are right that hold for real numbers only.
var (
	hostile = []float64{1, 0, -1, 2, math.Copysign(0, -1), 3, -2, 0.5, math.Inf(1), math.NaN(), math.Inf(-1), 1.0 / 3, 1e30, 1e-30}
	tame    = []float64{1, 2, 3, 0.5, 1.5, 5, 0.25, 7}
)

// nearEnds are numbers whose double is infinite in one of the types, and whose half is finite. They show that a rule is of class overflow.
var nearEnds = []float64{6e4, 3e38, 1.5e308}

// numbersOf are the inputs of a type.
func numbersOf(t hlo.PrimitiveType, fp pass.FP) (all []*hlo.Literal) {
	from := hostile
	if fp >= pass.Overflow && !t.IsInteger() {
		from = tame
	}
	add := func(l *hlo.Literal) {
		for _, have := range all {
			if string(have.Bytes()) == string(l.Bytes()) {
				return
			}
		}
		all = append(all, l)
	}
	for _, x := range from {
		if l, ok := scalar.Nearest(t, x); ok {
			add(l)
		}
	}
	if t.IsFloat() && fp < pass.Overflow {
		for _, x := range nearEnds {
			if l, ok := scalar.Nearest(t, x); ok {
				add(l)
			}
		}
	}
	if t.IsInteger() {
		top := uint64(1) << (t.Bits() - 1)
		for _, v := range []uint64{top, top - 1, ^uint64(0) >> (64 - t.Bits()), 8, top + 1} {
			add(scalar.FromBits(t, v))
		}
	}
	if t.IsComplex() && fp < pass.FastMath { // what holds for real numbers is tried on them
		re, _ := scalar.Nearest(t.ComponentType(), 2)
		im, _ := scalar.Nearest(t.ComponentType(), 3)
		l, err := hlo.NewLiteral(all[0].Shape(), append(append([]byte(nil), re.Bytes()...), im.Bytes()...))
		if err == nil {
			add(l)
		}
	}
	return all
}

// inputs makes an argument for each parameter: in round 0, element i of all of them together is combination i of the numbers, the simplest first;
// in others they are drawn. Dynamic sizes are that much less than their bounds, if they can be.
func inputs(m hlo.Module, fp pass.FP, less int64, round int) []*hlo.Literal {
	d := &dealing{fp: fp, less: less, step: 1}
	if round > 0 {
		d.drawn = rand.New(rand.NewPCG(uint64(round), 0))
	}
	entry := m.Entry()
	args := make([]*hlo.Literal, entry.NumParameters())
	for i := range args {
		for _, leaf := range entry.Parameter(i).Shape().Leaves {
			if leaf.IsArray() {
				d.bases = append(d.bases, len(numbersOf(leaf.Type(), fp)))
			}
		}
	}
	for product(d.bases) > wide {
		most := 0
		for i, b := range d.bases {
			if b > d.bases[most] {
				most = i
			}
		}
		d.bases[most]--
	}
	for i := range args {
		args[i] = d.value(entry.Parameter(i).Shape())
	}
	return args
}

// dealing makes inputs, leaf by leaf.
type dealing struct {
	fp    pass.FP
	less  int64
	bases []int // how many numbers each leaf that is still to be made has
	step  int
	drawn *rand.Rand // nil: all combinations in their order
}

func (d *dealing) value(s hlo.Shape) *hlo.Literal {
	if s.IsTuple() {
		parts := make([]*hlo.Literal, s.NumElems())
		for i := range parts {
			parts[i] = d.value(s.Elem(i))
		}
		return hlo.NewTupleLiteral(parts...)
	}
	if s = smaller(s, d.less); !s.IsArray() {
		return nil // rules have no such parameters
	}
	numbers, base := numbersOf(s.Type(), d.fp), d.bases[0]
	var data []byte
	for k := range int(s.NumElements()) {
		if d.drawn != nil {
			data = append(data, numbers[d.drawn.IntN(len(numbers))].Bytes()...)
		} else {
			data = append(data, numbers[k/d.step%base].Bytes()...)
		}
	}
	d.step *= base
	d.bases = d.bases[1:]
	l, err := hlo.NewLiteral(s, data)
	if err != nil {
		panic(err) // as many bytes as the shape has
	}
	return l
}

// smaller is the static shape of an array whose dynamic sizes are less than their bounds.
func smaller(s hlo.Shape, less int64) hlo.Shape {
	if s.IsStatic() || !s.IsArray() {
		return s
	}
	dims := s.Dimensions()
	for i := range dims {
		if s.IsDynamicDimension(i) {
			dims[i] = max(0, dims[i]-less)
		}
	}
	return hlo.MakeShape(s.Type(), dims...)
}

func product(all []int) int {
	n := 1
	for _, v := range all {
		n *= v
	}
	return n
}

// element is number i of a literal.
func element(l *hlo.Literal, i int64) (*hlo.Literal, bool) {
	w := int64(l.Shape().Type().ByteSize())
	if (i+1)*w > int64(len(l.Bytes())) {
		return nil, false
	}
	e, err := hlo.NewLiteral(hlo.MakeArray(l.Shape().Type(), nil, nil, hlo.DefaultLayout(0)), l.Bytes()[i*w:(i+1)*w])
	return e, err == nil
}

func elementText(l *hlo.Literal, i int64) string {
	e, ok := element(l, i)
	if !ok {
		return l.String()
	}
	if x, float := scalar.Float(e); float {
		if x == 0 && math.Signbit(x) {
			return "-0"
		}
		return fmt.Sprint(x)
	}
	return string(e.AppendText(nil))
}

// differ is the first element in which the value of a rule departs from that of its left side further than the class of the rule allows, -1 if
// there is none.
func differ(want, got *hlo.Literal, fp pass.FP) int64 {
	if !want.Shape().IsArray() || !want.Shape().Compatible(got.Shape()) || len(want.Bytes()) != len(got.Bytes()) {
		return 0
	}
	t := want.Shape().Type()
	w := t.ByteSize()
	for i := int64(0); (i+1)*int64(w) <= int64(len(want.Bytes())); i++ {
		a, b := want.Bytes()[i*int64(w):(i+1)*int64(w)], got.Bytes()[i*int64(w):(i+1)*int64(w)]
		if string(a) == string(b) {
			continue
		}
		if !t.IsFloat() && !t.IsComplex() {
			return i
		}
		x, _ := element(want, i)
		y, _ := element(got, i)
		if !near(number(x), number(y), t, fp) {
			return i
		}
	}
	return -1
}

// number is a floating or complex scalar.
func number(l *hlo.Literal) complex128 {
	t := l.Shape().Type()
	if !t.IsComplex() {
		x, _ := scalar.Float(l)
		return complex(x, 0)
	}
	half := len(l.Bytes()) / 2
	part := func(b []byte) float64 {
		e, err := hlo.NewLiteral(hlo.MakeArray(t.ComponentType(), nil, nil, hlo.DefaultLayout(0)), b)
		if err != nil {
			return math.NaN()
		}
		x, _ := scalar.Float(e)
		return x
	}
	return complex(part(l.Bytes()[:half]), part(l.Bytes()[half:]))
}

// near reports whether b may stand for a, given the class of the rule. Any NaN may stand for any other.
func near(a, b complex128, t hlo.PrimitiveType, fp pass.FP) bool {
	same := func(x, y float64) bool {
		switch {
		case x != x && y != y:
			return true
		case x == y:
			return fp >= pass.ZeroSign || math.Signbit(x) == math.Signbit(y)
		}
		return false
	}
	if same(real(a), real(b)) && same(imag(a), imag(b)) {
		return true
	}
	if fp < pass.Rounding {
		return false
	}
	ordinary := func(z complex128) bool { return !cmplx.IsNaN(z) && !cmplx.IsInf(z) }
	if fp >= pass.NotANumber && (!ordinary(a) || !ordinary(b)) {
		return true
	}
	if cmplx.IsNaN(b) || cmplx.IsInf(a) != cmplx.IsInf(b) {
		return false
	}
	rtol := 64 * arrays.Tolerance(t)
	return cmplx.Abs(a-b) <= rtol*max(cmplx.Abs(a), 16)
}
