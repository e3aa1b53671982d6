package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

func init() { customCalls[hlo.TargetCSRDense] = csrDense }

// csrDense is a sparse matrix in compressed rows times a dense one: see [hlo.CSRDense].
func csrDense(c *Call) (*hlo.Literal, error) {
	shapes := make([]hlo.Shape, len(c.Args))
	for i, a := range c.Args {
		shapes[i] = a.Shape()
	}
	s := c.In.Shape()
	sizes, ok := hlo.CSRDenseOf(shapes, s)
	if !ok {
		return nil, fmt.Errorf("a sparse product of %v to %v", shapes, s)
	}
	starts, columns := intsOf(c.Args[1]), intsOf(c.Args[2])
	if classOf(s.Type()) == integers {
		return packInts(s, csrProduct(sizes, intsOf(c.Args[0]), starts, columns, intsOf(c.Args[3])))
	}
	return packComplex(s, csrProduct(sizes, complexOf(c.Args[0]), starts, columns, complexOf(c.Args[3])))
}

func csrProduct[T int64 | complex128](s hlo.CSRDense, values []T, starts, columns []int64, dense []T) []T {
	out := make([]T, s.Rows*s.Cols)
	for r := range s.Rows {
		row := out[r*s.Cols:][:s.Cols]
		for i, end := s.Row(starts[r], starts[r+1]); i < end; i++ {
			if k := columns[i]; k >= 0 && k < s.Inner {
				for j, x := range dense[k*s.Cols:][:s.Cols] {
					row[j] += values[i] * x
				}
			}
		}
	}
	return out
}
