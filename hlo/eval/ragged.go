package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// raggedDot is a dot in which one axis of the left operand is cut into groups. Each group is an ordinary dot of a part of the operands,
// found by the role of the ragged axis:
//
//	free          group k multiplies its rows with matrix k of the right operand
//	contracting   group k sums over its part of the contracted axis; results are stacked in front
//	batch         groups only say how many batch entries count
func raggedDot(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.RaggedDotAttrs](c.In)
	s := c.In.Shape()
	if len(a.LHSRagged) != 1 {
		return nil, fmt.Errorf("%d ragged dimensions", len(a.LHSRagged))
	}
	if err := c.affordable(s); err != nil {
		return nil, err
	}
	lhs, rhs, err := operandsAs(s.Type(), c.Args[0], c.Args[1])
	if err != nil {
		return nil, err
	}
	if err := checkRagged(&a, lhs.Shape(), rhs.Shape()); err != nil {
		return nil, err
	}
	sizes, err := indicesOf(c.Args[2])
	if err != nil {
		return nil, err
	}
	r := &raggedCall{
		lhs: decoded(lhs), rhs: decoded(rhs), lhsDims: dimsOf(lhs.Shape()), rhsDims: dimsOf(rhs.Shape()),
		lb: ints(a.LHSBatch), lc: ints(a.LHSContracting), rb: ints(a.RHSBatch), rc: ints(a.RHSContracting),
		ragged: int(a.LHSRagged[0]), sizes: sizes, sizeDims: dimsOf(c.Args[2].Shape()),
		ctx: c.e.ctx, out: makeLanes(s.Type(), int(s.NumElements())),
	}
	if len(r.sizeDims) == 0 || len(r.lb) != len(r.rb) || len(r.lc) != len(r.rc) {
		return nil, fmt.Errorf("group sizes of %v", c.Args[2].Shape())
	}
	if err := r.evaluate(ints(a.RHSGroup)); err != nil {
		return nil, err
	}
	r.out.round(s.Type())
	b := make([]byte, s.ByteSize())
	r.out.store(s.Type(), b)
	return hlo.NewLiteral(s, b)
}

// checkRagged checks the axes and that the sides match.
func checkRagged(a *hlo.RaggedDotAttrs, lhs, rhs hlo.Shape) error {
	left, err := axes(slices.Concat(a.LHSBatch, a.LHSContracting), lhs.Rank())
	if err != nil {
		return err
	}
	right, err := axes(slices.Concat(a.RHSBatch, a.RHSContracting), rhs.Rank())
	if err != nil {
		return err
	}
	if _, err = axes(slices.Concat(a.RHSBatch, a.RHSContracting, a.RHSGroup), rhs.Rank()); err != nil {
		return err
	}
	if len(a.LHSBatch) != len(a.RHSBatch) || !slices.Equal(picked(dimsOf(lhs), left), picked(dimsOf(rhs), right)) {
		return fmt.Errorf("%v and %v do not match along batch and contracting dimensions", lhs, rhs)
	}
	_, err = axes(a.LHSRagged, lhs.Rank())
	return err
}

type raggedCall struct {
	lhs, rhs, out    lanes
	lhsDims, rhsDims []int
	lb, lc, rb, rc   []int
	ragged           int
	sizes            []int64
	sizeDims         []int
	ctx              context.Context
}

// evaluate walks over every result element of every group.
func (r *raggedCall) evaluate(group []int) error {
	g := r.sizeDims[len(r.sizeDims)-1]
	lf := others(len(r.lhsDims), r.lb, r.lc)
	rf := others(len(r.rhsDims), r.rb, r.rc, group)
	batch, rows, cols, k := picked(r.lhsDims, r.lb), picked(r.lhsDims, lf), picked(r.rhsDims, rf), picked(r.lhsDims, r.lc)
	var prefix []int // the axes of (batch, rows or k) that group sizes may depend on: those before the ragged one
	contracting := slices.Index(r.lc, r.ragged)
	switch {
	case contracting >= 0:
		prefix = slices.Concat(r.lb, r.lc[:contracting])
	case slices.Contains(r.lb, r.ragged):
		prefix = r.lb[:slices.Index(r.lb, r.ragged)]
	case slices.Contains(lf, r.ragged) && len(group) == 1:
		prefix = slices.Concat(r.lb, lf[:slices.Index(lf, r.ragged)])
	default:
		return fmt.Errorf("ragged dimension %d with %d group dimensions", r.ragged, len(group))
	}
	if len(r.sizeDims) == 1 {
		prefix = nil
	} else if !slices.Equal(picked(r.lhsDims, prefix), r.sizeDims[:len(r.sizeDims)-1]) {
		return fmt.Errorf("group sizes of %v, want %v and the groups", r.sizeDims, picked(r.lhsDims, prefix))
	}
	if len(group) == 1 && r.rhsDims[group[0]] != g {
		return fmt.Errorf("%d groups, the right operand has %d", g, r.rhsDims[group[0]])
	}
	ls, rs, ss := rowMajor(r.lhsDims), rowMajor(r.rhsDims), rowMajor(r.sizeDims)
	at := make([]int, len(r.lhsDims)) // position in the left operand
	groupOf := func() int {           // the group of that position, g when it is beyond all
		from := 0
		for i, a := range prefix {
			from += at[a] * ss[i]
		}
		x := int64(at[r.ragged])
		for i := range g {
			if x -= r.sizes[from+i]; x < 0 {
				return i
			}
		}
		return g
	}
	set := func(axes, index []int) {
		for i, a := range axes {
			at[a] = index[i]
		}
	}
	n := product(batch) * product(rows) * product(cols)
	o := 0
	for bi := newOdometer(batch); !bi.done; bi.next() {
		set(r.lb, bi.index)
		for mi := newOdometer(rows); !mi.done; mi.next() {
			set(lf, mi.index)
			for ni := newOdometer(cols); !ni.done; ni.next() {
				for ki := newOdometer(k); !ki.done; ki.next() {
					set(r.lc, ki.index)
					which := groupOf()
					if which == g {
						continue
					}
					from := dot(bi.index, picked(rs, r.rb)) + dot(ni.index, picked(rs, rf)) + dot(ki.index, picked(rs, r.rc))
					to := o
					if len(group) == 1 {
						from += which * rs[group[0]]
					}
					if contracting >= 0 {
						to += which * n
					}
					if x := dot(at, ls); r.out.multiplyAdd(to, &r.lhs, x, &r.rhs, from) != nil {
						return fmt.Errorf("result of %d elements is too small", n)
					}
				}
				o++
				if r.ctx.Err() != nil {
					return r.ctx.Err()
				}
			}
		}
	}
	return nil
}

// multiplyAdd adds a product to element to.
func (l *lanes) multiplyAdd(to int, a *lanes, i int, b *lanes, j int) error {
	if to >= max(len(l.f), len(l.i), len(l.z)) {
		return fmt.Errorf("no element %d", to)
	}
	switch {
	case l.f != nil:
		l.f[to] += a.f[i] * b.f[j]
	case l.i != nil:
		l.i[to] += a.i[i] * b.i[j]
	default:
		l.z[to] += a.z[i] * b.z[j]
	}
	return nil
}
