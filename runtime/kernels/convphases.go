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
	g *convGeometry
	p *product[T] // nil if no element of the input is met
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
	for _, ph := range phases {
		if ph.p != nil {
			ph.p.ends, ph.p.lhs, ph.p.rhs, ph.p.out, ph.p.packed = none, e.in[0], e.in[1], product, kernel
		}
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		out := elems[T](e.out.of(f))
		for i := range phases {
			ph := &phases[i]
			if f.Ctx().Stopped() {
				return nil
			}
			if ph.p == nil {
				ph.spread(out, nil)
				continue
			}
			if err := ph.p.run(f); err != nil {
				return err
			}
			ph.spread(out, elems[T](product.of(f)))
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

// spread writes a phase's product [group][batch, positions][outputs] to its places in the result, or zeros.
func (ph *phase[T]) spread(out, product []T) {
	g := ph.g
	var at [maxSpatial]int
	row := 0
	for group := range g.groups * g.batchGroups {
		for b := range g.batch {
			for i := range g.positions() {
				unravel(at[:len(g.out)], i, func(d int) int { return g.out[d] })
				to := g.outBase + group*g.outputs*g.outFeature + b*g.outBatch
				for d := range g.out {
					to += at[d] * g.outSpatial[d]
				}
				for o := range g.outputs {
					var v T
					if product != nil {
						v = product[row*g.outputs+o]
					}
					out[to+o*g.outFeature] = v
				}
				row++
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
