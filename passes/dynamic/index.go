package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Ops that take or write blocks at places that are computed. A block lies within the array as large as it is, so that places are held to its size.

// last is the greatest index at which a block lies within a dimension of size n.
func (b *body) last(n, block hlo.InstrID, t hlo.PrimitiveType) hlo.InstrID {
	return b.at.Convert(b.atLeast(b.less(n, block), 0), t)
}

// holds reports whether indices of a type can be compared with sizes up to a bound.
func holds(t hlo.PrimitiveType, bound int64) bool {
	return t.IsInteger() && (t.Bits() >= 32 || bound < 1<<(t.Bits()-1))
}

func dynamicSlice(b *body, in hlo.Instruction) bool {
	v, sizes := b.operand(0), noSizes(in.Shape().Rank())
	operands := []hlo.InstrID{v.data}
	for d, n := range hlo.AttrsOf[hlo.DynamicSliceAttrs](in).Sizes {
		i := b.operand(d + 1).data
		t := b.at.Shape(i).Type()
		switch {
		case v.sizes[d] == hlo.NoInstr:
		case n == v.shape.Dim(d):
			sizes[d] = v.sizes[d]
		case !holds(t, v.shape.Dim(d)):
			return false
		default:
			i = b.at.Binary(hlo.OpMinimum, i, b.last(v.sizes[d], b.number(n), t))
		}
		operands = append(operands, i)
	}
	return b.kept(sizes, operands...)
}

// dynamicUpdateSlice reads what is under the filling of the update, and writes it back there. The array is longer meanwhile, by what the update may reach out.
func dynamicUpdateSlice(b *body, in hlo.Instruction) bool {
	v, u := b.operand(0), b.operand(1)
	base, update := v.data, u.data
	var first []hlo.InstrID
	var beyond, replaced []int
	sizes := slices.Clone(v.sizes)
	for d := range v.sizes {
		i := b.operand(d + 2).data
		t := b.at.Shape(i).Type()
		n, k := b.size(v, d), b.size(u, d)
		whole := v.shape.Dim(d) == u.shape.Dim(d)
		switch {
		case v.sizes[d] == hlo.NoInstr && u.sizes[d] == hlo.NoInstr:
		case whole && b.sameNumber(n, k):
		case whole && v.sizes[d] != hlo.NoInstr && u.sizes[d] != hlo.NoInstr: // the update brings its size
			sizes[d], replaced = k, append(replaced, d)
		case !holds(t, v.shape.Dim(d)):
			return false
		default:
			i = b.at.Binary(hlo.OpMinimum, i, b.last(n, k, t))
			if u.sizes[d] != hlo.NoInstr {
				i = b.at.Binary(hlo.OpMaximum, i, b.at.Int(t, 0))
				beyond = append(beyond, d)
			}
		}
		first = append(first, i)
	}
	zero := b.at.Int(v.shape.Type(), 0)
	if len(replaced) > 0 {
		base = b.mask(v, zero, replaced...)
	}
	if len(beyond) == 0 {
		return b.kept(sizes, append([]hlo.InstrID{base, update}, first...)...)
	}
	for _, d := range beyond {
		base = b.at.Pad(base, zero, d, 0, u.shape.Dim(d))
	}
	there := b.at.DynamicSlice(base, first, u.shape.Dimensions()...)
	for _, d := range beyond {
		update = b.at.Select(b.inside(u.shape.Dimensions(), d, u.sizes[d]), update, there)
	}
	whole := b.at.DynamicUpdateSlice(base, update, first...)
	return b.becomes(array(in.Shape(), b.at.Slice(whole, make([]int64, v.shape.Rank()), v.shape.Dimensions()), sizes))
}

// limits is, for each component of the index vectors, the greatest at which a block lies within the operand, of the shape of the indices; and whether some is not known.
func (b *body) limits(v, indices *value, vector int, toOperand []int64, blockSize func(d int) hlo.InstrID) (limits hlo.InstrID, some bool) {
	t := indices.shape.Type()
	var parts []hlo.InstrID
	for _, d := range toOperand {
		some = some || v.sizes[d] != hlo.NoInstr
		parts = append(parts, b.at.Reshape(b.last(b.size(v, int(d)), blockSize(int(d)), t), 1))
	}
	if !some {
		return hlo.NoInstr, false
	}
	dims := indices.shape.Dimensions()
	if vector == len(dims) {
		return b.at.Fill(b.at.Reshape(parts[0]), dims...), true
	}
	return b.at.Broadcast(b.at.Concatenate(0, parts...), []int64{int64(vector)}, dims...), true
}

