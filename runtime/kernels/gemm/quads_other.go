//go:build !amd64

package gemm

func vectorQuads(*Quads) {}

// InPlaceOfQuads reports that there is no such kernel for this processor.
func InPlaceOfQuads() (Quads, bool) { return Quads{}, false }

// moveSigns flips bits of k lines of r quads, and sets sums to those of the bytes in each column, without a sign, as they are if the bits of view are flipped too.
func moveSigns(k int, quads []int32, r int, flip, view uint32, sums []int32) {
	clear(sums[:r])
	for x := range k {
		for i, q := range quads[x*r:][:r] {
			bits := uint32(q) ^ flip
			quads[x*r+i] = int32(bits)
			bits ^= view
			sums[i] += int32(bits&0xff + bits>>8&0xff + bits>>16&0xff + bits>>24)
		}
	}
}

func quadsOfRuns(_ []int32, _ []byte, _ []int, _, _, _ int) bool { return false }
