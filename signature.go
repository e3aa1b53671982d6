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
	first := make([]int, entry.NumParameters()) // of the leaves of each parameter
	for i := range first {
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
		first[i] = len(s.Parameters)
		s.Parameters = appendValues(s.Parameters, name, shape, common.Sharding)
	}
	s.Results = appendValues(nil, entry.Root().Name(), resultShape(m), commonOf(entry.Root()).Sharding)
	at := func(parameter int64, index hlo.ShapeIndex) (leaf int, ok bool) {
		if parameter < 0 || parameter >= int64(len(first)) {
			return 0, false
		}
		leaf, _, ok = entry.Parameter(int(parameter)).Shape().Leaf(index)
		return first[parameter] + leaf, ok
	}
	for _, d := range cfg.BufferDonors {
		if i, ok := at(int64(d.Parameter), d.Index); ok {
			s.Parameters[i].Donated = true
		}
	}
	for _, a := range cfg.InputOutputAlias {
		parameter, ok1 := at(int64(a.Parameter), a.ParameterIndex)
		result, _, ok2 := entry.Root().Shape().Leaf(a.Output)
		if ok1 && ok2 {
			s.Parameters[parameter].Donated = true
			s.Aliases = append(s.Aliases, Alias{parameter, result, a.Must})
		}
	}
	return s
}

// resultShape is the shape of the result, with the layout that the header asks for.
func resultShape(m hlo.Module) hlo.Shape {
	shape := m.Entry().Root().Shape()
	if l := m.Config().EntryLayout; l != nil && l.Result.Compatible(shape) {
		shape = l.Result
	}
	return shape
}

// fill takes over the shapes of results of dynamic size that passes have filled up to their bounds, as dynamic-padder does if it is asked to.
func (s *Signature) fill(after hlo.Module) {
	if !slices.ContainsFunc(s.Results, func(v Value) bool { return !v.Shape.IsStatic() }) {
		return
	}
	i := 0
	for _, shape := range resultShape(after).Leaves {
		if i < len(s.Results) && !s.Results[i].Shape.IsStatic() && shape.IsStatic() {
			s.Results[i].Shape = shape
		}
		i++
	}
}

// commonOf is what instructions of any opcode may have.
func commonOf(in hlo.Instruction) hlo.Common {
	if c := in.Common(); c != nil {
		return *c
	}
	return hlo.Common{}
}

// appendValues describes the leaves of a shape.
func appendValues(all []Value, name string, s hlo.Shape, sharding *hlo.Sharding) []Value {
	all = slices.Grow(all, s.NumLeaves())
	first := len(all)
	for index, leaf := range s.Leaves {
		v := Value{Name: name, Shape: leaf}
		if len(index) > 0 {
			v.Name += index.String()
		}
		switch k := len(all) - first; {
		case sharding == nil:
		case sharding.Kind != hlo.ShardingTuple:
			v.Sharding = sharding.String()
		case k < len(sharding.Elements):
			v.Sharding = sharding.Elements[k].String()
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
