package kernels

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/devices"
)

// permuteInPlace is a collective-permute that writes blocks of the source's inputs over blocks of the target's outputs. Operands are input,
// output, input offsets and output offsets, of one buffer, or tuples of those of several. A buffer may be cut into several blocks: its
// offsets are then a tuple with an index for each, and the pairs are as many lists one after the other.
func permuteInPlace(s *site, a *hlo.CollectivePermuteAttrs) (*collective, error) {
	if s.in.NumOperands() != 4 {
		return nil, fmt.Errorf("%d operands, want input, output and their offsets", s.in.NumOperands())
	}
	several := s.shape(1).IsTuple()
	buffers := 1
	if several {
		buffers = s.shape(1).NumElems()
	}
	return &collective{optional: true, visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
		if len(t.group) == 0 {
			return fmt.Errorf("a permutation in place without this device")
		}
		next := 0
		for b := range buffers {
			of := func(rank, i int) *hlo.Literal {
				if x := t.operand(rank, i); several {
					return x.Part(b)
				} else {
					return x
				}
			}
			output := of(rank, 1)
			copy(f.Out(b).Data, output.Bytes())
			blocks := 1
			if offsets := of(rank, 3); offsets.NumParts() > 0 && offsets.Part(0).Shape().IsTuple() {
				blocks = offsets.NumParts()
			}
			if len(a.SourceTargetPairs)%blocks != 0 {
				return fmt.Errorf("%d pairs for %d blocks", len(a.SourceTargetPairs), blocks)
			}
			n := len(a.SourceTargetPairs) / blocks
			for k := range blocks {
				sizes, err := sizesOfBlock(a.SliceSizes, next, k, blocks)
				if err != nil {
					return err
				}
				next++
				for _, pair := range a.SourceTargetPairs[k*n : (k+1)*n] {
					if pair[1] != devices.ID(a, t.group[rank]) {
						continue
					}
					source := slices.Index(t.group, devices.Source(a, t.group[rank], pair[0]))
					if source < 0 {
						return fmt.Errorf("source %d does not run", pair[0])
					}
					if err := moveBlock(f.Out(b).Data, output.Shape(), of(rank, 3), of(source, 0), of(source, 2), k, sizes); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}}, nil
}

// sizesOfBlock finds the sizes of a block: there is one list for all blocks, or one for each of a buffer, or one for each of all.
func sizesOfBlock(list [][]int64, all, k, blocks int) ([]int64, error) {
	switch {
	case all < len(list) && len(list) > blocks:
		return list[all], nil
	case len(list) == blocks:
		return list[k], nil
	case len(list) == 1:
		return list[0], nil
	}
	return nil, fmt.Errorf("%d slice sizes are too few", len(list))
}

// moveBlock copies block k of an input to its place in an output.
func moveBlock(out []byte, s hlo.Shape, at, input, from *hlo.Literal, k int, sizes []int64) error {
	src, err := cornerOf(from, k, input.Shape(), sizes)
	if err != nil {
		return err
	}
	dst, err := cornerOf(at, k, s, sizes)
	if err != nil {
		return err
	}
	width := s.Type().ByteSize()
	ss, ds := rowMajor(input.Shape().Dimensions()), rowMajor(s.Dimensions())
	b, ok := newBox(sizes, ss, ds, width)
	if !ok {
		return fmt.Errorf("%v has too many dimensions", s)
	}
	x, y := 0, 0
	for i := range sizes {
		x, y = x+src[i]*ss[i]*width, y+dst[i]*ds[i]*width
	}
	if b.bytes() > 0 {
		b.copy(out[y:], input.Bytes()[x:])
	}
	return nil
}

// cornerOf is the k-th of some indices, clamped so that a block of the sizes fits into an array.
func cornerOf(offsets *hlo.Literal, k int, s hlo.Shape, sizes []int64) ([]int, error) {
	if offsets.NumParts() > 0 && offsets.Part(0).Shape().IsTuple() {
		if k >= offsets.NumParts() {
			return nil, fmt.Errorf("no offset for block %d", k)
		}
		offsets = offsets.Part(k)
	}
	var at []int64
	if offsets.Shape().IsTuple() {
		for i := range offsets.NumParts() {
			at = append(at, devices.Integers(offsets.Part(i))...)
		}
	} else {
		at = devices.Integers(offsets)
	}
	if len(at) != s.Rank() || len(sizes) != s.Rank() {
		return nil, fmt.Errorf("%d indices of a block of sizes %v in %v", len(at), sizes, s)
	}
	corner := make([]int, len(at))
	for i, v := range at {
		if sizes[i] < 0 || sizes[i] > s.Dim(i) {
			return nil, fmt.Errorf("a block of sizes %v in %v", sizes, s)
		}
		corner[i] = int(min(max(v, 0), s.Dim(i)-sizes[i]))
	}
	return corner, nil
}
