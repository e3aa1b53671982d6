package gemm

import (
	"encoding/binary"
	"unsafe"
)

// Quads is the best kernel for products of bytes, with or without a sign, whose sums have 32 bits. Four neighbours along the common dimension are one element of packed matrices, a
// quad. How many lines a panel has for so many quads depends on the kernel:
//
//   - VPDPBUSD multiplies bytes with a sign on the left and bytes without on the right. Other bytes are moved by 128 where they are packed, and each panel begins with a line of what that
//     adds to its rows or columns, to be taken off: sums begin with it.
//   - A kernel of pairs multiplies words of 16 bits: a quad becomes two lines of pairs, of its even and of its odd bytes.
type Quads struct {
	Kernel[int32]
	begins bool // panels begin with a line that sums begin with, else quads become pairs
}

// QuadsFor is the best kernel of quads on this processor.
func QuadsFor() Quads {
	q := Quads{Kernel: Pairs()}
	vectorQuads(&q)
	return q
}

// TakesBytes reports whether bytes are multiplied as they are, so that packing them costs little.
func (g *Quads) TakesBytes() bool { return g.begins }

// Lines is how many lines a panel of k quads has.
func (g *Quads) Lines(k int) int {
	if g.begins {
		return 1 + k
	}
	return 2 * k
}

// Step is how many quads are multiplied at a time: a panel then stays in the nearest cache.
func (g *Quads) Step() int {
	if g.begins {
		return KC
	}
	return KC / 2
}

// QuadSide is one side of a product of quads.
type QuadSide struct {
	bytes      Matrix  // whose elements are bytes
	quads      *Matrix // whose elements are quads, if they are these in memory, too
	isUnsigned bool
	signs      signs
}

// signs is what makes bytes those that a kernel which begins sums multiplies: bits that are flipped, and how sums begin. That is bytes times the sum of a panel's bytes, plus
// quads times their number.
type signs struct {
	flip, view    uint32 // view makes bytes those without a sign that are added up
	bytes, quads  int32
	nothingIsDone bool
}

// NewQuads returns both sides of a product, of matrices of bytes. Their rows and elements lie at multiples of four, or anywhere.
func NewQuads(left, right Matrix, leftIsUnsigned, rightIsUnsigned bool) (l, r QuadSide) {
	l = QuadSide{bytes: left, quads: left.inQuads(), isUnsigned: leftIsUnsigned, signs: signs{view: signBits}}
	r = QuadSide{bytes: right, quads: right.inQuads(), isUnsigned: rightIsUnsigned}
	// The kernel computes Σ a'b', of a' = a-128 where a has no sign, and of b' = b+128 where b has one:
	// Σ ab = Σ a'b' - 128 Σ a' [b has a sign] + 128 (Σ b' - 128·4k [b has a sign]) [a has no sign].
	if leftIsUnsigned {
		l.signs.flip = signBits
		r.signs.bytes = 128
	}
	if !rightIsUnsigned {
		r.signs.flip = signBits
		l.signs.bytes, l.signs.quads = -128, 128*128*4 // a' is 128 less than what is added up
		if leftIsUnsigned {
			r.signs.quads = -128 * 128 * 4
		}
	}
	for _, s := range []*signs{&l.signs, &r.signs} {
		s.nothingIsDone = s.flip == 0 && s.bytes == 0
	}
	return l, r
}

// NewRightOfPlaced returns the right side, of bytes with a sign, of a product whose left side is read where it is. There bytes have no sign, or are 128 more than what they stand for.
func NewRightOfPlaced(right Matrix, isMore bool) QuadSide {
	s := QuadSide{bytes: right, quads: right.inQuads(), signs: signs{view: signBits, nothingIsDone: !isMore}}
	if isMore {
		s.signs.bytes, s.signs.quads = -128, 128*128*4
	}
	return s
}

// signBits are those of the bytes of a quad: flipped, bytes with a sign become 128 more, without one.
const signBits = 0x80808080

// FlipSigns makes bytes with a sign 128 more, without one.
func FlipSigns(quads []int32) {
	const line = 32
	whole := len(quads) / line
	if whole > 0 {
		var sums [line]int32
		moveSigns(whole, quads, line, signBits, 0, sums[:])
	}
	for i, q := range quads[whole*line:] {
		quads[whole*line+i] = int32(uint32(q) ^ signBits)
	}
}

// OfQuads replaces the bytes of a side by a matrix of quads that its owner packs, see [Quads.Complete], or that are these in memory.
func (s *QuadSide) OfQuads(m Matrix) { s.bytes, s.quads = Matrix{}, &m }

