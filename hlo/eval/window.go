package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// windowGrid is a window moving over an array.
type windowGrid struct {
	dims    []hlo.WindowDim
	in, out []int // sizes of the base and of the positions
	size    []int // of the window
}

func newWindowGrid(w *hlo.Window, in, out []int) (*windowGrid, error) {
	g := &windowGrid{in: in, out: out}
	if w != nil {
		g.dims = w.Dims
	}
	if w == nil && len(in) > 0 { // no window: one of size 1 everywhere
		for range in {
			g.dims = append(g.dims, hlo.DefaultWindowDim(1))
		}
	}
	if len(g.dims) != len(in) || len(out) != len(in) {
		return nil, fmt.Errorf("a window of %d dimensions for %d", len(g.dims), len(in))
	}
	for _, d := range g.dims {
		if d.Stride < 1 || d.BaseDilation < 1 || d.WindowDilation < 1 || d.Size < 0 {
			return nil, fmt.Errorf("window of size %d, stride %d", d.Size, d.Stride)
		}
		g.size = append(g.size, int(d.Size))
	}
	return g, nil
}

// sources fills the flat input position under window index k for the output positions of tile [from, from+len(at)); -1 where there is
// none. It reports whether there is any.
func (g *windowGrid) sources(at []int, from int, k []int) bool {
	strides := rowMajor(g.in)
	index := unflatten(from, g.out)
	some := false
	for i := range at {
		p := 0
		for d := range g.dims {
			x := source(&g.dims[d], index[d], k[d], g.in[d])
			if x < 0 {
				p = -1
				break
			}
			p += x * strides[d]
		}
		at[i] = p
		some = some || p >= 0
		for d := len(index) - 1; d >= 0; d-- {
			if index[d]++; index[d] < g.out[d] {
				break
			}
			index[d] = 0
		}
	}
	return some
}

// unflatten is the index vector of flat position n.
func unflatten(n int, dims []int) []int {
	index := make([]int, len(dims))
	for d := len(dims) - 1; d >= 0; d-- {
		index[d] = n % dims[d]
		n /= dims[d]
	}
	return index
}

// reduceWindow folds the elements under the window at each position, in row-major order of the window; padding and holes contribute
// nothing.
func reduceWindow(c *Call) (*hlo.Literal, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	return c.foldWindows(hlo.AttrsOf[hlo.WindowAttrs](c.In).Window, s)
}

// foldWindows is reduceWindow with a window and to a shape.
func (c *Call) foldWindows(w *hlo.Window, s hlo.Shape) (*hlo.Literal, error) {
	p, n, err := c.fold()
	if err != nil {
		return nil, err
	}
	first := s
	if s.IsTuple() {
		first = s.Elem(0)
	}
	g, err := newWindowGrid(w, dimsOf(c.Args[0].Shape()), dimsOf(first))
	if err != nil {
		return nil, err
	}
	inputs := make([]lanes, n)
	for i, a := range c.Args[:n] {
		if !slices.Equal(dimsOf(a.Shape()), g.in) {
			return nil, fmt.Errorf("inputs of %v and %v", c.Args[0].Shape(), a.Shape())
		}
		inputs[i] = decoded(a)
	}
	accs, err := g.fold(c.e.ctx, p, inputs, c.Args[n:])
	if err != nil {
		return nil, err
	}
	parts := make([]*hlo.Literal, n)
	for i := range parts {
		e := s
		if s.IsTuple() {
			e = s.Elem(i)
		}
		if parts[i], err = accs[i].literal(e.WithType(p.types[p.results[i]])); err != nil {
			return nil, err
		}
		if parts[i], err = converted(parts[i], e.Type()); err != nil {
			return nil, err
		}
	}
	return tupleUnlessOne(s, parts), nil
}

