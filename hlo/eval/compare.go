package eval

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
)

// compareOp compares two operands of one class, giving pred.
func compareOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	a := hlo.AttrsOf[hlo.CompareAttrs](in)
	t := types[0]
	if classOf(t) != classOf(types[1]) || in.Shape().Type() != hlo.PRED {
		return nil, fmt.Errorf("comparison of %v with %v", t, types[1])
	}
	if a.Type == hlo.CompareDefault {
		a.Type = hlo.DefaultCompareType(t)
	}
	switch classOf(t) {
	case complexes:
		switch a.Direction {
		case hlo.EQ:
			return func(d, x, y, _ *lanes) {
				for k, v := range x.z {
					d.i[k] = fromBool(v == y.z[k])
				}
			}, nil
		case hlo.NE:
			return func(d, x, y, _ *lanes) {
				for k, v := range x.z {
					d.i[k] = fromBool(v != y.z[k])
				}
			}, nil
		}
		return nil, fmt.Errorf("complex numbers have no order")
	case floats:
		if a.Type == hlo.CompareTotalOrder {
			return compareTotalOrder(t, a.Direction)
		}
		return compareLanes(a.Direction, func(l *lanes) []float64 { return l.f })
	}
	if t == hlo.U64 || a.Type == hlo.CompareUnsigned && t.IsSigned() {
		return compareUnsigned(a.Direction)
	}
	return compareLanes(a.Direction, intLanes)
}

// orderOf says of a direction whether the left side has to be less, and whether equality satisfies it.
func orderOf(dir hlo.Direction) (less, equal bool) {
	return dir == hlo.LT || dir == hlo.LE, dir == hlo.EQ || dir == hlo.LE || dir == hlo.GE
}

func intLanes(l *lanes) []int64 { return l.i }

// compareLanes compares the numbers that of finds in lanes.
func compareLanes[T int64 | float64](dir hlo.Direction, of func(*lanes) []T) (laneOp, error) {
	less, equal := orderOf(dir)
	switch dir {
	case hlo.EQ, hlo.NE:
		return func(d, x, y, _ *lanes) {
			q := of(y)
			for k, v := range of(x) {
				d.i[k] = fromBool((v == q[k]) == equal)
			}
		}, nil
	case hlo.LT, hlo.LE, hlo.GT, hlo.GE:
		return func(d, x, y, _ *lanes) {
			p, q := of(x), of(y)
			if !less {
				p, q = q, p
			}
			if equal {
				for k, v := range p {
					d.i[k] = fromBool(v <= q[k])
				}
				return
			}
			for k, v := range p {
				d.i[k] = fromBool(v < q[k])
			}
		}, nil
	}
	return nil, fmt.Errorf("no direction")
}

func compareUnsigned(dir hlo.Direction) (laneOp, error) {
	return onKeys(dir, func(dst []int64, l *lanes) {
		for k, v := range l.i {
			dst[k] = v ^ math.MinInt64
		}
	})
}

// compareTotalOrder compares -NaN < -inf < … < -0 < +0 < … < inf < NaN. The only NaN of a type without -0 comes first.
func compareTotalOrder(t hlo.PrimitiveType, dir hlo.Direction) (laneOp, error) {
	first := nanFirst(t)
	return onKeys(dir, func(dst []int64, l *lanes) { totalOrderKeys(dst, l, first) })
}

// nanFirst reports whether t has a single NaN, which sorts below everything.
func nanFirst(t hlo.PrimitiveType) bool {
	f, ok := formats[t]
	if !ok {
		return false
	}
	info := f.Info()
	return info.HasSign && !info.HasNegativeZero
}

func totalOrderKeys(dst []int64, l *lanes, nanFirst bool) {
	for k, v := range l.f {
		dst[k] = totalOrderKey(v)
		if nanFirst && v != v {
			dst[k] = math.MinInt64
		}
	}
}

// totalOrderKey maps float64 to integers in the total order.
func totalOrderKey(x float64) int64 {
	k := int64(math.Float64bits(x))
	if k < 0 {
		k ^= math.MaxInt64
	}
	return k
}

// onKeys compares integers that stand for the operands.
func onKeys(dir hlo.Direction, keys func(dst []int64, l *lanes)) (laneOp, error) {
	cmp, err := compareLanes(dir, intLanes)
	var x, y []int64
	return func(d, a, b, _ *lanes) {
		if n := len(d.i); cap(x) < n {
			x, y = make([]int64, n), make([]int64, n)
		}
		x, y = x[:len(d.i)], y[:len(d.i)]
		keys(x, a)
		keys(y, b)
		cmp(d, &lanes{i: x}, &lanes{i: y}, nil)
	}, err
}
