package halo

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// elementTypes are the element types that slices of Go stand for. Others, bf16 and the narrow ones, are made with hlo.NewLiteral.
var elementTypes = map[reflect.Kind]hlo.PrimitiveType{
	reflect.Bool: hlo.PRED,
	reflect.Int8: hlo.S8, reflect.Int16: hlo.S16, reflect.Int32: hlo.S32, reflect.Int64: hlo.S64,
	reflect.Uint8: hlo.U8, reflect.Uint16: hlo.U16, reflect.Uint32: hlo.U32, reflect.Uint64: hlo.U64,
	reflect.Float32: hlo.F32, reflect.Float64: hlo.F64, reflect.Complex64: hlo.C64, reflect.Complex128: hlo.C128,
}

// Array returns a literal over the elements of a slice, row by row; without dimensions it is a vector. It shares the slice's memory: as an
// argument the slice must not be written while the program runs, as a result it is where the program writes.
func Array[E hlo.Element](values []E, dims ...int64) (*hlo.Literal, error) {
	if len(dims) == 0 {
		dims = []int64{int64(len(values))}
	}
	for _, d := range dims {
		if d < 0 {
			return nil, fmt.Errorf("halo: got dimensions %v, want none below 0", dims)
		}
	}
	return share(hlo.MakeShape(elementTypes[reflect.TypeFor[E]().Kind()], dims...), values)
}

// Scalar returns a literal of rank 0.
func Scalar[E hlo.Element](value E) *hlo.Literal {
	l, err := share(hlo.MakeShape(elementTypes[reflect.TypeFor[E]().Kind()]), []E{value})
	if err != nil {
		panic(err) // one element is what a scalar has
	}
	return l
}

func share[E hlo.Element](s hlo.Shape, values []E) (*hlo.Literal, error) {
	if int64(len(values)) != s.NumElements() {
		return nil, fmt.Errorf("halo: got %d elements, want %d for %v", len(values), s.NumElements(), s.WithoutLayout())
	}
	var e E
	return hlo.NewLiteral(s, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(e))))
}
