package proto

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

type enum interface {
	~uint8
	hlo.Enum
}

// enumByName reads an enumeration that messages have as text.
func enumByName[E enum](field, name string) (E, error) {
	var e E
	i := slices.Index(e.EnumNames(), name)
	if i < 0 || name == "" {
		return e, within(errorf("%q is none of %v", name, e.EnumNames()), field)
	}
	return E(i), nil
}

// enumByValue reads an enumeration whose numbers are those of halo less offset.
func enumByValue[E enum](field string, v int32, offset int32) (E, error) {
	var e E
	v += offset
	if v < 0 || int(v) >= len(e.EnumNames()) {
		return e, within(errorf("value %d", v-offset), field)
	}
	return E(v), nil
}

// numbering pairs halo's values of an enumeration, which index it, with those of messages.
type numbering[E ~uint8] []int32

// decode maps what a message says to a value of ours; unknown ones mean the default.
func (n numbering[E]) decode(v int32) E { return E(max(0, slices.Index(n, v))) }

func (n numbering[E]) encode(e E) int32 {
	if int(e) < len(n) {
		return n[e]
	}
	return 0
}

var (
	convKinds = numbering[hlo.ConvolutionKind]{
		hlo.ConvUnset: 0, hlo.ConvFprop: 1, hlo.ConvDgrad: 2, hlo.ConvWgrad: 3,
	}
	algorithms = numbering[hlo.DotAlgorithm]{
		hlo.AlgUnset: 0, hlo.AlgAnyF8AnyF8F32: 1, hlo.AlgAnyF8AnyF8F32FastAccum: 2, hlo.AlgF16F16F16: 3, hlo.AlgF16F16F32: 4,
		hlo.AlgBF16BF16BF16: 5, hlo.AlgBF16BF16F32: 6, hlo.AlgBF16BF16F32X3: 7, hlo.AlgBF16BF16F32X6: 8, hlo.AlgTF32TF32F32: 9,
		hlo.AlgTF32TF32F32X3: 10, hlo.AlgF32F32F32: 11, hlo.AlgF64F64F64: 12, hlo.AlgBF16BF16F32X9: 13,
	}
)
