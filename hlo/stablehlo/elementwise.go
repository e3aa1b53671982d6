package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// realUnary is an operation that HLO has for real numbers alone.

func realUnary(opcode hlo.Opcode) func(*comp, *mlir.Op) {
	return func(c *comp, op *mlir.Op) {
		if op.Operands[0].Type.Elem.IsComplex() {
			c.fail(op, "'%s' of %v: complex numbers are not supported", op.Name, op.Operands[0].Type)
		}
		same(opcode)(c, op)
	}
}

// real and imag of a real number are the number and zero.
func (c *comp) real(op *mlir.Op) {
	if !op.Operands[0].Type.Elem.IsComplex() {
		c.identity(op)
		return
	}
	same(hlo.OpReal)(c, op)
}

func (c *comp) imag(op *mlir.Op) {
	if t := op.Operands[0].Type; !t.Elem.IsComplex() {
		c.set(c.splat(mlir.Dense{Type: c.m.Types.WithDims(t, nil), Data: make([]byte, t.Elem.ByteSize()), Splat: true}, c.resultShape(0)))
		return
	}
	same(hlo.OpImag)(c, op)
}

// constant: a splat is a scalar that is broadcast.
func (c *comp) constant(op *mlir.Op) {
	d, ok := op.Attrs.Get("value").(mlir.Dense)
	if !ok {
		c.fail(op, "'%s' has a value that is not the elements of a tensor", op.Name)
	}
	shape := c.resultShape(0)
	if d.Type != op.Results[0].Type {
		c.fail(op, "'%s' of type %v has a value of type %v", op.Name, op.Results[0].Type, d.Type)
	}
	c.set(c.splat(d, shape))
}

// splat makes a constant, or finds the one that is there; one that has equal elements is a scalar that is broadcast.
func (c *comp) splat(d mlir.Dense, shape hlo.Shape) hlo.InstrID {
	var key constKey
	if len(d.Data) <= maxShared {
		key = constKey{d.Type, string(d.Data), d.Splat}
		if id, ok := c.consts[key]; ok {
			return id
		}
	}
	var id hlo.InstrID
	if !d.Splat || shape.Rank() == 0 || shape.NumElements() == 1 {
		id = c.scalar(c.literal(c.op, d, shape))
	} else {
		id = c.broadcast(c.scalar(c.literal(c.op, d, arrayShape(d.Type.Elem))), shape)
	}
	if key.typ != nil {
		c.consts[key] = id
	}
	return id
}

func (c *comp) compare(op *mlir.Op) {
	a := &hlo.CompareAttrs{}
	for i, name := range a.Direction.EnumNames() {
		if name != "" && name == c.enum("comparison_direction") {
			a.Direction = hlo.Direction(i)
		}
	}
	if e, ok := op.Attrs.Get("compare_type").(mlir.Enum); ok {
		for i, name := range a.Type.EnumNames() {
			if name != "" && name == e.Value {
				a.Type = hlo.CompareType(i)
			}
		}
	}
	if a.Type == hlo.DefaultCompareType(op.Operands[0].Type.Elem) {
		a.Type = hlo.CompareDefault
	}
	c.set(c.add(hlo.OpCompare, c.resultShape(0), a, c.operands()...))
}

// selectOp: a scalar predicate chooses between whole arrays, so it is broadcast.
func (c *comp) selectOp(op *mlir.Op) {
	ids := c.operands()
	ids[0] = c.spread(ids[0], c.shape(ids[1]))
	c.set(c.add(hlo.OpSelect, c.resultShape(0), nil, ids...))
}

// clamp: scalar bounds are broadcast.
func (c *comp) clamp(op *mlir.Op) {
	ids := c.operands()
	like := c.shape(ids[1])
	ids[0], ids[2] = c.spread(ids[0], like), c.spread(ids[2], like)
	c.set(c.add(hlo.OpClamp, c.resultShape(0), nil, ids...))
}

// spread broadcasts a scalar to the dimensions of a shape.
func (c *comp) spread(id hlo.InstrID, like hlo.Shape) hlo.InstrID {
	s := c.shape(id)
	if s.Rank() != 0 || like.Rank() == 0 {
		return id
	}
	return c.broadcast(id, like.WithType(s.Type()))
}

// convertType of complex numbers to real ones takes the real part first.
func (c *comp) convertType(op *mlir.Op) {
	id, from := c.operand(0), op.Operands[0].Type
	switch {
	case from == op.Results[0].Type:
		c.set(id)
		return
	case from.Elem.IsComplex() && !op.Results[0].Type.Elem.IsComplex():
		id = c.add(hlo.OpReal, c.shape(id).WithType(from.Elem.ComponentType()), nil, id)
	}
	c.set(c.add(hlo.OpConvert, c.resultShape(0), nil, id))
}

func (c *comp) reducePrecision(op *mlir.Op) {
	a := &hlo.ReducePrecisionAttrs{ExponentBits: c.int("exponent_bits"), MantissaBits: c.int("mantissa_bits")}
	c.set(c.add(hlo.OpReducePrecision, c.resultShape(0), a, c.operand(0)))
}

// iota of several dimensions is one of a single dimension that is broadcast.
func (c *comp) iota(op *mlir.Op) {
	shape, dim := c.resultShape(0), c.int("iota_dimension")
	if dim < 0 || int(dim) >= shape.Rank() {
		c.fail(op, "iota_dimension = %d, the result has %d dimensions", dim, shape.Rank())
	}
	if shape.Rank() == 1 {
		c.set(c.add(hlo.OpIota, shape, &hlo.IotaAttrs{}))
		return
	}
	line := c.add(hlo.OpIota, arrayShape(shape.Type(), shape.Dim(int(dim))), &hlo.IotaAttrs{})
	c.set(c.broadcast(line, shape, dim))
}
