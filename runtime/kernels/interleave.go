package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// interleaving concatenates two arrays along axes of which each row is a few elements, by picking vectors of the result from both.
type interleaving struct {
	rows        int
	run         [2]int // bytes of a row of each
	permutation *vec.Permutation
	perRound    int // rows
	boxes       [2]*box
	at          int // bytes from a row of the result to the second array's part
}

// longRow is the size of a row from which on it is copied.
const longRow = 128

// newInterleaving is nil if the boxes, which write the parts of the result, have long rows or no permutation serves them.
func newInterleaving(a, b *box, at, width int) *interleaving {
	if len(a.dims) != 1 || len(b.dims) != 1 || a.run >= longRow || b.run >= longRow || a.src[0] != a.run || b.src[0] != b.run {
		return nil
	}
	v := &interleaving{rows: a.dims[0], run: [2]int{a.run, b.run}, boxes: [2]*box{a, b}, at: at}
	row := a.run + b.run
	bytes := row
	for bytes%64 != 0 {
		bytes += row
	}
	v.perRound = bytes / row
	var picks []vec.Pick
	for r := range v.perRound {
		for array, run := range v.run {
			for o := 0; o < run; o += width {
				picks = append(picks, vec.Pick{Array: array, Offset: r*run + o})
			}
		}
	}
	v.permutation = vec.NewPermutation(width, picks, [2]int{v.perRound * a.run, v.perRound * b.run})
	if v.permutation == nil {
		return nil
	}
	return v
}

// write does rows from lo to hi, operands 0 and 1 being the arrays.
func (v *interleaving) write(f *runtime.TensorFrame, lo, hi int) {
	a, b, dst := f.In(0).Data, f.In(1).Data, f.Out(0).Data
	rounds := (hi - lo) / v.perRound
	rounds = v.permutation.Rounds(rounds, 0, lo*v.run[0], len(a))
	rounds = v.permutation.Rounds(rounds, 1, lo*v.run[1], len(b))
	if rounds > 0 {
		to := lo * (v.run[0] + v.run[1])
		v.permutation.Run(rounds, unsafe.Pointer(&dst[to]), unsafe.Pointer(&a[lo*v.run[0]]), unsafe.Pointer(&b[lo*v.run[1]]))
		lo += rounds * v.perRound
	}
	v.boxes[0].copySlabs(dst, a, lo, hi)
	v.boxes[1].copySlabs(dst[v.at:], b, lo, hi)
}
