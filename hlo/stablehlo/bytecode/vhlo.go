package bytecode

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// vhloEnums are the codes of attributes that are words.
var vhloEnums = map[uint64]string{
	3: "comparison_direction", 4: "comparison_type", 5: "custom_call_api_version", 7: "fft_type", 11: "precision", 12: "rng_algorithm",
	13: "rng_distribution", 16: "transpose", 19: "result_accuracy_mode",
}

// vhloAttr reads an attribute of VHLO, as the attribute of StableHLO or of the builtin dialect that it stands for.
func (d *decoder) vhloAttr(r *reader) mlir.Attr {
	code := r.varint()
	if kind, ok := vhloEnums[code]; ok {
		v := r.varint()
		e, ok := mlir.EnumValue(kind, int64(min(v, 1<<30)))
		if !ok {
			r.fail("value %d of %s is unknown", v, kind)
		}
		return e
	}
	i64 := d.types.Scalar(hlo.S64)
	switch code {
	case 1:
		list := make(mlir.Array, r.count("elements"))
		for i := range list {
			list[i] = d.attr(r)
		}
		return list
	case 2:
		return mlir.Bool(r.varint() != 0)
	case 6:
		return mlir.Dict(d.dictionary(r))
	case 8:
		t := d.typ(r)
		return mlir.Float{Bits: d.apFloat(r, t), Type: t}
	case 9:
		t := d.typ(r)
		return mlir.Int{Value: d.apInt(r, t), Type: t}
	case 10:
		out := d.svarints(r)
		operand := r.svarint()
		return mlir.Struct{Name: "output_operand_alias", Fields: mlir.Attrs{
			{Name: "output_tuple_indices", Value: out},
			{Name: "operand_index", Value: mlir.Int{Value: operand, Type: i64}},
			{Name: "operand_tuple_indices", Value: d.svarints(r)},
		}}
	case 14:
		return mlir.String(d.str(r))
	case 15:
		t := d.typ(r)
		return d.dense(r, t, r.take(r.varint()))
	case 17:
		return mlir.TypeAttr{Type: d.typ(r)}
	case 18:
		return mlir.Struct{Name: "bounds", Fields: mlir.Attrs{{Name: "bounds", Value: d.svarints(r)}}}
	case 20:
		f64 := d.types.Scalar(hlo.F64)
		atol, rtol := d.apFloat(r, f64), d.apFloat(r, f64)
		ulps := r.svarint()
		return mlir.Struct{Name: "result_accuracy", Fields: mlir.Attrs{
			{Name: "atol", Value: mlir.Float{Bits: atol, Type: f64}}, {Name: "rtol", Value: mlir.Float{Bits: rtol, Type: f64}},
			{Name: "ulps", Value: mlir.Int{Value: ulps, Type: i64}}, {Name: "mode", Value: d.attr(r)},
		}}
	case 21:
		return mlir.DenseArray{Elem: i64, Values: []int64{r.svarint(), r.svarint()}}
	case 22:
		s := mlir.Struct{Name: "axis_ref", Fields: mlir.Attrs{{Name: "name", Value: d.attr(r)}}}
		if r.varint() != 0 {
			s.Fields = append(s.Fields, mlir.NamedAttr{Name: "sub_axis_info", Value: d.attr(r)})
		}
		return s
	case 23:
		mesh := d.attr(r)
		if s, ok := mesh.(mlir.String); ok {
			mesh = mlir.Symbol(s)
		}
		return mlir.Struct{Name: "replica_group_mesh_axes", Fields: mlir.Attrs{{Name: "mesh", Value: mesh}, {Name: "axes", Value: d.attr(r)}}}
	case 24:
		name := d.attr(r)
		return mlir.Struct{Name: "mesh_axis", Fields: mlir.Attrs{
			{Name: "name", Value: name}, {Name: "size", Value: mlir.Int{Value: r.svarint(), Type: i64}},
		}}
	case 25:
		s := mlir.Struct{Name: "mesh", Fields: mlir.Attrs{{Name: "axes", Value: d.attr(r)}}}
		if ids := d.optionalAttr(r); ids != nil {
			s.Fields = append(s.Fields, mlir.NamedAttr{Name: "device_ids", Value: ids})
		}
		return s
	}
	r.fail("VHLO has no attribute of code %d that this halo knows; the file was made by %s, the newest version known is %s", code, d.producer, newestVHLO)
	return nil
}

// newestVHLO is the newest version whose operations are known.
const newestVHLO = "1.20.0"

func (d *decoder) svarints(r *reader) mlir.DenseArray {
	a := mlir.DenseArray{Elem: d.types.Scalar(hlo.S64), Values: make([]int64, r.count("numbers"))}
	for i := range a.Values {
		a.Values[i] = r.svarint()
	}
	return a
}

// vhloScalars are the codes of element types.
var vhloScalars = map[uint64]hlo.PrimitiveType{
	0: hlo.PRED, 2: hlo.BF16, 3: hlo.F16, 4: hlo.F32, 5: hlo.F64, 6: hlo.F8E4M3FN, 7: hlo.F8E5M2, 10: hlo.S4, 11: hlo.S8, 12: hlo.S16,
	13: hlo.S32, 14: hlo.S64, 15: hlo.U4, 16: hlo.U8, 17: hlo.U16, 18: hlo.U32, 19: hlo.U64, 27: hlo.F8E4M3FNUZ, 28: hlo.F8E5M2FNUZ,
	29: hlo.F8E4M3B11FNUZ, 31: hlo.S2, 32: hlo.U2, 35: hlo.F8E4M3, 36: hlo.F8E3M4, 37: hlo.F4E2M1FN, 38: hlo.F6E2M3FN, 39: hlo.F6E3M2FN,
	40: hlo.F8E8M0FNU,
}

// vhloType reads a type of VHLO.
func (d *decoder) vhloType(r *reader) *mlir.Type {
	code := r.varint()
	if e, ok := vhloScalars[code]; ok {
		return d.types.Scalar(e)
	}
	switch code {
	case 1:
		return d.complexOf(r, d.typ(r))
	case 8:
		in := d.typeList(r)
		return d.types.Func(in, d.typeList(r))
	case 9:
		return d.types.Index()
	case 20:
		dims := d.dims(r)
		return d.types.Tensor(d.element(r), dims, nil)
	case 21:
		encoding := d.attr(r)
		dims := d.dims(r)
		return d.encoded(r, encoding, dims, d.element(r))
	case 22:
		return d.types.Token()
	case 23:
		return d.types.Tuple(d.typeList(r))
	case 24, 30:
		r.fail("quantized types are not supported")
	case 25:
		r.fail("tensors without a rank are not supported")
	case 26:
		return d.types.Opaque("!shape.witness")
	case 33:
		return d.types.None()
	case 34:
		return d.types.TF32()
	case 41:
		dims := d.dims(r)
		return d.types.Buffer(d.element(r), dims)
	case 42:
		return d.types.Future(d.typeList(r))
	}
	r.fail("VHLO has no type of code %d that this halo knows; the file was made by %s, the newest version known is %s", code, d.producer, newestVHLO)
	return nil
}
