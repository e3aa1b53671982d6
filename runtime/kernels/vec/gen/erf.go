package main

// errorRange is a range of magnitudes for which a quotient of polynomials gives the error function of f64, from a magnitude on.
type errorRange struct {
	from                   float64
	numerator, denominator []float64 // the highest coefficient first
}

// errorRanges are widely used, by Ng of Sun Microsystems: (erf(x) - x)/x in x², erf(x) - erfNearOne in x - 1, and twice log(x·erfc(x)) + x² + 0.5625 in 1/x².
var errorRanges = []errorRange{
	{0, []float64{-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02, -3.25042107247001499370e-01, 1.28379167095512558561e-01}, []float64{-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03, 6.50222499887672944485e-02, 3.97917223959155352819e-01, 1}},
	{0.84375, []float64{-2.16637559486879084300e-03, 3.54783043256182359371e-02, -1.10894694282396677476e-01, 3.18346619901161753674e-01, -3.72207876035701323847e-01, 4.14856118683748331666e-01, -2.36211856075265944077e-03}, []float64{1.19844998467991074170e-02, 1.36370839120290507362e-02, 1.26171219808761642112e-01, 7.18286544141962662868e-02, 5.40397917702171048937e-01, 1.06420880400844228286e-01, 1}},
	{1.25, []float64{-9.81432934416914548592e+00, -8.12874355063065934246e+01, -1.84605092906711035994e+02, -1.62396669462573470355e+02, -6.23753324503260060396e+01, -1.05586262253232909814e+01, -6.93858572707181764372e-01, -9.86494403484714822705e-03}, []float64{-6.04244152148580987438e-02, 6.57024977031928170135e+00, 1.08635005541779435134e+02, 4.29008140027567833386e+02, 6.45387271733267880336e+02, 4.34565877475229228821e+02, 1.37657754143519042600e+02, 1.96512716674392571292e+01, 1}},
	{1 / 0.35, []float64{-4.83519191608651397019e+02, -1.02509513161107724954e+03, -6.37566443368389627722e+02, -1.60636384855821916062e+02, -1.77579549177547519889e+01, -7.99283237680523006574e-01, -9.86494292470009928597e-03}, []float64{-2.24409524465858183362e+01, 4.74528541206955367215e+02, 2.55305040643316442583e+03, 3.19985821950859553908e+03, 1.53672958608443695994e+03, 3.25792512996573918826e+02, 3.03380607434824582924e+01, 1}},
}

const (
	erfNearOne = 8.45062911510467529297e-01
	erfIsOne   = 6 // from here on
)

// erfDouble evaluates the polynomials of all ranges, and divides those of the range in which a number is.
func (m *machine) erfDouble(x vector) vector {
	a := m.min(m.copyOf(m.constant(erfIsOne)), m.abs(x)) // NaN stays
	one := m.copyOf(m.constant(1))
	square := m.mul(a, a)
	inverse := m.div(one, square)
	var numerator, denominator vector
	for i, z := range []vector{square, m.sub(a, one), inverse, inverse} {
		r := &errorRanges[i]
		p, q := m.horner(z, r.numerator...), m.horner(z, r.denominator...)
		if i > 0 {
			below := m.compare(isLess, a, m.constant(r.from))
			p, q = m.choose(below, numerator, p), m.choose(below, denominator, q)
		}
		numerator, denominator = p, q
	}
	y := m.div(numerator, denominator)
	far := m.div(m.exp(m.sub(y, m.add(square, m.constant(0.5625)))), a)
	one = m.copyOf(m.constant(1)) // again: AVX2 has no register to spare for it in exp
	far = m.sub(one, far)
	r := m.choose(m.compare(isLess, a, m.constant(errorRanges[2].from)), m.add(y, m.constant(erfNearOne)), far)
	r = m.choose(m.compare(isLess, a, m.constant(errorRanges[1].from)), m.fma(a, y, a), r)
	r = m.choose(m.compare(isLess, a, m.constant(erfIsOne)), r, one)
	return m.withNaNOf(x, m.withSign(r, x))
}
