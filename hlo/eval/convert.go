package eval

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gohalo/halo/hlo"
)

// convertOp changes the element type by value.
func convertOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	return convertLanes(types[0], in.Shape().Type())
}

func convertLanes(from, to hlo.PrimitiveType) (laneOp, error) {
	switch cf, ct := classOf(from), classOf(to); {
	case cf == integers && ct == integers:
		return func(d, a, _, _ *lanes) {
			copy(d.i, a.i)
			if from != to {
				wrapInts(d.i, to)
			}
		}, nil
	case cf == integers && ct == floats:
		return func(d, a, _, _ *lanes) { intsToFloats(d.f, a.i, from, to) }, nil
	case cf == integers && ct == complexes:
		return func(d, a, _, _ *lanes) {
			re := make([]float64, len(a.i))
			intsToFloats(re, a.i, from, to.ComponentType())
			for k, x := range re {
				d.z[k] = complex(x, 0)
			}
		}, nil
	case cf == floats && to == hlo.PRED:
		return func(d, a, _, _ *lanes) {
			for k, x := range a.f {
				d.i[k] = fromBool(x != 0)
			}
		}, nil
	case cf == floats && ct == integers:
		return func(d, a, _, _ *lanes) { floatsToInts(d.i, a.f, to) }, nil
	case cf == floats && ct == floats:
		return func(d, a, _, _ *lanes) {
			copy(d.f, a.f)
			if from != to {
				roundFloats(d.f, to)
			}
		}, nil
	case cf == floats && ct == complexes:
		return func(d, a, _, _ *lanes) {
			for k, x := range a.f {
				d.z[k] = complex(roundTo(to.ComponentType(), x), 0)
			}
		}, nil
	case cf == complexes && ct == complexes:
		return func(d, a, _, _ *lanes) {
			copy(d.z, a.z)
			roundComplex(d.z, to)
		}, nil
	case cf == complexes && to == hlo.PRED:
		return func(d, a, _, _ *lanes) {
			for k, z := range a.z {
				d.i[k] = fromBool(z != 0)
			}
		}, nil
	case cf == complexes: // the real part
		convert, err := convertLanes(from.ComponentType(), to)
		if err != nil {
			return nil, err
		}
		return func(d, a, b, c *lanes) {
			re := lanes{f: make([]float64, len(a.z))}
			for k, z := range a.z {
				re.f[k] = real(z)
			}
			convert(d, &re, b, c)
		}, nil
	}
	return nil, fmt.Errorf("%v cannot be converted to %v", from, to)
}

// intsToFloats rounds to nearest; types narrower than f32 are reached by way of f32.
func intsToFloats(dst []float64, src []int64, from, to hlo.PrimitiveType) {
	switch {
	case to == hlo.F64 && from == hlo.U64:
		for k, x := range src {
			dst[k] = float64(uint64(x))
		}
	case to == hlo.F64:
		for k, x := range src {
			dst[k] = float64(x)
		}
	case from == hlo.U64:
		for k, x := range src {
			dst[k] = float64(float32(uint64(x)))
		}
	default:
		for k, x := range src {
			dst[k] = float64(float32(x))
		}
	}
	if to != hlo.F64 && to != hlo.F32 {
		roundFloats(dst, to)
	}
}

// intRange is the smallest and largest value of an integer type, as extended 64-bit numbers.
func intRange(t hlo.PrimitiveType) (lo, hi int64) {
	w := t.Bits()
	if t.IsSigned() {
		return math.MinInt64 >> (64 - w), math.MaxInt64 >> (64 - w)
	}
	return 0, int64(^uint64(0) >> (64 - w))
}

// floatsToInts truncates toward zero and saturates; NaN gives 0.
func floatsToInts(dst []int64, src []float64, t hlo.PrimitiveType) {
	lo, hi := intRange(t)
	if t == hlo.U64 {
		for k, x := range src {
			switch {
			case !(x > 0):
				dst[k] = 0
			case x >= 1<<64:
				dst[k] = -1
			default:
				dst[k] = int64(uint64(x))
			}
		}
		return
	}
	for k, x := range src {
		switch {
		case x != x:
			dst[k] = 0
		case x >= float64(hi):
			dst[k] = hi
		case x <= float64(lo):
			dst[k] = lo
		default:
			dst[k] = int64(x)
		}
	}
}

