package tile

import "unsafe"

// Programs that see every array along rows, which is what they do but for transposes and the like, are run by machine code without any tile in between:
// one call computes as many rows as memory is regular for.

// leastRow is the length from which on rows are worth a vector cut off by a mask.
const leastRow = 16

// alongRows is the length of rows in which the elements of every load are neighbours, or the same one; or 0.
func (p *Program) alongRows() int {
	n, isLinear := p.rowLength(), len(p.counters) == 0
	for i := range p.counters {
		if p.tableLength(&p.counters[i]) == 0 {
			return 0
		}
	}
	for i := range p.loads {
		l := &p.loads[i]
		if l.mode != gathered {
			continue
		}
		isLinear = false
		if l.isKept() {
			continue
		}
		stride := l.view.Strides[len(l.view.Strides)-1]
		if l.view.Turns != nil || stride != 0 && stride != 1 || stride == 0 && l.widen != nil {
			return 0
		}
	}
	for i := range p.stores {
		if s := &p.stores[i]; s.isPlaced() {
			isLinear = false
			if last := len(s.view.Strides) - 1; last < 0 || s.view.Strides[last] != 1 {
				return 0
			}
		}
	}
	if isLinear && !p.hasChains() {
		return p.Len()
	}
	if n < leastRow {
		return 0
	}
	return n
}

// isKept reports whether a load is brought into its register once for all rows: it repeats itself after some of them, and is not along rows.
func (l *load) isKept() bool {
	if l.mode != gathered || l.period == 0 || l.direct >= 0 || l.view.Turns != nil {
		return false
	}
	stride := l.view.Strides[len(l.view.Strides)-1]
	return stride != 0 && stride != 1
}

// keep is where a load has point at of the space, and the distance to the same point of the next row, in elements.
func (p *Program) keep(f *frame, i, at, n int, b Buffers) (elements unsafe.Pointer, step int) {
	l := &p.loads[i]
	if f.held[i] != aPeriod || f.filled[i] < l.period {
		p.gather(f, i, 0, l.period, b)
	}
	if l.period > p.rowLength() {
		step = n
	}
	return unsafe.Add(f.own[l.reg], at%l.period*p.widths[l.reg]), step
}

// rowLength is the size of the last dimension.
func (p *Program) rowLength() int {
	if len(p.space.Dims) == 0 {
		return 1
	}
	return int(p.space.Dims[len(p.space.Dims)-1])
}

// runRows runs the code over as much of [lo, hi) as it can, and returns where the rest begins.
func (p *Program) runRows(c *nativeSteps, f *frame, lo, hi int, b Buffers) int {
	if c.rows == p.Len() {
		for hi-lo >= c.Lanes || c.Masked && hi > lo {
			n := min(c.Most, hi-lo)
			if !c.Masked {
				n = n / c.Lanes * c.Lanes
			}
			p.callRows(c, f, lo, 1, 1, n, b)
			lo += n
		}
		return lo
	}
	for lo < hi {
		column := lo % c.rows
		bundles, rows, n := 1, 1, min(c.rows-column, hi-lo, c.Most)
		if n == c.rows {
			bundles, rows = p.regular(lo/c.rows, min((hi-lo)/c.rows, max(1, c.Most/n)))
		}
		if !c.takes(n) { // where a range begins or ends
			p.tiles(f, lo, lo+n, b)
		} else {
			p.callRows(c, f, lo, bundles, rows, n, b)
		}
		lo += bundles * rows * n
	}
	return lo
}

// tiles computes [lo, hi) by steps.
func (p *Program) tiles(f *frame, lo, hi int, b Buffers) {
	for lo < hi {
		n := p.next(lo, hi)
		p.tile(f, lo, n, b)
		lo += n
	}
}

// regular is how many of n rows, from one on, follow each other at the same distance in every array: or, if that is all along their dimension, how many such
// bundles follow each other.
func (p *Program) regular(row, n int) (bundles, rows int) {
	last := len(p.space.Dims) - 1
	if last < 1 {
		return 1, 1
	}
	inner := int(p.space.Dims[last-1])
	bundle, at := row/inner, row%inner
	if last > 1 && at == 0 && n >= 2*inner {
		outer := int(p.space.Dims[last-2])
		return min(n/inner, outer-bundle%outer), inner
	}
	return 1, min(n, inner-at)
}

