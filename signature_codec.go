package halo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/packed"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// A compiled program carries its signature as JSON in a section of its own, so that what passes do to parameters does not change what
// a caller is told. The runtime's metadata has names and shapes, too, and describes files without the section: what it says right is left out.

type signatureJSON struct {
	Parameters []valueJSON `json:"parameters,omitempty"` // none: all as in the metadata
	Results    []valueJSON `json:"results,omitempty"`
	Aliases    []Alias     `json:"aliases,omitzero"`   // null: as in the metadata
	Replicas   int         `json:"replicas,omitempty"` // 1 if it is left out
	Partitions int         `json:"partitions,omitempty"`
}

// valueJSON is a Value with its shape in parts. Without a name it has that of the metadata, without a type its shape.
type valueJSON struct {
	Name     string  `json:"name,omitempty"`
	Type     string  `json:"type,omitempty"`
	Dims     []int64 `json:"dims,omitempty"`
	Dynamic  []bool  `json:"dynamic,omitempty"`
	Layout   []int64 `json:"layout,omitempty"` // minor to major
	Donated  bool    `json:"donated,omitempty"`
	Sharding string  `json:"sharding,omitempty"`
}

// signatureBody is a signature beside the metadata of its file.
type signatureBody struct {
	*Signature
	file *bef.File
}

// section is the signature as a section of a file that has its metadata, encoded when the file is written.
func (s *Signature) section(file *bef.File) bef.Section {
	return bef.Section{ID: bef.SignatureSection, Body: signatureBody{s, file}, Packs: true}
}

// Encode returns the signature as JSON. It implements bef.SectionBody.
func (s signatureBody) Encode() []byte {
	md, err := runtime.MetadataOf(s.file)
	if err != nil {
		panic(err) // it was made in this process
	}
	j := signatureJSON{Parameters: encodeValues(s.Parameters, md.Params), Results: encodeValues(s.Results, md.Results)}
	if s.Replicas != 1 || s.Partitions != 1 {
		j.Replicas, j.Partitions = s.Replicas, s.Partitions
	}
	if !slices.Equal(s.Aliases, aliasesOf(md)) {
		j.Aliases = append([]Alias{}, s.Aliases...)
	}
	data, err := json.Marshal(j)
	if err != nil {
		panic(err) // it is strings and numbers
	}
	return data
}

func aliasesOf(md *runtime.Metadata) (all []Alias) {
	for _, a := range md.Aliases {
		all = append(all, Alias{Parameter: a.Param, Result: a.Result, Must: a.Must})
	}
	return all
}

// encodeValues is nil if the metadata says it all.
func encodeValues(values []Value, leaves []runtime.Leaf) []valueJSON {
	all, more := make([]valueJSON, len(values)), false
	for i, v := range values {
		j := valueJSON{Name: v.Name, Donated: v.Donated, Sharding: v.Sharding}
		j.setShape(v.Shape)
		if i < len(leaves) {
			known := described(&leaves[i])
			if j.Name == known.Name {
				j.Name = ""
			}
			if j.sameShape(&known) {
				j.Type, j.Dims, j.Dynamic, j.Layout = "", nil, nil, nil
			}
		}
		more = more || j.Name != "" || j.Type != "" || j.Donated || j.Sharding != ""
		all[i] = j
	}
	if !more {
		return nil
	}
	return all
}

// described is what the metadata says of a value; it has no type if it says no shape.
func described(leaf *runtime.Leaf) valueJSON {
	j := valueJSON{Name: leaf.Name}
	if s, err := parser.ParseShape(leaf.Shape); err == nil {
		j.setShape(s)
	}
	return j
}

func (j *valueJSON) setShape(s hlo.Shape) {
	j.Type = s.Type().String()
	if !s.IsArray() {
		return
	}
	j.Dims = s.Dimensions()
	if !s.IsStatic() {
		for i := range j.Dims {
			j.Dynamic = append(j.Dynamic, s.IsDynamicDimension(i))
		}
	}
	l, ok := s.Layout()
	if !ok {
		l = hlo.DefaultLayout(len(j.Dims))
	}
	j.Layout = l.MinorToMajor
}

func (j *valueJSON) sameShape(k *valueJSON) bool {
	return j.Type == k.Type && slices.Equal(j.Dims, k.Dims) && slices.Equal(j.Dynamic, k.Dynamic) && slices.Equal(j.Layout, k.Layout)
}

// signatureIn finds the signature of a loaded file. What it says must be what the program takes and gives.
func signatureIn(file *bef.File, p *runtime.Program) (*Signature, error) {
	if s, ok := bef.Body[signatureBody](file, bef.SignatureSection); ok {
		return s.Signature, nil
	}
	data := file.Extension(bef.SignatureSection)
	if data == nil {
		return signatureOfMetadata(p), nil
	}
	data, err := packed.Unpack(data)
	if err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	j := signatureJSON{Replicas: 1, Partitions: 1}
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	s := &Signature{Aliases: j.Aliases, Replicas: j.Replicas, Partitions: j.Partitions}
	if s.Aliases == nil {
		s.Aliases = aliasesOf(p.Metadata())
	}
	if s.Parameters, err = decodeValues(j.Parameters, p.Entry().ArgTypes(), p.Metadata().Params); err != nil {
		return nil, fmt.Errorf("signature: parameters: %w", err)
	}
	if s.Results, err = decodeValues(j.Results, p.Entry().ResultTypes(), p.Metadata().Results); err != nil {
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

func decodeValues(values []valueJSON, types []runtime.TensorType, leaves []runtime.Leaf) ([]Value, error) {
	if values == nil {
		values = make([]valueJSON, len(types))
	}
	if len(values) != len(types) {
		return nil, fmt.Errorf("got %d, and the program has %d", len(values), len(types))
	}
	all := make([]Value, len(values))
	for i, j := range values {
		if i < len(leaves) && (j.Name == "" || j.Type == "") {
			known := described(&leaves[i])
			if j.Name == "" {
				j.Name = known.Name
			}
			if j.Type == "" {
				known.Name, known.Donated, known.Sharding = j.Name, j.Donated, j.Sharding
				j = known
			}
		}
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
