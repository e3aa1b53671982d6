package dynamic

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// inside is an array of the dimensions of a filled one that holds where a position is within the size along a dimension.
func (b *body) inside(dims []int64, d int, size hlo.InstrID) hlo.InstrID {
	return b.at.Compare(hlo.LT, b.at.Iota(hlo.S32, int64(d), dims...), b.at.Fill(size, dims...))
}

// mask writes a scalar over what an array has beyond its sizes along some dimensions.
func (b *body) mask(v *value, scalar hlo.InstrID, dims ...int) hlo.InstrID {
	x := b.fill(v).data
	s := b.at.Shape(x)
	for _, d := range dims {
		if v.sizes[d] != hlo.NoInstr {
			x = b.at.Select(b.inside(s.Dimensions(), d, v.sizes[d]), x, b.at.Fill(scalar, s.Dimensions()...))
		}
	}
	return x
}

// masked reports whether there is something beyond the sizes along some dimensions.
func (v *value) masked(dims ...int) bool {
	for _, d := range dims {
		if v.sizes[d] != hlo.NoInstr {
			return true
		}
	}
	return false
}

// differ refuses sizes that are not known to be equal.
func (b *body) differ(in hlo.Instruction, d int) bool {
	b.err = fmt.Errorf("%v: %s: the sizes of dimension %d of its operands are not known to be equal; shape-check-mode=ignore takes them as they are", in.Position(), in.Name(), d)
	return false
}

// The arithmetic of sizes.

func (b *body) plus(n hlo.InstrID, k int64) hlo.InstrID {
	if k == 0 {
		return n
	}
	return b.at.Binary(hlo.OpAdd, n, b.number(k))
}

func (b *body) times(n hlo.InstrID, k int64) hlo.InstrID {
	if k == 1 {
		return n
	}
	return b.at.Binary(hlo.OpMultiply, n, b.number(k))
}

func (b *body) over(n hlo.InstrID, k int64) hlo.InstrID {
	if k == 1 {
		return n
	}
	return b.at.Binary(hlo.OpDivide, n, b.number(k))
}

func (b *body) atLeast(n hlo.InstrID, k int64) hlo.InstrID {
	return b.at.Binary(hlo.OpMaximum, n, b.number(k))
}

func (b *body) atMost(n hlo.InstrID, k int64) hlo.InstrID {
	return b.at.Binary(hlo.OpMinimum, n, b.number(k))
}

func (b *body) less(x, y hlo.InstrID) hlo.InstrID { return b.at.Binary(hlo.OpSubtract, x, y) }

// spread is the extent of n elements with k holes between neighbours: n + (n-1)k, 0 of none.
func (b *body) spread(n hlo.InstrID, k int64) hlo.InstrID {
	if k == 0 {
		return n
	}
	return b.atLeast(b.plus(b.times(n, k+1), -k), 0)
}

// windows is the number of positions of a window on a base of n elements.
func (b *body) windows(n hlo.InstrID, w hlo.WindowDim) hlo.InstrID {
	if trivial(w) {
		return n
	}
	reach := (w.Size-1)*w.WindowDilation + 1
	room := b.plus(b.spread(n, w.BaseDilation-1), w.PadLow+w.PadHigh-reach)
	return b.over(b.atLeast(b.plus(room, w.Stride), 0), w.Stride)
}

// trivial reports whether a window takes one element after the other.
func trivial(w hlo.WindowDim) bool {
	return w.Size == 1 && w.Stride == 1 && w.BaseDilation == 1 && w.PadLow == 0 && w.PadHigh == 0
}

// neutral is a value that a computation of two scalars combines with any other to that other.
func neutral(f hlo.Computation) (*hlo.Literal, bool) {
	root := f.Root()
	if f.NumParameters() != 2 || root.NumOperands() != 2 || !hlo.Info(root.Opcode()).Traits.Has(hlo.TraitFolds) {
		return nil, false
	}
	x, y := f.Parameter(0), f.Parameter(1)
	if !(root.Operand(0) == x.ID() && root.Operand(1) == y.ID() || root.Operand(0) == y.ID() && root.Operand(1) == x.ID()) || !x.Shape().Equal(root.Shape()) {
		return nil, false
	}
	return emit.Identity(root.Opcode(), root.Shape().Type())
}
