package eval

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// scatter combines windows of updates into copies of the operands, one scatter index after the other. A window that does not lie
// inside entirely is left out.
func scatter(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](c.In)
	n := len(c.Args) / 2
	if len(c.Args)%2 == 0 {
		return nil, fmt.Errorf("%d operands", len(c.Args))
	}
	if err := c.agree(updateAxes(a, c.Args[n].Shape().Rank(), c.Args[n+1:])); err != nil {
		return nil, err
	}
	operands, updates := c.Args[:n], c.Args[n+1:]
	for i := range n {
		if !slices.Equal(dimsOf(operands[i].Shape()), dimsOf(operands[0].Shape())) || !slices.Equal(dimsOf(updates[i].Shape()), dimsOf(updates[0].Shape())) {
			return nil, fmt.Errorf("operand of %v and updates of %v", operands[i].Shape(), updates[i].Shape())
		}
	}
	if err := hlo.CheckBatching(c.In); err != nil {
		return nil, err
	}
	m, err := newIndexMap(operands[0].Shape(), c.Args[n], a.IndexVectorDim, a.ScatterDimsToOperandDims, a.InputBatchingDims, a.ScatterIndicesBatchingDims)
	if err != nil {
		return nil, err
	}
	p, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	updateDims := dimsOf(updates[0].Shape())
	windowAxes, err := axes(a.UpdateWindowDims, len(updateDims))
	if err != nil {
		return nil, err
	}
	inserted, err := axes(append(slices.Clone(a.InsertedWindowDims), a.InputBatchingDims...), len(m.dims))
	if err != nil {
		return nil, err
	}
	scatterAxes := others(len(updateDims), windowAxes)
	kept := others(len(m.dims), inserted)
	if len(kept) != len(windowAxes) || !slices.Equal(picked(updateDims, scatterAxes), m.batch) {
		return nil, fmt.Errorf("updates of %v for %v", updates[0].Shape(), operands[0].Shape())
	}
	if err := p.folds(operands, updates); err != nil {
		return nil, err
	}
	window := picked(updateDims, windowAxes)
	size := make([]int, len(m.dims)) // of the window in each operand axis
	for d := range size {
		size[d] = 1
	}
	for k, d := range kept {
		size[d] = window[k]
	}
	sc := newScatterer(p, operands, updates)
	opStrides, upStrides := rowMajor(m.dims), rowMajor(updateDims)
	opWindow, upWindow := picked(opStrides, kept), picked(upStrides, windowAxes)
	upBatch := picked(upStrides, scatterAxes)
	at := make([]int64, len(m.dims))
	for o := newOdometer(m.batch); !o.done; o.next() {
		m.start(at, o.index)
		base, inside := 0, true
		for d, x := range at {
			inside = inside && x >= 0 && x <= int64(m.dims[d]-size[d])
			base += int(x) * opStrides[d]
		}
		if !inside {
			continue
		}
		if err := c.e.ctx.Err(); err != nil {
			return nil, err
		}
		if err := sc.window(base, dot(o.index, upBatch), window, opWindow, upWindow); err != nil {
			return nil, err
		}
	}
	return sc.finish(c.In.Shape(), operands)
}

// updateAxes groups the axes along which a scatter takes indices and updates together.
func updateAxes(a hlo.ScatterAttrs, rank int, updates []*hlo.Literal) (groups [][]operandAxis) {
	n, next := len(updates), 0
	for axis := range rank {
		if axis == int(a.IndexVectorDim) {
			continue
		}
		g := []operandAxis{{n, axis}}
		for slices.Contains(a.UpdateWindowDims, int64(next)) {
			next++
		}
		for i, u := range updates {
			if next < u.Shape().Rank() {
				g = append(g, operandAxis{n + 1 + i, next})
			}
		}
		next++
		groups = append(groups, g)
	}
	return groups
}

// scatterer holds the decoded arrays of a scatter.
type scatterer struct {
	f               *frame
	values, updates []lanes
}

func newScatterer(p *program, operands, updates []*hlo.Literal) *scatterer {
	sc := &scatterer{f: p.frame(tile)}
	for i := range operands {
		sc.values = append(sc.values, decoded(operands[i]))
		sc.updates = append(sc.updates, decoded(updates[i]))
	}
	return sc
}

// decoded is all elements of an array.
func decoded(l *hlo.Literal) lanes {
	v := makeLanes(l.Shape().Type(), int(l.Shape().NumElements()))
	v.load(l.Shape().Type(), bytesOf(l))
	return v
}

// window combines one window. Its elements are distinct, so a line of them is done at once.
func (sc *scatterer) window(at, from int, dims, ds, ss []int) error {
	if len(dims) > 1 {
		for range dims[0] {
			if err := sc.window(at, from, dims[1:], ds[1:], ss[1:]); err != nil {
				return err
			}
			at += ds[0]
			from += ss[0]
		}
		return nil
	}
	n, d, s := 1, 0, 0
	if len(dims) == 1 {
		n, d, s = dims[0], ds[0], ss[0]
	}
	for n > 0 {
		k := min(n, tile)
		if sc.f.n != k {
			sc.f.resize(k)
		}
		for i := range sc.values {
			sc.f.param(i).take(&sc.values[i], at, d)
			sc.f.param(len(sc.values)+i).take(&sc.updates[i], from, s)
		}
		if err := sc.f.run(); err != nil {
			return err
		}
		for i := range sc.values {
			sc.values[i].put(sc.f.result(i), at, d)
		}
		at, from, n = at+k*d, from+k*s, n-k
	}
	return nil
}

func (sc *scatterer) finish(s hlo.Shape, operands []*hlo.Literal) (*hlo.Literal, error) {
	parts := make([]*hlo.Literal, len(operands))
	for i, o := range operands {
		t := o.Shape().Type()
		b := make([]byte, o.Shape().ByteSize())
		sc.values[i].store(t, b)
		var err error
		if parts[i], err = hlo.NewLiteral(o.Shape(), b); err != nil {
			return nil, err
		}
	}
	return tupleUnlessOne(s, parts), nil
}

// take fills all lanes with the elements of v at, at+stride, …
func (l *lanes) take(v *lanes, at, stride int) {
	takeStrided(l.f, v.f, at, stride)
	takeStrided(l.i, v.i, at, stride)
	takeStrided(l.z, v.z, at, stride)
}

func takeStrided[E any](dst, src []E, at, stride int) {
	if stride == 1 && len(dst) > 0 {
		copy(dst, src[at:at+len(dst)])
		return
	}
	for k := range dst {
		dst[k] = src[at]
		at += stride
	}
}

// put stores all lanes of v at, at+stride, …
func (l *lanes) put(v *lanes, at, stride int) {
	putStrided(l.f, v.f, at, stride)
	putStrided(l.i, v.i, at, stride)
	putStrided(l.z, v.z, at, stride)
}

func putStrided[E any](dst, src []E, at, stride int) {
	if dst == nil {
		return
	}
	for _, x := range src {
		dst[at] = x
		at += stride
	}
}
