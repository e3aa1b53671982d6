package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// Limits of copies of an iota: a few of them, or few elements, are computed as quickly, and blocks that are copied are at least so long.
const (
	leastCopies       = 4
	leastCopied       = 1 << 9
	blockOfIota int64 = 1 << 14
)

// repeatedIota computes an iota along its axis and those behind, and copies that along the axes in front: each copy is one run, however short the runs of equal
// numbers are.
func repeatedIota(s *site) (runtime.Bound, bool) {
	shape := s.in.Shape()
	n, period := shape.NumElements(), int64(1)
	for _, d := range shape.Dimensions()[hlo.AttrsOf[hlo.IotaAttrs](s.in).Dimension:] {
		period *= d
	}
	if n < leastCopied || len(s.b.Out) == 1 && s.b.Out[0].Bytes%n != 0 || n < leastCopies*period || len(s.b.Out) != 1 {
		return runtime.Bound{}, false
	}
	p, ok := compileRoots(s.m, []hlo.Instruction{s.in}, operandsOf(s.in))
	if !ok {
		return runtime.Bound{}, false
	}
	total := s.b.Out[0].Bytes
	width := total / n
	block := period * width * ((blockOfIota-1)/(period*width) + 1)
	blocks := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		out := f.Out(0).Data
		for b := int64(lo) + 1; b < int64(hi)+1; b++ {
			copy(out[b*block:], out[:block])
		}
	})
	bound := runTiles(p)
	bound.Small = nil
	bound.Run = func(f *runtime.TensorFrame) error {
		p.Run(0, int(period), (*frameBuffers)(f))
		out := f.Out(0).Data
		for done := period * width; done < min(block, total); done *= 2 {
			copy(out[done:min(block, total)], out[:done])
		}
		if total > block {
			blocks.run(f, int((total-1)/block), 1+(1<<18)/int(block))
		}
		return nil
	}
	return bound, true
}