// callRows runs the code over n elements of each of some rows.
func (p *Program) callRows(c *nativeSteps, f *frame, at, bundles, rows, n int, b Buffers) {
	p.callShown(c, f, at, bundles, rows, n, 0, b)
}

// callShown is callRows where what Visit shows goes to element to of its register.
func (p *Program) callShown(c *nativeSteps, f *frame, at, bundles, rows, n, to int, b Buffers) {
	f.forCode(c)
	jumps := f.strides[len(c.slots):]
	for i, s := range c.slots {
		jumps[i] = 0
		switch s.kind {
		case ofLoad:
			l := &p.loads[s.index]
			size := l.typ.ByteSize()
			f.slots[i], f.strides[i] = element(p.in(b, l.arg), int(l.view.Base)+at, size), int64(n*size)
		case ofRow:
			l := &p.loads[s.index]
			size := l.typ.ByteSize()
			f.slots[i] = element(p.in(b, l.arg), p.offset(&l.view, at), size)
			f.strides[i], jumps[i] = l.view.steps(bundles, rows, size)
		case ofKept:
			from, step := p.keep(f, s.index, at, n, b)
			f.slots[i], f.strides[i] = from, int64(step*p.widths[p.loads[s.index].reg])
			if p.loads[s.index].period == rows*n { // each bundle has the same
				jumps[i] = -int64(rows) * f.strides[i]
			}
		case ofUniform:
			f.slots[i], f.strides[i] = p.uniform(s.index, b), 0
		case ofColumns:
			f.slots[i], f.strides[i] = element(c.tables[s.index], at%c.rows, p.widths[p.counters[s.index].reg]), 0
		case ofRows:
			size := p.widths[p.counters[s.index].reg]
			f.slots[i], f.strides[i] = element(c.tables[s.index], at/c.rows, size), int64(size)
		case ofResult:
			size := p.widths[s.index]
			f.slots[i], f.strides[i] = unsafe.Add(f.ptr[s.index], to*size), int64(n*size)
		case ofStore:
			s := &p.stores[s.index]
			size := s.typ.ByteSize()
			if s.isPlaced() {
				f.slots[i] = element(b.Out(s.out), p.offset(&s.view, at), size)
				f.strides[i], jumps[i] = s.view.steps(bundles, rows, size)
				continue
			}
			f.slots[i], f.strides[i] = element(b.Out(s.out), at, size), int64(n*size)
		case ofFold:
			f.slots[i], f.strides[i] = p.chains(f, s.index), chainBytes
		default:
			f.slots[i], f.strides[i] = f.ptr[s.index], 0
		}
	}
	c.Run(bundles, rows, n, f.slots, f.strides, f.space)
}

// steps is how far a view moves from row to row, and what is added from bundle to bundle, in bytes of elements of a size. A view without rows leaves all as it is.
func (v *View) steps(bundles, rows, size int) (row, jump int64) {
	last := len(v.Strides) - 1
	if last < 1 {
		return 0, 0
	}
	row = v.Strides[last-1] * int64(size)
	if bundles > 1 {
		jump = v.Strides[last-2]*int64(size) - int64(rows)*row
	}
	return row, jump
}

// shownRows computes n elements, which are whole rows, for Visit.
func (p *Program) shownRows(c *nativeSteps, f *frame, at, n int, b Buffers) {
	for done := 0; done < n; {
		bundles, rows := p.regular((at+done)/c.rows, (n-done)/c.rows)
		p.callShown(c, f, at+done, bundles, rows, c.rows, done, b)
		done += bundles * rows * c.rows
	}
}

// offset is where a view finds point i, in elements.
func (p *Program) offset(v *View, i int) int {
	at, rest := v.Base, int64(i)
	for k := len(p.space.Dims) - 1; k >= 0 && rest > 0; k-- {
		d := p.space.Dims[k]
		at += rest % d * v.Strides[k]
		rest /= d
	}
	return int(at)
}

// endsWithRows reports whether tiles end where rows of a length do.
func (p *Program) endsWithRows(length int) bool {
	return Size%length == 0 || p.row > 0 && p.row <= Size && p.row%length == 0
}