func (g *windowGrid) fold(ctx context.Context, p *program, inputs []lanes, inits []*hlo.Literal) ([]lanes, error) {
	outputs := product(g.out)
	accs := make([]lanes, len(inputs))
	for i, l := range inits {
		accs[i] = makeLanes(l.Shape().Type(), outputs)
		if outputs > 0 {
			accs[i].splat(l.Shape().Type(), bytesOf(l))
		}
	}
	if axis, ok := g.running(); ok {
		return accs, g.scan(p, inputs, accs, axis)
	}
	wide := len(inputs) == 1 && recognised(p, inits[0].Shape().Type()) != nil && classOf(inits[0].Shape().Type()) == floats
	f := p.frame(min(outputs, tile))
	at, mask := make([]int, tile), make([]bool, tile)
	for o := 0; o < outputs; o += tile {
		k := min(tile, outputs-o)
		f.resize(k)
		spans := make([]lanes, len(accs))
		for i := range accs {
			spans[i] = accs[i].span(o, k)
		}
		for w := newOdometer(g.size); !w.done; w.next() {
			if !g.sources(at[:k], o, w.index) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if wide && foldWide(p.binary, spans[0].f, inputs[0].f, at[:k]) {
				continue
			}
			for i := range inputs {
				f.param(i).set(&spans[i])
				f.param(len(inputs)+i).pickAt(&inputs[i], at[:k])
			}
			if err := f.run(); err != nil {
				return nil, err
			}
			for j, x := range at[:k] {
				mask[j] = x >= 0
			}
			for i := range spans {
				spans[i].blend(f.result(i), mask)
			}
		}
	}
	if wide {
		accs[0].round(inits[0].Shape().Type())
	}
	return accs, nil
}

// foldWide folds one window index into accumulators that stay in float64.
func foldWide(op hlo.Opcode, acc, in []float64, at []int) bool {
	for j, p := range at {
		if p < 0 {
			continue
		}
		switch op {
		case hlo.OpAdd:
			acc[j] += in[p]
		case hlo.OpMultiply:
			acc[j] *= in[p]
		case hlo.OpMaximum:
			acc[j] = max(acc[j], in[p])
		case hlo.OpMinimum:
			acc[j] = min(acc[j], in[p])
		default:
			return false
		}
	}
	return true
}

// pickAt fills the lanes with the elements at the given positions, anything for -1.
func (l *lanes) pickAt(v *lanes, at []int) {
	pickAt(l.f, v.f, at)
	pickAt(l.i, v.i, at)
	pickAt(l.z, v.z, at)
}

func pickAt[E any](dst, src []E, at []int) {
	if dst == nil {
		return
	}
	for j, p := range at {
		if p >= 0 {
			dst[j] = src[p]
		}
	}
}

// running reports whether the window is that of a running fold: along one axis it reaches from the start of the axis to the
// position, elsewhere it is a single element. Result i is then the fold of result i-1 and element i, by the definition.
func (g *windowGrid) running() (int, bool) {
	axis := -1
	for d, w := range g.dims {
		if w.Size == 1 && w.Stride == 1 && w.PadLow == 0 && w.PadHigh == 0 && w.BaseDilation == 1 {
			continue
		}
		if axis >= 0 || w.Stride != 1 || w.BaseDilation != 1 || w.WindowDilation != 1 || int(w.Size) < g.in[d] || w.PadLow != w.Size-1 || w.PadHigh != 0 {
			return 0, false
		}
		axis = d
	}
	return axis, axis >= 0 && slices.Equal(g.in, g.out)
}

// scan computes a running fold. Sums and products of floating numbers stay in float64 along the way.
func (g *windowGrid) scan(p *program, inputs, accs []lanes, axis int) error {
	strides := rowMajor(g.in)
	lines := others(len(g.in), []int{axis})
	n, step := g.in[axis], strides[axis]
	if n == 0 {
		return nil
	}
	t := p.types[p.results[0]]
	wide := len(inputs) == 1 && classOf(t) == floats && recognised(p, t) != nil
	f := p.frame(1)
	for o := newOdometer(picked(g.in, lines)); !o.done; o.next() {
		at := dot(o.index, picked(strides, lines))
		if wide {
			runningWide(p.binary, accs[0].f, inputs[0].f, at, step, n)
			continue
		}
		for i := range accs {
			f.param(i).take(&accs[i], at, 0)
		}
		for range n {
			for i := range inputs {
				f.param(len(inputs)+i).take(&inputs[i], at, 0)
			}
			if err := f.run(); err != nil {
				return err
			}
			f.feedBack(len(inputs))
			for i := range accs {
				accs[i].put(f.param(i), at, 0)
			}
			at += step
		}
	}
	if wide {
		accs[0].round(t)
	}
	return nil
}