// inQuads is the matrix of quads that m is in memory, nil if it is none.
func (m *Matrix) inQuads() *Matrix {
	if !m.linearKs || len(m.Ks)%4 != 0 || len(m.Ks) == 0 || m.Ks[0]%4 != 0 {
		return nil
	}
	rows, ks := make([]int, len(m.Rows)), make([]int, len(m.Ks)/4)
	for i, at := range m.Rows {
		if at%4 != 0 {
			return nil
		}
		rows[i] = at / 4
	}
	for i := range ks {
		ks[i] = m.Ks[4*i] / 4
	}
	q := NewMatrix(rows, ks)
	return &q
}

// Pack writes rows [i0, i1) over quads [k0, k1), of a matrix that begins at a byte of src, as panels of r rows, filled up with anything. dst has Padded(i1-i0, r)*Lines(k1-k0)
// elements.
func (g *Quads) Pack(s *QuadSide, dst []int32, src []byte, at, r, i0, i1, k0, k1 int) {
	k := k1 - k0
	panel := g.Lines(k) * r
	first := panel - k*r // of the quads
	switch {
	case s.quads != nil && at%4 == 0:
		words := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(src))), len(src)/4)[at/4:]
		for i := i0; i < i1; i += r {
			Pack(s.quads, dst[(i-i0)/r*panel+first:][:k*r], words, r, i, min(i+r, i1), k0, k1)
		}
	default:
		s.bytes.packQuads(dst[first:], src[at:], panel, r, i0, i1, k0, k1)
	}
	for i := i0; i < i1; i += r {
		g.Complete(s, dst[(i-i0)/r*panel:][:panel], r, k)
	}
}

// Complete makes a panel of k quads, which are its last lines, what the kernel takes.
func (g *Quads) Complete(s *QuadSide, panel []int32, r, k int) {
	switch {
	case !g.begins:
		panelOfPairs(panel, r, k, s.isUnsigned)
	case s.signs.nothingIsDone:
		clear(panel[:r])
	default:
		sums, quads := panel[:r], panel[r:][:k*r]
		moveSigns(k, quads, r, s.signs.flip, s.signs.view, sums)
		for i, x := range sums {
			sums[i] = x*s.signs.bytes + int32(k)*s.signs.quads
		}
	}
}

// panelOfPairs makes pairs of the quads that are the second half of a panel.
func panelOfPairs(panel []int32, r, k int, isUnsigned bool) {
	for x := range k {
		quads := panel[(k+x)*r:][:r]
		even, odd := panel[2*x*r:][:r], panel[(2*x+1)*r:][:r]
		if isUnsigned {
			for i, q := range quads {
				even[i], odd[i] = q&0x00ff00ff, int32(uint32(q)>>8)&0x00ff00ff
			}
			continue
		}
		for i, q := range quads {
			even[i] = Pair(int16(int8(q)), int16(int8(q>>16)))
			odd[i] = Pair(int16(int8(q>>8)), int16(q>>24))
		}
	}
}

// packQuads is Pack for bytes that lie anywhere, panels being so far apart.
func (m *Matrix) packQuads(dst []int32, src []byte, panel, r, i0, i1, k0, k1 int) {
	whole := min(k1, len(m.Ks)/4)
	if !m.linearRows || !quadsOfRuns(dst, src[m.Rows[i0]:], m.Ks[4*k0:4*whole], panel, r, i1-i0) {
		for i := i0; i < i1; i += r {
			to, rows := dst[(i-i0)/r*panel:], m.Rows[i:min(i+r, i1)]
			if m.linearKs {
				for x, row := range rows {
					run := src[row+m.Ks[0]+4*k0:][:4*(whole-k0)]
					for k := range len(run) / 4 {
						to[k*r+x] = int32(binary.LittleEndian.Uint32(run[4*k:]))
					}
				}
				continue
			}
			for k := k0; k < whole; k++ {
				line, ks := to[(k-k0)*r:][:len(rows)], m.Ks[4*k:][:4]
				for x, row := range rows {
					line[x] = quad(src[row+ks[0]], src[row+ks[1]], src[row+ks[2]], src[row+ks[3]])
				}
			}
		}
	}
	if whole == k1 {
		return
	}
	for i := i0; i < i1; i += r { // the last one is not full
		line := dst[(i-i0)/r*panel+(whole-k0)*r:]
		for x, row := range m.Rows[i:min(i+r, i1)] {
			var bytes [4]byte
			for b, at := range m.Ks[4*whole:] {
				bytes[b] = src[row+at]
			}
			line[x] = quad(bytes[0], bytes[1], bytes[2], bytes[3])
		}
	}
}

// quad is four bytes as one element.
func quad(a, b, c, d byte) int32 {
	return int32(uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24)
}
