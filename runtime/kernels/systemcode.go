package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/scalar"
)

// systemCode solves a few small triangular systems element by element, in double precision and in the order of the evaluator, whose bits it gives.
func systemCode(t hlo.PrimitiveType, sys triangularSystem, a, b matrixBatch) scalar.Code {
	vectors, step, stride := b.cols, 1, b.cols // of right sides: how many there are, and how far they and their elements are apart
	if !sys.left {
		vectors, step, stride = b.rows, b.cols, 1
	}
	n := a.rows
	if t != hlo.F32 && t != hlo.F64 || a.batch*vectors*n*n > mostSteps {
		return nil
	}
	transposed := sys.transposed != !sys.left
	lower := sys.lower != transposed
	return func(x *scalar.Site) bool {
		if !isWritten(x) {
			return false
		}
		known := true
		op := func(name scalar.Name, args ...scalar.Value) scalar.Value {
			v, ok := x.Named(name, args...)
			known = known && ok
			return v
		}
		of := func(name string) scalar.Name { return scalar.Name{Op: name, Type: scalar.F64} }
		double := func(o *scalar.Operand, i int) scalar.Value {
			v := x.Element(o, i)
			if t == hlo.F32 {
				v = op(scalar.Name{Op: "convert", Type: scalar.F32, To: scalar.F64}, v)
			}
			return v
		}
		solved := make([]scalar.Value, b.len())
		for k := range a.batch {
			at := func(i, j int) scalar.Value {
				if transposed {
					i, j = j, i
				}
				return double(&x.In[0], k*a.len()+i*n+j)
			}
			for c := range vectors {
				for p := range n {
					i, from, to := p, 0, p
					if !lower {
						i, from, to = n-1-p, n-p, n
					}
					sum := double(&x.In[1], k*b.len()+c*step+i*stride)
					for j := from; j < to; j++ {
						sum = op(of("subtract"), sum, op(of("multiply"), at(i, j), solved[c*step+j*stride]))
					}
					if !sys.unit {
						sum = op(of("divide"), sum, at(i, i))
					}
					solved[c*step+i*stride] = sum
					if t == hlo.F32 {
						sum = op(scalar.Name{Op: "convert", Type: scalar.F64, To: scalar.F32}, sum)
					}
					x.Out[0].Lanes[k*b.len()+c*step+i*stride] = sum
				}
			}
		}
		return known
	}
}
