package dots

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// roles of the dimensions of a concatenated operand.
const (
	isBatch role = 0
	isContr role = 1
	isFree  role = 2
)

type role int

// slot is one dimension of the concatenated operands: which role it has, and which dimension of the source it meets.
type slot struct {
	role role
	dim  int64
}

// mergeDots makes one dot of a set.
//
//  1. The source without its dimensions of size 1 is one operand.
//  2. The other operands get the order of dimensions that the first of them has, with one free dimension, along which they are concatenated:
//     the largest first.
//  3. Each dot becomes a slice of the result, with its dimensions in its own order.
func mergeDots(c hlo.CompEdit, set []shared) error {
	first := c.At(set[0].dot)
	at := emit.Before(c, first)
	attrs, elem := first.Attrs().(*hlo.DotAttrs), first.Shape().Type()
	onLeft := false // where the concatenated operand goes
	for _, s := range set {
		onLeft = onLeft || s.which == 1
	}
	lead := set[0]
	order := slotsOf(lead)
	squeezed, place := squeeze(at, lead.source)
	byReach := slices.Clone(set)
	slices.SortStableFunc(byReach, func(a, b shared) int { return cmp.Compare(b.size, a.size) })
	var arrays []hlo.InstrID
	offset := map[hlo.InstrID]int64{}
	var total int64
	for _, s := range byReach {
		arrays = append(arrays, formed(at, c.At(s.dot).Operand(1-s.which), s, order))
		offset[s.dot] = total
		total += s.size
	}
	free := int64(slices.IndexFunc(order, func(s slot) bool { return s.role == isFree }))
	other := at.Concatenate(free, arrays...)

	var own, cat side
	for _, d := range lead.batch {
		own.batch, cat.batch = append(own.batch, place[d]), append(cat.batch, int64(slices.Index(order, slot{isBatch, d})))
	}
	for _, d := range lead.contracting {
		own.contracting, cat.contracting = append(own.contracting, place[d]), append(cat.contracting, int64(slices.Index(order, slot{isContr, d})))
	}
	lhs, rhs, x, y := own, cat, squeezed, other
	ownFree := sizes(c.At(lead.source).Shape(), lead.freeInSource())
	if onLeft {
		lhs, rhs, x, y = cat, own, other, squeezed
	}
	to := withDims(attrs, lhs, rhs)
	to.Precision = nil
	if len(attrs.Precision) > 0 {
		p := []hlo.Precision{precisionOf(attrs, lead.which, 0), precisionOf(attrs, lead.which, 1)}
		if onLeft {
			slices.Reverse(p)
		}
		to.Precision = p
	}
	dims := sizes(c.At(lead.source).Shape(), lead.batch)
	axis := len(dims)
	if onLeft {
		dims = append(append(dims, total), ownFree...)
	} else {
		axis += len(ownFree)
		dims = append(append(dims, ownFree...), total)
	}
	dot := at.OpOf(hlo.OpDot, hlo.MakeShape(elem, dims...), to, x, y)
	for _, s := range set {
		here := emit.Before(c, c.At(s.dot))
		part := here.SliceAxis(dot, axis, offset[s.dot], offset[s.dot]+s.size)
		part = here.Transpose(part, arrangement(lead, s, len(ownFree), onLeft)...)
		shape := c.At(s.dot).Shape()
		if err := replaceDot(c, s.dot, here.Reshape(part, shape.Dimensions()...)); err != nil {
			return err
		}
	}
	emit.Reorder(c)
	return nil
}

// replaceDot puts a part of the merged dot in the place of one that was merged.
func replaceDot(c hlo.CompEdit, dot, part hlo.InstrID) error {
	operands := slices.Collect(c.At(dot).OperandIDs())
	if err := emit.Replace(c, dot, part); err != nil {
		return err
	}
	for _, o := range operands {
		pass.Release(c, o, nil)
	}
	return nil
}

