package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// A list fold folds rows that lie anywhere, element by element, with what they are folded to in registers: a vector of columns after the other, of all rows.
// So it loads each element once and stores each result once, and a short row costs no call.

// foldHead is what the loop of a list fold reads first: how many rows there are, and the element that they are folded into. Behind it is a list of how many bytes
// behind the first element each row begins.
type foldHead[T any] struct {
	count int64
	first T
}

// listOf is the loop for a fold by the op of a name, of rows of S, or nil where there is none: decode makes an element of one of S.
func listOf[T realNumber, S any](name vec.Name, pair func(x, y T) T, decode func(S) T) vec.Loop {
	name = name.In(vec.Windowed)
	if !vec.Has(name) {
		return nil
	}
	return vec.Find(name, func(n int, d, a, b, c unsafe.Pointer) {
		h := (*foldHead[T])(c)
		offsets := unsafe.Slice((*int64)(b), h.count)
		for i, y := range unsafe.Slice((*T)(d), n) {
			y = h.first
			for _, at := range offsets {
				y = pair(y, decode(*(*S)(unsafe.Add(a, int(at)+i*sizeOf(*new(S))))))
			}
			unsafe.Slice((*T)(d), n)[i] = y
		}
	})
}

// listedNarrow is the loop for a fold of rows of bf16 or f16 to one of f32, or nil.
func listedNarrow(op hlo.Opcode, t hlo.PrimitiveType, pair func(x, y float32) float32) vec.Loop {
	//halo:allow opswitch the formats that loops decode
	switch t {
	case hlo.BF16:
		return listOf(vec.Of(op, t), pair, minifloat.BF16ToFloat32)
	case hlo.F16:
		return listOf(vec.Of(op, t), pair, minifloat.F16ToFloat32)
	}
	return nil
}

// itself is the element that one in memory is.
func itself[T any](x T) T { return x }

// narrowSize is the size of an element of bf16 or f16.
const narrowSize = 2

// narrowSource is an input of narrow floats, and the loop that folds its rows.
type narrowSource struct {
	arg  int
	list vec.Loop
}

// narrowRows is the operand of a reduction in f32 whose elements are narrow in memory, if its rows are folded and are long enough. Few elements are decoded first, by small calls.
func (r *reduction[T]) narrowRows(s *site, f *fold[T], leaf func(hlo.Instruction) (int, bool)) (n narrowSource, ok bool) {
	pair, isSingle := any(f.pair).(func(x, y float32) float32)
	op, _, _ := s.foldOp()
	from := s.in.OperandInstr(0)
	if from.Opcode() == hlo.OpConvert && from.Shape().Type() == hlo.F32 {
		from = from.OperandInstr(0)
	}
	if n.arg, ok = leaf(from); !ok || !isSingle || s.shape(0).NumElements() <= tile.MostInCalls {
		return n, false
	}
	l := r.reduceLayout
	l.keepTail(false)
	n.list = listedNarrow(op, from.Shape().Type(), pair)
	return n, n.list != nil && !l.inner && (l.run > analysis.MostColumns || l.run >= fewestListed && len(l.strips) >= analysis.FewestRows)
}

// fewestListed is the number of columns from which on folding many rows of narrow floats where they are beats decoding them to columns.
const fewestListed = 4

// listSource is rows in memory that a list fold folds: elements of a size, at byte offsets of strips.
type listSource[T foldedNumber] struct {
	list    vec.Loop // or nil
	size    int
	offsets []int64
}

// takeRows lets rows be folded by a list, if there is one and rows are what is folded.
func (r *reduction[T]) takeRows(list vec.Loop, size int) {
	if r.inner || list == nil {
		return
	}
	r.source = listSource[T]{list: list, size: size}
	for _, s := range r.strips {
		r.source.offsets = append(r.source.offsets, int64(s*size))
	}
}

// fold sets y to first and the rows of x from strip lo to hi.
func (s *listSource[T]) fold(y []T, x []byte, lo, hi int, h *foldHead[T], first T) {
	h.count, h.first = int64(hi-lo), first
	rows := x[:int(s.offsets[hi-1])+len(y)*s.size]
	s.list(len(y), unsafe.Pointer(&y[0]), unsafe.Pointer(&rows[0]), unsafe.Pointer(&s.offsets[lo]), unsafe.Pointer(h))
}

// listedTasks is tasks for rows that a list fold folds.
func (r *reduction[T]) listedTasks(in []byte, out []T, init T, lo, hi int) {
	h := r.heads.Get().(*foldHead[T])
	buffer, sums := r.rows.Get().(*[]T), r.rows.Get().(*[]T)
	first, ends := r.fold.identity, r.tail > 1 && !r.isPartial()
	begins := !ends && !r.isPartial() // with the initial value, or it is folded in the end
	if begins && r.fold.anyOrder {
		first = init
	}
	for task := lo; task < hi; task++ {
		up, b := task/r.blocks, task%r.blocks
		part := up % r.parts * r.split
		cols := min(r.block, r.run-b*r.block)
		at := up*r.run + b*r.block
		y := (*sums)[:cols]
		if !ends {
			y = out[at:][:cols]
		}
		x := in[(r.offset(up/r.parts)+b*r.block)*r.source.size:]
		r.foldListed(y, x, part, min(part+r.split, len(r.strips)), (*buffer)[:cols], h, first)
		switch {
		case ends:
			h.first = init
			r.fold.each(out[at/r.tail:][:cols/r.tail], y, r.tail, &h.first)
		case begins && !r.fold.anyOrder:
			r.fold.beginRow(y, h, init)
		}
	}
	r.rows.Put(sums)
	r.rows.Put(buffer)
	r.heads.Put(h)
}

// itsOwn is the list of a row at the first element.
var itsOwn = new(int64)

// beginRow is begin for a row of any length.
func (f *fold[T]) beginRow(y []T, h *foldHead[T], first T) {
	if f.list == nil || len(y) < shortRun {
		f.begin(y, first)
		return
	}
	h.count, h.first = 1, first
	f.list(len(y), unsafe.Pointer(&y[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(itsOwn), unsafe.Pointer(h))
}

// foldListed sets y to first and the rows of x that begin at strips from lo to hi; sum is as long as y.
func (r *reduction[T]) foldListed(y []T, x []byte, lo, hi int, sum []T, h *foldHead[T], first T) {
	r.source.fold(y, x, lo, min(lo+rowBlock, hi), h, first)
	for at := lo + rowBlock; at < hi; at += rowBlock {
		r.source.fold(sum, x, at, min(at+rowBlock, hi), h, r.fold.identity)
		r.fold.rows(y, sum)
	}
}
