package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// index is one coordinate of an array as a function of the coordinates of a space: offset plus the sum of factor times coordinate. If turn is not
// 0 it is one coordinate of the space plus turn, modulo the dimension.
type index struct {
	offset  int64
	factors []int64
	turn    int64
}

// access gives the index for every axis of an array.
type access []index

// identity is the access of an array with the dimensions of the space.
func identity(s tile.Space) access {
	n := len(s.Dims)
	a, factors := make(access, n), make([]int64, n*n)
	for i := range a {
		a[i].factors = factors[i*n : (i+1)*n : (i+1)*n]
		a[i].factors[i] = 1
	}
	return a
}

func (x index) scaled(by, plus int64) index {
	r := index{offset: x.offset*by + plus, factors: slices.Clone(x.factors)}
	for i := range r.factors {
		r.factors[i] *= by
	}
	return r
}

func (x index) plus(y index) index {
	r := index{offset: x.offset + y.offset, factors: slices.Clone(x.factors)}
	for i, f := range y.factors {
		r.factors[i] += f
	}
	return r
}

// view is the access in elements of a dense array with those dimensions.
func (a access) view(s tile.Space, dims []int64) tile.View {
	v := tile.View{Strides: make([]int64, len(s.Dims))}
	step := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		v.Base += a[i].offset * step
		for k, f := range a[i].factors {
			v.Strides[k] += f * step
			if f != 0 && a[i].turn != 0 {
				if v.Turns == nil {
					v.Turns = make([]int64, len(s.Dims))
				}
				v.Turns[k] = a[i].turn
			}
		}
		step *= dims[i]
	}
	return v
}

// turns reports whether an index is one modulo a dimension.
func (a access) turns() bool {
	return slices.ContainsFunc(a, func(x index) bool { return x.turn != 0 })
}

// rolled is the access to an array whose axis is rotated before it is accessed by a. It reports false if the index of that axis is not a
// coordinate of the space as it is, or another index depends on that too.
func (a access) rolled(s tile.Space, axis int, n, by int64) (access, bool) {
	own := -1
	for k, f := range a[axis].factors {
		if f != 0 {
			if own >= 0 || f != 1 {
				return nil, false
			}
			own = k
		}
	}
	if own < 0 || a[axis].offset != 0 || s.Dims[own] != n {
		return nil, false
	}
	for i, x := range a {
		if i != axis && x.factors[own] != 0 {
			return nil, false
		}
	}
	r := slices.Clone(a)
	r[axis].turn = (r[axis].turn + by) % n
	return r, true
}

// joined is the operand of a concatenation, and the access to it, if all that is read of it is in one. If not, cut is the coordinate along axis of the space at which
// cutting that in two helps, or 0.
func (a access) joined(s tile.Space, in hlo.Instruction) (operand int, r access, axis int, cut int64, ok bool) {
	dim := hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]
	x := a[dim]
	if x.turn != 0 {
		return 0, nil, 0, 0, false
	}
	low, high, moving := x.offset, x.offset, 0
	for k, f := range x.factors {
		if f == 0 || s.Dims[k] < 2 {
			continue
		}
		if by := f * (s.Dims[k] - 1); by > 0 {
			high += by
		} else {
			low += by
		}
		axis, moving = k, moving+1
	}
	for i, end := 0, int64(0); i < in.NumOperands(); i++ {
		begin := end
		end += in.OperandInstr(i).Shape().Dim(int(dim))
		switch {
		case low >= end:
		case high < end:
			r = slices.Clone(a)
			r[dim].offset -= begin
			return i, r, 0, 0, true
		case moving > 1:
			return 0, nil, 0, 0, false
		case x.factors[axis] > 0: // the first that reaches the end
			f := x.factors[axis]
			return 0, nil, axis, (end - x.offset + f - 1) / f, false
		default: // the first below it
			return 0, nil, axis, (x.offset-end)/-x.factors[axis] + 1, false
		}
	}
	return 0, nil, 0, 0, false
}

// equal reports whether two accesses of one space are the same.
func (a access) equal(b access) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if x, y := &a[i], &b[i]; x.offset != y.offset || x.turn != y.turn || !slices.Equal(x.factors, y.factors) {
			return false
		}
	}
	return true
}

// known is what has been found of instructions at accesses: lists of entries, by the last bits of ids.
type known[T any] struct {
	latest [32]int32 // entries, counted from 1
	list   []knownAt[T]
}

type knownAt[T any] struct {
	id     hlo.InstrID
	before int32 // entry
	at     access
	what   T
}

