package gemm

// Vector is the loops of products of a matrix and a vector, which read the matrix once, where it is.
type Vector[T Number] struct {
	// Inner sets y to the inner products of x with as many rows of a as y has elements, stride apart.
	Inner func(x, a []T, stride int, y []T)
	// Combine adds len(x) rows of a, stride apart and as long as y, times the elements of x, to y.
	Combine func(x, a []T, stride int, y []T)
}

// VectorFor is the best loops for T on this processor.
func VectorFor[T Number]() Vector[T] {
	v := Vector[T]{inner[T], combine[T]}
	vectorLoops(&v)
	return v
}

func inner[T Number](x, a []T, stride int, y []T) {
	for r := range y {
		y[r] = innerProduct(x, a[r*stride:])
	}
}

// innerProduct sums in eight chains, which the processor follows at once.
func innerProduct[T Number](x, y []T) T {
	var s0, s1, s2, s3, s4, s5, s6, s7 T
	y = y[:len(x)]
	for len(x) >= 8 && len(y) >= 8 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		x, y = x[8:], y[8:]
	}
	for i, v := range x {
		s0 += v * y[i]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

// combine takes four rows at a time.
func combine[T Number](x, a []T, stride int, y []T) {
	for len(x) >= 4 {
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		m0, m1 := a[:len(y)], a[stride:][:len(y)]
		m2, m3 := a[2*stride:][:len(y)], a[3*stride:][:len(y)]
		for i := range y {
			y[i] += (x0*m0[i] + x1*m1[i]) + (x2*m2[i] + x3*m3[i])
		}
		if x = x[4:]; len(x) > 0 {
			a = a[4*stride:]
		}
	}
	for k, v := range x {
		row := a[k*stride:][:len(y)]
		for i := range y {
			y[i] += v * row[i]
		}
	}
}
