package tile

import "unsafe"

// A result may be part of an array that other programs compute the rest of. Machine code writes rows where they belong; what it does not compute by rows is put there tile by tile.

// isPlaced reports whether elements do not simply follow each other in memory.
func (s *store) isPlaced() bool { return s.view.Strides != nil }

// put brings n elements, as they are in memory, from point at of the space on, to their places.
func (p *Program) put(s *store, from unsafe.Pointer, at, n int, b Buffers) {
	out, size, row := b.Out(s.out), s.typ.ByteSize(), p.rowLength()
	last := len(p.space.Dims) - 1
	step, inner := int64(1), 1
	if last >= 0 {
		step = s.view.Strides[last]
	}
	if last > 0 {
		inner = int(p.space.Dims[last-1])
	}
	for n > 0 {
		to := p.offset(&s.view, at)
		for rows := inner - at/row%inner; rows > 0 && n > 0; rows-- { // that follow each other at one distance
			k := min(n, row-at%row)
			if step == 1 {
				copyBytes(element(out, to, size), from, k*size)
			} else {
				spread(element(out, to, size), from, k, int(step), size)
			}
			if from, at, n = unsafe.Add(from, k*size), at+k, n-k; k < row {
				break
			}
			if last > 0 {
				to += int(s.view.Strides[last-1])
			}
		}
	}
}

// spread moves n elements of a size to places that are step elements apart.
func spread(to, from unsafe.Pointer, n, step, size int) {
	switch size {
	case 1:
		spreadAs[uint8](to, from, n, step)
	case 2:
		spreadAs[uint16](to, from, n, step)
	case 4:
		spreadAs[uint32](to, from, n, step)
	case 8:
		spreadAs[uint64](to, from, n, step)
	case 16:
		spreadAs[[2]uint64](to, from, n, step)
	}
}

func spreadAs[T any](to, from unsafe.Pointer, n, step int) {
	var x T
	by := step * int(unsafe.Sizeof(x))
	for _, x := range vec[T](from, n) {
		*(*T)(to) = x
		to = unsafe.Add(to, by)
	}
}
