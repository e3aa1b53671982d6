package gemm

import "golang.org/x/sys/cpu"

// Peak multiplies and adds in registers alone, about that many times, and returns how many operations on float32 these were: what no product can do
// faster. It returns 0 where there is no loop for the processor.
func Peak(rounds int) (operations int) {
	rounds = max(rounds, 1)
	switch {
	case cpu.X86.HasAVX512F:
		peakAVX512(rounds)
		return rounds * peakVectors * 16 * 2
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		peakAVX2(rounds)
		return rounds * peakVectors * 8 * 2
	}
	return 0
}

// peakVectors is how many vectors package gen makes the loops multiply in a round.
const peakVectors = 14
