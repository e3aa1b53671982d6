package arrays

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Ulps counts elements by how many representable values of their type they are away from what is wanted, -0 and +0 being one value and
// infinity the one beyond the largest finite. Complex numbers count by the part that is further away. The zero value has counted nothing.
type Ulps struct {
	// Steps[0] counts equal elements, Steps[k] those that are more than 2^(k-2) and at most 2^(k-1) values away.
	Steps [66]int
	// NaN counts elements of which one side alone is a NaN.
	NaN int
}

// UlpRange is one line of a histogram: Count elements are from From to To values away.
type UlpRange struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
	Count int    `json:"count"`
}

// Ranges lists what was counted, without empty lines.
func (u *Ulps) Ranges() (ranges []UlpRange) {
	for k, n := range u.Steps {
		if n == 0 {
			continue
		}
		r := UlpRange{Count: n}
		if k > 0 {
			r.From, r.To = 1, 1<<(k-1)
			if k > 1 {
				r.From = 1<<(k-2) + 1
			}
		}
		ranges = append(ranges, r)
	}
	return ranges
}

func (u *Ulps) String() string {
	var parts []string
	for _, r := range u.Ranges() {
		name := fmt.Sprint(r.From)
		if r.To != r.From {
			name = fmt.Sprintf("%d-%d", r.From, r.To)
		}
		parts = append(parts, fmt.Sprintf("%s: %d", name, r.Count))
	}
	if u.NaN > 0 {
		parts = append(parts, fmt.Sprintf("NaN: %d", u.NaN))
	}
	return strings.Join(parts, ", ")
}

// CountUlps compares two floating or complex arrays of one shape; of other types it counts nothing.
func CountUlps(got, want *hlo.Literal) (u Ulps) {
	t := got.Shape().Type()
	if !t.IsFloat() && !t.IsComplex() {
		return u
	}
	parts, part := 1, t
	if t.IsComplex() {
		parts, part = 2, t.ComponentType()
	}
	w := part.ByteSize()
	for i := range int(got.Shape().NumElements()) {
		far, nan := uint64(0), false
		for p := i * parts; p < (i+1)*parts; p++ {
			d, ok := ulpsApart(got.Bytes()[p*w:(p+1)*w], want.Bytes()[p*w:(p+1)*w], part)
			far, nan = max(far, d), nan || !ok
		}
		if nan {
			u.NaN++
			continue
		}
		step := 0
		if far > 0 {
			step = 1 + bits.Len64(far-1)
		}
		u.Steps[step]++
	}
	return u
}

// ulpsApart fails if one of two numbers is a NaN.
func ulpsApart(a, b []byte, t hlo.PrimitiveType) (uint64, bool) {
	x, y := real(element(a, t, 0)), real(element(b, t, 0))
	if math.IsNaN(x) || math.IsNaN(y) {
		return 0, math.IsNaN(x) && math.IsNaN(y)
	}
	if x == y {
		return 0, true
	}
	i, j := orderOf(a, t, x), orderOf(b, t, y)
	if i > j {
		i, j = j, i
	}
	return uint64(j) - uint64(i), true
}

// orderOf numbers the values of a type from the smallest to the largest, zero being 0.
func orderOf(b []byte, t hlo.PrimitiveType, x float64) int64 {
	var code uint64
	for k := range b {
		code |= uint64(b[k]) << (8 * k)
	}
	if bits := t.Bits(); x < 0 || math.Signbit(x) {
		return -int64(code &^ (1 << (bits - 1)))
	}
	return int64(code)
}

// FirstNaN is the flat index of the first element of an array that is a NaN, -1 if there is none.
func FirstNaN(l *hlo.Literal) int {
	t := l.Shape().Type()
	if !t.IsFloat() && !t.IsComplex() || l.IsElided() {
		return -1
	}
	for i := range int(l.Shape().NumElements()) {
		if anyNaN(element(l.Bytes(), t, i)) {
			return i
		}
	}
	return -1
}

// ElementText is flat element i as a number.
func ElementText(l *hlo.Literal, i int) string {
	return fmt.Sprint(Number(element(l.Bytes(), l.Shape().Type(), i)))
}
