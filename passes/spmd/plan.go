package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// plan is a choice of axes for each factor of an op, and what follows for its operands and results.
type plan struct {
	axes     [][]int // of each factor
	operands []*Tiling
	result   *Tiling // what the op yields; reduced factors are unreduced axes
	cost     float64
}

// question is an op to be planned: what its operands are, and what its results should be.
type question struct {
	in      hlo.Instruction
	factors []factor
	have    []*value
	want    *Tiling
	mesh    *Mesh
	manual  []int
	// combines says that reduced factors may be split.
	combines bool
	// slides says that halos may be fetched.
	slides bool
}

// plans chooses the cheapest of the plans that follow from what operands and results are: each in turn says first which axes its dimensions
// take, the others fill in what is left.
func (d *device) plans(q *question) *plan {
	n := len(q.have)
	var best *plan
	consider := func(order []int) {
		for _, displace := range []bool{false, true} {
			p := q.assign(order)
			if displace && !q.displace(p, order) {
				break
			}
			q.project(p)
			p.cost = d.costOf(q, p)
			if best == nil || p.cost < best.cost {
				best = p
			}
		}
	}
	try := func(order []int) {
		consider(order)
		if q.combines { // gathering may be cheaper than combining results
			q.combines = false
			consider(order)
			q.combines = true
		}
	}
	var operands []int
	for i := range n {
		if q.have[i].shape.IsArray() && q.have[i].shape.Rank() > 0 {
			operands = append(operands, i)
		}
	}
	// Larger operands first: what they have is dearer to change.
	slices.SortStableFunc(operands, func(a, b int) int {
		return int(min(1, max(-1, q.have[b].t.bytes(q.have[b].shape)-q.have[a].t.bytes(q.have[a].shape))))
	})
	try(append([]int{-1}, operands...))
	try([]int{-1})
	for k, i := range operands {
		if k >= 4 {
			break
		}
		rest := slices.Delete(slices.Clone(operands), k, k+1)
		try(slices.Concat([]int{i, -1}, rest))
		try(slices.Concat([]int{i}, rest, []int{-1}))
	}
	return best
}

// assign takes axes from operands (by number) and results (-1) in an order.
func (q *question) assign(order []int) *plan {
	p := &plan{axes: make([][]int, len(q.factors))}
	used := slices.Clone(q.manual)
	for _, source := range order {
		t := q.tiling(source)
		if t.Mesh != q.mesh {
			continue
		}
		for f := range q.factors {
			k := q.factors[f].dim(source)
			if k < 0 || !q.mayTake(f) || len(p.axes[f]) > 0 || q.taken(p, f) {
				continue
			}
			for _, a := range t.Dims[k] {
				if slices.Contains(used, a) || !q.fits(f, append(p.axes[f], a)) {
					break
				}
				p.axes[f] = append(p.axes[f], a)
				used = append(used, a)
			}
		}
	}
	return p
}

// tiling is that of an operand, or the one that is wanted of the result (-1).
func (q *question) tiling(source int) *Tiling {
	if source < 0 {
		return q.want
	}
	return q.have[source].t
}

// displace gives the axes that split dimensions which the op needs whole to dimensions that it passes: an all-to-all there and one back move less
// than a gather. It reports whether there were any.
func (q *question) displace(p *plan, order []int) bool {
	used, moved := slices.Concat(q.manual, slices.Concat(p.axes...)), false
	for _, source := range order {
		t := q.tiling(source)
		if t.Mesh != q.mesh {
			continue
		}
		for f := range q.factors {
			k := q.factors[f].dim(source)
			if k < 0 || q.mayTake(f) {
				continue
			}
			axes := without(t.Dims[k], used)
			if g := q.free(p, axes); len(axes) > 0 && g >= 0 {
				p.axes[g], used, moved = axes, append(used, axes...), true
			}
		}
	}
	return moved
}

// free is a factor that the op passes and that axes can split into equal parts, or -1.
func (q *question) free(p *plan, axes []int) int {
	for g, f := range q.factors {
		if f.kind == passFactor && f.result >= 0 && len(p.axes[g]) == 0 && !q.taken(p, g) && q.fits(g, axes) &&
			leafDim(q.in.Shape(), f.result)%q.mesh.size(axes) == 0 {
			return g
		}
	}
	return -1
}

