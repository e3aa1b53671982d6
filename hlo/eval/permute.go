package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// permuteInPlace writes blocks of the source's inputs over blocks of the target's outputs. Operands are input, output, input offsets and
// output offsets, of one buffer, or tuples of those of several. A buffer may be cut into several blocks: its offsets are then a tuple with
// an index for each, and the pairs are as many lists one after the other.
func (c *Call) permuteInPlace(a *hlo.CollectivePermuteAttrs, brought func(id int64) []*hlo.Literal, me int64) (*hlo.Literal, error) {
	if len(c.Args) != 4 {
		return nil, fmt.Errorf("%d operands, want input, output and their offsets", len(c.Args))
	}
	outputs, several := c.Args[1:2], c.Args[1].Shape().IsTuple()
	if several {
		outputs = partsOf(c.Args[1])
	}
	results, next := make([]*hlo.Literal, len(outputs)), 0
	for b, output := range outputs {
		x := permuteBuffer{attrs: a, me: me, brought: brought, buffer: b, several: several}
		blocks := blocksOf(x.of(c.Args[3]))
		if len(a.SourceTargetPairs)%blocks != 0 {
			return nil, fmt.Errorf("%d pairs for %d blocks", len(a.SourceTargetPairs), blocks)
		}
		data := slices.Clone(bytesOf(output))
		for k := range blocks {
			sizes, err := blockSizes(a.SliceSizes, next, k, blocks)
			if err != nil {
				return nil, err
			}
			next++
			if err := x.move(data, output.Shape(), x.of(c.Args[3]), k, blocks, sizes); err != nil {
				return nil, err
			}
		}
		var err error
		if results[b], err = hlo.NewLiteral(output.Shape(), data); err != nil {
			return nil, err
		}
	}
	if several {
		return hlo.NewTupleLiteral(results...), nil
	}
	return results[0], nil
}

// permuteBuffer is one buffer of a collective-permute in place.
type permuteBuffer struct {
	attrs   *hlo.CollectivePermuteAttrs
	me      int64
	brought func(id int64) []*hlo.Literal
	buffer  int
	several bool
}

// of is what an operand says of the buffer.
func (x *permuteBuffer) of(operand *hlo.Literal) *hlo.Literal {
	if x.several {
		return operand.Part(x.buffer)
	}
	return operand
}

// move writes block k of the buffer, if a pair of its list has this device as target.
func (x *permuteBuffer) move(data []byte, s hlo.Shape, offsets *hlo.Literal, k, blocks int, sizes []int) error {
	n := len(x.attrs.SourceTargetPairs) / blocks
	for _, pair := range x.attrs.SourceTargetPairs[k*n : (k+1)*n] {
		if len(pair) != 2 || pair[1] != x.me {
			continue
		}
		operands := x.brought(pair[0])
		if operands == nil {
			return fmt.Errorf("source %d does not run", pair[0])
		}
		input := x.of(operands[0])
		from, err := blockStart(x.of(operands[2]), k, dimsOf(input.Shape()), sizes)
		if err != nil {
			return err
		}
		to, err := blockStart(offsets, k, dimsOf(s), sizes)
		if err != nil {
			return err
		}
		fs, ts := rowMajor(dimsOf(input.Shape())), rowMajor(dimsOf(s))
		moveBlock(place{data, dot(to, ts), ts}, place{bytesOf(input), dot(from, fs), fs}, sizes, s.Type().ByteSize())
	}
	return nil
}

// blocksOf is how many blocks the offsets of a buffer are about: an index is a tuple of scalars, several are a tuple of those.
func blocksOf(offsets *hlo.Literal) int {
	if n := offsets.NumParts(); n > 0 && offsets.Part(0).Shape().IsTuple() {
		return n
	}
	return 1
}

// blockSizes is the size of a block: slice_sizes lists all blocks of all buffers, or those of one, or one for all.
func blockSizes(list [][]int64, all, k, blocks int) ([]int, error) {
	switch {
	case all < len(list) && len(list) > blocks:
		return ints(list[all]), nil
	case len(list) == blocks:
		return ints(list[k]), nil
	case len(list) == 1:
		return ints(list[0]), nil
	}
	return nil, fmt.Errorf("%d slice sizes are too few", len(list))
}

// blockStart reads the k-th index, clamped so that the block fits.
func blockStart(offsets *hlo.Literal, k int, dims, sizes []int) ([]int, error) {
	if blocksOf(offsets) > 1 || offsets.NumParts() > 0 && offsets.Part(0).Shape().IsTuple() {
		if k >= offsets.NumParts() {
			return nil, fmt.Errorf("no offset for block %d", k)
		}
		offsets = offsets.Part(k)
	}
	if len(sizes) != len(dims) {
		return nil, fmt.Errorf("a block of sizes %v in an array of %d dimensions", sizes, len(dims))
	}
	return starts(leavesOf(offsets, nil), dims, sizes)
}

func partsOf(l *hlo.Literal) []*hlo.Literal {
	parts := make([]*hlo.Literal, l.NumParts())
	for i := range parts {
		parts[i] = l.Part(i)
	}
	return parts
}
