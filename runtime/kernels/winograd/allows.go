package winograd

import (
	"math"
	"slices"
)

// Numbers allow the sixteen products where each window has an element of the magnitude of the largest one in its patch, or nearly so.
//
// An element of a patch's combinations is a sum of four of its elements, so at most 4·D if D is the largest of them; the magnitudes of a filter's combinations add up to at
// most 4·Σ|g|; and Aᵀ and A add what they are multiplied to without a factor. So with c input features and the unit roundoff u an element of the result, of features that are added one by one, is off by no more
// than about (c+10)·u·16·D·Σ|g|, where a direct convolution may be off by 9·c·u·W·Σ|g|, W being the largest element of its window. The two are of the same kind if D is
// not much larger than W; otherwise, where one element is a million and the next ones are one, the sums next to it would lose what they have.

const (
	// farFrom is by how many powers of two D may be larger than W.
	farFrom = 3
	// mostBits are those of the largest element and of the largest weight: the sums of products must not be infinite where those of a direct convolution are not.
	mostBits = (127 + 48) << exponent
	exponent = 23 // where it begins in the bits of a number
)

// Allows reports whether magnitudes allow sums of products of combinations for a row of patches. They are given by their bits, as [Largest] writes them, for four rows
// of elements, each of the largest feature; of the rows and columns of the result there are so many.
func Allows(magnitudes [4][]uint32, rows, columns int) bool {
	n := 2*((columns+1)/2) + 2
	a, b, c, d := magnitudes[0][:n], magnitudes[1][:n], magnitudes[2][:n], magnitudes[3][:n]
	for x := 0; x < columns; x += 2 {
		var above, below [4]uint32
		for j := range above {
			between := max(b[x+j], c[x+j])
			above[j], below[j] = max(a[x+j], between), max(between, d[x+j])
		}
		aboveMiddle, belowMiddle := max(above[1], above[2]), max(below[1], below[2])
		windows := [4]uint32{max(above[0], aboveMiddle), max(aboveMiddle, above[3]), max(below[0], belowMiddle), max(belowMiddle, below[3])}
		largest := max(windows[0], windows[1], windows[2], windows[3])
		if x+1 == columns {
			windows[1], windows[3] = largest, largest
		}
		if rows == 1 {
			windows[2], windows[3] = largest, largest
		}
		if largest > mostBits || largest > min(windows[0], windows[1], windows[2], windows[3])+farFrom<<exponent {
			return false
		}
	}
	return true
}

// AllowsFilter reports whether the largest weight of a filter, given by its bits, does.
func AllowsFilter(magnitude uint32) bool { return magnitude <= mostBits }

// Errors are what the rounding errors of the gradient of filters are multiples of, by the largest magnitudes of all positions: those of the combinations, and those of a
// direct computation, for each weight.
type Errors struct {
	combined float64
	direct   [9]float64
}

// Add adds those of an image, or of rows of patches of one: x has the bits of magnitudes that patches see, and h those of the gradients of their results, for so many
// rows and columns of patches.
func (e *Errors) Add(x, h []uint32, rows, columns int) {
	width := 2*columns + 2
	for y := range 2 * rows {
		line := h[y*2*columns:][:2*columns]
		for tap := range e.direct {
			e.direct[tap] += dot(x[(y+tap/3)*width+tap%3:], line)
		}
		if y%2 == 1 {
			continue
		}
		next := h[(y+1)*2*columns:][:2*columns]
		for j := 0; j < len(line); j += 2 {
			var largest uint32
			for i := range 4 {
				row := x[(y+i)*width+j:][:4]
				largest = max(largest, row[0], row[1], row[2], row[3])
			}
			e.combined += number(largest) * (number(line[j]) + number(line[j+1]) + number(next[j]) + number(next[j+1]))
		}
	}
}

// Join adds those of other images.
func (e *Errors) Join(o *Errors) {
	e.combined += o.combined
	for tap, d := range o.direct {
		e.direct[tap] += d
	}
}

// Allow reports whether numbers allow the combinations.
func (e *Errors) Allow() bool {
	return e.combined <= slices.Min(e.direct[:])*(1<<farFrom) && e.combined < mostCombined
}

// mostCombined bounds sums of products of combinations, which are up to sixteen times as large.
const mostCombined = 0x1p+120

func number(bits uint32) float64 { return float64(math.Float32frombits(bits)) }

func dot(x, y []uint32) (sum float64) {
	x = x[:len(y)]
	for i := range y {
		sum += number(x[i]) * number(y[i])
	}
	return sum
}
