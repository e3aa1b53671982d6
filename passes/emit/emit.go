// Package emit makes instructions in a computation that is being edited: the shape rule of each op says what shape they have.
//
//	at := emit.Before(c, in)                      // new instructions stand before in, and carry its metadata
//	sum := at.Binary(hlo.OpAdd, x, y)
//	err := emit.Replace(c, in.ID(), at.Reshape(sum, 4, 8))
//
// It is for passes that write several instructions for one. Passes that are tables of rules use [pass.Expr] instead. Operands that no
// shape rule accepts are a broken promise of the pass, and a panic; the runner turns it into an error.
package emit

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// At is a place in the program order of a computation.
type At struct {
	C hlo.CompEdit
	// Before is the instruction in front of which new ones are put; NoInstr is the end.
	Before hlo.InstrID
	// Common and Position are given to every new instruction.
	Common   *hlo.Common
	Position hlo.Position
}

// Before is the place in front of in. Instructions made there have the metadata of in.
func Before(c hlo.CompEdit, in hlo.Instruction) At {
	at := At{C: c, Before: in.ID(), Position: in.Position()}
	if common := in.Common(); common != nil && common.Metadata != nil {
		at.Common = &hlo.Common{Metadata: common.Metadata}
	}
	return at
}

// End is the place behind all instructions of c.
func End(c hlo.CompEdit) At { return At{C: c, Before: hlo.NoInstr} }

// Spec makes the instruction as it is described; a missing layout is the default one.
func (a At) Spec(spec hlo.InstrSpec) hlo.InstrID {
	if spec.Common == nil {
		spec.Common = a.Common
	}
	if spec.Position == (hlo.Position{}) {
		spec.Position = a.Position
	}
	if spec.Attrs == nil {
		if f := hlo.Info(spec.Opcode).NewAttrs; f != nil {
			spec.Attrs = f()
		}
	}
	if !spec.Shape.IsValid() {
		spec.Shape = a.infer(spec)
	}
	spec.Shape = spec.Shape.WithDefaultLayout()
	if a.Before == hlo.NoInstr {
		return a.C.AddSpec(spec).ID()
	}
	return a.C.InsertSpecBefore(a.Before, spec).ID()
}

func (a At) infer(spec hlo.InstrSpec) hlo.Shape {
	c := hlo.ShapeContext{Op: spec.Opcode, Attrs: spec.Attrs, MixedPrecision: true, FlatAsync: true}
	for _, id := range spec.Operands {
		c.Operands = append(c.Operands, a.Shape(id))
	}
	for _, id := range spec.Callees {
		c.Callees = append(c.Callees, a.C.Editor().View(id).Signature())
	}
	shape, err := hlo.InferShape(&c)
	if err != nil {
		panic(fmt.Sprintf("emit: %v of %v: %v", spec.Opcode, c.Operands, err))
	}
	return shape.WithoutLayout()
}

// Shape is the shape of an instruction of the computation.
func (a At) Shape(id hlo.InstrID) hlo.Shape { return a.C.At(id).Shape() }

// Op makes an instruction whose shape follows from its operands; nil attributes are the op's defaults.
func (a At) Op(op hlo.Opcode, attrs hlo.OpAttrs, operands ...hlo.InstrID) hlo.InstrID {
	return a.Spec(hlo.InstrSpec{Opcode: op, Attrs: attrs, Operands: operands})
}

// OpOf makes an instruction of a shape.
func (a At) OpOf(op hlo.Opcode, shape hlo.Shape, attrs hlo.OpAttrs, operands ...hlo.InstrID) hlo.InstrID {
	return a.Spec(hlo.InstrSpec{Opcode: op, Shape: shape, Attrs: attrs, Operands: operands})
}

// Unary applies an op that keeps the shape.
func (a At) Unary(op hlo.Opcode, x hlo.InstrID) hlo.InstrID { return a.Op(op, nil, x) }

// Binary applies an op to two values of one shape.
func (a At) Binary(op hlo.Opcode, x, y hlo.InstrID) hlo.InstrID { return a.Op(op, nil, x, y) }

// Compare relates two values of one shape.
func (a At) Compare(d hlo.Direction, x, y hlo.InstrID) hlo.InstrID {
	return a.Op(hlo.OpCompare, &hlo.CompareAttrs{Direction: d}, x, y)
}

// Select takes elements of yes where p holds, else of no.
func (a At) Select(p, yes, no hlo.InstrID) hlo.InstrID { return a.Op(hlo.OpSelect, nil, p, yes, no) }

// Convert changes the element type; a value that has it already is returned as it is.
func (a At) Convert(x hlo.InstrID, t hlo.PrimitiveType) hlo.InstrID {
	if a.Shape(x).Type() == t {
		return x
	}
	return a.OpOf(hlo.OpConvert, a.Shape(x).WithType(t), nil, x)
}

// Reshape gives the elements other dimensions; a value that has them already is returned as it is.
func (a At) Reshape(x hlo.InstrID, dims ...int64) hlo.InstrID {
	s := hlo.MakeShape(a.Shape(x).Type(), dims...)
	if a.Shape(x).EqualIgnoringLayout(s) {
		return x
	}
	return a.OpOf(hlo.OpReshape, s, &hlo.ReshapeAttrs{InferredDimension: -1}, x)
}

