package vec

import "github.com/gohalo/halo/internal/processor"

// ahead is how many bytes ahead of what they read folding loops ask for memory. Zen 4 fetches rows that are read once by itself, and what is asked for only takes the place
// of what is read: sums of what lies in the last cache take 1.3 times as long, of more than that 1.1 times. There they ask for what they have just read, which costs nothing.
// Loops for AVX2 do not ask at all.
//
//lint:ignore U1000 assembly reads it
var ahead = distance(processor.AMDFamily())

func distance(amd int) int {
	const far, behind = 2048, -256
	if amd == processor.Zen4 {
		return behind
	}
	return far
}
