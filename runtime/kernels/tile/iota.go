package tile

import (
	"math"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// counterLoop writes the next n numbers of a walk to d. It works on s, which may be nil for fewer than minSeries.
type counterLoop func(d unsafe.Pointer, n int, w *walk, s *series)

// iotaLoop writes consecutive numbers of a walk as type t.
func iotaLoop(t hlo.PrimitiveType) counterLoop {
	switch t {
	case hlo.U8:
		return counterOf[uint8](t)
	case hlo.U16:
		return counterOf[uint16](t)
	case hlo.U32:
		return counterOf[uint32](t)
	case hlo.U64:
		return counterOf[uint64](t)
	case hlo.S8:
		return counterOf[int8](t)
	case hlo.S16:
		return counterOf[int16](t)
	case hlo.S32:
		return counterOf[int32](t)
	case hlo.S64:
		return counterOf[int64](t)
	case hlo.F32:
		return counterOf[float32](t)
	case hlo.F64:
		return counterOf[float64](t)
	}
	return nil
}

// series is what the loop of iota reads, and room for numbers to convert. A frame has one, as what loops are given is on the heap.
type series struct {
	first, step int32
	numbers     [256]int32
}

// counterOf writes the rows of a walk: one number over and over, a series of 32 bits that is converted, or, if the numbers do not fit
// or are few, one by one.
func counterOf[T real](t hlo.PrimitiveType) counterLoop {
	count := vectors.Find(vectors.Of(hlo.OpIota, hlo.U32), nil)
	var convert loop
	if t != hlo.S32 && t != hlo.U32 {
		convert = castTo(hlo.S32, t)
		convert = vectors.Find(convertName(hlo.S32, t), convert)
	}
	return func(p unsafe.Pointer, n int, w *walk, s *series) {
		d := vec[T](p, n)
		for len(d) > 0 {
			v, k, stride := w.run(len(d))
			row := d[:k]
			d = d[k:]
			last := v + int64(k-1)*stride
			switch {
			case stride == 0:
				row[0] = T(v) // a variable of its own would be moved to the heap
				fillTile(unsafe.Pointer(&row[0]), unsafe.Pointer(&row[0]), int(unsafe.Sizeof(row[0])), k)
			case count == nil || k < minSeries || min(v, last) < math.MinInt32 || max(v, last) > math.MaxInt32:
				for i := range row {
					row[i] = T(v)
					v += stride
				}
			default:
				s.first, s.step = int32(v), int32(stride)
				if convert == nil {
					count(k, unsafe.Pointer(&row[0]), unsafe.Pointer(s), nil, nil)
					row = nil
				}
				for len(row) > 0 {
					k := min(len(row), len(s.numbers))
					count(k, unsafe.Pointer(&s.numbers), unsafe.Pointer(s), nil, nil)
					convert(k, unsafe.Pointer(&row[0]), unsafe.Pointer(&s.numbers), nil, nil)
					row = row[k:]
					s.first += int32(k) * s.step
				}
			}
		}
	}
}

// minSeries is the length of a row from which on vectors write it.
const minSeries = 16

// counter is an iota.
type counter struct {
	reg    int
	view   View
	fill   counterLoop
	period int // as in load
}

// count writes the iotas. Those of a space that fits into a tile are written when the frame is made.
func (p *Program) count(f *frame, at, n int) {
	for i := range p.counters {
		o := &p.counters[i]
		if p.isFixed(o) {
			f.ptr[o.reg] = unsafe.Add(f.own[o.reg], at*p.widths[o.reg])
			continue
		}
		repeats := o.period > 0 && at%o.period == 0 && p.regs[o.reg].slot >= 0
		if repeats && f.counted[i] >= n {
			continue
		}
		f.walk.start(&p.space, &o.view, at)
		o.fill(f.ptr[o.reg], n, &f.walk, f.series)
		if f.counted[i] = 0; repeats {
			f.counted[i] = n
		}
	}
}

// isFixed reports whether all numbers of an iota are in its register, which nothing else is written to.
func (p *Program) isFixed(o *counter) bool { return p.regs[o.reg].slot >= 0 && p.space.Len() <= Size }

// longestTable bounds the numbers of a counter that code finds in a table.
const longestTable = 1 << 15

// tableLength is how many different places the code for rows has to know a counter's numbers at: those of a row if all rows are alike, or the rows if each
// has one number. It is 0 where neither is so, or these are too many.
func (p *Program) tableLength(o *counter) int {
	last := len(p.space.Dims) - 1
	if last < 1 || o.view.Turns != nil {
		return 0
	}
	n := p.rowLength()
	if o.view.Strides[last] == 0 {
		n = p.Len() / n
	} else if slices.ContainsFunc(o.view.Strides[:last], func(s int64) bool { return s != 0 }) {
		return 0
	}
	if n > longestTable || n == p.Len() {
		return 0
	}
	return n
}

// tabulate makes an operand of counter i, of which the code for rows gets a table.
func (w *nativeWriter) tabulate(i int) {
	p := w.p
	o := &p.counters[i]
	last, n := len(p.space.Dims)-1, p.tableLength(o)
	size := p.widths[o.reg]
	kind, along := ofColumns, native.Neighbours
	space, view := Space{p.space.Dims[last:]}, View{Base: o.view.Base, Strides: o.view.Strides[last:]}
	if o.view.Strides[last] == 0 {
		kind, along = ofRows, native.Single
		space, view = Space{p.space.Dims[:last]}, View{Base: o.view.Base, Strides: o.view.Strides[:last]}
	}
	table := make([]byte, n*size)
	var at walk
	at.start(&space, &view, 0)
	o.fill(unsafe.Pointer(&table[0]), n, &at, new(series))
	w.code.tables = append(w.code.tables, table)
	w.code.slots = append(w.code.slots, slot{kind, i})
	w.input(o.reg, size, p.truth[o.reg], along)
}
