package kernels

import (
	"cmp"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// mostCompared bounds the differences of which a table says how they compare: it stays in the nearest cache beside what else a loop reads.
const mostCompared = 1 << 14

// comparedCounts defines a comparison of integers that grow evenly along each axis, as masks of triangles and diagonals are made of. Which of two is greater depends on
// their difference alone, which grows evenly too, and takes few values: a table has the answer for each of them, and the mask is a view of that. So nothing is
// computed, in lanes of 64 bits or others.
func (c *compiler) comparedCounts(in hlo.Instruction, at access) (tile.Value, bool) {
	x, ok := c.counted(in.OperandInstr(0), at)
	if !ok {
		return 0, false
	}
	y, ok := c.counted(in.OperandInstr(1), at)
	if !ok {
		return 0, false
	}
	if len(c.space.Dims) == 0 {
		return 0, false
	}
	d, direction := x.plus(y.scaled(-1, 0)), hlo.AttrsOf[hlo.CompareAttrs](in).Direction
	sign := int64(1) // of the distance between neighbours
	for k, f := range d.factors {
		if f != 0 && c.space.Dims[k] > 1 {
			sign = int64(cmp.Compare(f, 0))
		}
	}
	d = d.scaled(sign, 0)
	if step := d.factors[len(d.factors)-1]; step != 0 && step != 1 {
		return 0, false
	}
	least, most, fits := d.bounds(c.space)
	if n := most - least + 1; !fits || n > mostCompared || c.space.Len() < 4*n || c.space.Len() <= tile.MostInCalls {
		return 0, false
	}
	table := make([]byte, most-least+1)
	for i := range table {
		if satisfies(direction, int(sign)*(int(least)+i)) {
			table[i] = 1
		}
	}
	return c.b.ConstantArray(hlo.PRED, table, tile.View{Base: d.offset - least, Strides: d.factors}), true
}
