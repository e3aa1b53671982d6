package gemm

// LineStep is what the length of lines is a multiple of.
const LineStep = 32

// Lines is the loop of products of many small matrices: a line holds the same element of neighbouring matrices. It sets line c to the sum of k lines of a times as
// many of b, element by element, in their order; these are a step apart, and at least as long as c.
type Lines[T Number] func(k int, c, a []T, aStep int, b []T, bStep int)

// LinesFor is the best loop for T on this processor.
func LinesFor[T Number]() Lines[T] {
	if l := vectorLines[T](); l != nil {
		return l
	}
	return lines[T]
}

func lines[T Number](k int, c, a []T, aStep int, b []T, bStep int) {
	clear(c)
	for x := range k {
		ax, bx := a[x*aStep:][:len(c)], b[x*bStep:][:len(c)]
		for i := range c {
			c[i] += ax[i] * bx[i]
		}
	}
}
