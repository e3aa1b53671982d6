package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// narrowWindows folds windows over runs of bf16 or f16 in f32, a line of the result at a time, along the last axis of the window: lines of the array are decoded and folded as
// wholes over the other axes; then runs of that are folded along the line, and it is encoded. So neither the array nor the result is in memory as f32.
type narrowWindows struct {
	windowRuns
	outer          windowRuns // without the last axis
	fold           *fold[float32]
	decode, encode vec.Loop
	wide           func(x uint16) float32
	from, to       int // elements of a line of the array, and of the result
	rooms          sync.Pool
	loop           *parallelLoop
}

const (
	leastNarrowRun = 16      // elements, which vectors are worth
	mostNarrowLine = 1 << 15 // which stay in a near cache
	mostDecodings  = 4       // of an element, as windows overlap
)

// narrowWindowsOf is nil for other windows: those with short runs, running folds, and those that overlap so much that elements are better decoded once.
func narrowWindowsOf(s *site, op hlo.Opcode) *narrowWindows {
	t, f := s.shape(0).Type(), foldOf[float32](op)
	if t != hlo.BF16 && t != hlo.F16 || f == nil {
		return nil
	}
	runs, ok := newWindowRuns(hlo.AttrsOf[hlo.WindowAttrs](s.in).Window, s.shape(0), s.in.Shape())
	if !ok || runs.run < leastNarrowRun || len(runs.window) == 0 {
		return nil
	}
	last := len(runs.window) - 1
	lines, in := 1, 1
	for d, w := range runs.window[:last] {
		lines, in = lines*runs.out[d]*int(w.Size), in*runs.in[d]
	}
	w := &narrowWindows{windowRuns: runs, fold: f, wide: minifloat.BF16ToFloat32, decode: widenBF16(), encode: narrowBF16(),
		from: runs.in[last] * runs.run, to: runs.out[last] * runs.run}
	if lines > mostDecodings*in || 2*w.from+w.to > mostNarrowLine || w.to == 0 {
		return nil
	}
	w.outer = windowRuns{window: runs.window[:last], out: runs.out[:last], in: runs.in[:last], stride: runs.stride[:last], spans: runs.spans[:last]}
	if t == hlo.F16 {
		w.wide = minifloat.F16ToFloat32
		w.decode = vec.Find(vec.Of(hlo.OpConvert, hlo.F16, hlo.F32), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.WidenF16(unsafe.Slice((*float32)(d), n), unsafe.Slice((*uint16)(a), n))
		})
		w.encode = vec.Find(vec.Of(hlo.OpConvert, hlo.F32, hlo.F16), func(n int, d, a, _, _ unsafe.Pointer) {
			minifloat.NarrowF16(unsafe.Slice((*uint16)(d), n), unsafe.Slice((*float32)(a), n))
		})
	}
	w.rooms.New = func() any { b := make([]float32, 2*w.from+w.to); return &b }
	w.loop = newParallelLoop(w.lines)
	return w
}

func (w *narrowWindows) bound() runtime.Bound {
	last := len(w.window) - 1
	work := w.to * int(w.window[last].Size)
	for i := range w.outer.window {
		work += w.from * int(w.window[i].Size)
	}
	return w.loop.bound(w.rows/w.out[last], 1+(1<<14)/(1+work))
}

// lines computes lines [lo, hi) of the result.
func (w *narrowWindows) lines(f *runtime.TensorFrame, lo, hi int) {
	src, out := elems[uint16](f.In(0).Data), elems[uint16](f.Out(0).Data)
	init := w.wide(elems[uint16](f.In(1).Data)[0])
	room := w.rooms.Get().(*[]float32)
	line, next, y := (*room)[:w.from], (*room)[w.from:][:w.from], (*room)[2*w.from:]
	last := len(w.window) - 1
	for k := lo; k < hi; k++ {
		for i := range y[:w.run] {
			y[i] = init
		}
		for n := w.run; n < len(y); n *= 2 {
			copy(y[n:], y[:n])
		}
		met := 0
		w.outer.each(k, func(off int) {
			to := line
			if met > 0 {
				to = next
			}
			w.decode(w.from, unsafe.Pointer(&to[0]), unsafe.Pointer(&src[off:][:w.from][0]), nil, nil)
			if met > 0 {
				w.fold.rows(line, next)
			}
			met++
		})
		for p := 0; p < w.out[last] && met > 0; p++ {
			s := spanOf(&w.window[last], p, w.in[last])
			for i := range s.count {
				w.fold.rows(y[p*w.run:][:w.run], line[(s.first+i*s.step)*w.run:][:w.run])
			}
		}
		w.encode(w.to, unsafe.Pointer(&out[k*w.to:][:w.to][0]), unsafe.Pointer(&y[0]), nil, nil)
	}
	w.rooms.Put(room)
}
