package dynamic

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// A reshape keeps the elements in their order, and has them at other places as soon as a dimension that is not the first of those that it is joined with,
// or divided into, is not filled: then each place of the result looks its element up.

// group is the smallest run of dimensions of both sides that hold as many elements by their bounds.
type group struct{ from, to []int }

// dynamicOf is the dimension of the result s that is of dynamic size, or -1, and how many elements the others hold. It reports false if there are several.
func (g group) dynamicOf(s hlo.Shape) (at int, rest int64, ok bool) {
	at, rest = -1, 1
	for _, d := range g.to {
		switch {
		case !s.IsDynamicDimension(d):
			rest *= s.Dim(d)
		case at >= 0:
			return -1, 0, false
		default:
			at = d
		}
	}
	return at, rest, true
}

// reshape finds the size of the one dimension of each group that can have one.
func reshape(b *body, in hlo.Instruction) bool {
	v, s := b.operand(0), in.Shape()
	groups, ok := grouped(v.shape, s)
	if !ok {
		return false
	}
	sizes := noSizes(s.Rank())
	for _, g := range groups {
		at, rest, ok := g.dynamicOf(s)
		if !ok {
			return false
		}
		if at < 0 || rest == 0 || !v.masked(g.from...) {
			continue
		}
		n, known := hlo.NoInstr, int64(1)
		for _, d := range g.from {
			switch {
			case v.sizes[d] == hlo.NoInstr:
				known *= v.shape.Dim(d)
			case n == hlo.NoInstr:
				n = v.sizes[d]
			default:
				n = b.at.Binary(hlo.OpMultiply, n, v.sizes[d])
			}
		}
		if known%rest == 0 {
			sizes[at] = b.times(n, known/rest)
		} else {
			sizes[at] = b.over(b.times(n, known), rest)
		}
	}
	return b.arrange(v, sizes, groups)
}

// dynamicReshape has the sizes as operands.
func dynamicReshape(b *body, in hlo.Instruction) bool {
	v, s := b.operand(0), in.Shape()
	if s.Rank() == 0 {
		return false
	}
	sizes := noSizes(s.Rank())
	for d := range sizes {
		if s.IsDynamicDimension(d) {
			sizes[d] = b.at.Convert(b.operand(d+1).data, hlo.S32)
		}
	}
	all := group{long(v.shape), long(s)}
	return b.arrange(v, sizes, []group{all})
}

// long lists the dimensions but for the static ones of size one.
func long(s hlo.Shape) (dims []int) {
	for d := range s.Rank() {
		if s.Dim(d) != 1 || s.IsDynamicDimension(d) {
			dims = append(dims, d)
		}
	}
	return dims
}

func grouped(from, to hlo.Shape) (groups []group, ok bool) {
	source, target := long(from), long(to)
	for len(source)+len(target) > 0 {
		var g group
		p, q := int64(1), int64(1)
		take := func() { p, g.from, source = p*from.Dim(source[0]), append(g.from, source[0]), source[1:] }
		give := func() { q, g.to, target = q*to.Dim(target[0]), append(g.to, target[0]), target[1:] }
		if len(source) > 0 {
			take()
		}
		if len(target) > 0 {
			give()
		}
		for p != q {
			switch {
			case len(source) > 0 && (p < q || len(target) == 0):
				take()
			case len(target) > 0:
				give()
			default:
				return nil, false
			}
		}
		groups = append(groups, g)
	}
	return groups, true
}

// arrange makes the result of a reshape: the instruction itself where all elements stay where they are.
func (b *body) arrange(v *value, sizes []hlo.InstrID, groups []group) bool {
	s := filled(b.in.Shape())
	to := array(b.in.Shape(), hlo.NoInstr, sizes)
	if !slices.ContainsFunc(groups, func(g group) bool { return !b.inPlace(v, to, g) }) && s.NumElements() == v.shape.NumElements() {
		if b.in.Opcode() == hlo.OpReshape {
			return b.kept(sizes, v.data)
		}
		to.data = b.at.OpOf(hlo.OpReshape, s, nil, v.data)
		return b.becomes(to)
	}
	if v.shape.NumElements() > math.MaxInt32 || s.NumElements() > math.MaxInt32 || v.shape.NumElements() == 0 || s.NumElements() == 0 {
		return false
	}
	to.data = b.lookUp(v, to, groups)
	return b.becomes(to)
}

// inPlace reports whether the elements of a group stay where they are: both sides have the same dimensions, or only the outermost ones are not filled.
func (b *body) inPlace(v, to *value, g group) bool {
	same := len(g.from) == len(g.to)
	for i := 0; same && i < len(g.from); i++ {
		x, y := g.from[i], g.to[i]
		m, n := v.sizes[x], to.sizes[y]
		same = v.shape.Dim(x) == to.shape.Dim(y) && (m == n || m != hlo.NoInstr && n != hlo.NoInstr && b.sameNumber(m, n))
	}
	return same || !v.masked(g.from[min(1, len(g.from)):]...) && !to.masked(g.to[min(1, len(g.to)):]...)
}

// lookUp gathers each element of the result from where it is in the operand.
func (b *body) lookUp(v, to *value, groups []group) hlo.InstrID {
	at, dims := b.at, to.shape.Dimensions()
	flat := at.Reshape(v.data, v.shape.NumElements())
	fill := func(scalar hlo.InstrID) hlo.InstrID { return at.Fill(scalar, dims...) }
	sum := func(x, y hlo.InstrID) hlo.InstrID {
		if x == hlo.NoInstr {
			return y
		}
		return at.Binary(hlo.OpAdd, y, x)
	}
	steps := stepsOf(v.shape)
	where := hlo.NoInstr
	for _, g := range groups {
		// The number of the element among those of the group that there are.
		number := hlo.NoInstr
		step := b.number(1)
		for _, d := range slices.Backward(g.to) {
			number = sum(number, at.Binary(hlo.OpMultiply, at.Iota(hlo.S32, int64(d), dims...), fill(step)))
			step = at.Binary(hlo.OpMultiply, step, b.size(to, d))
		}
		if number == hlo.NoInstr {
			continue
		}
		// The place of the element of that number.
		for i, d := range slices.Backward(g.from) {
			place := number
			if i > 0 {
				n := fill(b.atLeast(b.size(v, d), 1))
				place, number = at.Binary(hlo.OpRemainder, number, n), at.Binary(hlo.OpDivide, number, n)
			}
			where = sum(where, at.Binary(hlo.OpMultiply, place, fill(b.number(steps[d]))))
		}
	}
	if where == hlo.NoInstr {
		where = fill(b.number(0))
	}
	return at.Op(hlo.OpGather, &hlo.GatherAttrs{CollapsedSliceDims: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: int64(len(dims)), SliceSizes: []int64{1}}, flat, where)
}

// stepsOf is the distance of neighbours along each dimension, all elements in order.
func stepsOf(s hlo.Shape) []int64 {
	steps := make([]int64, s.Rank())
	n := int64(1)
	for d := s.Rank() - 1; d >= 0; d-- {
		steps[d] = n
		n *= s.Dim(d)
	}
	return steps
}
