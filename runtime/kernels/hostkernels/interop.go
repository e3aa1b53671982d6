package hostkernels

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

// Dense tensors are what HLO kernels and tensor functions compute on when host programs use them. A program states the type of results,
// as in tensor<2x3xf32>:
//
//	%c = "hlo.add"(%a, %b) {hlo = "f32[2,3] add(f32[2,3], f32[2,3])"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>

// primitives are the element types by their names in types of host programs.
var primitives = map[string]hlo.PrimitiveType{
	"ui8": hlo.U8, "ui16": hlo.U16, "ui32": hlo.U32, "ui64": hlo.U64, "i8": hlo.S8, "i16": hlo.S16, "i32": hlo.S32, "i64": hlo.S64,
	"f16": hlo.F16, "bf16": hlo.BF16, "f32": hlo.F32, "f64": hlo.F64, "i1": hlo.PRED, "complex<f32>": hlo.C64, "complex<f64>": hlo.C128,
}

// primitiveOf is the HLO type of tensor elements.
func primitiveOf(e *elem) hlo.PrimitiveType {
	switch e.name {
	case "complex64":
		return hlo.C64
	case "complex128":
		return hlo.C128
	}
	return primitives[e.name]
}

// elemOfPrimitive is the inverse, or nil where host programs have no such tensors.
func elemOfPrimitive(t hlo.PrimitiveType) *elem {
	for _, e := range append(slices.Clone(elems), i16) {
		if primitiveOf(e) == t {
			return e
		}
	}
	return nil
}

// tensorType reads a type such as tensor<2x3xf32>, of known extents.
func tensorType(name string) (t runtime.TensorType, ok bool) {
	inner, ok := strings.CutPrefix(name, "tensor<")
	if !ok {
		return t, false
	}
	inner, ok = strings.CutSuffix(inner, ">")
	for ok {
		extent, rest, more := strings.Cut(inner, "x")
		n, err := strconv.ParseInt(extent, 10, 64)
		if !more || err != nil || n < 0 {
			break
		}
		t.Dims = append(t.Dims, n)
		inner = rest
	}
	p, known := primitives[inner]
	if !ok || !known {
		return runtime.TensorType{}, false
	}
	t.Type = uint8(p)
	t.Bytes, ok = byteSize(elemOfPrimitive(p), t.Dims)
	return t, ok
}

func registerInterop(reg *runtime.Registry) {
	reg.TensorValues(runtime.TensorValues{
		Type: tensorType,
		View: func(v *async.Value) (runtime.Buffer, bool) {
			t, ok := async.GetIfPresent[*Dense](v)
			if !ok {
				return runtime.Buffer{}, false
			}
			return runtime.Buffer{Data: t.Data(), Type: uint8(primitiveOf(t.elem)), Dims: t.dims}, true
		},
		Make: func(t runtime.TensorType, memory *runtime.HostBuffer) *async.Value {
			e := elemOfPrimitive(hlo.PrimitiveType(t.Type))
			if e == nil {
				memory.DropRef()
				return async.MakeError(async.Errorf(async.Unimplemented, "host programs have no tensors of %v", hlo.PrimitiveType(t.Type)))
			}
			return async.MakeAvailable(&Dense{elem: e, dims: slices.Clone(t.Dims), buf: memory}).Value()
		},
	})
}
