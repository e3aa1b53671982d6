package kernels

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// narrowReduction folds rows of bf16 or f16 in f32: they are decoded in registers.
type narrowReduction struct {
	units, run    int
	parts, split  int // of a run, and their length
	fold          func(x []uint16) float32
	rows          func(y []float32, x []uint16, run int, first *float32) // does the whole, or is nil: see [vec.FindFoldRows]
	block         func(d *float32, x []uint16)                           // is what fold does with up to blockLength elements
	blockLength   int
	pair          func(x, y float32) float32
	in, init, out place
	partial       section
	loop          *parallelLoop
}

// narrowRuns compiles a reduction along the last axes whose operand is narrow in memory, or is made f32 only to be reduced.
func narrowRuns(s *site, op hlo.Opcode, leaf func(hlo.Instruction) (int, bool)) (runtime.Bound, bool) {
	from := s.in.OperandInstr(0)
	if from.Opcode() == hlo.OpConvert && from.Shape().Type() == hlo.F32 {
		from = from.OperandInstr(0)
	}
	arg, ok := leaf(from)
	if t := from.Shape().Type(); !ok || t != hlo.BF16 && t != hlo.F16 {
		return runtime.Bound{}, false
	}
	var l reduceLayout
	l.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	r := &narrowReduction{units: l.units, run: l.run, in: place{kind: inInput, index: arg}}
	e := &reduceEnds{t: hlo.F32}
	if !l.inner || !l.isContiguous() || s.shape(0).NumElements() == 0 {
		return runtime.Bound{}, false
	}
	isShort := s.shape(0).NumElements() > tile.MostInCalls && r.findRuns(op, from.Shape().Type())
	if !isShort && (!r.findFold(op, from.Shape().Type()) || !r.isWorthDecoding()) || !e.plan(s, leaf) {
		return runtime.Bound{}, false
	}
	if l.parts = 1; !isShort {
		l.divide()
	}
	r.parts, r.split = l.parts, l.run
	if l.parts > 1 {
		r.split = l.split
		r.partial = e.scratch.take(int64(r.units * r.parts * 4))
	}
	r.init, r.out = e.init, e.out
	r.loop = newParallelLoop(r.tasks)
	grain := 1 + reduceGrain/(1+r.split)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		r.loop.run(f, r.units*r.parts, grain)
		if r.parts > 1 {
			r.merge(f)
		}
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

// isWorthDecoding reports whether runs are folded faster from what is in memory than from what is decoded first. Short runs are not; and if whole rows are not folded by
// one loop, what is left of a run behind whole vectors is folded one element at a time, and costs as much as a few hundred elements that are decoded first.
func (r *narrowReduction) isWorthDecoding() bool {
	if r.rows != nil {
		return r.run >= vec.DecodedChains
	}
	return r.run%vec.DecodedChains == 0 || r.run >= 4*vec.DecodedChains
}

// findRuns finds the loop for short runs, which it folds beside each other.
func (r *narrowReduction) findRuns(op hlo.Opcode, t hlo.PrimitiveType) bool {
	wide, decode := foldOf[float32](op), decodedBy(t)
	if wide == nil || r.run < 2 {
		return false
	}
	rows, longest := vec.FindDecodedRuns(vec.Of(op, t), func(y []float32, x []uint16, run int) {
		for i := range y {
			for _, code := range x[i*run:][:run] {
				y[i] = wide.pair(y[i], decode(code))
			}
		}
	})
	if r.run > longest {
		return false
	}
	r.rows = rows
	return true
}

// decodedBy decodes bf16 or f16.
func decodedBy(t hlo.PrimitiveType) func(uint16) float32 {
	if t == hlo.F16 {
		return minifloat.F16ToFloat32
	}
	return minifloat.BF16ToFloat32
}

// findFold finds the loop for an op.
func (r *narrowReduction) findFold(op hlo.Opcode, t hlo.PrimitiveType) bool {
	wide := foldOf[float32](op)
	if wide == nil {
		return false
	}
	decode := decodedBy(t)
	r.pair = wide.pair
	find := func(identity float32) func(x []uint16) float32 {
		portable := func(x []uint16) float32 { return vec.FoldDecoded(x, decode, identity, r.pair) }
		name := vec.Of(op, t)
		if rows, step := vec.FindFoldRows[float32, uint16](name); r.run <= sumBlock && (step == 0 || r.run%step == 0) {
			r.rows = rows
		}
		if r.block = vec.FindFold(name.In(vec.Folding), r.pair, portable); r.block != nil {
			r.blockLength = sumBlock
		}
		return runLoop(r.block, portable)
	}
	//halo:allow opswitch a loop belongs to each
	switch op {
	case hlo.OpAdd:
		r.fold = sumBlocks(find(0))
	case hlo.OpMaximum:
		r.fold = find(float32(math.Inf(-1)))
	case hlo.OpMinimum:
		r.fold = find(float32(math.Inf(1)))
	}
	return r.fold != nil
}

func (r *narrowReduction) tasks(f *runtime.TensorFrame, lo, hi int) {
	in, out := elems[uint16](r.in.of(f)), elems[float32](r.out.of(f))
	init := elems[float32](r.init.of(f))
	if r.parts > 1 {
		out = elems[float32](r.partial.of(f))
	} else if r.rows != nil {
		r.rows(out[lo:hi], in[lo*r.run:], r.run, &init[0])
		return
	}
	for t := lo; t < hi; t++ {
		unit, begin := t/r.parts, t%r.parts*r.split
		x := in[unit*r.run+begin : unit*r.run+min(begin+r.split, r.run)]
		if len(x) <= r.blockLength {
			r.block(&out[t], x)
		} else {
			out[t] = r.fold(x)
		}
		if r.parts == 1 {
			out[t] = r.pair(init[0], out[t])
		}
	}
}

// merge folds the parts of units.
func (r *narrowReduction) merge(f *runtime.TensorFrame) {
	partial, out := elems[float32](r.partial.of(f)), elems[float32](r.out.of(f))
	init := elems[float32](r.init.of(f))[0]
	for u := range r.units {
		parts := partial[u*r.parts:][:r.parts]
		v := parts[0]
		for _, p := range parts[1:] {
			v = r.pair(v, p)
		}
		out[u] = r.pair(init, v)
	}
}
