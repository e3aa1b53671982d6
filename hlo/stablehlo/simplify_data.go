package stablehlo

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

func intsAttr(op *mlir.Op, name string) []int64 {
	v, _ := mlir.Ints(op.Attrs.Get(name))
	return v
}

// list is an attribute of integers.
func (s *simplifier) list(v ...int64) mlir.Attr {
	if v == nil {
		v = []int64{}
	}
	return mlir.DenseArray{Elem: s.m.Types.Scalar(hlo.S64), Values: v}
}

func defined(v *mlir.Value, name string) bool { return v.Def != nil && v.Def.Name == name }

// broadcastInDim of equal elements is a constant; two are one; one that only adds dimensions of size 1 is a reshape, one that only
// changes their order a transpose.
func (s *simplifier) broadcastInDim(op *mlir.Op) *mlir.Op {
	v, t := op.Operands[0], op.Results[0].Type
	dims := intsAttr(op, "broadcast_dimensions")
	if !t.IsStatic() || !v.Type.IsStatic() || len(dims) != len(v.Type.Dims) {
		return op
	}
	for _, d := range dims {
		if d < 0 || d >= int64(len(t.Dims)) {
			return op
		}
	}
	if d, ok := known(v); ok && d.Splat {
		return constant(op, mlir.Dense{Type: t, Data: d.Data, Splat: true})
	}
	sorted := slices.IsSorted(dims)
	if v.Type == t && sorted {
		return s.becomes(op, v)
	}
	if defined(v, "stablehlo.broadcast_in_dim") {
		inner := intsAttr(v.Def, "broadcast_dimensions")
		composed := make([]int64, len(inner))
		for i, d := range inner {
			if d < 0 || d >= int64(len(dims)) {
				return op
			}
			composed[i] = dims[d]
		}
		return instead(op, op.Name, op.Attrs.With("broadcast_dimensions", s.list(composed...)), s.value(v.Def.Operands[0]))
	}
	if v.Type.NumElements() == t.NumElements() {
		if sorted {
			return instead(op, "stablehlo.reshape", op.Attrs.Without("broadcast_dimensions"), v)
		}
		if len(v.Type.Dims) == len(t.Dims) {
			perm := make([]int64, len(dims))
			for i, d := range dims {
				perm[d] = int64(i)
			}
			return instead(op, "stablehlo.transpose", mlir.Attrs{{Name: "permutation", Value: s.list(perm...)}}, v)
		}
	}
	return op
}

// reshape of a reshape is one, or none.
func (s *simplifier) reshape(op *mlir.Op) *mlir.Op {
	v, t := op.Operands[0], op.Results[0].Type
	if v.Type == t {
		return s.becomes(op, v)
	}
	if defined(v, "stablehlo.reshape") {
		return instead(op, op.Name, op.Attrs, s.value(v.Def.Operands[0]))
	}
	if d, ok := known(v); ok && t.IsStatic() && t.NumElements() == v.Type.NumElements() {
		return constant(op, mlir.Dense{Type: t, Data: d.Data, Splat: d.Splat})
	}
	return op
}

// transpose that moves no element is a reshape.
func (s *simplifier) transpose(op *mlir.Op) *mlir.Op {
	v, t := op.Operands[0], op.Results[0].Type
	perm := intsAttr(op, "permutation")
	if len(perm) != len(t.Dims) || len(perm) != len(v.Type.Dims) {
		return op
	}
	for _, p := range perm {
		if p < 0 || p >= int64(len(perm)) {
			return op
		}
	}
	if slices.IsSorted(perm) {
		return s.becomes(op, v)
	}
	if defined(v, "stablehlo.transpose") {
		inner := intsAttr(v.Def, "permutation")
		if len(inner) == len(perm) {
			composed := make([]int64, len(perm))
			for i, p := range perm {
				composed[i] = inner[p]
			}
			return instead(op, op.Name, op.Attrs.With("permutation", s.list(composed...)), s.value(v.Def.Operands[0]))
		}
	}
	if d, ok := known(v); ok && d.Splat {
		return constant(op, mlir.Dense{Type: t, Data: d.Data, Splat: true})
	}
	if t.IsStatic() && v.Type.IsStatic() {
		last, moves := int64(-1), false
		for _, p := range perm {
			if v.Type.Dims[p] != 1 {
				moves, last = moves || p < last, p
			}
		}
		if !moves {
			return instead(op, "stablehlo.reshape", nil, v)
		}
	}
	return op
}

// slice of everything is the operand, and one of a single part of a concatenation is one of that part.
func (s *simplifier) slice(op *mlir.Op) *mlir.Op {
	v, t := op.Operands[0], op.Results[0].Type
	start, limit, strides := intsAttr(op, "start_indices"), intsAttr(op, "limit_indices"), intsAttr(op, "strides")
	if v.Type == t && v.Type.IsStatic() {
		return s.becomes(op, v)
	}
	if !defined(v, "stablehlo.concatenate") || len(start) != len(v.Type.Dims) || len(limit) != len(start) || len(strides) != len(start) {
		return op
	}
	dim, _ := v.Def.Attrs.Get("dimension").(mlir.Int)
	k := dim.Value
	if k < 0 || k >= int64(len(start)) {
		return op
	}
	at := int64(0)
	var parts []*mlir.Value
	first := int64(0)
	for _, p := range v.Def.Operands {
		if !p.Type.IsStatic() {
			return op
		}
		size := p.Type.Dims[k]
		if at < limit[k] && at+size > start[k] {
			if parts == nil {
				first = at
			}
			parts = append(parts, s.value(p))
		}
		at += size
	}
	if len(parts) == 0 || len(parts) == len(v.Def.Operands) {
		return op
	}
	operand := parts[0]
	if len(parts) > 1 {
		joined := instead(op, "stablehlo.concatenate", v.Def.Attrs, parts...)
		dims := slices.Clone(v.Type.Dims)
		dims[k] = 0
		for _, p := range parts {
			dims[k] += p.Type.Dims[k]
		}
		joined.Results[0].Type = s.m.Types.WithDims(v.Type, dims)
		operand = s.add(joined)
	}
	start, limit = slices.Clone(start), slices.Clone(limit)
	start[k], limit[k] = start[k]-first, limit[k]-first
	return instead(op, op.Name, op.Attrs.With("start_indices", s.list(start...)).With("limit_indices", s.list(limit...)), operand)
}