// batchOf are the sizes of the dimensions of index arrays but for that of the vectors.
func batchOf(v *value, vector int) (sizes []hlo.InstrID) {
	for d, n := range v.sizes {
		if d != vector {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func gather(b *body, in hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	v, indices, vector := b.operand(0), b.operand(1), int(a.IndexVectorDim)
	if vector < len(indices.sizes) && indices.sizes[vector] != hlo.NoInstr || !holds(indices.shape.Type(), longest(v.shape)) && v.isSized() {
		return false
	}
	where := indices.data
	if limits, some := b.limits(v, indices, vector, a.StartIndexMap, func(d int) hlo.InstrID {
		if a.SliceSizes[d] == v.shape.Dim(d) {
			return b.size(v, d)
		}
		return b.number(a.SliceSizes[d])
	}); some {
		where = b.at.Binary(hlo.OpMinimum, where, limits)
	}
	batch, sizes := batchOf(indices, vector), noSizes(in.Shape().Rank())
	for d := range a.SliceSizes {
		if n := int64(d); a.SliceSizes[d] != v.shape.Dim(d) || slices.Contains(a.CollapsedSliceDims, n) || slices.Contains(a.OperandBatchingDims, n) {
			continue
		}
		offset := 0
		for e := range d {
			if n := int64(e); !slices.Contains(a.CollapsedSliceDims, n) && !slices.Contains(a.OperandBatchingDims, n) {
				offset++
			}
		}
		sizes[a.OffsetDims[offset]] = v.sizes[d]
	}
	for d := range sizes {
		if !slices.Contains(a.OffsetDims, int64(d)) {
			sizes[d], batch = batch[0], batch[1:]
		}
	}
	return b.kept(sizes, v.data, where)
}

func longest(s hlo.Shape) (n int64) {
	for _, d := range s.Dimensions() {
		n = max(n, d)
	}
	return n
}

// scatter sends what lies beyond a size to an index below all: updates that are not there, and those whose block would not lie within the operand.
func scatter(b *body, in hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	n := (in.NumOperands() - 1) / 2
	v, indices, u, vector := b.operand(0), b.operand(n), b.operand(n+1), int(a.IndexVectorDim)
	t := indices.shape.Type()
	if vector < len(indices.sizes) && indices.sizes[vector] != hlo.NoInstr || !t.IsInteger() || t.Bits() < 32 || len(a.ScatterDimsToOperandDims) == 0 {
		return false
	}
	window := map[int]int{} // of dimensions of the operand: those of updates
	for d := range v.sizes {
		if n := int64(d); !slices.Contains(a.InsertedWindowDims, n) && !slices.Contains(a.InputBatchingDims, n) {
			w := int(a.UpdateWindowDims[len(window)])
			window[d] = w
			if u.sizes[w] == hlo.NoInstr && (v.sizes[d] == hlo.NoInstr || u.shape.Dim(w) < v.shape.Dim(d)) {
				continue
			}
			if u.shape.Dim(w) != v.shape.Dim(d) || !b.sameNumber(b.size(u, w), b.size(v, d)) {
				return false // a part of the block is not there
			}
		}
	}
	where := indices.data
	never := b.at.Fill(b.at.Int(t, -1), indices.shape.Dimensions()...)
	if limits, some := b.limits(v, indices, vector, a.ScatterDimsToOperandDims, func(d int) hlo.InstrID {
		if w, ok := window[d]; ok {
			return b.size(u, w)
		}
		return b.number(1)
	}); some {
		where = b.at.Select(b.at.Compare(hlo.LE, where, limits), where, never)
	}
	batch := 0
	for d := range u.sizes {
		if slices.Contains(a.UpdateWindowDims, int64(d)) {
			continue
		}
		axis := batch
		if axis >= vector {
			axis++
		}
		batch++
		size := indices.sizes[axis]
		if size == hlo.NoInstr {
			size = u.sizes[d]
		}
		if size != hlo.NoInstr {
			where = b.at.Select(b.inside(indices.shape.Dimensions(), axis, size), where, never)
		}
	}
	var operands []hlo.InstrID
	for i := range in.NumOperands() {
		operands = append(operands, b.operand(i).data)
	}
	operands[n] = where
	return b.kept(v.sizes, operands...)
}
