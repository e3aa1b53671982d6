package main

import (
	"math"
)

// quotients are divisions of integers, by way of floats with more bits than they have.
func quotients() (all []kernel) {
	for _, sign := range []string{"s", "u"} {
		signed := sign == "s"
		extend := map[bool]string{true: "SX", false: "ZX"}[signed]
		for typ, size := range pairs("8", 1, "16", 2, "32", 4, "64", 8) {
			add := func(name, doc string, body func(m *machine, x, y vector) vector) {
				k := elementwise(name+"."+sign+typ, doc, max(4, size), 2, func(m *machine, in []vector) vector { return body(m, in[0], in[1]) })
				k.unroll, k.wideOnly = 1, size == 8 || size == 4 && !signed
				if size < 4 {
					k.in, k.out, k.unroll = []form{extended(size, extend), extended(size, extend)}, truncated(size), 2
				}
				all = append(all, k)
			}
			add("divide", "sets d to a / b without its fraction, and all bits of it where b is 0.", func(m *machine, x, y vector) vector {
				q := m.quotientOf(size, x, y, signed)
				if !signed && size >= 4 { // to which infinity and NaN are converted so
					return q
				}
				return m.choose(m.compareIntegers(0, false, y, m.zero()), m.copyOf(m.pattern(math.MaxUint64>>(64-8*m.lane))), q)
			})
			add("remainder", "sets d to the rest of a / b, with the sign of a, and to a where b is 0.", func(m *machine, x, y vector) vector {
				q := m.quotientOf(size, x, y, signed)
				if size < 4 { // of which only the lower half of each lane counts
					return m.integer3("SUB", x, m.as(2).integer3("MULL", q, y))
				}
				return m.integer3("SUB", x, m.integer3("MULL", q, y))
			})
		}
	}
	return all
}

// quotientOf is x / y without its fraction, for integers of a size; where y is 0 it is not that, but any number.
func (m *machine) quotientOf(size int, x, y vector, signed bool) vector {
	switch {
	case size < 4:
		return m.narrowQuotient(size, x, y)
	case size == 4:
		return m.quotient(x, y, signed)
	case !signed:
		return m.longQuotient(x, y)
	}
	// Magnitudes are divided. The signs are one if they differ.
	q := m.longQuotient(m.integerAbs(x), m.integerAbs(y))
	sign := m.shift("SRA", m.bits("XOR", x, y), 63)
	return m.integer3("SUB", m.bits("XOR", q, sign), sign)
}

func (m *machine) integerAbs(x vector) vector {
	d := m.vector()
	m.op("VPABS"+m.integerSuffix(), x, d)
	return d
}

// narrowQuotient is of 8 or 16 bits in lanes of 32: the product of x and a reciprocal of y that is too large by less than a part in 2^10 for 8 bits, and in 2^18 for
// 16. So a whole quotient is not below itself, and any other, which is at least 1/y away from the next whole number, does not reach that.
func (m *machine) narrowQuotient(size int, x, y vector) vector {
	divisor := m.toFloat(y)
	estimate := m.vector() // wrong by less than a part in 2^11.4
	if m.wide {
		m.op("VRCP14PS", divisor, estimate)
	} else {
		m.op("VRCPPS", divisor, estimate)
	}
	more := 1 + 0x1p-11
	if size == 2 {
		estimate = m.fma(m.fnma(divisor, estimate, m.constant(1)), estimate, estimate)
		more = 1 + 0x1p-20
	}
	d := m.vector()
	m.op("VCVTTPS2DQ", m.mul(m.toFloat(x), m.mul(estimate, m.constant(more))), d)
	return d
}

// longQuotient is of unsigned numbers of 64 bits. The product of x and a reciprocal of y that is too small by a part in 2^49 is a quotient that is never too large;
// the same of what is left gives what was lacking but for 1 at most.
func (m *machine) longQuotient(x, y vector) vector {
	double := func(x vector) vector {
		d := m.vector()
		m.op("VCVTUQQ2PD", x, d)
		return d
	}
	whole := func(x vector) vector {
		d := m.vector()
		m.op("VCVTTPD2UQQ", x, d)
		return d
	}
	inverse := m.div(m.copyOf(m.constant(1-0x1p-49)), double(y))
	q := whole(m.mul(double(x), inverse))
	rest := m.integer3("SUB", x, m.integer3("MULL", q, y))
	lacking := whole(m.mul(double(rest), inverse))
	rest = m.integer3("SUB", rest, m.integer3("MULL", lacking, y))
	one := m.choose(m.compareIntegers(1, true, rest, y), m.zero(), m.copyOf(m.pattern(1)))
	return m.integer3("ADD", m.integer3("ADD", q, lacking), one)
}

// quotient is x / y in lanes of 32 bits, without its fraction; where y is 0 it is whatever the processor converts infinity and NaN to. It is made in f64: of the biased product
// x·((1+2^-40)/y) nothing is left but the exact quotient when it is cut off. A whole quotient is below it by less than 2^-7, and another at least 1/y away from the next whole
// number; so the reciprocal of a y that stays is computed in front of a loop.
func (m *machine) quotient(x, y vector, signed bool) vector {
	typ := "UDQ"
	if signed {
		typ = "DQ"
	}
	dividends, divisors, wide := m.doubles(x, typ), m.doubles(y, typ), m.as(8)
	var q [2]vector
	for i := range q {
		q[i] = wide.mul(dividends[i], wide.div(wide.copyOf(wide.constant(1+0x1p-40)), divisors[i]))
	}
	return m.joined(q[0], q[1], "VCVTTPD2"+typ)
}