// Transpose makes axis perm[i] of x axis i of the result; the identity is x itself.
func (a At) Transpose(x hlo.InstrID, perm ...int64) hlo.InstrID {
	identity := true
	for i, p := range perm {
		identity = identity && int64(i) == p
	}
	if identity {
		return x
	}
	return a.Op(hlo.OpTranspose, &hlo.DimensionsAttrs{Dimensions: perm}, x)
}

// Broadcast repeats x: its axis i becomes axis axes[i] of a result of the given dimensions.
func (a At) Broadcast(x hlo.InstrID, axes []int64, dims ...int64) hlo.InstrID {
	return a.OpOf(hlo.OpBroadcast, hlo.MakeShape(a.Shape(x).Type(), dims...), &hlo.BroadcastAttrs{Dimensions: axes}, x)
}

// Fill repeats a scalar; of no dimensions it is the scalar.
func (a At) Fill(scalar hlo.InstrID, dims ...int64) hlo.InstrID {
	if len(dims) == 0 {
		return scalar
	}
	return a.Broadcast(scalar, nil, dims...)
}

// Slice takes the block from start to limit.
func (a At) Slice(x hlo.InstrID, start, limit []int64) hlo.InstrID {
	ranges := make([]hlo.SliceDim, len(start))
	for i := range ranges {
		ranges[i] = hlo.SliceDim{Start: start[i], Limit: limit[i], Stride: 1}
	}
	return a.Op(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, x)
}

// SliceAxis takes the part from start to limit of one axis; all of it is x itself.
func (a At) SliceAxis(x hlo.InstrID, axis int, start, limit int64) hlo.InstrID {
	dims := a.Shape(x).Dimensions()
	if start == 0 && limit == dims[axis] {
		return x
	}
	from := make([]int64, len(dims))
	from[axis], dims[axis] = start, limit
	return a.Slice(x, from, dims)
}

// Pad puts low and high elements of value pad around one axis.
func (a At) Pad(x, pad hlo.InstrID, axis int, low, high int64) hlo.InstrID {
	padding := make([]hlo.PaddingDim, a.Shape(x).Rank())
	padding[axis] = hlo.PaddingDim{Low: low, High: high}
	return a.Op(hlo.OpPad, &hlo.PadAttrs{Padding: padding}, x, pad)
}

// Concatenate puts arrays one after the other; one array is itself.
func (a At) Concatenate(axis int64, arrays ...hlo.InstrID) hlo.InstrID {
	if len(arrays) == 1 {
		return arrays[0]
	}
	return a.Op(hlo.OpConcatenate, &hlo.AxisAttrs{Dimensions: []int64{axis}}, arrays...)
}

// DynamicSlice takes a block of the given sizes at indices known at run time.
func (a At) DynamicSlice(x hlo.InstrID, indices []hlo.InstrID, sizes ...int64) hlo.InstrID {
	return a.Op(hlo.OpDynamicSlice, &hlo.DynamicSliceAttrs{Sizes: sizes}, append([]hlo.InstrID{x}, indices...)...)
}

// DynamicUpdateSlice overwrites a block of x at indices known at run time.
func (a At) DynamicUpdateSlice(x, update hlo.InstrID, indices ...hlo.InstrID) hlo.InstrID {
	return a.OpOf(hlo.OpDynamicUpdateSlice, a.Shape(x), nil, append([]hlo.InstrID{x, update}, indices...)...)
}

// Iota counts along an axis of an array of the given dimensions.
func (a At) Iota(t hlo.PrimitiveType, axis int64, dims ...int64) hlo.InstrID {
	return a.OpOf(hlo.OpIota, hlo.MakeShape(t, dims...), &hlo.IotaAttrs{Dimension: axis})
}

// Tuple gathers values.
func (a At) Tuple(elems ...hlo.InstrID) hlo.InstrID {
	shapes := make([]hlo.Shape, len(elems))
	for i, id := range elems {
		shapes[i] = a.Shape(id)
	}
	return a.OpOf(hlo.OpTuple, hlo.MakeTuple(shapes...), nil, elems...)
}

// Element is element i of a tuple, with the layout that it has there.
func (a At) Element(tuple hlo.InstrID, i int) hlo.InstrID {
	return a.OpOf(hlo.OpGetTupleElement, a.Shape(tuple).Elem(i), &hlo.TupleElementAttrs{Index: int64(i)}, tuple)
}

// Reduce folds the given axes of x with a computation, beginning with init.
func (a At) Reduce(x, init hlo.InstrID, with hlo.CompID, axes ...int64) hlo.InstrID {
	return a.Spec(hlo.InstrSpec{Opcode: hlo.OpReduce, Attrs: &hlo.DimensionsAttrs{Dimensions: axes}, Operands: []hlo.InstrID{x, init}, Callees: []hlo.CompID{with}})
}

// Call runs a computation.
func (a At) Call(f hlo.CompID, operands ...hlo.InstrID) hlo.InstrID {
	return a.Spec(hlo.InstrSpec{Opcode: hlo.OpCall, Shape: a.C.Editor().View(f).Root().Shape(), Operands: operands, Callees: []hlo.CompID{f}})
}

// While runs body, from init on, as long as condition holds.
func (a At) While(condition, body hlo.CompID, init hlo.InstrID) hlo.InstrID {
	return a.Spec(hlo.InstrSpec{Opcode: hlo.OpWhile, Shape: a.Shape(init), Operands: []hlo.InstrID{init}, Callees: []hlo.CompID{body, condition}})
}
