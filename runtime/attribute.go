package runtime

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/gohalo/halo/runtime/bef"
)

// AttrValue reads an attribute as a T: a scalar (bool, sized integers, floats), string, []byte (a string's bytes, not
// copied), bef.AttrType (a type), bef.Tensor (dense), *bef.Symbol, []bef.Attr (an aggregate), bef.Value (anything), or a
// slice of scalars (an array). The file does not tell types unless it has the optional sections, so T decides.
func AttrValue[T any](p *bef.Pool, a bef.Attr) (T, error) {
	var x T
	return x, readAttr(p, a, any(&x))
}

func readAttr(p *bef.Pool, a bef.Attr, to any) (err error) {
	switch x := to.(type) {
	case *string:
		var b []byte
		b, err = p.Text(a.Offset)
		*x = string(b)
	case *[]byte:
		*x, err = p.Text(a.Offset)
	case *bef.AttrType:
		*x, err = p.ElemType(a.Offset)
	case *bef.Tensor:
		*x, err = p.Dense(a.Offset)
	case **bef.Symbol:
		*x, err = p.Symbol(a.Offset)
	case *[]bef.Attr:
		*x, err = p.Aggregate(a.Offset)
	case *bef.Value:
		*x, err = p.Value(a)
	default:
		return readNumbers(p, a, reflect.ValueOf(to).Elem())
	}
	return err
}

// scalarCodes are the pool's types of Go's scalars.
var scalarCodes = map[reflect.Kind]bef.AttrType{
	reflect.Bool: bef.I1, reflect.Int8: bef.I8, reflect.Int16: bef.I16, reflect.Int32: bef.I32, reflect.Int64: bef.I64,
	reflect.Uint8: bef.UI8, reflect.Uint16: bef.UI16, reflect.Uint32: bef.UI32, reflect.Uint64: bef.UI64,
	reflect.Float32: bef.F32, reflect.Float64: bef.F64,
}

func readNumbers(p *bef.Pool, a bef.Attr, to reflect.Value) error {
	t := to.Type()
	if code, ok := scalarCodes[t.Kind()]; ok {
		bits, err := p.Bits(a.Offset, code)
		if err != nil {
			return err
		}
		setNumber(to, bits)
		return nil
	}
	if t.Kind() != reflect.Slice {
		return fmt.Errorf("attributes cannot be read as %v", t)
	}
	code, ok := scalarCodes[t.Elem().Kind()]
	if !ok {
		return fmt.Errorf("attributes cannot be read as %v", t)
	}
	b, err := p.Array(a.Offset, code)
	if err != nil {
		return err
	}
	size := code.Size()
	list := reflect.MakeSlice(t, len(b)/size, len(b)/size)
	for i := range list.Len() {
		var word [8]byte
		copy(word[:], b[i*size:][:size])
		setNumber(list.Index(i), binary.LittleEndian.Uint64(word[:]))
	}
	to.Set(list)
	return nil
}

func setNumber(to reflect.Value, bits uint64) {
	switch k := to.Kind(); {
	case k == reflect.Bool:
		to.SetBool(bits != 0)
	case k == reflect.Float32:
		to.SetFloat(float64(math.Float32frombits(uint32(bits))))
	case k == reflect.Float64:
		to.SetFloat(math.Float64frombits(bits))
	case to.CanInt():
		shift := 64 - 8*to.Type().Size()
		to.SetInt(int64(bits<<shift) >> shift)
	default:
		to.SetUint(bits)
	}
}