// runningWide is the running fold of one line; acc holds the initial value everywhere.
func runningWide(op hlo.Opcode, acc, in []float64, at, step, n int) {
	if n == 0 {
		return
	}
	v := [1]float64{acc[at]}
	for range n {
		foldWide(op, v[:], in, []int{at})
		acc[at] = v[0]
		at += step
	}
}

// selectAndScatter finds for each source element the element of the window that the selection prefers, and combines the source
// element into that place.
func selectAndScatter(c *Call) (*hlo.Literal, error) {
	s, err := c.shape()
	if err != nil {
		return nil, err
	}
	return c.scatterWindows(hlo.AttrsOf[hlo.WindowAttrs](c.In).Window, s)
}

// scatterWindows is selectAndScatter with a window and to a shape.
func (c *Call) scatterWindows(w *hlo.Window, s hlo.Shape) (*hlo.Literal, error) {
	choose, err := c.apply(0)
	if err != nil {
		return nil, err
	}
	combine, err := c.apply(1)
	if err != nil {
		return nil, err
	}
	if err := choose.takes(1, c.Args[0], c.Args[0]); err != nil {
		return nil, err
	}
	if err := combine.folds(c.Args[2:], c.Args[1:2]); err != nil {
		return nil, err
	}
	if !slices.Equal(dimsOf(s), dimsOf(c.Args[0].Shape())) || s.Type() != c.Args[2].Shape().Type() || choose.types[choose.results[0]] != hlo.PRED {
		return nil, fmt.Errorf("a result of %v for %v", s, c.Args[0].Shape())
	}
	g, err := newWindowGrid(w, dimsOf(c.Args[0].Shape()), dimsOf(c.Args[1].Shape()))
	if err != nil {
		return nil, err
	}
	in, src := decoded(c.Args[0]), decoded(c.Args[1])
	at, err := g.chosen(c.e.ctx, choose, &in)
	if err != nil {
		return nil, err
	}
	t := s.Type()
	out := makeLanes(t, int(s.NumElements()))
	if s.NumElements() > 0 {
		out.splat(t, bytesOf(c.Args[2]))
	}
	f := combine.frame(1)
	for o, p := range at {
		if p < 0 {
			continue
		}
		f.param(0).take(&out, p, 0)
		f.param(1).take(&src, o, 0)
		if err := f.run(); err != nil {
			return nil, err
		}
		out.put(f.result(0), p, 0)
	}
	return out.literal(s)
}

// chosen is the input position that each window selects, -1 for windows without elements. The first element stands until the selection
// turns it down.
func (g *windowGrid) chosen(ctx context.Context, p *program, in *lanes) ([]int, error) {
	outputs := product(g.out)
	best := make([]int, outputs)
	for i := range best {
		best[i] = -1
	}
	f := p.frame(min(outputs, tile))
	at := make([]int, tile)
	for o := 0; o < outputs; o += tile {
		k := min(tile, outputs-o)
		f.resize(k)
		now := best[o : o+k]
		for w := newOdometer(g.size); !w.done; w.next() {
			if !g.sources(at[:k], o, w.index) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f.param(0).pickAt(in, now)
			f.param(1).pickAt(in, at[:k])
			if err := f.run(); err != nil {
				return nil, err
			}
			keep := f.result(0).i
			for j, x := range at[:k] {
				if x >= 0 && (now[j] < 0 || keep[j] == 0) {
					now[j] = x
				}
			}
		}
	}
	return best, nil
}
