package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// A convolution over an input with holes between its elements, a transposed one, multiplies mostly by zero. Which of the window's positions
// meet elements depends on the position in the result modulo a small number: its phase. So it is one convolution without holes for each
// phase, with a part of the kernel, whose result goes to every so many positions.

// hasHoles reports whether the input is dilated.
func (g *convGeometry) hasHoles() bool {
	for i := range g.window {
		if g.window[i].BaseDilation > 1 {
			return true
		}
	}
	return false
}

// maxPhases bounds how many convolutions one may become.
const maxPhases = 1024

// phase is the convolution of one phase, and where its result goes.
type phase[T gemm.Number] struct {
	g      *convGeometry
	p      *product[T] // nil if no element of the input is met
	spread *parallelLoop
}

func phasesAs[T gemm.Number](s *site, t hlo.PrimitiveType, g *convGeometry) (runtime.Bound, bool) {
	periods, n := make([]int, len(g.window)), 1
	for d := range g.window {
		w := &g.window[d]
		periods[d] = int(w.BaseDilation) / gcd(int(w.Stride), int(w.BaseDilation))
		if n *= periods[d]; n > maxPhases {
			return runtime.Bound{}, false
		}
	}
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	var phases []phase[T]
	at := make([]int, len(g.window))
	packed, result := 0, 0
	for i := range n {
		unravel(at, i, func(d int) int { return periods[d] })
		sub, some := g.phase(at, periods)
		if sub == nil {
			continue
		}
		ph := phase[T]{g: sub}
		if some {
			ph.p = newConvProduct[T](sub)
			if ph.p.packLeft == nil {
				ph.p.kernel = gemm.Fit[T](ph.p.m, ph.p.n)
			}
			ph.p.planBlocks()
			packed = max(packed, ph.p.packedLen())
			result = max(result, ph.p.batch*ph.p.m*ph.p.n)
		}
		phases = append(phases, ph)
	}
	var zero T
	size := int64(sizeOf(zero))
	kernel := place{kind: inScratch, section: e.scratch.take(int64(packed) * size)}
	product := place{kind: inScratch, section: e.scratch.take(int64(result) * size)}
	none := &convertedIO{t: t}
	for i := range phases {
		ph := &phases[i]
		ph.planSpread(e.out, product)
		if ph.p != nil {
			ph.p.ends, ph.p.lhs, ph.p.rhs, ph.p.out, ph.p.packed = none, e.in[0], e.in[1], product, kernel
		}
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		for i := range phases {
			ph := &phases[i]
			if f.Ctx().Stopped() {
				return nil
			}
			if ph.p != nil {
				if err := ph.p.run(f); err != nil {
					return err
				}
			}
			ph.runSpread(f)
		}
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

// phase is the convolution for the positions of the result that are at modulo periods. It is nil if there are none, and some is false if
// no element of the input is met there.
func (g *convGeometry) phase(at, periods []int) (sub *convGeometry, some bool) {
	c := *g
	sub, some = &c, true
	sub.window = make([]hlo.WindowDim, len(g.window))
	sub.out, sub.kernelSpatial, sub.outSpatial = make([]int, len(at)), make([]int, len(at)), make([]int, len(at))
	for d := range g.window {
		w := &g.window[d]
		if at[d] >= g.out[d] {
			return nil, false
		}
		sub.out[d] = (g.out[d]-1-at[d])/periods[d] + 1
		sub.outSpatial[d] = periods[d] * g.outSpatial[d]
		sub.outBase += at[d] * g.outSpatial[d]
		// Window position k meets an element if begin + k*WindowDilation is a multiple of the dilation: every step-th from k on.
		begin, dilation := at[d]*int(w.Stride)-int(w.PadLow), int(w.BaseDilation)
		step := dilation / gcd(int(w.WindowDilation), dilation)
		k := 0
		for k < step && modulo(begin+k*int(w.WindowDilation), dilation) != 0 {
			k++
		}
		if k == step || k >= int(w.Size) {
			some = false
			k = 0
		}
		sub.window[d] = hlo.WindowDim{
			Size: int64((int(w.Size)-1-k)/step + 1), Stride: int64(periods[d] * int(w.Stride) / dilation), BaseDilation: 1,
			WindowDilation: int64(step * int(w.WindowDilation) / dilation), PadLow: int64(-(begin + k*int(w.WindowDilation)) / dilation),
		}
		if w.Reversal {
			sub.kernelBase += (int(w.Size) - 1 - k) * g.kernelSpatial[d]
			sub.kernelSpatial[d] = -step * g.kernelSpatial[d]
		} else {
			sub.kernelBase += k * g.kernelSpatial[d]
			sub.kernelSpatial[d] = step * g.kernelSpatial[d]
		}
	}
	return sub, some
}

// spreadElements is about how many elements a worker takes to their places at a time.
const spreadElements = 1 << 14

// planSpread makes the loop over lines of positions along the last axis, which writes the phase's product [group][batch, positions][outputs] to its places in the
// result, or zeros.
func (ph *phase[T]) planSpread(out, product place) {
	ph.spread = newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		to, from := elems[T](out.of(f)), []T(nil)
		if ph.p != nil {
			from = elems[T](product.of(f))
		}
		ph.spreadLines(to, from, lo, hi)
	})
}

// runSpread runs it.
func (ph *phase[T]) runSpread(f *runtime.TensorFrame) {
	g := ph.g
	line := g.out[len(g.out)-1]
	ph.spread.run(f, g.groups*g.batchGroups*g.batch*(g.positions()/line), 1+spreadElements/(1+line*g.outputs))
}

func (ph *phase[T]) spreadLines(out, product []T, lo, hi int) {
	g := ph.g
	last := len(g.out) - 1
	line, step := g.out[last], g.outSpatial[last]
	lines := g.positions() / line
	var at [maxSpatial]int
	for i := lo; i < hi; i++ {
		part := i / lines // of a group, an array of the batch
		unravel(at[:last], i%lines, func(d int) int { return g.out[d] })
		to := g.outBase + part/g.batch*g.outputs*g.outFeature + part%g.batch*g.outBatch
		for d := range last {
			to += at[d] * g.outSpatial[d]
		}
		from := i * line * g.outputs
		switch {
		case product == nil && g.outFeature == 1:
			for x := range line {
				clear(out[to+x*step:][:g.outputs])
			}
		case product == nil:
			for o := range g.outputs {
				for x := range line {
					out[to+o*g.outFeature+x*step] = 0
				}
			}
		case g.outFeature == 1:
			for x := range line {
				copy(out[to+x*step:][:g.outputs], product[from+x*g.outputs:])
			}
		default:
			for o := range g.outputs {
				for x := range line {
					out[to+o*g.outFeature+x*step] = product[from+x*g.outputs+o]
				}
			}
		}
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// modulo is the remainder that is not negative.
func modulo(a, b int) int { return ((a % b) + b) % b }
