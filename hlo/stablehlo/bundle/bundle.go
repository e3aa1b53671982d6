// Package bundle reads folders of torch_xla.stablehlo.save_as_stablehlo: where the arguments of their programs come from, and the arrays that are there.
// halo.LoadBundle reads a program with them.
//
//	functions/NAME.meta      JSON: where the arguments come from, and what they are
//	functions/NAME.bytecode  the program, a portable artifact
//	functions/NAME.mlir      the same as text, for people
//	data/NAME                parameters and buffers by their names in the state dict, npy
//	constants/N              what tracing made constants of, npy
package bundle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// extensions are those of programs. torch_xla runs the first.
var extensions = []string{".bytecode", ".mlir"}

// meta is the extension of descriptions of programs.
const meta = ".meta"

// Function is what a description says.
type Function struct {
	Name      string     `json:"name"`
	Signature []Variable `json:"input_signature"`
	Locations []Location `json:"input_locations"` // as many
	Unused    []unused   `json:"unused_inputs"`
	Tree      string     `json:"input_pytree_spec"` // JSON within JSON, or ""

	fsys   fs.FS // see Open
	folder string
}

// Variable is what an argument has to be.
type Variable struct {
	Dims    []int64 `json:"shape"`
	Type    string  `json:"dtype"`
	Dynamic []int   `json:"dynamic_dims"` // dimensions of any size: Dims has what the program was traced with
}

// Kind says where an argument comes from.
type Kind string

// The kinds, as torch_xla spells them.
const (
	Input     Kind = "input_arg"
	Parameter Kind = "parameter"
	Constant  Kind = "constant"
)

// Location is the source of an argument.
type Location struct {
	Kind     Kind   `json:"type_"`
	Position int    `json:"position"` // of an input among the leaves of the caller's arguments; of a constant
	Name     string `json:"name"`     // of a parameter
}

// unused is an input that the program does not take. What comes after its place, its type, need not be one of arrays.
type unused struct{ Location }

// UnmarshalJSON reads the first of two values.
func (u *unused) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &[2]any{&u.Location}); err != nil {
		return err
	}
	return u.check()
}

// Read reads a description.
func Read(data []byte) (*Function, error) {
	f := new(Function)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, err
	}
	if len(f.Signature) != len(f.Locations) {
		return nil, fmt.Errorf("input_signature has %d arguments, input_locations has %d", len(f.Signature), len(f.Locations))
	}
	seen := map[Location]bool{}
	for i, l := range f.Locations {
		if err := f.Signature[i].check(); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		if seen[l] {
			return nil, fmt.Errorf("argument %d: %v is another argument, too", i, l)
		}
		seen[l] = true
	}
	return f, nil
}

// types are PyTorch's element types.
var types = map[string]hlo.PrimitiveType{
	"bool": hlo.PRED, "int8": hlo.S8, "int16": hlo.S16, "int32": hlo.S32, "int64": hlo.S64, "uint8": hlo.U8, "uint16": hlo.U16, "uint32": hlo.U32, "uint64": hlo.U64,
	"float16": hlo.F16, "bfloat16": hlo.BF16, "float32": hlo.F32, "float64": hlo.F64, "complex64": hlo.C64, "complex128": hlo.C128,
	"float8_e5m2": hlo.F8E5M2, "float8_e4m3fn": hlo.F8E4M3FN, "float8_e5m2fnuz": hlo.F8E5M2FNUZ, "float8_e4m3fnuz": hlo.F8E4M3FNUZ, "float8_e8m0fnu": hlo.F8E8M0FNU,
}

func (v Variable) check() error {
	if _, ok := types[v.Type]; !ok {
		return fmt.Errorf("dtype %q has no counterpart in HLO", v.Type)
	}
	for _, d := range v.Dims {
		if d < 0 {
			return fmt.Errorf("got the shape %v", v.Dims)
		}
	}
	for _, d := range v.Dynamic {
		if d < 0 || d >= len(v.Dims) {
			return fmt.Errorf("dimension %d is dynamic: there are %d", d, len(v.Dims))
		}
	}
	return nil
}

