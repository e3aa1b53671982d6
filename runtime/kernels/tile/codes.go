package tile

import (
	"encoding/binary"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
)

// Programs that do nothing with bf16 or f16 but choose among them, ask whether they are equal, change their signs, and take them for integers, do so with the codes as they are in memory: nothing is
// widened, and twice as many fit into a vector.

// rawOp is an op that [Builder.keepCodes] knows, or none.
func rawOp(op hlo.Opcode, t hlo.PrimitiveType, types []hlo.PrimitiveType) hlo.Opcode {
	isCode := func(t hlo.PrimitiveType) bool { return isWide(t) && t.Bits() == 16 }
	//halo:allow opswitch what can be done to codes
	switch op {
	case hlo.OpSelect, hlo.OpAbs, hlo.OpNegate:
		if isCode(t) {
			return op
		}
	case hlo.OpBitcastConvert:
		if isCode(t) != isCode(types[0]) {
			return op
		}
	case hlo.OpCompare: // of which only equality is one of codes
		if isCode(types[0]) {
			return op
		}
	}
	return hlo.OpInvalid
}

// equalityName is the loop for codes of type t in place of one that compares f32, if there is one.
func equalityName(t hlo.PrimitiveType, wide vectors.Name) (vectors.Name, bool) {
	name := vectors.Of(hlo.OpCompare, t).In(wide.Mode)
	return name, (wide.Mode == vectors.Equal || wide.Mode == vectors.NotEqual) && vectors.Has(name)
}

// equalCodes compares numbers of type t by their codes: zeros of both signs are equal, and NaN is not equal to itself.
func equalCodes(t hlo.PrimitiveType, equal bool) loop {
	infinity := uint16(0x7c00)
	if t == hlo.BF16 {
		infinity = 0x7f80
	}
	return func(n int, d, a, b, _ unsafe.Pointer) {
		const magnitude = 1<<15 - 1
		z, x, y := vec[bool](d, n), vec[uint16](a, n), vec[uint16](b, n)
		for i := range z {
			same := x[i] == y[i] && x[i]&magnitude <= infinity
			z[i] = (same || (x[i]|y[i])&magnitude == 0) == equal
		}
	}
}

// keepCodes makes integers of all narrow floats, if every step that has to do with them is one of [rawOp], and all others are of lanes as wide, too, or of truth values.
func (b *Builder) keepCodes() {
	if b.space.Len() <= shortSpace || b.result != noValue || len(b.folds) > 0 || !b.hasOnlyCodes() {
		return
	}
	for i := range b.stores {
		if s := &b.stores[i]; isWide(s.typ) {
			s.typ = hlo.U16
		}
	}
	types := make([]hlo.PrimitiveType, len(b.values))
	for i := range b.values {
		v := &b.values[i]
		if types[i] = v.typ; !isWide(v.typ) {
			continue
		}
		if v.typ = hlo.U16; v.load != nil {
			v.load.typ = hlo.U16
		}
		if v.splat != nil {
			v.splat.width, v.splat.value = 2, v.splat.code
		}
	}
	constant := func(code uint16) Value { return b.Constant(hlo.U16, binary.LittleEndian.AppendUint16(nil, code)) }
	for i := range b.steps {
		s := &b.steps[i]
		var o operation
		//halo:allow opswitch what can be done to codes
		switch s.raw {
		case hlo.OpSelect:
			o.fn = selectLoop(2)
			o.vectorize(vectors.Of(hlo.OpSelect, vectors.Sized(2)))
		case hlo.OpAbs:
			s.args = append(s.args, constant(1<<15-1))
			o.fn = and[uint16]
			o.vectorize(vectors.Of(hlo.OpAnd, vectors.Sized(2)))
		case hlo.OpNegate:
			s.args = append(s.args, constant(1<<15))
			o.fn = xor[uint16]
			o.vectorize(vectors.Of(hlo.OpXor, vectors.Sized(2)))
		case hlo.OpBitcastConvert: // x | x
			s.args = append(s.args, s.args[0])
			o.fn = or[uint16]
			o.vectorize(vectors.Of(hlo.OpOr, vectors.Sized(2)))
		case hlo.OpCompare:
			t := types[s.args[0]]
			o.fn = equalCodes(t, s.vector.Mode == vectors.Equal)
			name, _ := equalityName(t, s.vector)
			o.vectorize(name)
		default:
			continue
		}
		s.fn, s.vector, s.name, s.op = o.fn, o.vector, scalar.Name{}, hlo.OpInvalid
	}
}

// hasOnlyCodes reports whether there are narrow floats, all of 16 bits, of which nothing else has to be known than their codes.
func (b *Builder) hasOnlyCodes() bool {
	any := false
	for i := range b.values {
		v := &b.values[i]
		if !isWide(v.typ) {
			continue
		}
		isInput := v.load != nil && v.load.typ == v.typ || v.splat != nil
		if v.typ.Bits() != 16 || v.round != nil || v.same != noValue || !isInput && (v.def < 0 || b.steps[v.def].raw == hlo.OpInvalid) {
			return false
		}
	}
	for i := range b.steps {
		s := &b.steps[i]
		any = any || s.raw != hlo.OpInvalid
		if s.raw != hlo.OpInvalid && b.values[s.d].def != i {
			return false
		}
		if s.raw == hlo.OpCompare {
			if _, ok := equalityName(b.values[s.args[0]].typ, s.vector); !ok {
				return false
			}
		}
		for k, v := range append([]Value{s.d}, s.args...) {
			typ := b.values[v].typ
			isCode := isWide(typ)
			switch {
			case s.raw == hlo.OpInvalid && isCode, typ != hlo.PRED && typ.Bits() != 16:
				return false
			case s.raw != hlo.OpInvalid && s.raw != hlo.OpBitcastConvert && !isCode && !(s.raw == hlo.OpSelect && k == 1) && !(s.raw == hlo.OpCompare && k == 0):
				return false
			}
		}
	}
	for _, s := range b.stores {
		if s.typ != b.values[s.reg].typ && (isWide(s.typ) || isWide(b.values[s.reg].typ)) {
			return false
		}
	}
	return any
}
