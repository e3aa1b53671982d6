package main

import "github.com/mmcloughlin/avo/operand"

// onParts are ops on complex numbers of f32 whose parts are operands of their own: all real parts of one operand, then all imaginary ones. They
// compute what the loops over complex numbers do (see [complexes]), in f64, by the same instructions.
func onParts() []kernel {
	part := elements(4)
	recipe := func(key string, arity int, body func(m *machine, x [][2]vector, half int) vector) kernel {
		k := kernel{key: key, lane: 4, out: part, recipe: true, body: func(m *machine, in []vector) vector {
			double, wide := m.as(8), make([][2]vector, len(in))
			for i := range in {
				wide[i] = m.doubles(in[i], "PS")
			}
			return m.joined(body(double, wide, 0), body(double, wide, 1), "VCVTPD2PS")
		}}
		for range arity {
			k.in = append(k.in, part)
		}
		return k
	}
	return []kernel{
		recipe("real-multiply.c64", 4, func(m *machine, x [][2]vector, half int) vector {
			a, b, c, d := x[0][half], x[1][half], x[2][half], x[3][half]
			return m.fms(a, c, m.mul(b, d))
		}),
		recipe("imaginary-multiply.c64", 4, func(m *machine, x [][2]vector, half int) vector {
			a, b, c, d := x[0][half], x[1][half], x[2][half], x[3][half]
			return m.fma(a, d, m.mul(b, c))
		}),
		recipe("real-abs.c64", 2, func(m *machine, x [][2]vector, half int) vector { return m.magnitude(x[0][half], x[1][half]) }),
	}
}

// doubles are lanes of 32 bits as f64: those of the lower half, and of the upper. They are of type PS, DQ or UDQ, as instructions say.
func (m *machine) doubles(x vector, typ string) [2]vector {
	low, high, convert := m.vector(), m.vector(), "VCVT"+typ+"2PD"
	if m.wide {
		half := m.YMM()
		m.VEXTRACTF64X4(operand.U8(1), x, half)
		m.op(convert, x.AsY(), low)
		m.op(convert, half, high)
	} else {
		half := m.XMM()
		m.VEXTRACTI128(operand.U8(1), x, half)
		m.op(convert, x.AsX(), low)
		m.op(convert, half, high)
	}
	return [2]vector{low, high}
}

// joined are lanes of f64 as 32 bits, by the instruction convert: those of low, and behind them those of high.
func (m *machine) joined(low, high vector, convert string) vector {
	d := m.vector()
	if m.wide {
		x, y := m.YMM(), m.YMM()
		m.op(convert, low, x)
		m.op(convert, high, y)
		m.VINSERTF64X4(operand.U8(1), y, x.AsZ(), d)
	} else {
		x, y := m.XMM(), m.XMM()
		m.op(convert+"Y", low, x)
		m.op(convert+"Y", high, y)
		m.VINSERTI128(operand.U8(1), y, x.AsY(), d)
	}
	return d
}
