package hostprog

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/gohalo/halo/runtime/bef"
)

// maxDense bounds what a splat may expand to.
const maxDense = 1 << 28

// dense reads a tensor constant; its data are expanded.
func (r *resolver) dense(n *denseNode) Attr {
	t := r.typ(n.Type)
	pos := position(n.Type.Pos)
	dims, elem, ok := shapedType(t)
	if !ok {
		fail(pos, "elements literal must be a shaped type with known extents, got '%s'", t)
	}
	code, ok := dataType(elem)
	if !ok || code.Size() == 0 {
		fail(pos, "tensor constants of '%s' are not supported", elem)
	}
	a := Attr{Kind: DenseAttr, Type: t, Dims: dims, Elem: code}
	size := uint64(code.Size())
	count := uint64(1)
	for _, d := range dims {
		if d != 0 && count > maxDense/uint64(d) {
			fail(pos, "tensor constant of type '%s' is too large", t)
		}
		count *= uint64(d)
	}
	switch v := n.Value; {
	case v == nil:
		if count != 0 {
			fail(pos, "expected a value for '%s'", t)
		}
	case v.Hex != "":
		a.Data = hexData(position(v.Pos), unquote(v.Hex), count, size, elem)
	case v.List == nil:
		one := r.element(v, elem, nil)
		a.Data = make([]byte, 0, count*size)
		for range count {
			a.Data = append(a.Data, one...)
		}
	default:
		a.Data = r.nested(v, dims, elem, make([]byte, 0, count*size))
	}
	return a
}

// hexData reads raw bytes: those of all elements, or of one for all.
func hexData(pos Position, text string, count, size uint64, elem Type) []byte {
	digits, ok := strings.CutPrefix(text, "0x")
	data, err := hex.DecodeString(digits)
	if !ok || err != nil {
		fail(pos, "elements hex string should start with '0x' and have an even number of digits")
	}
	if uint64(len(data)) == size && count != 1 {
		one := data
		data = make([]byte, 0, count*size)
		for range count {
			data = append(data, one...)
		}
	}
	if uint64(len(data)) != count*size {
		fail(pos, "elements hex data size is invalid: got %d bytes, want %d", len(data), count*size)
	}
	if elem == "i1" {
		for _, b := range data {
			if b > 1 {
				fail(pos, "elements of i1 are bytes 00 or 01")
			}
		}
	}
	return data
}

// nested reads lists as deep as there are extents.
func (r *resolver) nested(n *denseLiteral, dims []int64, elem Type, data []byte) []byte {
	if len(dims) == 0 {
		if n.List != nil {
			fail(position(n.Pos), "tensor literal is nested deeper than its type")
		}
		return r.element(n, elem, data)
	}
	if n.List == nil || int64(len(n.List.Elems)) != dims[0] {
		fail(position(n.Pos), "tensor literal does not have the extents of its type")
	}
	for _, e := range n.List.Elems {
		data = r.nested(e, dims[1:], elem, data)
	}
	return data
}

// element appends one element.
func (r *resolver) element(n *denseLiteral, elem Type, data []byte) []byte {
	pos := position(n.Pos)
	if part, ok := strings.CutPrefix(string(elem), "complex<"); ok {
		if n.Complex == nil {
			fail(pos, "expected '(' of a complex element")
		}
		part = strings.TrimSuffix(part, ">")
		return r.element(n.Complex.Imag, Type(part), r.element(n.Complex.Real, Type(part), data))
	}
	var bits uint64
	switch {
	case n.True || n.False:
		if elem != "i1" {
			fail(pos, "expected an element of '%s'", elem)
		}
		if n.True {
			bits = 1
		}
	case n.Text == "":
		fail(pos, "expected an element of '%s'", elem)
	default:
		bits = scalarBits(pos, elem, n.Minus, n.Text)
	}
	code, _ := dataType(elem)
	return appendBits(data, bits, code)
}

// appendBits appends a scalar of at most eight bytes.
func appendBits(data []byte, bits uint64, code bef.AttrType) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	return append(data, b[:code.Size()]...)
}
