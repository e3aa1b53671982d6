package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// compareNarrow compares 16-bit and 8-bit floats that have -0 in the total order, by their codes: a NaN's place depends on its bits.
func compareNarrow(s *site) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.CompareAttrs](s.in)
	t := s.shape(0).Type()
	if a.Type != hlo.CompareTotalOrder || s.shape(1).Type() != t {
		return runtime.Bound{}, false
	}
	n := int(s.in.Shape().NumElements())
	switch t {
	case hlo.F16, hlo.BF16:
		loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
			x, y := elems[int16](f.In(0).Data), elems[int16](f.In(1).Data)
			out := elems[bool](f.Out(0).Data)
			for i := lo; i < hi; i++ {
				p, q := x[i], y[i]
				out[i] = satisfies(a.Direction, int(p^p>>15&0x7fff)-int(q^q>>15&0x7fff))
			}
		})
		return loop.bound(n, 1<<14), true
	case hlo.F8E5M2, hlo.F8E4M3, hlo.F8E3M4, hlo.F8E4M3FN:
		loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
			x, y := elems[int8](f.In(0).Data), elems[int8](f.In(1).Data)
			out := elems[bool](f.Out(0).Data)
			for i := lo; i < hi; i++ {
				p, q := x[i], y[i]
				out[i] = satisfies(a.Direction, int(p^p>>7&0x7f)-int(q^q>>7&0x7f))
			}
		})
		return loop.bound(n, 1<<14), true
	}
	return runtime.Bound{}, false
}

// satisfies reports whether a difference left minus right fits a direction.
func satisfies(d hlo.Direction, diff int) bool {
	switch d {
	case hlo.EQ:
		return diff == 0
	case hlo.NE:
		return diff != 0
	case hlo.LT:
		return diff < 0
	case hlo.LE:
		return diff <= 0
	case hlo.GT:
		return diff > 0
	}
	return diff >= 0
}