// dynamicSlice at places that are known is a slice.
func (s *simplifier) dynamicSlice(op *mlir.Op) *mlir.Op {
	v := op.Operands[0]
	sizes := intsAttr(op, "slice_sizes")
	starts, ok := knownScalars(op.Operands[1:])
	if !ok || len(starts) != len(sizes) || len(sizes) != len(v.Type.Dims) || !v.Type.IsStatic() {
		return op
	}
	limits, ones := make([]int64, len(starts)), make([]int64, len(starts))
	for i := range starts {
		starts[i] = max(0, min(starts[i], v.Type.Dims[i]-sizes[i]))
		limits[i], ones[i] = starts[i]+sizes[i], 1
	}
	return instead(op, "stablehlo.slice", mlir.Attrs{
		{Name: "start_indices", Value: s.list(starts...)}, {Name: "limit_indices", Value: s.list(limits...)},
		{Name: "strides", Value: s.list(ones...)},
	}, v)
}

// knownScalars are the values of scalars, if all are constants.
func knownScalars(values []*mlir.Value) ([]int64, bool) {
	out := make([]int64, len(values))
	for i, v := range values {
		d, ok := known(v)
		if !ok || !d.Type.Elem.IsInteger() || len(d.Data) < d.Type.Elem.ByteSize() {
			return nil, false
		}
		out[i] = mlir.IntAt(d.Data, d.Type.Elem)
	}
	return out, true
}

// dynamicUpdateSlice of everything is the update.
func (s *simplifier) dynamicUpdateSlice(op *mlir.Op) *mlir.Op {
	starts, ok := knownScalars(op.Operands[2:])
	if !ok || op.Operands[0].Type != op.Operands[1].Type {
		return op
	}
	for _, x := range starts {
		if x != 0 {
			return op
		}
	}
	return s.becomes(op, op.Operands[1])
}

// concatenate without parts that are empty, and with the parts of a concatenation along the same dimension in its place.
func (s *simplifier) concatenate(op *mlir.Op) *mlir.Op {
	if len(op.Operands) == 1 && op.Operands[0].Type == op.Results[0].Type {
		return s.becomes(op, op.Operands[0])
	}
	dim, _ := op.Attrs.Get("dimension").(mlir.Int)
	var parts []*mlir.Value
	for _, v := range op.Operands {
		inner, _ := mlir.Attr(nil), 0
		if defined(v, "stablehlo.concatenate") {
			inner = v.Def.Attrs.Get("dimension")
		}
		switch {
		case isZeroSized(v.Type) && len(op.Operands) > 1:
		case inner != nil && inner.(mlir.Int).Value == dim.Value:
			for _, p := range v.Def.Operands {
				parts = append(parts, s.value(p))
			}
		default:
			parts = append(parts, v)
		}
	}
	if len(parts) == 0 || slices.Equal(parts, op.Operands) {
		return op
	}
	return instead(op, op.Name, op.Attrs, parts...)
}

// iota along a dimension of size 1 is zero; one of several dimensions is one of a single dimension that is broadcast.
func (s *simplifier) iota(op *mlir.Op) *mlir.Op {
	t := op.Results[0].Type
	dim, ok := op.Attrs.Get("iota_dimension").(mlir.Int)
	if !ok || dim.Value < 0 || dim.Value >= int64(len(t.Dims)) || !t.IsStatic() {
		return op
	}
	size := t.Dims[dim.Value]
	switch {
	case size == 1:
		return constant(op, zeros(t))
	case len(t.Dims) > 1:
		line := instead(op, op.Name, mlir.Attrs{{Name: "iota_dimension", Value: mlir.Int{Type: dim.Type}}})
		line.Results[0].Type = s.m.Types.WithDims(t, []int64{size})
		return instead(op, "stablehlo.broadcast_in_dim", mlir.Attrs{{Name: "broadcast_dimensions", Value: s.list(dim.Value)}}, s.add(line))
	}
	return op
}

// pad by nothing is the operand.
func (s *simplifier) pad(op *mlir.Op) *mlir.Op {
	for _, name := range []string{"edge_padding_low", "edge_padding_high", "interior_padding"} {
		for _, x := range intsAttr(op, name) {
			if x != 0 {
				return op
			}
		}
	}
	if op.Operands[0].Type != op.Results[0].Type {
		return op
	}
	return s.becomes(op, op.Operands[0])
}

// reverse along dimensions of size 1, or of equal elements, does nothing.
func (s *simplifier) reverse(op *mlir.Op) *mlir.Op {
	v := op.Operands[0]
	if d, ok := known(v); ok && d.Splat {
		return s.becomes(op, v)
	}
	for _, d := range intsAttr(op, "dimensions") {
		if d < 0 || d >= int64(len(v.Type.Dims)) || v.Type.Dims[d] != 1 {
			return op
		}
	}
	return s.becomes(op, v)
}