// copyOrConvert is copy: the operand itself, but for mixed precision.
func copyOrConvert(c *Call) (*hlo.Literal, error) {
	if s := c.In.Shape(); s.IsArray() && c.Args[0].Shape().Type() != s.Type() {
		return elementwise(c)
	}
	return c.Args[0], nil
}

// bitcastConvertOp reinterprets the bits of one element as another of the same width.
func bitcastConvertOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	from, to := types[0], in.Shape().Type()
	if from.ByteSize() != to.ByteSize() || from.Bits() != to.Bits() && from != hlo.PRED && to != hlo.PRED {
		return nil, fmt.Errorf("bitcast-convert of %v to %v changes the number of elements", from, to)
	}
	w := from.ByteSize()
	var b []byte
	return func(d, a, _, _ *lanes) {
		n := max(len(a.f), len(a.i), len(a.z))
		if cap(b) < n*w {
			b = make([]byte, n*w)
		}
		b = b[:n*w]
		a.store(from, b)
		d.load(to, b)
	}, nil
}

// bitcastConvert reinterprets bits; a minor dimension comes or goes when the widths differ, least significant part first.
func bitcastConvert(c *Call) (*hlo.Literal, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	from, to := c.Args[0].Shape().Type(), s.Type()
	src := c.Args[0].Bytes()
	out := append(make([]byte, 0, s.ByteSize()), src...)
	bf, bt := storageBits(from), storageBits(to)
	if bf < 8 || bt < 8 {
		out = repack(src, bf, bt, int(s.NumElements()), to)
	} else if to == hlo.PRED {
		for i, b := range out {
			out[i] = min(b, 1)
		}
	}
	return hlo.NewLiteral(s, out)
}

// storageBits is the width in which bitcast-convert sees an element: pred is a byte.
func storageBits(t hlo.PrimitiveType) int {
	if t == hlo.PRED {
		return 8
	}
	return t.Bits()
}

// repack cuts the concatenated bits of elements of width bf into n elements of width bt, each in whole bytes and extended.
func repack(src []byte, bf, bt, n int, to hlo.PrimitiveType) []byte {
	wf, wt := (bf+7)/8, (bt+7)/8
	bit := func(i int) byte { // of the concatenation
		e, k := i/bf, i%bf
		return src[e*wf+k/8] >> (k % 8) & 1
	}
	out := make([]byte, n*wt)
	total := len(src) / max(wf, 1) * bf
	for i := range n {
		for k := range bt {
			if at := i*bt + k; at < total {
				out[i*wt+k/8] |= bit(at) << (k % 8)
			}
		}
		if to.IsSigned() && bt < 8 {
			out[i] = byte(wrap(to, int64(out[i])))
		}
	}
	return out
}

// stochasticConvertOp rounds to an integer, away from zero when the fraction exceeds the random number.
func stochasticConvertOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	to := in.Shape().Type()
	if classOf(types[0]) != floats || !types[1].IsUnsigned() || !to.IsSigned() {
		return nil, fmt.Errorf("stochastic-convert of %v and %v to %v is not defined", types[0], types[1], to)
	}
	w := types[1].Bits()
	lo, hi := intRange(to)
	return func(d, a, b, _ *lanes) {
		for k, x := range a.f {
			switch {
			case x != x:
				d.i[k] = 0
				continue
			case x >= float64(hi):
				d.i[k] = hi
				continue
			case x <= float64(lo):
				d.i[k] = lo
				continue
			}
			whole, fraction := math.Modf(math.Abs(x))
			v := int64(whole)
			if uint64(b.i[k]) < scaleFraction(fraction, w) {
				v++
			}
			if x < 0 {
				v = -v
			}
			d.i[k] = v
		}
		wrapInts(d.i, to)
	}, nil
}

// scaleFraction is floor(f * 2^w) for 0 <= f < 1.
func scaleFraction(f float64, w int) uint64 {
	if f == 0 {
		return 0
	}
	mantissa, exp := math.Frexp(f) // f = mantissa * 2^exp, exp <= 0
	m := uint64(math.Ldexp(mantissa, 53))
	shift := w + exp - 53
	if shift >= 0 {
		return m << min(shift, bits.LeadingZeros64(m))
	}
	return m >> min(-shift, 63)
}
