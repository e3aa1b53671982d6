package tile

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
)

// operation is how an op is computed on given types.
type operation struct {
	fn        loop
	short     loop         // the same for few elements, if another one is better
	round     loop         // brings the result into a narrow type
	rounded   loop         // fn and round in one, or nil
	name      scalar.Name  // the op of package scalar, if there is one
	vector    vectors.Name // the loop of package vec that computes it, if there is one
	exchanged bool         // name and vector are to be given the operands in the other order
	identity  bool         // the result is the first operand
	sameLanes bool         // the result, before rounding, is in the operand's register
	weight    int
}

// findOp looks up the loop of an elementwise instruction with result type t.
func findOp(in hlo.Instruction, t hlo.PrimitiveType, types []hlo.PrimitiveType) (operation, bool) {
	for _, u := range append(types, t) {
		if !Supports(u) {
			return operation{}, false
		}
	}
	o := operation{weight: 1}
	switch op := in.Opcode(); op {
	case hlo.OpCopy:
		return convertOperation(types[0], t)
	case hlo.OpConvert:
		return convertOperation(types[0], t)
	case hlo.OpBitcastConvert:
		return bitcastOperation(types[0], t)
	case hlo.OpCompare:
		if types[0] != types[1] {
			return o, false
		}
		a := hlo.AttrsOf[hlo.CompareAttrs](in)
		o.fn = compareLoop(types[0], a.Direction, a.Type)
		o.vectorizeCompare(types[0], a.Direction, a.Type)
		o.name = scalarCompare(types[0], a.Direction, a.Type)
		if types[0].IsComplex() {
			o.vector = vectors.Of(op, types[0]).In(map[hlo.Direction]vectors.Mode{hlo.EQ: vectors.Equal, hlo.NE: vectors.NotEqual}[a.Direction])
		}
	case hlo.OpSelect:
		if types[0] != hlo.PRED || types[1] != t || types[2] != t {
			return o, false
		}
		o.fn = selectLoop(lane(t).ByteSize())
		o.name = scalar.Name{Op: "select", Type: scalar.Sized(lane(t).ByteSize())}
		if t == hlo.C128 { // wider than lanes
			o.vectorizeParts(vectors.Of(op, t))
		} else {
			o.vectorize(vectors.Of(op, vectors.Sized(lane(t).ByteSize())))
		}
	case hlo.OpClamp:
		if !same(t, types) {
			return o, false
		}
		o.fn, o.weight = clampLoop(lane(t)), 4
		o.name = scalarName("clamp", t)
		if t == hlo.PRED {
			o.vectorize(vectors.Of(op, hlo.U8))
		} else {
			o.vectorize(vectors.Of(op, lane(t)))
		}
	case hlo.OpIsFinite:
		o.fn = isFiniteLoop(lane(types[0]))
		o.vectorize(vectors.Of(op, lane(types[0])))
	case hlo.OpComplex:
		o.fn = complexLoop(t)
		o.vectorizeParts(vectors.Of(op, t))
		o.name = scalarName(op.String(), t)
	case hlo.OpReal, hlo.OpImag:
		o.fn = partLoop(op, types[0])
		o.vectorizeParts(vectors.Of(op, types[0]))
		o.name = scalarName(op.String(), types[0])
	case hlo.OpReducePrecision:
		if types[0] != t {
			return o, false
		}
		a := hlo.AttrsOf[hlo.ReducePrecisionAttrs](in)
		o.fn, o.weight = reducePrecisionLoop(t, a.ExponentBits, a.MantissaBits), 4
	default:
		if in.Opcode() == hlo.OpAbs && types[0].IsComplex() {
			if types[0].ComponentType() != t {
				return o, false
			}
			o.fn = magnitudeLoop(types[0])
			o.vectorizeParts(vectors.Of(op, types[0]))
			o.name = scalarName(op.String(), types[0])
			break
		}
		if !same(t, types) {
			return o, false
		}
		switch len(types) {
		case 1:
			o.fn, o.weight = unaryLoop(op, t)
		case 2:
			o.fn, o.weight = binaryLoop(op, t)
		}
		if t.IsComplex() {
			o.ofParts(op, t)
			o.name = scalarName(op.String(), t)
			break
		}
		o.vectorize(vectorName(op, t))
		o.name = scalarName(op.String(), t)
		if isWide(t) && !exact[op] {
			o.round = roundLoop(t)
			o.rounded = vectors.Find(roundedName(op, t), nil)
		}
	}
	return o, o.fn != nil || o.sameLanes
}

// Weight estimates the work for an element of an elementwise instruction in simple operations; it is 0 for what there is no loop for.
func Weight(in hlo.Instruction) int {
	types := make([]hlo.PrimitiveType, 0, 3)
	for o := range in.Operands() {
		types = append(types, o.Shape().Type())
	}
	if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise) || len(types) == 0 {
		return 0
	}
	weight := 0
	if part, ok := realPart(in, types); ok {
		o, ok := convertOperation(types[0], part)
		if !ok {
			return 0
		}
		weight, types = o.weight, []hlo.PrimitiveType{part}
	}
	o, ok := findOp(in, in.Shape().Type(), types)
	if !ok {
		return 0
	}
	return weight + o.weight
}

// realPart is the type between a real number and the complex one that an instruction converts it to, if there is one: it becomes a real part first, and that a complex number.
func realPart(in hlo.Instruction, types []hlo.PrimitiveType) (hlo.PrimitiveType, bool) {
	t := in.Shape().Type()
	if in.Opcode() != hlo.OpConvert || !t.IsComplex() || types[0].IsComplex() || types[0] == t.ComponentType() {
		return hlo.InvalidType, false
	}
	return t.ComponentType(), true
}

