package kernels

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// A fusion that reads arrays which are joined of others is cut into boxes, so that all that a box needs of such an array is in one of these. Each box is a program of its own, whose
// result is a part of the fusion's.

// mostPieces bounds the boxes of a fusion.
const mostPieces = 64

// piece is one of them.
type piece struct {
	*tile.Program
	from int // bytes of the result before it, if the elements follow each other
	unit int // elements that should stay together
}

// cutter makes the pieces of an instruction.
type cutter struct {
	m      hlo.Module
	root   hlo.Instruction
	pieces []piece
	spread bool // some have rows that the result has others between
}

// fusedPieces serves fusions of one result with a concatenation inside.
func fusedPieces(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || !c.Root().Shape().IsArray() || !hasConcatenation(c) {
		return runtime.Bound{}, false
	}
	t := &cutter{m: s.m, root: c.Root()}
	dims := t.root.Shape().Dimensions()
	if !t.add(make([]int64, len(dims)), dims) {
		return runtime.Bound{}, false
	}
	loop, n, grain := t.loop(s.in.NumOperands())
	return newParallelLoop(loop).bound(n, grain), true
}

func hasConcatenation(c hlo.Computation) bool {
	for in := range c.Instructions() {
		if in.Opcode() == hlo.OpConcatenate {
			return true
		}
	}
	return false
}

// add makes a box of the result a piece, or several.
func (t *cutter) add(from, dims []int64) bool {
	space := dims
	for range 16 {
		c := &compiler{m: t.m, space: tile.Space{Dims: space}, leaf: arrayParameters, budget: maxProgram}
		c.b = tile.NewBuilder(c.space)
		p, ok := t.compile(c, from, dims)
		switch {
		case ok:
			if len(t.pieces) == mostPieces || p.Len() == 0 {
				return false
			}
			t.pieces = append(t.pieces, p)
			return true
		case c.cut > 0 && len(space) == len(dims):
			first, rest, at := slices.Clone(dims), slices.Clone(dims), slices.Clone(from)
			first[c.axis] = c.cut
			rest[c.axis] -= c.cut
			at[c.axis] += c.cut
			return t.add(from, first) && t.add(at, rest)
		case c.cut > 0 || c.split <= 1:
			return false
		}
		space = splitDim(space, c.axis, c.split)
	}
	return false
}

func (t *cutter) compile(c *compiler, from, dims []int64) (p piece, ok bool) {
	at, ok := c.start(dims)
	if !ok {
		return p, false
	}
	at = slices.Clone(at)
	for i := range at {
		at[i] = at[i].scaled(1, from[i])
	}
	v, ok := c.value(t.root, at)
	if !ok || c.b.Type(v) != t.root.Shape().Type() {
		return p, false
	}
	view, whole := at.view(c.space, t.root.Shape().Dimensions()), c.space.RowMajor()
	p.unit = 1
	follow := true
	for k, d := range c.space.Dims {
		follow = follow && (d == 1 || view.Strides[k] == whole.Strides[k])
	}
	if follow {
		p.from = int(view.Base) * t.root.Shape().Type().ByteSize()
		c.b.Store(0, v)
	} else {
		c.b.StoreIn(0, v, view)
		p.unit, t.spread = int(c.space.Dims[len(c.space.Dims)-1]), true
	}
	p.Program, ok = c.b.Build()
	return p, ok
}

// joined defines the value of a concatenation.
func (c *compiler) joined(in hlo.Instruction, at access) (tile.Value, bool) {
	o, a, axis, cut, ok := at.joined(c.space, in)
	if ok {
		return c.value(in.OperandInstr(o), a)
	}
	if r, ok := analysis.FindRoll(in); ok {
		if a, ok := at.rolled(c.space, r.Axis, in.Shape().Dim(r.Axis), r.By); ok {
			return c.value(r.Array, a)
		}
	}
	c.axis, c.cut = axis, cut
	return 0, false
}

// spreadTogether is the number of elements of all pieces that are computed one after the other while what they read, and where they write, is in the cache.
const spreadTogether = 16 << 10

// loop computes elements of the pieces, as many of each as its share is, and tells how many there are, and how many are worth handing to another thread.
func (t *cutter) loop(inputs int) (run func(f *runtime.TensorFrame, lo, hi int), n, grain int) {
	for i := range t.pieces {
		n += t.pieces[i].Len()
		grain = max(grain, t.pieces[i].Grain())
	}
	together := n
	if t.spread {
		together = spreadTogether
	}
	return func(f *runtime.TensorFrame, lo, hi int) {
		b := piecePool.Get().(*pieceBuffers)
		b.in, b.out = b.in[:0], f.Out(0).Data
		for i := range inputs {
			b.in = append(b.in, f.In(i).Data)
		}
		for ; lo < hi; lo += together {
			end := min(lo+together, hi)
			for i := range t.pieces {
				p := &t.pieces[i]
				b.from = p.from
				p.Run(p.share(lo, n), p.share(end, n), b)
			}
		}
		clear(b.in)
		b.out = nil
		piecePool.Put(b)
	}, n, grain
}

// share is how many elements of a piece go with the first ones of n.
func (p *piece) share(first, n int) int {
	units := p.Len() / p.unit
	return int(int64(units)*int64(first)/int64(n)) * p.unit
}

// pieceBuffers are those of a frame, of whose output a piece is what begins so many bytes from its beginning.
type pieceBuffers struct {
	in   [][]byte
	out  []byte
	from int
}

func (b *pieceBuffers) In(i int) []byte { return b.in[i] }
func (b *pieceBuffers) Out(int) []byte  { return b.out[b.from:] }

var piecePool = sync.Pool{New: func() any { return new(pieceBuffers) }}
