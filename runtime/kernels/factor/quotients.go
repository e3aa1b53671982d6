package factor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack/gonum"
)

// Constants of the quotient-difference iteration: what is negligible beside 1 in squares, and a power of two whose square is in the middle of what numbers near 1 may be
// multiplied by without losses.
const (
	negligibleSquare = (100 * ulp) * (100 * ulp)
	squareScale      = 0x1p485
	mostSteps        = 100 // for each value
)

// quotients is a quotient-difference array: of each value q and e, each in two places, which steps write in turn. Places are 4k+pp and 4k+2+pp for pp of 0 and 1.
type quotients struct{ z []float64 }

// singular replaces d by the singular values of the bidiagonal matrix with diagonal d and e above it, whose largest element is near 1, in descending order. It reports false if
// the iteration comes to no end. This is LAPACK's dlasq1 and dlasq2, with gonum's steps: gonum's translation of these two allocates when it sorts.
//
//  1. The squares go into the array, turned round if they grow, and are split where they can be before the first shift.
//  2. The last block that is not split is found. The sum of its shifts is kept, negated, in the e that split it from what follows.
//  3. Steps with shifts find its values, from the end. Now and then it is split.
func (f *quotients) singular(d, e []float64) bool {
	n := len(d)
	var l gonum.Implementation
	switch n {
	case 1:
		d[0] = math.Abs(d[0])
		return true
	case 2:
		d[1], d[0] = l.Dlas2(d[0], e[0], d[1])
		return true
	}
	f.z = grown(f.z, 4*n)
	z := f.z[:4*n]
	clear(z)
	for k, x := range d {
		x *= squareScale
		z[4*k] = x * x
		if k < n-1 {
			x := e[k] * squareScale
			z[4*k+2] = x * x
		}
	}
	const turned = 1.5
	if turned*z[0] < z[4*n-4] {
		reverseQuotients(z)
	}
	splitQuotients(z, 0)
	splitQuotients(z, 1)
	if !findQuotients(z) {
		return false
	}
	for k := range d {
		d[k] = math.Sqrt(z[4*k]) / squareScale
	}
	slices.Sort(d)
	slices.Reverse(d)
	return true
}

// reverseQuotients turns a block round: q, and what is between them.
func reverseQuotients(z []float64) {
	for i, j := 0, len(z)-4; i < j; i, j = i+4, j-4 {
		z[i], z[j] = z[j], z[i]
		z[i+1], z[j+1] = z[j+1], z[i+1]
	}
	for i, j := 2, len(z)-6; i < j; i, j = i+4, j-4 {
		z[i], z[j] = z[j], z[i]
		z[i+1], z[j+1] = z[j+1], z[i+1]
	}
}

// splitQuotients makes negligible e zero by Li's tests from both ends, with a step without shift from the places pp to the others.
func splitQuotients(z []float64, pp int) {
	q, e := z[pp:], z[pp+2:]
	nextQ, nextE := z[1-pp:], z[3-pp:]
	last := len(z) - 4
	d := q[last]
	for k := last - 4; k >= 0; k -= 4 {
		if e[k] <= negligibleSquare*d {
			e[k], d = math.Copysign(0, -1), q[k]
			continue
		}
		d = q[k] * (d / (d + e[k]))
	}
	d = q[0]
	for k := 0; k < last; k += 4 {
		sum := d + e[k]
		nextQ[k] = sum
		switch {
		case e[k] <= negligibleSquare*d:
			e[k], nextQ[k], nextE[k], d = math.Copysign(0, -1), d, 0, q[k+4]
		case leastNormal*q[k+4] < sum && leastNormal*sum < q[k+4]:
			ratio := q[k+4] / sum
			nextE[k] = e[k] * ratio
			d *= ratio
		default:
			nextE[k] = q[k+4] * (e[k] / sum)
			d = q[k+4] * (d / sum)
		}
	}
	nextQ[last] = d
}

