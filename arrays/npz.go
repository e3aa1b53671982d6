package arrays

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// ReadNPZ reads the arrays of a file by their keys.
func ReadNPZ(path string) (map[string]*npz.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	named, err := npz.ReadNPZ(f, info.Size())
	if err != nil {
		return nil, err
	}
	arrays := make(map[string]*npz.Array, len(named))
	for i := range named {
		arrays[named[i].Name] = &named[i].Array
	}
	return arrays, nil
}

// ReadNPY reads a file of one array.
func ReadNPY(path string) (*npz.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return npz.ReadNPYFile(f)
}

// Named is a literal and its key in a file.
type Named struct {
	Key     string
	Literal *hlo.Literal
}

// WriteNPZ writes literals as an npz file.
func WriteNPZ(w io.Writer, literals []Named) error {
	named := make([]npz.Named, len(literals))
	for i, l := range literals {
		named[i] = npz.Named{Name: l.Key, Array: FromLiteral(l.Literal)}
	}
	return npz.WriteNPZ(w, named)
}

// FromLiteral is the array of a literal's elements. It shares memory with the literal unless elements narrower than a byte have to lose
// their sign extension.
func FromLiteral(l *hlo.Literal) npz.Array {
	t := l.Shape().Type()
	data := l.Bytes()
	if t.IsSigned() && t.Bits() < 8 {
		data = slices.Clone(data)
		for i := range data {
			data[i] &= 1<<t.Bits() - 1
		}
	}
	descr, _ := npz.Descr(t.String())
	return npz.Array{Descr: descr, ItemSize: t.ByteSize(), Shape: l.Shape().Dimensions(), Data: data}
}

// Literal gives an array the shape that a program declares. The dimensions must be equal; the items must be of the element type, or raw
// items of its size. What a raw file holds must be as long as the shape asks.
func Literal(a *npz.Array, s hlo.Shape) (*hlo.Literal, error) {
	t := s.Type()
	if !s.IsArray() {
		return nil, fmt.Errorf("got an array, want %v", s)
	}
	if !s.IsStatic() && s.Accepts(hlo.MakeShape(t, a.Shape...)) {
		s = hlo.MakeShape(t, a.Shape...)
	}
	if a.Descr == rawItems {
		var err error
		if a, err = shaped(a, s); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(a.Shape, s.Dimensions()) {
		return nil, fmt.Errorf("got an array of dimensions %v, want %v", a.Shape, s.WithoutLayout())
	}
	if !a.Holds(t.String()) {
		return nil, fmt.Errorf("got items of type %s, want %v", a.Descr, t)
	}
	data := a.Data
	if bits := t.Bits(); bits < 8 || t == hlo.PRED {
		data = slices.Clone(data)
		for i, b := range data {
			switch {
			case t == hlo.PRED:
				data[i] = min(b, 1)
			case t.IsSigned():
				data[i] = byte(int8(b<<(8-bits)) >> (8 - bits))
			default:
				data[i] = b & (1<<bits - 1)
			}
		}
	}
	return hlo.NewLiteral(s, data)
}
