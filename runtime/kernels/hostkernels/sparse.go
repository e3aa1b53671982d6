package hostkernels

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func registerSparse(reg *runtime.Registry) {
	type chain = async.Chain
	for _, e := range []*elem{elemNamed("i32"), elemNamed("f32")} {
		for rank := range 4 {
			suffix := e.suffix + "." + strconv.Itoa(rank)
			reg.Kernel("coo.convert_dht_to_coo."+suffix, runtime.Params4(
				func(in runtime.Argument[*Dense], _ runtime.Argument[chain], out runtime.Result[*Sparse], done runtime.Result[chain]) error {
					t := in.Get()
					if err := errors.Join(t.check(e), checkRank(t, rank)); err != nil {
						return err
					}
					out.Emplace(sparseOf(t))
					done.Emplace(chain{})
					return nil
				}))
			reg.Kernel("coo.convert_coo_to_dht."+suffix, runtime.Params5(
				func(ctx runtime.ExecContext, in runtime.Argument[*Sparse], _ runtime.Argument[chain], out runtime.Result[*Dense], done runtime.Result[chain]) error {
					s := in.Get()
					if err := errors.Join(s.check(e), checkRank(s, rank)); err != nil {
						return err
					}
					t, err := denseOf(ctx, s)
					if err != nil {
						return err
					}
					out.Emplace(t)
					done.Emplace(chain{})
					return nil
				}))
			reg.Kernel("coo.tensor_equal."+suffix, runtime.Params5(
				func(x, y runtime.Argument[*Sparse], _ runtime.Argument[chain], eq runtime.Result[bool], done runtime.Result[chain]) error {
					a, b := x.Get(), y.Get()
					if err := errors.Join(a.check(e), b.check(e), checkRank(a, rank), checkRank(b, rank)); err != nil {
						return err
					}
					eq.Emplace(a.equal(b))
					done.Emplace(chain{})
					return nil
				}))
		}
	}
}

func (t *Sparse) check(e *elem) error {
	if t.elem != e {
		return fmt.Errorf("tensor is of type %s, want %s", t.elem.name, e.name)
	}
	return nil
}

func checkRank(t Tensor, rank int) error {
	if len(t.Dims()) != rank {
		return fmt.Errorf("tensor of shape %s is not of rank %d", formatDims(t.Dims()), rank)
	}
	return nil
}

// sparseOf lists the elements that are not zero in memory order. Coordinates are taken as TFRT takes them: the last one is divided out by
// the first extent and so on, so those of a shape that is not square belong to the reversed shape. Programs rely on the print.
func sparseOf(t *Dense) *Sparse {
	s := &Sparse{elem: t.elem, dims: t.dims}
	zero := make([]byte, t.elem.size)
	rank := len(t.dims)
	for i := range t.numElements() {
		if t.elem.equal(t.at(i), zero) {
			continue
		}
		at := make([]int64, rank)
		left := int64(i)
		for r, d := range t.dims {
			at[rank-1-r] = left % d
			left /= d
		}
		s.indices = append(s.indices, at...)
		s.values = append(s.values, t.at(i)...)
	}
	return s
}

// denseOf puts the values at their coordinates, row-major.
func denseOf(ctx runtime.ExecContext, s *Sparse) (*Dense, error) {
	t, err := newDense(ctx, s.elem, s.dims)
	if err != nil {
		return nil, err
	}
	rank := len(s.dims)
	for i := range s.numValues() {
		offset := int64(0)
		for r, d := range s.dims {
			offset = offset*d + s.indices[i*rank+r]
		}
		if offset < 0 || offset >= int64(t.numElements()) {
			t.DropRef()
			return nil, errors.New("index out of range")
		}
		copy(t.at(int(offset)), s.at(i))
	}
	return t, nil
}

func (t *Sparse) equal(o *Sparse) bool {
	if !slices.Equal(t.dims, o.dims) || !slices.Equal(t.indices, o.indices) {
		return false
	}
	const ulps = 2
	for i := range t.numValues() {
		if !t.elem.close(t.at(i), o.at(i), ulps) {
			return false
		}
	}
	return true
}
