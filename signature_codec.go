package halo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// A compiled program carries its signature as JSON in a section of its own, so that what passes do to parameters does not change what
// a caller is told. Files without it are described by the runtime's metadata, which has names and shapes.

type signatureJSON struct {
	Parameters []valueJSON `json:"parameters"`
	Results    []valueJSON `json:"results"`
	Aliases    []Alias     `json:"aliases,omitempty"`
	Replicas   int         `json:"replicas"`
	Partitions int         `json:"partitions"`
}

// valueJSON is a Value with its shape in parts, so that no reader of HLO text is needed.
type valueJSON struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Dims     []int64 `json:"dims,omitempty"`
	Dynamic  []bool  `json:"dynamic,omitempty"`
	Layout   []int64 `json:"layout,omitempty"` // minor to major
	Donated  bool    `json:"donated,omitempty"`
	Sharding string  `json:"sharding,omitempty"`
}

// section is the signature as a section of a file, encoded when the file is written.
func (s *Signature) section() bef.Section { return bef.Section{ID: bef.SignatureSection, Body: s} }

// Encode returns the signature as JSON. It implements bef.SectionBody.
func (s *Signature) Encode() []byte {
	j := signatureJSON{encodeValues(s.Parameters), encodeValues(s.Results), s.Aliases, s.Replicas, s.Partitions}
	data, err := json.Marshal(j)
	if err != nil {
		panic(err) // it is strings and numbers
	}
	return data
}

func encodeValues(values []Value) (all []valueJSON) {
	for _, v := range values {
		j := valueJSON{Name: v.Name, Type: v.Shape.Type().String(), Donated: v.Donated, Sharding: v.Sharding}
		if v.Shape.IsArray() {
			j.Dims = v.Shape.Dimensions()
			if !v.Shape.IsStatic() {
				for i := range j.Dims {
					j.Dynamic = append(j.Dynamic, v.Shape.IsDynamicDimension(i))
				}
			}
			if l, ok := v.Shape.Layout(); ok {
				j.Layout = l.MinorToMajor
			}
		}
		all = append(all, j)
	}
	return all
}

// signatureIn finds the signature of a loaded file. What it says must be what the program takes and gives.
func signatureIn(file *bef.File, p *runtime.Program) (*Signature, error) {
	if s, ok := bef.Body[*Signature](file, bef.SignatureSection); ok {
		return s, nil
	}
	data := file.Extension(bef.SignatureSection)
	if data == nil {
		return signatureOfMetadata(p), nil
	}
	var j signatureJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	s := &Signature{Aliases: j.Aliases, Replicas: j.Replicas, Partitions: j.Partitions}
	var err error
	if s.Parameters, err = decodeValues(j.Parameters, p.Entry().ArgTypes()); err != nil {
		return nil, fmt.Errorf("signature: parameters: %w", err)
	}
	if s.Results, err = decodeValues(j.Results, p.Entry().ResultTypes()); err != nil {
		return nil, fmt.Errorf("signature: results: %w", err)
	}
	for _, a := range s.Aliases {
		if a.Parameter < 0 || a.Parameter >= len(s.Parameters) || a.Result < 0 || a.Result >= len(s.Results) {
			return nil, fmt.Errorf("signature: alias of parameter %d and result %d, of which there are %d and %d", a.Parameter, a.Result, len(s.Parameters), len(s.Results))
		}
	}
	if s.Replicas < 1 || s.Partitions < 1 {
		return nil, fmt.Errorf("signature: %d×%d devices", s.Replicas, s.Partitions)
	}
	return s, nil
}

func decodeValues(values []valueJSON, types []runtime.TensorType) ([]Value, error) {
	if len(values) != len(types) {
		return nil, fmt.Errorf("got %d, and the program has %d", len(values), len(types))
	}
	all := make([]Value, len(values))
	for i, j := range values {
		s, err := j.shape()
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		if !s.InMemory().Compatible(shapeOf(types[i])) {
			return nil, fmt.Errorf("%d: got %v, and the program has %v", i, s, shapeOf(types[i]))
		}
		all[i] = Value{Name: j.Name, Shape: s, Donated: j.Donated, Sharding: j.Sharding}
	}
	return all, nil
}

// shape puts the parts of a shape together.
func (j *valueJSON) shape() (hlo.Shape, error) {
	t, ok := hlo.PrimitiveTypeByName(j.Type)
	if ok && t == hlo.TOKEN {
		return hlo.MakeToken(), nil
	}
	switch {
	case !ok || !t.IsArray():
		return hlo.Shape{}, fmt.Errorf("there are no values of type %q", j.Type)
	case len(j.Dynamic) != 0 && len(j.Dynamic) != len(j.Dims):
		return hlo.Shape{}, fmt.Errorf("got %d marks of %d dimensions", len(j.Dynamic), len(j.Dims))
	case slices.ContainsFunc(j.Dims, func(d int64) bool { return d < 0 }):
		return hlo.Shape{}, fmt.Errorf("got dimensions %v, want none below 0", j.Dims)
	}
	layout := hlo.DefaultLayout(len(j.Dims))
	if j.Layout != nil {
		layout = &hlo.Layout{MinorToMajor: j.Layout}
		sorted := slices.Sorted(slices.Values(j.Layout))
		if len(sorted) != len(j.Dims) || !slices.Equal(sorted, slices.Sorted(slices.Values(hlo.DefaultLayout(len(j.Dims)).MinorToMajor))) {
			return hlo.Shape{}, fmt.Errorf("got layout %v for %d dimensions", j.Layout, len(j.Dims))
		}
	}
	return hlo.MakeArray(t, j.Dims, j.Dynamic, layout), nil
}

// signatureOfMetadata describes a program by what the runtime knows.
func signatureOfMetadata(p *runtime.Program) *Signature {
	md := p.Metadata()
	s := &Signature{Replicas: 1, Partitions: 1}
	describe := func(types []runtime.TensorType, leaves []runtime.Leaf) (all []Value) {
		for i, t := range types {
			v := Value{Shape: shapeOf(t)}
			if i < len(leaves) {
				v.Name = leaves[i].Name
				// Only the text says which dimensions are dynamic.
				if full, err := parser.ParseShape(leaves[i].Shape); err == nil && full.InMemory().Compatible(v.Shape) {
					v.Shape = full
				}
			}
			all = append(all, v)
		}
		return all
	}
	s.Parameters = describe(p.Entry().ArgTypes(), md.Params)
	s.Results = describe(p.Entry().ResultTypes(), md.Results)
	for _, k := range p.File().Kernels {
		name, isHLO := strings.CutPrefix(k, "hlo.")
		if op, ok := hlo.OpcodeByName(name); isHLO && ok && hlo.Info(op).Traits.Has(hlo.TraitCollective) {
			s.Replicas, s.Partitions = max(md.Replicas, 1), max(md.Partitions, 1)
		}
	}
	return s
}

// shapeOf is a type of the runtime as a shape. Dynamic dimensions are bytes to it.
func shapeOf(t runtime.TensorType) hlo.Shape {
	if hlo.PrimitiveType(t.Type) == hlo.TOKEN {
		return hlo.MakeToken()
	}
	return hlo.MakeArray(hlo.PrimitiveType(t.Type), t.Dims, nil, hlo.DefaultLayout(len(t.Dims)))
}
