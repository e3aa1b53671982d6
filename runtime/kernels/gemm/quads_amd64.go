package gemm

import "golang.org/x/sys/cpu"

var hasVNNI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI

// vectorQuads sets g to the kernel of quads in assembly, if there is one for this processor.
func vectorQuads(g *Quads) {
	if hasVNNI {
		*g = Quads{Kernel: newKernel(14, 32, quadsVNNI, nil, nil), begins: true}
	}
}

// InPlaceOfQuads is the kernel whose [Kernel.BlockInPlace] multiplies quads of bytes without a sign with panels of [NewRightOfPlaced], if there is one.
func InPlaceOfQuads() (Quads, bool) {
	if !hasVNNI {
		return Quads{}, false
	}
	k := placed(Kernel[int32]{MR: 8, NR: 32, heads: 1}, quadsVNNIInPlace)
	return Quads{Kernel: k, begins: true}, true
}

// moveSigns flips bits of k lines of r quads, and sets sums to those of the bytes in each column, without a sign, as they are if the bits of view are flipped too.
func moveSigns(k int, quads []int32, r int, flip, view uint32, sums []int32) {
	if r > 32 {
		panic("gemm: panels are too wide")
	}
	signsVNNI(k, &quads[:k*r][0], 4*r, flip, view, uint32(1<<r-1), &sums[:r][0])
}

// quadsOfRuns packs n rows of bytes that are neighbours in memory, if there is assembly for them and runs are as far apart as one another. Panels are so many elements apart.
func quadsOfRuns(dst []int32, src []byte, ks []int, panel, r, n int) bool {
	stride, ok := evenStride(ks)
	if !ok || !cpu.X86.HasAVX512F || r > 32 || n == 0 {
		return false
	}
	lines := len(ks) / 4
	src = src[ks[0]:][:(len(ks)-1)*stride+n]
	all := uint32(1<<r - 1)
	whole := n / r
	if whole > 0 {
		_ = dst[(whole-1)*panel:][:lines*r]
		quadsOfRunsAVX512(lines, whole, &src[0], stride, r, &dst[0], 4*panel, 4*r, all, all)
	}
	if rest := n - whole*r; rest > 0 {
		to := dst[whole*panel:][:lines*r]
		quadsOfRunsAVX512(lines, 1, &src[whole*r], stride, 0, &to[0], 0, 4*r, 1<<rest-1, all)
	}
	return true
}
