package rules

import (
	"math"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/scalar"
)

// cond is a condition of a rule.
type cond struct {
	not   bool
	holds func(*bindings) bool
	name  string
}

// Condition documents what a rule may ask.
type Condition struct {
	Name, Args, Doc string
	values          func(args []hlo.Instruction) bool // of values only
	axes            func(axes []int64) bool           // of one list of axes
	number          bool                              // the last argument is a number
	withNumber      func(x hlo.Instruction, n int64) bool
}

func ofType(is func(hlo.PrimitiveType) bool) func([]hlo.Instruction) bool {
	return func(x []hlo.Instruction) bool { return is(x[0].Shape().Type()) }
}

// splat calls f with the number that a constant repeats.
func splat(f func(*hlo.Literal) bool) func([]hlo.Instruction) bool {
	return func(x []hlo.Instruction) bool {
		l, ok := match.SplatValue(x[0])
		return ok && f(l)
	}
}

// Conditions lists what a rule may ask.
var Conditions = []Condition{
	{Name: "integer", Args: "x", Doc: "the elements are integers", values: ofType(hlo.PrimitiveType.IsInteger)},
	{Name: "signed", Args: "x", Doc: "the elements are signed integers", values: ofType(hlo.PrimitiveType.IsSigned)},
	{Name: "unsigned", Args: "x", Doc: "the elements are unsigned integers", values: ofType(hlo.PrimitiveType.IsUnsigned)},
	{Name: "float", Args: "x", Doc: "the elements are floating", values: ofType(hlo.PrimitiveType.IsFloat)},
	{Name: "ieee", Args: "x", Doc: "the elements are floating with infinities and both zeros: f16, bf16, f32 or f64", values: ofType(isIEEE)},
	{Name: "complex", Args: "x", Doc: "the elements are complex", values: ofType(hlo.PrimitiveType.IsComplex)},
	{Name: "pred", Args: "x", Doc: "the elements are predicates", values: ofType(hlo.PrimitiveType.IsPred)},
	{Name: "constant", Args: "x", Doc: "x is one number, repeated", values: isConstant},
	{Name: "literal", Args: "x", Doc: "x is a constant instruction", values: func(x []hlo.Instruction) bool { return x[0].Opcode() == hlo.OpConstant }},
	{Name: "all-ones", Args: "c", Doc: "every bit of c is set; true", values: splat(scalar.AllOnes)},
	{Name: "scalar", Args: "x", Doc: "x has one element and no dimensions", values: func(x []hlo.Instruction) bool { return x[0].Shape().IsScalar() }},
	{Name: "one-use", Args: "x", Doc: "nothing but the rule's left side uses x", values: func(x []hlo.Instruction) bool { return x[0].UserCount() == 1 && !x[0].IsRoot() }},
	{Name: "same-type", Args: "x, y", Doc: "x and y have one element type", values: func(x []hlo.Instruction) bool { return x[0].Shape().Type() == x[1].Shape().Type() }},
	{Name: "same-shape", Args: "x, y", Doc: "x and y have one shape, apart from layout", values: func(x []hlo.Instruction) bool { return x[0].Shape().EqualIgnoringLayout(x[1].Shape()) }},
	{Name: "same-layout", Args: "x, y", Doc: "x and y have one layout", values: func(x []hlo.Instruction) bool {
		a, _ := x[0].Shape().Layout()
		b, _ := x[1].Shape().Layout()
		return a.Equal(b)
	}},
	{Name: "static", Args: "x", Doc: "no dimension of x is dynamic", values: func(x []hlo.Instruction) bool { return x[0].Shape().IsStatic() }},
	{Name: "power-of-two", Args: "c", Doc: "c repeats 1, 2, 4, … of integers", values: splat(func(l *hlo.Literal) bool { _, ok := scalar.Power(l); return ok })},
	{Name: "lowest", Args: "c", Doc: "no number of the type is below c", values: splat(scalar.IsLowest)},
	{Name: "highest", Args: "c", Doc: "no number of the type is above c", values: splat(scalar.IsHighest)},
	{Name: "finite", Args: "c", Doc: "c is neither infinite nor NaN", values: splat(isFinite)},
	{Name: "exact-power", Args: "c", Doc: "c is ±2^k, and so is 1/c, neither subnormal: multiplying by one is dividing by the other", values: splat(isExactPower)},
	{Name: "nonnegative", Args: "x", Doc: "no element is below zero or -0; NaN may be there", values: func(x []hlo.Instruction) bool { return nonNegative(x[0], 8) }},
	{Name: "less", Args: "c1, c2", Doc: "constant c1 is below constant c2", values: func(x []hlo.Instruction) bool {
		a, okA := match.SplatValue(x[0])
		b, okB := match.SplatValue(x[1])
		if !okA || !okB {
			return false
		}
		order, ok := scalar.Compare(a, b)
		return ok && order < 0
	}},
	{Name: "widens", Args: "x, y", Doc: "every element that x may have is one that y may have", values: func(x []hlo.Instruction) bool {
		return Keeps(x[0].Shape().Type(), x[1].Shape().Type())
	}},
	{Name: "sorted", Args: "p", Doc: "the axes ascend", axes: func(p []int64) bool { return slices.IsSorted(p) }},
	{Name: "empty", Args: "p", Doc: "the list of axes is empty", axes: func(p []int64) bool { return len(p) == 0 }},
	{Name: "bits-at-least", Args: "x, n", Doc: "an element of x takes n bits or more", number: true, withNumber: func(x hlo.Instruction, n int64) bool { return int64(x.Shape().Type().Bits()) >= n }},
	{Name: "rank", Args: "x, n", Doc: "x has n dimensions", number: true, withNumber: func(x hlo.Instruction, n int64) bool { return int64(x.Shape().Rank()) == n }},
}

