package halo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Signature describes what a program takes and gives, leaf by leaf: a tuple is its parts.
type Signature struct {
	Parameters, Results []Value
	Aliases             []Alias
	// Replicas and Partitions are the devices that the program was made for; both are 1 for a program that does not communicate,
	// whatever its header says.
	Replicas, Partitions int
}

// String is the names and shapes on one line: (x f32[2,3], y f32[]) -> (r f32[2,3]).
func (s *Signature) String() string {
	list := func(values []Value) string {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.text()
		}
		return "(" + strings.Join(texts, ", ") + ")"
	}
	return list(s.Parameters) + " -> " + list(s.Results)
}

// Value describes a leaf of the parameters or of the result.
type Value struct {
	// Name is what the file calls the leaf: the op_name of a parameter's metadata, where JAX keeps the path of an argument (p['b']), else the
	// name of the parameter or of the root; in a tuple with the index, as in state{1}.
	Name string
	// Shape has the layout that the program's header asks for. Literals are row-major whatever it is.
	Shape hlo.Shape
	// Donated says that a caller of XLA gives the parameter's memory away. Here it is kept unless an alias is used.
	Donated bool
	// Sharding is the sharding in HLO's notation, "" if there is none.
	Sharding string
}

// text is the name and the shape, without its layout.
func (v Value) text() string { return fmt.Sprintf("%s %v", v.Name, v.Shape.WithoutLayout()) }

// Alias says that the program may write a result over a parameter: [Program.RunInto] takes the same memory for both.
type Alias struct {
	Parameter, Result int  // leaves
	Must              bool // XLA insists on it; halo does not
}

// aliased reports whether a result may be written over a parameter.
func (s *Signature) aliased(parameter, result int) bool {
	for _, a := range s.Aliases {
		if a.Parameter == parameter && a.Result == result {
			return true
		}
	}
	return false
}

// SignatureOf returns the signature of a module.
func SignatureOf(m hlo.Module) *Signature {
	entry, cfg := m.Entry(), m.Config()
	s := &Signature{Replicas: 1, Partitions: 1}
	if communicates(m) {
		s.Replicas, s.Partitions = int(max(cfg.ReplicaCount, 1)), int(max(cfg.NumPartitions, 1))
	}
	at := map[string]int{} // leaves of parameters and result, by place
	for i := range entry.NumParameters() {
		in := entry.Parameter(i)
		common := commonOf(in)
		name := in.Name()
		if md := common.Metadata; md != nil && md.OpName != "" {
			name = md.OpName
		}
		shape := in.Shape()
		if l := cfg.EntryLayout; l != nil && i < len(l.Parameters) && l.Parameters[i].Compatible(shape) {
			shape = l.Parameters[i]
		}
		for _, leaf := range valuesOf(name, shape, common.Sharding) {
			at[place(i, leaf.index)] = len(s.Parameters)
			s.Parameters = append(s.Parameters, leaf.Value)
		}
	}
	root := entry.Root()
	shape := root.Shape()
	if l := cfg.EntryLayout; l != nil && l.Result.Compatible(shape) {
		shape = l.Result
	}
	for _, leaf := range valuesOf(root.Name(), shape, commonOf(root).Sharding) {
		at[place(ofResult, leaf.index)] = len(s.Results)
		s.Results = append(s.Results, leaf.Value)
	}
	for _, d := range cfg.BufferDonors {
		if i, ok := at[place(int(d.Parameter), d.Index)]; ok {
			s.Parameters[i].Donated = true
		}
	}
	for _, a := range cfg.InputOutputAlias {
		parameter, ok1 := at[place(int(a.Parameter), a.ParameterIndex)]
		result, ok2 := at[place(ofResult, a.Output)]
		if ok1 && ok2 {
			s.Parameters[parameter].Donated = true
			s.Aliases = append(s.Aliases, Alias{parameter, result, a.Must})
		}
	}
	return s
}

// fill takes over the shapes of results of dynamic size that passes have filled up to their bounds, as dynamic-padder does if it is asked to.
func (s *Signature) fill(after *Signature) {
	for i := range min(len(s.Results), len(after.Results)) {
		if shape := after.Results[i].Shape; !s.Results[i].Shape.IsStatic() && shape.IsStatic() {
			s.Results[i].Shape = shape
		}
	}
}

// commonOf is what instructions of any opcode may have.
func commonOf(in hlo.Instruction) hlo.Common {
	if c := in.Common(); c != nil {
		return *c
	}
	return hlo.Common{}
}

// place is a key for the leaf of a parameter, or of the result.
func place(parameter int, index hlo.ShapeIndex) string { return fmt.Sprint(parameter, index) }

const ofResult = -1 // instead of the number of a parameter

type leafValue struct {
	index hlo.ShapeIndex
	Value
}

// valuesOf describes the leaves of a shape.
func valuesOf(name string, s hlo.Shape, sharding *hlo.Sharding) (all []leafValue) {
	for index, leaf := range s.Leaves {
		v := leafValue{slices.Clone(index), Value{Name: name, Shape: leaf}}
		if len(index) > 0 {
			v.Name = fmt.Sprintf("%s%v", name, index)
		}
		switch {
		case sharding == nil:
		case sharding.Kind != hlo.ShardingTuple:
			v.Sharding = sharding.String()
		case len(all) < len(sharding.Elements):
			v.Sharding = sharding.Elements[len(all)].String()
		}
		all = append(all, v)
	}
	return all
}

// communicates reports whether devices of the program exchange data.
func communicates(m hlo.Module) bool {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) {
				return true
			}
		}
	}
	return false
}
