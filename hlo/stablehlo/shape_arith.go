package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// sizeArithmetic are the operations of two numbers; ok is false where there is no result.
var sizeArithmetic = map[string]func(x, y int64) (v int64, ok bool){
	"shape.add":        func(x, y int64) (int64, bool) { return x + y, true },
	"shape.mul":        func(x, y int64) (int64, bool) { return x * y, true },
	"shape.div":        floorDivide,
	"shape.max":        func(x, y int64) (int64, bool) { return max(x, y), true },
	"shape.min":        func(x, y int64) (int64, bool) { return min(x, y), true },
	"arith.addi":       func(x, y int64) (int64, bool) { return x + y, true },
	"arith.subi":       func(x, y int64) (int64, bool) { return x - y, true },
	"arith.muli":       func(x, y int64) (int64, bool) { return x * y, true },
	"arith.divsi":      func(x, y int64) (int64, bool) { return divide(x, y) },
	"arith.divui":      unsigned(divide),
	"arith.ceildivsi":  ceilDivide,
	"arith.ceildivui":  unsigned(ceilDivide),
	"arith.floordivsi": floorDivide,
	"arith.remsi":      remainder,
	"arith.remui":      unsigned(remainder),
	"arith.maxsi":      func(x, y int64) (int64, bool) { return max(x, y), true },
	"arith.maxui":      unsigned(func(x, y int64) (int64, bool) { return max(x, y), true }),
	"arith.minsi":      func(x, y int64) (int64, bool) { return min(x, y), true },
	"arith.minui":      unsigned(func(x, y int64) (int64, bool) { return min(x, y), true }),
	"arith.andi":       func(x, y int64) (int64, bool) { return x & y, true },
	"arith.ori":        func(x, y int64) (int64, bool) { return x | y, true },
	"arith.xori":       func(x, y int64) (int64, bool) { return x ^ y, true },
}

func divide(x, y int64) (int64, bool) {
	if y == 0 {
		return 0, false
	}
	return x / y, true
}

func remainder(x, y int64) (int64, bool) {
	if y == 0 {
		return 0, false
	}
	return x % y, true
}

func floorDivide(x, y int64) (int64, bool) {
	q, ok := divide(x, y)
	if ok && x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q, ok
}

func ceilDivide(x, y int64) (int64, bool) {
	q, ok := divide(x, y)
	if ok && x%y != 0 && (x < 0) == (y < 0) {
		q++
	}
	return q, ok
}

// unsigned is an operation of numbers that are not negative: as a size never is, one that is has no result here.
func unsigned(f func(x, y int64) (int64, bool)) func(x, y int64) (int64, bool) {
	return func(x, y int64) (int64, bool) {
		if x < 0 || y < 0 {
			return 0, false
		}
		return f(x, y)
	}
}

// pairs computes each element.
func (s *sizes) pairs(f func(x, y int64) (int64, bool)) [][]int64 {
	x, y := s.list(0), s.list(1)
	if len(x) != len(y) {
		s.b.fail(s.op, "'%s' of %s and %s", s.op.Name, sizeList(x), sizeList(y))
	}
	out := make([]int64, len(x))
	for i := range x {
		v, ok := f(x[i], y[i])
		if !ok {
			s.b.fail(s.op, "'%s' of %d and %d has no result", s.op.Name, x[i], y[i])
		}
		out[i] = v
	}
	return one(out)
}

// predicates are those of arith.cmpi, in the order of their numbers.
var predicates = []struct {
	name     string
	unsigned bool
	holds    func(x, y int64) bool
}{
	{"eq", false, func(x, y int64) bool { return x == y }},
	{"ne", false, func(x, y int64) bool { return x != y }},
	{"slt", false, func(x, y int64) bool { return x < y }},
	{"sle", false, func(x, y int64) bool { return x <= y }},
	{"sgt", false, func(x, y int64) bool { return x > y }},
	{"sge", false, func(x, y int64) bool { return x >= y }},
	{"ult", true, func(x, y int64) bool { return x < y }},
	{"ule", true, func(x, y int64) bool { return x <= y }},
	{"ugt", true, func(x, y int64) bool { return x > y }},
	{"uge", true, func(x, y int64) bool { return x >= y }},
}

// compare is arith.cmpi, whose predicate is a word, or a number in the generic form.
func (s *sizes) compare() [][]int64 {
	for i := range predicates {
		p := &predicates[i]
		n, isInt := s.op.Attrs.Get("predicate").(mlir.Int)
		if stringOf(s.op.Attrs.Get("predicate")) != p.name && !(isInt && n.Value == int64(i)) {
			continue
		}
		return s.pairs(func(x, y int64) (int64, bool) {
			if p.unsigned && (x < 0 || y < 0) {
				return 0, false
			}
			if p.holds(x, y) {
				return 1, true
			}
			return 0, true
		})
	}
	s.b.fail(s.op, "'%s' with an unknown predicate", s.op.Name)
	return nil
}

// choose is arith.select.
func (s *sizes) choose() [][]int64 {
	p, x, y := s.list(0), s.list(1), s.list(2)
	if len(x) != len(y) || len(p) != 1 && len(p) != len(x) {
		s.b.fail(s.op, "'%s' of %s, %s and %s", s.op.Name, sizeList(p), sizeList(x), sizeList(y))
	}
	out := make([]int64, len(x))
	for i := range out {
		if out[i] = y[i]; p[min(i, len(p)-1)] != 0 {
			out[i] = x[i]
		}
	}
	return one(out)
}

// widenUnsigned is a list whose elements are not signed.
func (s *sizes) widenUnsigned() [][]int64 {
	list := append([]int64{}, s.list(0)...)
	bits := s.op.Operands[0].Type.Elem.Bits()
	if s.op.Operands[0].Type.Elem == hlo.PRED {
		bits = 1
	}
	for i := range list {
		if bits < 64 {
			list[i] &= 1<<bits - 1
		} else if list[i] < 0 {
			s.b.fail(s.op, "'%s' of %d", s.op.Name, list[i])
		}
	}
	return one(list)
}
