package profile

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// inside lists what a loop that is compiled to one program computes. The loops in it are part of that program.
func (b *builder) inside(loop hlo.Instruction) []Inside {
	var parts []Inside
	whole := 0.0
	var walk func(in hlo.Instruction, times float64)
	walk = func(in hlo.Instruction, times float64) {
		if in.Opcode() == hlo.OpWhile {
			if n, known := b.costs.Trips(in); known {
				times *= float64(n)
			}
		}
		for c := range in.Callees() {
			for x := range b.config.Module.MustComputation(c).Instructions() {
				switch x.Opcode() {
				case hlo.OpWhile, hlo.OpCall, hlo.OpConditional, hlo.OpFusion: // the others call theirs for each element, and cost what that costs
					walk(x, times)
					continue
				}
				cost := b.costs.Of(x)
				// In a program over a few numbers nothing is as slow as memory: what counts is how much is computed.
				if weight := times * (float64(cost.Flops) + scalarFunction*float64(cost.Transcendentals)); weight > 0 {
					whole += weight
					parts = append(parts, Inside{b.finder.Of(x).InText(), weight})
				}
			}
		}
	}
	walk(loop, 1)
	for i := range parts {
		parts[i].Share /= whole
	}
	slices.SortStableFunc(parts, func(x, y Inside) int { return cmp.Compare(y.Share, x.Share) })
	return parts
}

// scalarFunction is how many additions an exponential or the like takes.
const scalarFunction = 20
