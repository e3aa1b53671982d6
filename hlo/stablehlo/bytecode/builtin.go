package bytecode

import (
	"bytes"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// builtinAttr reads an attribute of the builtin dialect; locations are kept beside it.
func (d *decoder) builtinAttr(r *reader, e *entry) mlir.Attr {
	switch code := r.varint(); code {
	case 0:
		list := make(mlir.Array, r.count("elements"))
		for i := range list {
			list[i] = d.attr(r)
		}
		return list
	case 1:
		return mlir.Dict(d.dictionary(r))
	case 2:
		return mlir.String(d.str(r))
	case 3:
		s := d.str(r)
		d.typ(r)
		return mlir.String(s)
	case 4:
		return mlir.Symbol(d.stringAttr(r))
	case 5:
		s := d.stringAttr(r)
		for range r.count("parts of a symbol") {
			s += "::" + d.stringAttr(r)
		}
		return mlir.Symbol(s)
	case 6:
		return mlir.TypeAttr{Type: d.typ(r)}
	case 7:
		return mlir.Unit{}
	case 8:
		t := d.typ(r)
		return mlir.Int{Value: d.apInt(r, t), Type: t}
	case 9:
		t := d.typ(r)
		return mlir.Float{Bits: d.apFloat(r, t), Type: t}
	case 10, 11, 12, 13, 14, 15, 22:
		e.loc = d.location(r, code)
		return mlir.Unit{}
	case 16:
		return d.resourceElements(r)
	case 17:
		return d.denseArray(r)
	case 18:
		t := d.typ(r)
		return d.dense(r, t, r.take(r.varint()))
	default:
		r.fail("the builtin dialect has no attribute of code %d that is read", code)
	}
	return nil
}

func (d *decoder) stringAttr(r *reader) string {
	switch s := d.attr(r).(type) {
	case mlir.String:
		return string(s)
	case mlir.Symbol:
		return string(s)
	}
	r.fail("an attribute is not a string")
	return ""
}

func (d *decoder) dictionary(r *reader) mlir.Attrs {
	n := r.count("attributes")
	list := make(mlir.Attrs, n)
	for i := range list {
		list[i].Name = d.stringAttr(r)
		list[i].Value = d.attr(r)
	}
	return list
}

// apInt reads an integer of the width of a type.
func (d *decoder) apInt(r *reader, t *mlir.Type) int64 {
	if t.Kind != mlir.Scalar && t.Kind != mlir.Index || t.Elem.IsFloat() || t.Elem.IsComplex() {
		r.fail("an integer of type %v", t)
	}
	bits := t.Elem.Bits()
	if bits > 8 {
		return r.svarint()
	}
	v := int64(r.byte())
	if t.Elem.IsSigned() {
		v = v << (64 - bits) >> (64 - bits)
	}
	return v
}

// apFloat reads the bits of a float.
func (d *decoder) apFloat(r *reader, t *mlir.Type) uint64 {
	if t.Kind != mlir.Scalar || !t.Elem.IsFloat() {
		r.fail("a float of type %v", t)
	}
	if t.Elem.Bits() <= 8 {
		return uint64(r.byte())
	}
	return uint64(r.svarint()) & (1<<t.Elem.Bits() - 1)
}

// location reads a location.
func (d *decoder) location(r *reader, code uint64) *mlir.Location {
	switch code {
	case 10:
		callee := d.locationAt(r, r.varint())
		return &mlir.Location{Child: callee, Caller: d.locationAt(r, r.varint())}
	case 11:
		l := &mlir.Location{File: d.stringAttr(r)}
		l.Line, l.Col = small(r.varint()), small(r.varint())
		return named(l)
	case 12, 13:
		l := &mlir.Location{}
		for range r.count("locations") {
			l.Fused = append(l.Fused, d.locationAt(r, r.varint()))
		}
		if code == 13 {
			d.attr(r)
		}
		if l.Fused == nil {
			return nil
		}
		return l
	case 14:
		return &mlir.Location{Name: d.stringAttr(r), Child: d.locationAt(r, r.varint())}
	case 22:
		l := &mlir.Location{File: d.stringAttr(r)}
		n := r.count("numbers of a location")
		v := make([]int32, n)
		for i := range v {
			v[i] = small(r.varint())
		}
		switch n {
		case 1:
			l.Line = v[0]
		case 2:
			l.Line, l.Col = v[0], v[1]
		case 3:
			l.Line, l.Col, l.EndLine, l.EndCol = v[0], v[1], v[0], v[2]
		case 4:
			l.Line, l.Col, l.EndLine, l.EndCol = v[0], v[1], v[2], v[3]
		}
		return named(l)
	}
	return nil
}

// named makes a place of a file without a name one with a name, as a location without a file is no place.
func named(l *mlir.Location) *mlir.Location {
	if l.File == "" {
		l.File = "-"
	}
	return l
}

func small(v uint64) int32 { return int32(min(v, 1<<31-1)) }

// locationAt is the location of an attribute, nil when it is none.
func (d *decoder) locationAt(r *reader, i uint64) *mlir.Location {
	before := d.expanded // locations share their parts, and are never written out
	l := d.attrAt(r, i).loc
	d.expanded = before
	return l
}

func (d *decoder) denseArray(r *reader) mlir.Attr {
	t := d.typ(r)
	n := r.varint()
	blob := r.take(r.varint())
	size := uint64(t.Elem.ByteSize())
	if t.Kind != mlir.Scalar || size == 0 || n > uint64(len(blob)) || n*size != uint64(len(blob)) {
		r.fail("a list of %d elements of type %v in %d bytes", n, t, len(blob))
	}
	a := mlir.DenseArray{Elem: t, Values: make([]int64, n)}
	for i := range a.Values {
		a.Values[i] = mlir.IntAt(blob[i*int(size):], t.Elem)
	}
	return a
}

// dense makes dense elements of a blob.
func (d *decoder) dense(r *reader, t *mlir.Type, blob []byte) mlir.Attr {
	if t.Kind != mlir.Tensor || !t.IsStatic() {
		r.fail("dense elements of type %v", t)
	}
	data := blob
	if bits := t.Elem.Bits(); bits < 8 {
		data = bytes.Clone(blob) // elements are widened in place
	}
	if t.Elem == hlo.PRED {
		return d.densePred(r, t, data)
	}
	a, msg := mlir.MakeDense(t, data)
	if msg != "" {
		r.fail("%s", msg)
	}
	return a
}

// densePred makes predicates: packed eight to a byte, the lowest bit first; one byte of all ones is a splat, and one of zeros where there
// are more than eight; files of older versions have a byte each.
func (d *decoder) densePred(r *reader, t *mlir.Type, blob []byte) mlir.Attr {
	n := t.NumElements()
	have := int64(len(blob))
	switch {
	case have == 1 && (blob[0] == 0xff || blob[0] == 0 && n > 8):
		return mlir.Dense{Type: t, Data: []byte{blob[0] & 1}, Splat: true}
	case have == n && n > 1 && n != (n+7)/8:
		a, msg := mlir.MakeDense(t, blob)
		if msg != "" {
			r.fail("%s", msg)
		}
		return a
	case have == (n+7)/8:
		bits := make([]byte, n)
		for i := range bits {
			bits[i] = blob[i/8] >> (i % 8) & 1
		}
		a, msg := mlir.MakeDense(t, bits)
		if msg != "" {
			r.fail("%s", msg)
		}
		return a
	}
	r.fail("%d bytes for %d elements of type i1", have, n)
	return nil
}

func (d *decoder) resourceElements(r *reader) mlir.Attr {
	t := d.typ(r)
	i := r.varint()
	if i >= uint64(len(d.resources)) {
		r.fail("resource %d, there are %d", i, len(d.resources))
	}
	if d.resources[i].data == nil {
		r.fail("the resource %s has no data", d.resources[i].key)
	}
	return d.dense(r, t, d.resources[i].data)
}

// builtinType reads a type of the builtin dialect.
func (d *decoder) builtinType(r *reader) *mlir.Type {
	floats := map[uint64]hlo.PrimitiveType{3: hlo.BF16, 4: hlo.F16, 5: hlo.F32, 6: hlo.F64}
	switch code := r.varint(); code {
	case 0:
		v := r.varint()
		name := map[uint64]string{0: "i", 1: "si", 2: "ui"}[v&3] + mlir.Decimal(int64(v>>2))
		e, ok := mlir.ElementByName(name)
		if !ok {
			r.fail("integers of %d bits are not StableHLO", v>>2)
		}
		return d.types.Scalar(e)
	case 1:
		return d.types.Index()
	case 2:
		in := d.typeList(r)
		return d.types.Func(in, d.typeList(r))
	case 3, 4, 5, 6:
		return d.types.Scalar(floats[code])
	case 9:
		return d.complexOf(r, d.typ(r))
	case 10:
		dims := d.dims(r)
		t := d.types.Buffer(d.element(r), dims)
		return t
	case 12:
		return d.types.None()
	case 13:
		dims := d.dims(r)
		return d.types.Tensor(d.element(r), dims, nil)
	case 14:
		encoding := d.attr(r)
		dims := d.dims(r)
		return d.encoded(r, encoding, dims, d.element(r))
	case 15:
		return d.types.Tuple(d.typeList(r))
	default:
		r.fail("the builtin dialect has no type of code %d that is read", code)
	}
	return nil
}

// encoded is a tensor with an encoding: bounds of dynamic dimensions, or something else, which means nothing here.
func (d *decoder) encoded(r *reader, encoding mlir.Attr, dims []int64, elem *mlir.Type) *mlir.Type {
	var bounds []int64
	if s, ok := encoding.(mlir.Struct); ok {
		bounds, _ = mlir.Ints(s.Fields.Get("bounds"))
	}
	if bounds != nil && len(bounds) != len(dims) {
		r.fail("%d bounds for %d dimensions", len(bounds), len(dims))
	}
	return d.types.Tensor(elem, dims, bounds)
}

func (d *decoder) complexOf(r *reader, t *mlir.Type) *mlir.Type {
	c, ok := t.Elem.ComplexOf()
	if t.Kind != mlir.Scalar || !ok {
		r.fail("complex numbers of %v are not supported", t)
	}
	return d.types.Scalar(c)
}

// element is the type of elements.
func (d *decoder) element(r *reader) *mlir.Type {
	t := d.typ(r)
	if t.Kind != mlir.Scalar && t.Kind != mlir.Index {
		r.fail("%v is no type of elements", t)
	}
	return t
}

func (d *decoder) typeList(r *reader) []*mlir.Type {
	list := make([]*mlir.Type, r.count("types"))
	size := 0
	for i := range list {
		list[i] = d.typ(r)
		if size += len(list[i].Text); size > mlir.MaxTypeText {
			r.fail("a type of more than %d bytes", mlir.MaxTypeText)
		}
	}
	return list
}

// dims are the sizes of a tensor.
func (d *decoder) dims(r *reader) []int64 {
	dims := make([]int64, r.count("dimensions"))
	if len(dims) > 1000 {
		r.fail("an array of %d dimensions", len(dims))
	}
	for i := range dims {
		dims[i] = r.svarint()
		if dims[i] < 0 && dims[i] != hlo.UnboundedSize {
			r.fail("a dimension of size %d", dims[i])
		}
	}
	return dims
}