// taken reports whether a dimension of a factor belongs to another one as well, which is split.
func (q *question) taken(p *plan, f int) bool {
	for g := range q.factors {
		if g == f || len(p.axes[g]) == 0 {
			continue
		}
		for i, k := range q.factors[f].operands {
			if k >= 0 && q.factors[g].operands[i] == k {
				return true
			}
		}
	}
	return false
}

func (q *question) mayTake(f int) bool {
	if q.factors[f].reduces() && !q.combines {
		return false
	}
	switch q.factors[f].kind {
	case passFactor, reduceFactor:
		return true
	case slideFactor:
		return q.slides
	}
	return false
}

// fits reports whether the dimensions of a factor are all as long, or divide.
func (q *question) fits(f int, axes []int) bool {
	if q.factors[f].kind == slideFactor {
		for i, k := range q.factors[f].operands {
			w := q.factors[f].slides[i]
			if k >= 0 && w == (slide{}) && q.have[i].shape.Dim(k)%q.mesh.size(axes) != 0 {
				return false
			}
			if h := w.halo(q.mesh.size(axes)); k >= 0 && w != (slide{}) && !h.isLocal() {
				return false
			}
		}
		return true
	}
	n := int64(-1)
	for i, k := range q.factors[f].operands {
		if k < 0 {
			continue
		}
		size := q.have[i].shape.Dim(k)
		if n >= 0 && size != n {
			return false
		}
		n = size
	}
	return n < 0 || n > 0 && q.mesh.size(axes) > 0
}

// project writes the axes of the factors into tilings.
func (q *question) project(p *plan) {
	for i, x := range q.have {
		t := replicated(q.mesh, x.shape.Rank())
		t.Manual = q.manual
		for f := range q.factors {
			if k := q.factors[f].operands[i]; k >= 0 && len(p.axes[f]) > 0 {
				t.Dims[k] = p.axes[f]
			}
		}
		p.operands = append(p.operands, t)
	}
	p.result = replicated(q.mesh, leafRank(q.in.Shape()))
	p.result.Manual = q.manual
	for f := range q.factors {
		if k := q.factors[f].result; k >= 0 && len(p.axes[f]) > 0 {
			p.result.Dims[k] = p.axes[f]
		}
		if q.factors[f].reduces() {
			p.result.Unreduced = union(p.result.Unreduced, p.axes[f])
		}
	}
}

// costOf is what it takes to bring the operands to a plan, and its result to where it is wanted; with a little for what is computed.
func (d *device) costOf(q *question, p *plan) float64 {
	total := 0.0
	for i, x := range q.have {
		if x.isBroadcast() || !x.shape.IsArray() {
			continue
		}
		if _, done := x.copies[p.operands[i].key()]; !done {
			total += d.p.routeCost(x.shape, x.t, p.operands[i])
		}
		total += float64(p.operands[i].bytes(x.shape)) * d.p.cost.Byte * 0.01
		for f := range q.factors {
			if q.factors[f].slid(i) && len(p.axes[f]) > 0 {
				h := q.factors[f].slides[i].halo(q.mesh.size(p.axes[f]))
				total += h.cost(d.p.cost, p.operands[i].bytes(x.shape))
			}
		}
	}
	leaves(q.in.Shape(), func(s hlo.Shape) {
		total += d.p.routeCost(s, p.result, q.want)
		total += float64(p.result.bytes(s)) * d.p.cost.Byte * 0.01
	})
	return total
}

// routeCost is what a change of tiling costs.
func (p *partitioner) routeCost(s hlo.Shape, from, to *Tiling) float64 {
	total := 0.0
	if !s.IsArray() || from.equal(to) {
		return 0
	}
	for _, st := range route(s, from, to) {
		total += p.cost.of(&st)
	}
	return total
}

// leaves calls f with each array of a shape.
func leaves(s hlo.Shape, f func(hlo.Shape)) {
	for _, leaf := range s.Leaves {
		if leaf.IsArray() {
			f(leaf)
		}
	}
}