// freeInSource lists the free dimensions in the order of the source.
func (s shared) freeInSource() []int64 {
	v := slices.Clone(s.free)
	slices.Sort(v)
	return v
}

// slotsOf is the order of dimensions of the first other operand, if its free ones stand together, else batch, contracting, free.
func slotsOf(s shared) []slot {
	n := len(s.otherBatch) + len(s.otherContr)
	var dims []slot
	at := map[int64]slot{}
	for i, d := range s.otherBatch {
		at[d] = slot{isBatch, s.batch[i]}
	}
	for i, d := range s.otherContr {
		at[d] = slot{isContr, s.contracting[i]}
	}
	together := consecutive(s.otherFree)
	if together {
		limit := int64(n)
		for d := range at {
			limit = max(limit, d+1)
		}
		for _, d := range s.otherFree {
			limit = max(limit, d+1)
		}
		for d := range limit {
			if v, ok := at[d]; ok {
				dims = append(dims, v)
			} else if len(s.otherFree) > 0 && d == s.otherFree[0] {
				dims = append(dims, slot{isFree, 0})
			}
		}
	} else {
		for _, d := range s.batch {
			dims = append(dims, slot{isBatch, d})
		}
		for _, d := range s.contracting {
			dims = append(dims, slot{isContr, d})
		}
		dims = append(dims, slot{isFree, 0})
	}
	if len(s.otherFree) == 0 {
		dims = append(dims, slot{isFree, 0})
	}
	return dims
}

// squeeze is a value without its dimensions of size 1, and where each of its dimensions is then.
func squeeze(at emit.At, x hlo.InstrID) (hlo.InstrID, []int64) {
	s := at.Shape(x)
	var dims []int64
	place := make([]int64, s.Rank())
	for d := range s.Rank() {
		place[d] = int64(len(dims))
		if s.Dim(d) != 1 {
			dims = append(dims, s.Dim(d))
		}
	}
	return at.Reshape(x, dims...), place
}

// formed is the other operand of a dot with its dimensions in the order of slots.
func formed(at emit.At, x hlo.InstrID, s shared, order []slot) hlo.InstrID {
	shape := at.Shape(x)
	used := slices.Concat(s.otherBatch, s.otherContr, s.otherFree)
	slices.Sort(used)
	x = at.Reshape(x, sizes(shape, used)...) // without batch and contracting dimensions of size 1
	var perm, dims []int64
	for _, o := range order {
		switch o.role {
		case isFree:
			for _, d := range s.otherFree {
				perm = append(perm, int64(slices.Index(used, d)))
			}
			dims = append(dims, s.size)
			continue
		case isBatch:
			d := s.otherBatch[slices.Index(s.batch, o.dim)]
			perm, dims = append(perm, int64(slices.Index(used, d))), append(dims, shape.Dim(int(d)))
		case isContr:
			d := s.otherContr[slices.Index(s.contracting, o.dim)]
			perm, dims = append(perm, int64(slices.Index(used, d))), append(dims, shape.Dim(int(d)))
		}
	}
	return at.Reshape(at.Transpose(x, perm...), dims...)
}

// arrangement is the permutation from the dimensions of the merged dot, one of them for what was concatenated, to those of one of the set.
func arrangement(lead, s shared, ownFree int, onLeft bool) (perm []int64) {
	n := len(lead.batch)
	for _, d := range s.batch {
		perm = append(perm, int64(slices.Index(lead.batch, d)))
	}
	firstOwn, cat := n, n+ownFree
	if onLeft {
		firstOwn, cat = n+1, n
	}
	var own []int64
	inSource := lead.freeInSource()
	for _, d := range s.free {
		own = append(own, int64(firstOwn+slices.Index(inSource, d)))
	}
	if s.which == 0 {
		return append(append(perm, own...), int64(cat))
	}
	return append(append(perm, int64(cat)), own...)
}
