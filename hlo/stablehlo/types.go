package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// shapeOf is the shape of a type, with default layouts.
func (c *converter) shapeOf(op *mlir.Op, t *mlir.Type) hlo.Shape {
	if s, ok := c.shapes[t]; ok {
		return s
	}
	s := c.makeShape(op, t)
	c.shapes[t] = s
	return s
}

func (c *converter) makeShape(op *mlir.Op, t *mlir.Type) hlo.Shape {
	switch t.Kind {
	case mlir.Tensor:
		dims, dyn := append([]int64{}, t.Dims...), make([]bool, len(t.Dims))
		for i, d := range dims {
			if d == hlo.UnboundedSize {
				dyn[i] = true
				if t.Bounds != nil {
					dims[i] = t.Bounds[i]
				}
			}
		}
		return hlo.MakeArray(t.Elem, dims, dyn, nil).WithDefaultLayout()
	case mlir.Token:
		return hlo.MakeToken()
	case mlir.Buffer:
		return hlo.MakeBuffer(hlo.MakeShape(t.Elem, t.Dims...).WithDefaultLayout())
	case mlir.Tuple:
		parts := make([]hlo.Shape, len(t.Parts))
		for i, p := range t.Parts {
			parts[i] = c.shapeOf(op, p)
		}
		return hlo.MakeTuple(parts...)
	}
	c.fail(op, "a value of type %v, which HLO does not have", t)
	return hlo.Shape{}
}

// literal is the value of dense elements, in full.
func (c *converter) literal(op *mlir.Op, d mlir.Dense, shape hlo.Shape) *hlo.Literal {
	data := d.Data
	if n := shape.NumElements(); d.Splat && n != 1 {
		size := int64(len(data))
		if n > maxExpanded/max(size, 1) {
			c.fail(op, "a constant of %v is too large to be written out", d.Type)
		}
		full := make([]byte, 0, n*size)
		for range n {
			full = append(full, data...)
		}
		data = full
	}
	l, err := hlo.NewLiteral(shape, data)
	if err != nil {
		c.fail(op, "%v", err)
	}
	return l
}

// maxExpanded bounds splats that must be written out.
const maxExpanded = 1 << 28