// quotientSteps is what LAPACK's dlasq3 keeps from one step to the next.
type quotientSteps struct {
	first, last, pp               int
	least, shifts, lost, most     float64 // the least d of the last step, or what its first shift shall be, negated; the sum of shifts, and what it is too large by
	fails, count, divisions, kind int
	least1, least2                float64
	d, d1, d2, g, tau             float64
}

// findQuotients replaces q by the eigenvalues of the array, in no order.
func findQuotients(z []float64) bool {
	n := len(z) / 4
	var l gonum.Implementation
	s := quotientSteps{last: n - 1, count: 2}
	for range n + 1 {
		if s.last < 0 {
			return true
		}
		s.lost, s.shifts = 0, 0
		if s.last != n-1 {
			s.shifts = -z[4*s.last+2]
		}
		if s.shifts < 0 {
			return false
		}
		s.block(z)
		for steps := mostSteps * (s.last - s.first + 1); s.first <= s.last; steps-- {
			if steps == 0 {
				return false
			}
			s.first, s.last, s.pp, s.least, s.shifts, s.lost, s.most, s.fails, s.count, s.divisions, s.kind, s.least1, s.least2, s.d, s.d1, s.d2, s.g, s.tau = l.Dlasq3(
				s.first, s.last, z, s.pp, s.least, s.shifts, s.lost, s.most, s.fails, s.count, s.divisions, s.kind, s.least1, s.least2, s.d, s.d1, s.d2, s.g, s.tau)
			s.pp = 1 - s.pp
			if s.pp == 0 && s.last-s.first >= 3 && (z[4*s.last+3] <= negligibleSquare*s.most || z[4*s.last+2] <= negligibleSquare*s.shifts) {
				s.split(z)
			}
		}
	}
	return false
}

// block finds where the block that ends in last begins, and the first shift: Gershgorin's bound, if q are much greater than e. It turns the block round if its values are small at
// the wrong end.
func (s *quotientSteps) block(z []float64) {
	leastQ, mostE := z[4*s.last], 0.0
	s.most = leastQ
	k := s.last
	for ; k > 0; k-- {
		q, e := z[4*k-4], z[4*k-2]
		if e <= 0 {
			break
		}
		if leastQ >= 4*mostE {
			leastQ, mostE = min(leastQ, z[4*k]), max(mostE, e)
		}
		s.most = max(s.most, q+e)
	}
	s.first, s.pp = k, 0
	if s.last-s.first > 1 {
		d := z[4*s.first]
		least, at := d, s.first
		for k := s.first + 1; k <= s.last; k++ {
			d = z[4*k] * (d / (d + z[4*k-2]))
			if d <= least {
				least, at = d, k
			}
		}
		if 2*(at-s.first) < s.last-at && least <= 0.5*z[4*s.last] {
			reverseQuotients(z[4*s.first : 4*s.last+4])
			s.pp = 2 // dlasq3 then looks for no values before it steps
		}
	}
	s.least = -max(0, leastQ-2*math.Sqrt(leastQ)*math.Sqrt(mostE))
}

// split looks for e that have become negligible, and goes on with what is behind the last of them. Behind the block it leaves the least e of both places.
func (s *quotientSteps) split(z []float64) {
	first := s.first
	s.most = z[4*first]
	least, before := z[4*first+2], z[4*first+3]
	for k := s.first; k <= s.last-3; k++ {
		if z[4*k+3] <= negligibleSquare*z[4*k] || z[4*k+2] <= negligibleSquare*s.shifts {
			z[4*k+2] = -s.shifts
			first = k + 1
			s.most, least, before = 0, z[4*k+6], z[4*k+7]
			continue
		}
		s.most, least, before = max(s.most, z[4*k+4]), min(least, z[4*k+2]), min(before, z[4*k+3])
	}
	z[4*s.last+2], z[4*s.last+3] = least, before
	s.first = first
}
