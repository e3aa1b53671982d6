package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/scalar"
)

// unrolledCode writes kernels on few elements, which are not elementwise, into programs over scalars. Those that only move elements give the
// bits that the kernel gives.
func unrolledCode(op hlo.Opcode) (write func(s *site) scalar.Code, moves bool) {
	//halo:allow opswitch what can be written out element by element
	switch op {
	case hlo.OpConcatenate:
		return concatenateCode, true
	case hlo.OpDot:
		return dotCode, false
	case hlo.OpFusion:
		return sequenceCode, false
	case hlo.OpPad:
		return padCode, true
	case hlo.OpReduce:
		return reduceCode, false
	}
	return nil, false
}

// mostSteps is how many elements or products a kernel may look at to be worth writing out.
const mostSteps = 64

// codeFor is the code of a kernel that brought none itself, and whether its bits may differ.
func codeFor(s *site) (code scalar.Code, differs bool) {
	write, moves := unrolledCode(s.in.Opcode())
	if write == nil || !hasFixedSizes(s.in) {
		return nil, false
	}
	floats := false
	for i := range s.b.Out {
		if s.b.Out[i].NumElements() > scalar.MostLanes {
			return nil, false
		}
		t := hlo.PrimitiveType(s.b.Out[i].Type)
		floats = floats || t != hlo.PRED && !t.IsInteger()
	}
	return write(s), !moves && (floats || s.in.Opcode() == hlo.OpFusion)
}

// isWord reports whether elements are as wide in registers as in memory, and ops on them round as those of the type.
func isWord(t hlo.PrimitiveType) bool {
	return t == hlo.F32 || t == hlo.F64 || t.IsInteger() && t.Bits() >= 8
}

// isWritten reports whether all operands have elements to read, and all results are in registers.
func isWritten(x *scalar.Site) bool {
	for i := range x.In {
		if x.In[i].InMemory && x.In[i].Place < 0 {
			return false
		}
	}
	for i := range x.Out {
		if x.Out[i].InMemory {
			return false
		}
	}
	return true
}

// sequenceCode takes a fusion apart, part by part.
func sequenceCode(s *site) scalar.Code {
	for i := range s.b.In {
		if s.b.In[i].NumElements() > mostSteps {
			return nil
		}
	}
	bound, _ := fusedSequence(s)
	return bound.Code
}

func concatenateCode(s *site) scalar.Code {
	axis := hlo.AttrsOf[hlo.AxisAttrs](s.in).Dimensions[0]
	out := s.in.Shape()
	strides, at := rowMajor(out.Dimensions()), 0
	var parts [][]int // where the elements of each operand go
	for i := range s.in.NumOperands() {
		dims := s.shape(i).Dimensions()
		all := make([]int64, len(dims))
		for a := range all {
			all[a] = int64(a)
		}
		to := offsetsOver(all, dims, strides)
		for k := range to {
			to[k] += at * strides[axis]
		}
		at += int(dims[axis])
		parts = append(parts, to)
	}
	return func(x *scalar.Site) bool {
		if !isWritten(x) {
			return false
		}
		for i, to := range parts {
			for k, lane := range to {
				x.Out[0].Lanes[lane] = x.Element(&x.In[i], k)
			}
		}
		return true
	}
}

func padCode(s *site) scalar.Code {
	in, out := s.shape(0), s.in.Shape()
	padding := hlo.AttrsOf[hlo.PadAttrs](s.in).Padding
	from := make([]int, out.NumElements()) // the element of the operand that goes there, or -1
	for i := range from {
		at, rest, step := 0, i, 1
		for a := out.Rank() - 1; a >= 0; a-- {
			k := int64(rest)%out.Dim(a) - padding[a].Low
			rest /= int(out.Dim(a))
			if spread := padding[a].Interior + 1; k < 0 || k%spread != 0 || k/spread >= in.Dim(a) {
				at = -1
				break
			} else {
				at += int(k/spread) * step
			}
			step *= int(in.Dim(a))
		}
		from[i] = at
	}
	return func(x *scalar.Site) bool {
		if !isWritten(x) {
			return false
		}
		to := &x.Out[0]
		for i, k := range from {
			if k < 0 {
				to.Lanes[i] = x.Element(&x.In[1], 0)
			} else {
				to.Lanes[i] = x.Element(&x.In[0], k)
			}
		}
		return true
	}
}

// reduceCode folds element by element, in order.
func reduceCode(s *site) scalar.Code {
	n := s.in.NumOperands() / 2
	in := s.shape(0)
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || in.NumElements() > mostSteps || len(s.b.Out) != n {
		return nil
	}
	for i := range s.in.NumOperands() {
		if !isWord(s.shape(i).Type()) && s.shape(i).Type() != hlo.PRED {
			return nil
		}
	}
	step, ok := compileLanes(s.m, comp, 1)
	if !ok {
		return nil
	}
	var reduced, kept []int64
	for a := range int64(in.Rank()) {
		if slices.Contains(hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions, a) {
			reduced = append(reduced, a)
		} else {
			kept = append(kept, a)
		}
	}
	strides := rowMajor(in.Dimensions())
	outer, inner := offsetsOver(kept, in.Dimensions(), strides), offsetsOver(reduced, in.Dimensions(), strides)
	return func(x *scalar.Site) bool {
		if !isWritten(x) {
			return false
		}
		for o, base := range outer {
			state := make([]scalar.Value, 2*n)
			for i := range n {
				state[i] = x.Element(&x.In[n+i], 0)
			}
			for _, at := range inner {
				for i := range n {
					state[n+i] = x.Element(&x.In[i], base+at)
				}
				if !foldOnce(step, x, state) {
					return false
				}
			}
			for i := range n {
				x.Out[i].Lanes[o] = state[i]
			}
		}
		return true
	}
}

// foldOnce applies a computation to a state and the elements behind it.
func foldOnce(step *tile.Program, x *scalar.Site, state []scalar.Value) bool {
	next, ok := step.Scalar(x.Builder, func(arg int, _ int64) scalar.Value { return state[arg] })
	for i := range next {
		state[i] = next[i][0]
	}
	return ok
}

// dotCode adds products in order.
func dotCode(s *site) scalar.Code {
	t := s.in.Shape().Type()
	if !isWord(t) || s.shape(0).Type() != t || s.shape(1).Type() != t {
		return nil
	}
	p := newDot[float32](s)
	if len(p.leftBatch)*p.m*p.n*p.k > mostSteps || p.k == 0 {
		return nil
	}
	typ := tile.ScalarTypes[t]
	multiply, add := scalar.Name{Op: "multiply", Type: typ}, scalar.Name{Op: "add", Type: typ}
	return func(x *scalar.Site) bool {
		l, r, to := &x.In[0], &x.In[1], &x.Out[0]
		if !isWritten(x) {
			return false
		}
		for i := range to.Lanes {
			b, row, col := i/(p.m*p.n), i/p.n%p.m, i%p.n
			var sum scalar.Value
			for k := range p.k {
				v, ok := x.Named(multiply, x.Element(l, p.leftBatch[b]+p.left.Rows[row]+p.left.Ks[k]),
					x.Element(r, p.rightBatch[b]+p.right.Rows[col]+p.right.Ks[k]))
				if ok && k > 0 {
					v, ok = x.Named(add, sum, v)
				}
				if !ok {
					return false
				}
				sum = v
			}
			to.Lanes[i] = sum
		}
		return true
	}
}
