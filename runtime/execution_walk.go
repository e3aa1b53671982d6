package runtime

import (
	"math"

	"github.com/gohalo/halo/runtime/async"
)

// Sequential functions are walked: kernels run in file order while their arguments are available, with nothing counted
// and nobody told. Values that are not available hold nothing up: kernels that need it are passed over, and at the end of the
// walk they are left to the general loop, with ready counts made for the occasion.

// walk stores the arguments, whose references it takes over, and makes the loop walk.
func (l *loop) walk(args []*async.Value) {
	l.walking, l.next = true, 0
	for i, v := range args {
		l.publish(int32(i), v, false)
	}
}

// walkOn continues the walk where it is; after a panic it is entered again.
func (l *loop) walkOn() {
	e := l.exec
	kernels := e.g.kernels
	for l.next < int32(len(kernels)) {
		k := l.next
		l.next++
		p := &kernels[k]
		if !p.contended && l.collect(p) {
			e.count[k] = hasRun
			l.call(k, p, l.args[:len(p.args)], l.results[:len(p.results)], nil, false)
		} else if l.isReady(p) {
			e.count[k] = hasRun
			l.kernel(k)
		} else {
			e.count[k] = passedOver
			l.waiting = append(l.waiting, k)
		}
	}
	l.walking = false
	if len(l.waiting) > 0 {
		l.deferKernels()
	}
}

// Ready counts during a walk. A kernel that has run is out of reach of any number of notifications.
const (
	hasRun     = math.MaxInt32
	passedOver = 0
)

// collect is the short cut for the usual kernel: strict, with concrete arguments, in a request that lives.
func (l *loop) collect(p *planKernel) bool {
	e := l.exec
	for i, r := range p.args {
		v := e.regs[r]
		if v == nil || !v.IsConcrete() {
			return false
		}
		l.args[i] = v
	}
	return e.ctx.cancelled() == nil
}

func (l *loop) isReady(p *planKernel) bool {
	if p.nonStrict {
		for _, r := range p.args {
			if v := l.exec.regs[r]; v != nil && v.IsAvailable() {
				return true
			}
		}
		return false
	}
	for _, r := range p.args {
		if v := l.exec.regs[r]; v == nil || v.IsUnavailable() {
			return false
		}
	}
	return true
}

// deferKernels gives the kernels that were passed over their counts. What is pending is decided once for each register,
// before the first continuation can run: a value that becomes available meanwhile is counted and told like the others.
func (l *loop) deferKernels() {
	e := l.exec
	g := e.g
	passed := l.waiting
	l.waiting = nil // pushes from here on belong to the loop
	pending := make(map[int32]*async.Value)
	for _, k := range passed {
		for _, r := range g.kernels[k].args {
			if _, seen := pending[r]; !seen {
				if v := e.regs[r]; v == nil || v.IsUnavailable() {
					pending[r] = v
				}
			}
		}
	}
	for _, k := range passed {
		for _, r := range g.kernels[k].args {
			if _, is := pending[r]; is {
				e.count[k]++
			}
		}
		if p := &g.kernels[k]; p.nonStrict && int(e.count[k]) == len(p.args) {
			e.count[k] = 1
		} else if p.nonStrict || e.count[k] == 0 {
			e.count[k] = hasRun
			l.ready = append(l.ready, k)
		}
	}
	e.share()
	for _, k := range passed {
		for _, r := range g.kernels[k].args {
			if v, is := pending[r]; is && v != nil {
				pending[r] = nil // once
				l.await(r, v, g.foreign(r))
			}
		}
	}
}

// foreign reports whether a register is written by a kernel of the ForeignThread kind.
func (g *generalFunction) foreign(r int32) bool {
	for i := range g.kernels {
		for _, x := range g.kernels[i].results {
			if x == r {
				return g.kernels[i].foreign
			}
		}
	}
	return false
}
