package kernels

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// sparseRows is the form of a product for a left side that turns out to be mostly zeros when it runs, such as one-hot rows, by which JAX looks up embeddings, and the
// masks by which experts are mixed. Only rows of the right side that meet something else are added up, in order. A zero times an infinity is no number, so the whole right side has to be finite.
//
// Whether that is so shows where it is not: three rows are looked at, of which a few elements tell that they are no such rows.
type sparseRows[T gemm.Number] struct {
	p     *product[T]
	width int   // of an element
	dense place // a word that is not 0 if a row has too many elements, or the right side an infinity
	loops gemm.Vector[T]
	look  *parallelLoop
	sum   *parallelLoop
}

const (
	// leastSparse is how many rows, columns and common elements a product has that is looked at.
	leastSparse = 64
	// sparsePart is the part of a row that may be other than zero. Sums of rows are not in registers: they take 0.4 of the time of the other forms then, and
	// longer than these of a sixteenth (measured).
	sparsePart = 64
)

// sparse returns the form for sparse rows, or nil for operands that are not floats in rows.
func (p *product[T]) sparse(e *convertedIO) *sparseRows[T] {
	var zero T
	switch any(zero).(type) {
	case float32, float64:
	default:
		return nil
	}
	if p.batch == 0 || p.decode != nil || p.packLeft != nil || p.encode != nil || min(p.m, p.n, p.k) < leastSparse || !p.left.LinearKs() || !p.right.LinearRows() {
		return nil
	}
	s := &sparseRows[T]{p: p, width: sizeOf(zero), loops: gemm.VectorFor[T]()}
	s.dense = place{kind: inScratch, section: e.scratch.take(8)}
	s.look = newParallelLoop(s.looks)
	s.sum = newParallelLoop(s.sums)
	return s
}

// run computes the product if its left side is sparse, and reports whether it is.
func (s *sparseRows[T]) run(f *runtime.TensorFrame) bool {
	p := s.p
	left := p.lhs.of(f)
	for _, i := range []int{0, p.m / 2, p.m - 1} {
		if !s.isSparse(s.row(left, p.leftBatch[0]+p.left.Rows[i])) {
			return false
		}
	}
	flag := s.flag(f)
	flag.Store(0)
	s.look.run(f, p.batch*(p.m+p.k), 1+(1<<16)/(p.k+p.n))
	if flag.Load() != 0 {
		return false
	}
	s.sum.run(f, p.batch*p.m, 1+(1<<15)/(p.k+p.n*p.k/sparsePart/4))
	return true
}

func (s *sparseRows[T]) flag(f *runtime.TensorFrame) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(s.dense.of(f))))
}

// row is the bytes of a row of the left side that begins at an element.
func (s *sparseRows[T]) row(left []byte, at int) []byte {
	return left[(at+s.p.left.Ks[0])*s.width:][:s.p.k*s.width]
}

// looks at rows of the left side, and then of the right one.
func (s *sparseRows[T]) looks(f *runtime.TensorFrame, lo, hi int) {
	p, flag := s.p, s.flag(f)
	left, right := p.lhs.of(f), p.rhs.of(f)
	for i := lo; i < hi && flag.Load() == 0; i++ {
		fine := false
		if i < p.batch*p.m {
			fine = s.isSparse(s.row(left, p.leftBatch[i/p.m]+p.left.Rows[i%p.m]))
		} else {
			i := i - p.batch*p.m
			at := p.rightBatch[i/p.k] + p.right.Ks[i%p.k] + p.right.Rows[0]
			fine = isFinite(right[at*s.width:][:p.n*s.width], s.width)
		}
		if !fine {
			flag.Store(1)
		}
	}
}

// sums computes rows.
func (s *sparseRows[T]) sums(f *runtime.TensorFrame, lo, hi int) {
	p := s.p
	left, x, right, out := p.lhs.of(f), elems[T](p.lhs.of(f)), elems[T](p.rhs.of(f)), elems[T](p.out.of(f))
	for i := lo; i < hi; i++ {
		b := i / p.m
		at := p.leftBatch[b] + p.left.Rows[i%p.m]
		y := out[i*p.n:][:p.n]
		clear(y)
		eachNonZero(s.row(left, at), s.width, func(k int) bool {
			s.loops.Combine(x[at+p.left.Ks[k]:][:1], right[p.rightBatch[b]+p.right.Ks[k]+p.right.Rows[0]:], 0, y)
			return true
		})
	}
}

// isSparse reports whether a row has few elements other than zero.
func (s *sparseRows[T]) isSparse(row []byte) bool {
	left := s.p.k / sparsePart
	eachNonZero(row, s.width, func(int) bool {
		left--
		return left >= 0
	})
	return left >= 0
}

// zeroLine is how many bytes of a row are looked at together: most have nothing else than zeros.
const zeroLine = 64

// eachNonZero calls visit with the places of elements of 4 or 8 bytes, floats, that are no zeros, until it returns false.
func eachNonZero(row []byte, width int, visit func(int) bool) {
	signs := uint64(1 << 63)
	if width == 4 {
		signs |= 1 << 31
	}
	for at := 0; at < len(row); at += zeroLine {
		line := row[at:]
		if len(line) >= zeroLine {
			line = line[:zeroLine]
			w := (*[zeroLine]byte)(line)
			any := binary.NativeEndian.Uint64(w[0:8]) | binary.NativeEndian.Uint64(w[8:16]) | binary.NativeEndian.Uint64(w[16:24]) | binary.NativeEndian.Uint64(w[24:32]) |
				binary.NativeEndian.Uint64(w[32:40]) | binary.NativeEndian.Uint64(w[40:48]) | binary.NativeEndian.Uint64(w[48:56]) | binary.NativeEndian.Uint64(w[56:64])
			if any&^signs == 0 {
				continue
			}
		}
		for i := 0; i < len(line); i += width {
			isZero := width == 4 && binary.NativeEndian.Uint32(line[i:])<<1 == 0 || width == 8 && binary.NativeEndian.Uint64(line[i:])<<1 == 0
			if !isZero && !visit((at+i)/width) {
				return
			}
		}
	}
}

// isFinite reports whether floats of 4 or 8 bytes are: one more is added to the exponent, which overflows into the sign where it is that of infinities.
func isFinite(row []byte, width int) bool {
	exponents, more := uint64(0x7ff0_0000_0000_0000), uint64(0x0010_0000_0000_0000)
	if width == 4 {
		exponents, more = 0x7f80_0000_7f80_0000, 0x0080_0000_0080_0000
	}
	signs, over := exponents+more, uint64(0)
	for ; len(row) >= 16; row = row[16:] {
		over |= (binary.NativeEndian.Uint64(row)&exponents + more) | (binary.NativeEndian.Uint64(row[8:])&exponents + more)
	}
	if len(row) >= 8 {
		over |= binary.NativeEndian.Uint64(row)&exponents + more
		row = row[8:]
	}
	if len(row) > 0 {
		over |= uint64(binary.NativeEndian.Uint32(row))&exponents + more
	}
	return over&signs == 0
}
