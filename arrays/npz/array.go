package npz

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// Array is a dense array of raw items.
type Array struct {
	// Descr is NumPy's description of an item: byte order, kind and size in bytes, such as
	// "<f4", "|b1" or "|V2".
	Descr string
	// ItemSize is the size of an item in bytes. Writers accept 0 and take it from Descr.
	ItemSize int
	// Shape is the length of each dimension; none for a scalar.
	Shape []int64
	// Data holds the items in row-major order, each little-endian.
	Data []byte
}

// Named is an array of an archive.
type Named struct {
	Name string // without the file's .npy
	Array
}

// Elements is the number of items that the shape asks for.
func (a Array) Elements() int64 {
	n := int64(1)
	for _, dimension := range a.Shape {
		n *= dimension
	}
	return n
}

// byteSize is the number of bytes of items of the given size in an array of this shape.
func byteSize(shape []int64, itemSize int) (int64, error) {
	n, empty := uint64(itemSize), false
	overflow := false
	for _, dimension := range shape {
		if dimension < 0 {
			return 0, fmt.Errorf("negative dimension in shape %v", shape)
		}
		if dimension == 0 {
			empty = true
			continue
		}
		high, low := bits.Mul64(n, uint64(dimension))
		overflow = overflow || high != 0 || low > math.MaxInt64
		n = low
	}
	switch {
	case empty:
		return 0, nil
	case overflow:
		return 0, fmt.Errorf("shape %v is too large", shape)
	}
	return int64(n), nil
}

// item is a parsed description.
type item struct {
	bigEndian bool
	kind      byte // NumPy's letter: b bool, i and u integers, f float, c complex, V raw
	size      int
}

// sizes are the kinds that can be carried and the sizes they come in. f1 is how the first
// of the 8-bit floats is written by JAX's ml_dtypes.
var sizes = map[byte][]int{
	'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {1, 2, 4, 8}, 'c': {8, 16},
	'V': {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
}

func parseDescr(descr string) (item, error) {
	if len(descr) < 3 {
		return item{}, fmt.Errorf("invalid item description %q", descr)
	}
	it := item{kind: descr[1]}
	switch descr[0] {
	case '<', '|', '=': // = is the byte order of the writer, which on the machines that Go and XLA share is little
	case '>':
		it.bigEndian = true
	default:
		return item{}, fmt.Errorf("invalid byte order in item description %q", descr)
	}
	size, err := strconv.Atoi(descr[2:])
	for _, known := range sizes[it.kind] {
		if err == nil && size == known {
			it.size = size
			return it, nil
		}
	}
	return item{}, fmt.Errorf("items of type %q are not supported", descr)
}

// String is the description of little-endian items.
func (it item) String() string {
	order := "<"
	if it.size == 1 || it.kind == 'V' {
		order = "|"
	}
	return fmt.Sprintf("%s%c%d", order, it.kind, it.size)
}

// elements are HLO's array element types, each with the items that can hold it. The
// first is what is written.
var elements = map[string][]string{
	"pred": {"|b1", "|u1"},
	"s8":   {"|i1"}, "s16": {"<i2"}, "s32": {"<i4"}, "s64": {"<i8"},
	"u8": {"|u1"}, "u16": {"<u2"}, "u32": {"<u4"}, "u64": {"<u8"},
	"f16": {"<f2"}, "f32": {"<f4"}, "f64": {"<f8"}, "c64": {"<c8"}, "c128": {"<c16"},
	"bf16": {"|V2", "<u2"},

	"s1": rawByte, "s2": rawByte, "s4": rawByte, "u1": rawByte, "u2": rawByte, "u4": rawByte,
	"f8e5m2": rawByte, "f8e4m3": rawByte, "f8e3m4": rawByte, "f8e4m3fn": rawByte,
	"f8e5m2fnuz": rawByte, "f8e4m3fnuz": rawByte, "f8e4m3b11fnuz": rawByte, "f8e8m0fnu": rawByte,
	"f6e3m2fn": rawByte, "f6e2m3fn": rawByte, "f4e2m1fn": rawByte,
}

var rawByte = []string{"|V1", "|u1", "|i1", "|f1"}

// Descr returns the description of the items that an HLO element type, named as in HLO text, is
// written as. It reports false for what is not the element of an array.
func Descr(elementType string) (string, bool) {
	items, ok := elements[elementType]
	if !ok {
		return "", false
	}
	return items[0], true
}

// Holds reports whether the items of a can be elements of an HLO type. For types narrower than a
// byte only the low bits count; what the others hold is the writer's affair.
func (a Array) Holds(elementType string) bool {
	for _, descr := range elements[elementType] {
		if a.Descr == descr {
			return true
		}
	}
	return false
}