func (k *known[T]) find(id hlo.InstrID, at access) (what T, ok bool) {
	for i := k.latest[int(id)%len(k.latest)]; i > 0; i = k.list[i-1].before {
		if e := &k.list[i-1]; e.id == id && e.at.equal(at) {
			return e.what, true
		}
	}
	return what, false
}

func (k *known[T]) add(id hlo.InstrID, at access, what T) {
	latest := &k.latest[int(id)%len(k.latest)]
	k.list = append(k.list, knownAt[T]{id, *latest, at, what})
	*latest = int32(len(k.list))
}

// through is the access to operand 0 of a data movement op, given the access to its result. It reports false for ops that are none, and
// for reshapes that it cannot express; then split, if positive, is a factor by which splitting dimension axis of the space helps.
func (a access) through(s tile.Space, in hlo.Instruction) (r access, axis int, split int64, ok bool) {
	operand := in.OperandInstr(0).Shape()
	if a.turns() && in.Opcode() != hlo.OpCopy {
		return nil, 0, 0, false
	}
	//halo:allow opswitch each op has an index function of its own
	switch in.Opcode() {
	case hlo.OpCopy, hlo.OpOptBarrier, hlo.OpDomain:
		return a, 0, 0, true
	case hlo.OpBroadcast:
		dims := hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions
		r = make(access, operand.Rank())
		for i := range r {
			r[i] = a[dims[i]]
			if operand.Dim(i) == 1 { // and the result too, but be sure
				r[i] = index{factors: make([]int64, len(s.Dims))}
			}
		}
		return r, 0, 0, true
	case hlo.OpTranspose:
		perm := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
		r = make(access, len(a))
		for i, p := range perm {
			r[p] = a[i]
		}
		return r, 0, 0, true
	case hlo.OpReverse:
		r = slices.Clone(a)
		for _, d := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
			r[d] = a[d].scaled(-1, operand.Dim(int(d))-1)
		}
		return r, 0, 0, true
	case hlo.OpSlice:
		r = make(access, len(a))
		for i, d := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
			r[i] = a[i].scaled(d.Stride, d.Start)
		}
		return r, 0, 0, true
	case hlo.OpReshape, hlo.OpBitcast:
		return a.reshaped(s, in.Shape().Dimensions(), operand.Dimensions())
	}
	return nil, 0, 0, false
}

// reshaped goes from dimensions to others with the same row-major order. Both are cut into the shortest runs of equal product; within
// one the row-major number of the element is an index itself, which is then divided up.
func (a access) reshaped(s tile.Space, from, to []int64) (r access, axis int, split int64, ok bool) {
	i := 0
	r = make(access, 0, len(to))
	for j := 0; j < len(to); {
		// The run: from[i:ie] and to[j:je].
		ie, je := i, j+1
		pf, pt := int64(1), to[j]
		for pf != pt {
			if pf < pt {
				if ie == len(from) {
					return nil, 0, 0, false
				}
				pf *= from[ie]
				ie++
			} else {
				if je == len(to) {
					return nil, 0, 0, false
				}
				pt *= to[je]
				je++
			}
		}
		if ie == i+1 && je == j+1 && a[i].offset >= 0 {
			r = append(r, index{offset: a[i].offset, factors: a[i].factors})
			i, j = ie, je
			continue
		}
		x := index{factors: make([]int64, len(s.Dims))}
		for k := i; k < ie; k++ {
			x = x.scaled(from[k], 0).plus(a[k])
		}
		step := pt
		for k := j; k < je; k++ {
			step /= to[k]
			var q index
			if q, x, axis, split, ok = x.divide(s, step); !ok {
				return nil, axis, split, false
			}
			r = append(r, q)
		}
		i, j = ie, je
	}
	return r, 0, 0, true
}

// divide splits x into quotient and remainder by a divisor, if both are an index.
func (x index) divide(s tile.Space, by int64) (q, r index, axis int, split int64, ok bool) {
	q = index{offset: x.offset / by, factors: make([]int64, len(s.Dims))}
	r = index{offset: x.offset % by, factors: make([]int64, len(s.Dims))}
	if x.offset < 0 {
		return q, r, 0, 0, false
	}
	highest := r.offset
	for k, f := range x.factors {
		switch {
		case f%by == 0:
			q.factors[k] = f / by
		case f < 0:
			return q, r, 0, 0, false
		default:
			r.factors[k] = f
			highest += f * (s.Dims[k] - 1)
			if by%f == 0 && s.Dims[k] > by/f && s.Dims[k]%(by/f) == 0 {
				axis, split = k, by/f
			}
		}
	}
	if highest >= by {
		return q, r, axis, split, false
	}
	return q, r, 0, 0, true
}
