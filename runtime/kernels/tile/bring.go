package tile

import "unsafe"

// gather is load i through a view. A piece of one row that lies together is not copied.
func (p *Program) gather(f *frame, i, at, n int, b Buffers) {
	l := &p.loads[i]
	if l.period > 0 && at%l.period == 0 && f.filled[i] >= n && f.held[i] == aPeriod {
		f.ptr[l.reg] = f.own[l.reg]
		return
	}
	data := p.in(b, l.arg)
	if l.columns > 0 && p.bringColumns(f, l.columns-1, at, n, data) {
		if l.widen != nil {
			l.widen(n, f.ptr[l.reg], f.own[l.stage], nil, nil)
		} else {
			f.ptr[l.reg] = f.own[l.reg]
		}
		return
	}
	var w walk
	w.start(&l.along.space, &l.along.view, at)
	width := l.typ.ByteSize()
	src, isRun := w.neighbours(n, data, width)
	repeats := l.direct < 0 && w.repeats(n)
	had := f.filled[i]
	f.filled[i] = 0
	switch {
	case repeats && had >= n && f.held[i] == w.offset:
		f.filled[i] = had
		f.ptr[l.reg] = f.own[l.reg]
		return
	case isRun && l.widen != nil:
		l.widen(n, f.ptr[l.reg], src, nil, nil)
	case l.widen != nil && repeats:
		l.widen(1, f.ptr[l.reg], element(data, int(w.offset), width), nil, nil)
		fillTile(f.ptr[l.reg], f.ptr[l.reg], 4, n)
	case isRun && l.direct < 0:
		f.ptr[l.reg] = src
		return
	case l.widen != nil:
		l.bring(f.own[l.stage], at, n, data, &w)
		l.widen(n, f.ptr[l.reg], f.own[l.stage], nil, nil)
	case repeats:
		f.ptr[l.reg] = f.own[l.reg]
		fillTile(f.ptr[l.reg], element(data, int(w.offset), width), width, n)
	case l.direct < 0:
		f.ptr[l.reg] = f.own[l.reg]
		fallthrough
	default:
		l.bring(f.ptr[l.reg], at, n, data, &w)
	}
	switch {
	case repeats:
		f.filled[i], f.held[i] = n, w.offset
	case l.period > 0 && at%l.period == 0 && l.direct < 0:
		f.filled[i], f.held[i] = n, aPeriod
	}
}

// bring loads the next n points of a walk, which is at a point of the space: what repeats itself is loaded once.
func (l *load) bring(dst unsafe.Pointer, at, n int, data []byte, w *walk) {
	width, first := l.typ.ByteSize(), n
	if l.period > 0 && at%l.period == 0 {
		first = min(n, l.period)
	}
	l.mover().gather(dst, first, data, width, w)
	if first == n {
		return
	}
	for all, done := vec[byte](dst, n*width), first*width; done < len(all); {
		done += copy(all[done:], all[:done])
	}
}

// repeatUniforms fills the registers of elements that are the same everywhere, unless this run has done so.
func (p *Program) repeatUniforms(f *frame, b Buffers) {
	if f.repeated {
		return
	}
	f.repeated = true
	for i := range p.loads {
		if l := &p.loads[i]; l.mode == uniform {
			p.loadUniform(f, l, p.in(b, l.arg), f.most)
		}
	}
}

// loadUniform repeats one element n times, which is a whole tile unless the run is shorter: a scalar program fills one element.
func (p *Program) loadUniform(f *frame, l *load, data []byte, n int) {
	w := l.typ.ByteSize()
	src := element(data, int(l.view.Base), w)
	if l.widen != nil {
		l.widen(1, f.ptr[l.reg], src, nil, nil)
		src, w = f.ptr[l.reg], 4
	}
	fillTile(f.ptr[l.reg], src, w, n)
}