func isIEEE(t hlo.PrimitiveType) bool {
	return t == hlo.F32 || t == hlo.F64 || t == hlo.F16 || t == hlo.BF16
}

func isConstant(x []hlo.Instruction) bool {
	_, ok := match.SplatValue(x[0])
	return ok
}

func isFinite(l *hlo.Literal) bool {
	x, ok := scalar.Float(l)
	return !ok || !math.IsInf(x, 0) && x == x
}

func isExactPower(l *hlo.Literal) bool {
	x, ok := scalar.Float(l)
	if !ok || !isIEEE(l.Shape().Type()) {
		return false
	}
	frac, exp := math.Frexp(math.Abs(x))
	least := map[hlo.PrimitiveType]int{hlo.F64: 1021, hlo.F32: 125, hlo.BF16: 125, hlo.F16: 13}[l.Shape().Type()]
	return frac == 0.5 && exp-1 <= least && 1-exp <= least
}

// condition checks a condition.
func (c *checker) condition(k *condition) *cond {
	i := slices.IndexFunc(Conditions, func(d Condition) bool { return d.Name == k.Name })
	if i < 0 {
		names := make([]string, len(Conditions))
		for j, d := range Conditions {
			names[j] = d.Name
		}
		c.fail(k.Pos.Line, k.Pos.Column, "there is no condition %q%s", k.Name, nearest(k.Name, names))
		return nil
	}
	d := &Conditions[i]
	want := 1
	for _, ch := range d.Args {
		if ch == ',' {
			want++
		}
	}
	if len(k.Args) != want {
		c.fail(k.Pos.Line, k.Pos.Column, "%s asks about (%s), here are %d", d.Name, d.Args, len(k.Args))
		return nil
	}
	out := &cond{not: k.Not, name: k.Name}
	if d.axes != nil {
		at, ok := c.names.axes.at(k.Args[0].Word)
		if !ok {
			c.fail(k.Args[0].Pos.Line, k.Args[0].Pos.Column, "no list of axes is called %s", k.Args[0].Word)
			return nil
		}
		out.holds = func(b *bindings) bool { return d.axes(b.axes[at]) }
		return out
	}
	var slots [2]int
	for j, a := range k.Args {
		if d.number && j == want-1 {
			continue
		}
		at, ok := c.names.value.at(a.Word)
		if !ok {
			c.fail(a.Pos.Line, a.Pos.Column, "nothing on the left is called %s", a.Word)
			return nil
		}
		slots[j] = at
	}
	if d.number {
		n, err := strconv.ParseInt(k.Args[want-1].Word, 10, 64)
		if err != nil {
			c.fail(k.Args[want-1].Pos.Line, k.Args[want-1].Pos.Column, "%s wants a number here", d.Name)
			return nil
		}
		out.holds = func(b *bindings) bool { return d.withNumber(b.values[slots[0]], n) }
		return out
	}
	if want == 2 {
		out.holds = func(b *bindings) bool {
			pair := [2]hlo.Instruction{b.values[slots[0]], b.values[slots[1]]}
			return d.values(pair[:])
		}
		return out
	}
	out.holds = func(b *bindings) bool { return d.values(b.values[slots[0] : slots[0]+1]) }
	return out
}