// Shape is the shape in HLO's words. Dynamic dimensions have no bound.
func (v Variable) Shape() hlo.Shape {
	dims, dynamic := slices.Clone(v.Dims), make([]bool, len(v.Dims))
	for _, d := range v.Dynamic {
		dims[d], dynamic[d] = hlo.UnboundedSize, true
	}
	return hlo.MakeArray(types[v.Type], dims, dynamic, nil)
}

// maxPosition is more than programs have arguments.
const maxPosition = 1 << 20

func (l Location) check() error {
	switch {
	case l.Kind != Input && l.Kind != Parameter && l.Kind != Constant:
		return fmt.Errorf("type_ is %q; want input_arg, parameter or constant", l.Kind)
	case l.Kind != Parameter && (l.Position < 0 || l.Position > maxPosition):
		return fmt.Errorf("got the position %d of %s", l.Position, l.Kind)
	case l.Kind == Parameter && (l.Name == "" || !filepath.IsLocal(l.Name)): // it names a file of the folder
		return fmt.Errorf("got the name %q of a parameter", l.Name)
	}
	return nil
}

// String says what the argument is to the caller: input 0, or parameter fc.weight.
func (l Location) String() string {
	switch l.Kind {
	case Input:
		return "input " + strconv.Itoa(l.Position)
	case Parameter:
		return "parameter " + l.Name
	}
	return "constant " + strconv.Itoa(l.Position)
}

// File is where the array is, in the folder: "" for inputs.
func (l Location) File() string {
	switch l.Kind {
	case Parameter:
		return path.Join("data", l.Name)
	case Constant:
		return path.Join("constants", strconv.Itoa(l.Position))
	}
	return ""
}

// Names are what arguments are called: parameters as in the state dict, others by their places.
func (f *Function) Names() []string {
	names := make([]string, len(f.Locations))
	for i, l := range f.Locations {
		if names[i] = l.Name; l.Kind != Parameter {
			names[i] = l.String()
		}
	}
	return names
}

// Inputs are the arguments that the caller's become, by position: -1 is one that the program does not take.
func (f *Function) Inputs() []int {
	var inputs []int
	for i, l := range f.Locations {
		if l.Kind == Input {
			inputs = at(inputs, l.Position)
			inputs[l.Position] = i
		}
	}
	for _, u := range f.Unused {
		inputs = at(inputs, u.Position)
	}
	return at(inputs, f.leaves()-1)
}

// at makes a list long enough to have a position.
func at(inputs []int, position int) []int {
	for len(inputs) <= position {
		inputs = append(inputs, -1)
	}
	return inputs
}

// tree is a PyTree of PyTorch.
type tree struct {
	Type     *string `json:"type"` // nil: a leaf
	Children []tree  `json:"children_spec"`
}

func (t tree) leaves() (n int) {
	if t.Type == nil {
		return 1
	}
	for _, c := range t.Children {
		n += c.leaves()
	}
	return n
}

// leaves is how many arguments the caller has, if that is known: unused_inputs leaves out those in lists and dictionaries.
func (f *Function) leaves() int {
	var spec tree
	if json.Unmarshal([]byte(f.Tree), &[2]any{nil, &spec}) != nil {
		return 0
	}
	return spec.leaves()
}

// Arguments are the shapes of the program's arguments, where shapes are those of the inputs; shapes of all arguments stay as they are.
func (f *Function) Arguments(shapes []hlo.Shape) []hlo.Shape {
	inputs := f.Inputs()
	if len(shapes) != len(inputs) || len(shapes) == len(f.Locations) {
		return shapes
	}
	all := make([]hlo.Shape, len(f.Locations))
	for i, v := range f.Signature {
		all[i] = v.Shape()
	}
	for position, i := range inputs {
		if i >= 0 {
			all[i] = shapes[position]
		}
	}
	return all
}
