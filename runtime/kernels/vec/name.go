package vec

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Name says what a loop computes: the op, how it is applied, and on which types.
type Name struct {
	Op    hlo.Opcode
	Mode  Mode
	Types [3]hlo.PrimitiveType // see [Of]
}

// Mode is how a loop applies an op.
type Mode uint8

// The modes. Those of comparisons belong to compare.
const (
	Elementwise    Mode = iota
	Folding             // of n elements into one
	FoldingRows         // of rows, one behind the other, into one each: see [FindFoldRows]
	FoldingRuns         // of short runs, one behind the other, into one each: see [FindFoldRuns]
	FoldingPairs        // of two neighbours into one
	Windowed            // of runs of elements into one each
	Scattered           // of lines, or of single elements, into others anywhere: see gen/scatter.go
	Picking             // of elements anywhere: see gen/order.go
	PickingByPairs      // the same, for which an index is a pair of numbers
	Taking              // of elements at offsets: see gen/order.go
	Every2              // of every second element, and so on: see [FindEvery]
	Every3
	Every4
	Every5
	Every6
	Every7
	Every8
	Equal
	NotEqual
	Less
	LessOrEqual
	TotalLess // in the total order of floating-point numbers
	TotalLessOrEqual
	Rounding      // in f32, rounded to what the last type can hold
	RealPart      // of complex numbers whose parts are operands of their own, first the real ones: the real part of the result. There are no loops, see [Recipe]
	ImaginaryPart // the same: the imaginary part
	Rotating      // as shift-left, but the bits that leave an element come back on the right
	Increased     // the result and 1
	ByPower       // of numbers and a power of two, the reciprocal of which is given as well
)

var modePrefixes = [...]string{Folding: "fold-", FoldingRows: "fold-rows-", FoldingRuns: "fold-runs-", FoldingPairs: "fold-pairs-", Windowed: "window-", Scattered: "scatter-", Picking: "pick-", PickingByPairs: "pick-by-pairs-", Taking: "take-", Every2: "every-2-", Every3: "every-3-", Every4: "every-4-", Every5: "every-5-", Every6: "every-6-", Every7: "every-7-", Every8: "every-8-", Equal: "eq-", NotEqual: "ne-", Less: "lt-", LessOrEqual: "le-",
	TotalLess: "lt-total-", TotalLessOrEqual: "le-total-", Rounding: "round-", RealPart: "real-", ImaginaryPart: "imaginary-", Rotating: "rotate-", Increased: "increased-", ByPower: "by-power-"}

// Of is the name of the elementwise loop for an op. One type stands for all operands and the result, else they are given in this order. Where the sign
// of integers does not matter they are unsigned, as are elements of which only the size does; see [Unsigned].
//
// Loops that move elements have the names of ops that do: broadcast fills, reverse and gather reorder, iota counts.
func Of(op hlo.Opcode, types ...hlo.PrimitiveType) Name {
	n := Name{Op: op}
	copy(n.Types[:], types)
	return n
}

// In is the name of the same op in another mode.
func (n Name) In(m Mode) Name {
	n.Mode = m
	return n
}

// String spells the name for messages, as in add.f32 and fold-maximum.s8.
func (n Name) String() string {
	var b strings.Builder
	b.WriteString(modePrefixes[n.Mode])
	b.WriteString(n.Op.String())
	for _, t := range n.Types {
		if t != hlo.InvalidType {
			b.WriteString("." + t.String())
		}
	}
	return b.String()
}

// Unsigned is t without its sign, if it is an integer type.
func Unsigned(t hlo.PrimitiveType) hlo.PrimitiveType {
	if t.IsSigned() {
		t, _ = hlo.UnsignedOf(t.Bits())
	}
	return t
}

// Sized is the type of elements of which only the size in bytes matters.
func Sized(bytes int) hlo.PrimitiveType {
	t, _ := hlo.UnsignedOf(8 * bytes)
	return t
}