// exact are the ops whose result is in the operands' type without rounding.
var exact = map[hlo.Opcode]bool{
	hlo.OpMaximum: true, hlo.OpMinimum: true, hlo.OpAbs: true, hlo.OpNegate: true, hlo.OpSign: true,
}

func same(t hlo.PrimitiveType, types []hlo.PrimitiveType) bool {
	for _, u := range types {
		if u != t {
			return false
		}
	}
	return true
}

// unaryLoop is the loop of a unary op and its weight.
func unaryLoop(op hlo.Opcode, t hlo.PrimitiveType) (loop, int) {
	switch lane(t) {
	case hlo.F32:
		if singleNaN[t] && (op == hlo.OpAbs || op == hlo.OpNegate) {
			return nil, 0
		}
		return floatUnary32[op].fn, floatUnary32[op].weight
	case hlo.F64:
		return floatUnary64[op].fn, floatUnary64[op].weight
	case hlo.PRED:
		if op == hlo.OpNot {
			return notPred, 1
		}
		return nil, 0
	case hlo.S8:
		return signedUnary[int8](op), 1
	case hlo.S16:
		return signedUnary[int16](op), 1
	case hlo.S32:
		return signedUnary[int32](op), 1
	case hlo.S64:
		return signedUnary[int64](op), 1
	case hlo.U8:
		return unsignedUnary[uint8](op), 1
	case hlo.U16:
		return unsignedUnary[uint16](op), 1
	case hlo.U32:
		return unsignedUnary[uint32](op), 1
	case hlo.U64:
		return unsignedUnary[uint64](op), 1
	case hlo.C64:
		if op == hlo.OpNegate {
			return partwise(op, t, negate[complex64]), 2
		}
	case hlo.C128:
		if op == hlo.OpNegate {
			return partwise(op, t, negate[complex128]), 2
		}
	}
	return nil, 0
}

// singleNaN are the types without -0, whose sign bit alone is the NaN.
var singleNaN = map[hlo.PrimitiveType]bool{
	hlo.F8E4M3FNUZ: true, hlo.F8E5M2FNUZ: true, hlo.F8E4M3B11FNUZ: true, hlo.F8E8M0FNU: true,
}

func binaryLoop(op hlo.Opcode, t hlo.PrimitiveType) (loop, int) {
	switch lane(t) {
	case hlo.F32:
		return floatBinary[float32](op)
	case hlo.F64:
		return floatBinary[float64](op)
	case hlo.PRED:
		return predBinary(op), 1
	case hlo.S8:
		return signedBinary[int8, uint8](op), 1
	case hlo.S16:
		return signedBinary[int16, uint16](op), 1
	case hlo.S32:
		return signedBinary[int32, uint32](op), 1
	case hlo.S64:
		return signedBinary[int64, uint64](op), 1
	case hlo.U8:
		return unsignedBinary[uint8, int8](op), 1
	case hlo.U16:
		return unsignedBinary[uint16, int16](op), 1
	case hlo.U32:
		return unsignedBinary[uint32, int32](op), 1
	case hlo.U64:
		return unsignedBinary[uint64, int64](op), 1
	case hlo.C64:
		if op == hlo.OpDivide {
			return quotient, 24
		}
		return complexBinary[complex64](op, t)
	case hlo.C128:
		if op == hlo.OpDivide {
			return quotient128(), 24
		}
		return complexBinary[complex128](op, t)
	}
	return nil, 0
}

// partwise is the loop of an op that does to a complex number what it does to its parts.
func partwise(op hlo.Opcode, t hlo.PrimitiveType, portable loop) loop {
	part := map[hlo.PrimitiveType]hlo.PrimitiveType{hlo.C64: hlo.F32, hlo.C128: hlo.F64}[t]
	return overParts(vectorName(op, part), portable)
}

// overParts is a loop over complex numbers by the vector loop over their parts, if there is one.
func overParts(name vectors.Name, portable loop) loop {
	if !vectors.Has(name) {
		return portable
	}
	parts := vectors.Find(name, func(n int, d, a, b, c unsafe.Pointer) { portable(n/2, d, a, b, c) })
	return func(n int, d, a, b, c unsafe.Pointer) { parts(2*n, d, a, b, c) }
}

func complexBinary[T complex64 | complex128](op hlo.Opcode, t hlo.PrimitiveType) (loop, int) {
	switch op {
	case hlo.OpAdd:
		return partwise(op, t, add[T]), 2
	case hlo.OpSubtract:
		return partwise(op, t, subtract[T]), 2
	case hlo.OpMultiply:
		return overParts(vectors.Of(op, t), multiply[T]), 6
	}
	return nil, 0
}

// ofParts names an op on complex numbers, whose loop is one over their parts, for code that is made at run time.
func (o *operation) ofParts(op hlo.Opcode, t hlo.PrimitiveType) {
	o.vector = vectors.Of(op, t)
	if !vectors.Has(vectors.Of(hlo.OpMultiply, t)) {
		o.weight *= scalarWeight
	}
}

// vectorizeParts is vectorize for an op that takes complex numbers apart or joins them: without a loop, the name is for code that is made at run time.
func (o *operation) vectorizeParts(name vectors.Name) {
	if o.vectorize(name); o.vector == (vectors.Name{}) {
		o.vector = name
	}
}

func copyLoop(width int) loop {
	return func(n int, d, a, _, _ unsafe.Pointer) { copyBytes(d, a, n*width) }
}
