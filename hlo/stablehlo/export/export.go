package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/flatbuf"
)

// The fields of the root.
const (
	fieldVersion = iota
	fieldName
	fieldInTree
	fieldInAvals
	fieldOutTree
	fieldOutAvals
	fieldDevicesShort
	fieldInShardings
	fieldOutShardings
	fieldPlatforms
	fieldOrderedEffects
	fieldUnorderedEffects
	fieldDisabledChecks
	fieldModule
	fieldConvention
	fieldKept
	fieldGlobalConstants
	fieldVJP
	fieldDevices
	fieldUniqueAvals
	fieldUniqueMeshes
	fieldUniqueShardings
	fieldInAvalIndices
	fieldOutAvalIndices
	_ // shardings of the arguments
	_ // and of the results
	fieldProducer
)

// File is what a jax.export file says.
type File struct {
	Name       string // of the exported function
	Version    int64  // of the serialization: 2 or 3, whatever it was, before version 12
	Producer   string // the version of JAX, from version 12 on
	Convention int64  // version of the calling convention
	Platforms  []string
	Devices    int64
	Arguments  []Leaf // of the function, flattened
	Results    []Leaf
	Kept       []int64  // the arguments that reach the program
	Ordered    []string // effects that are ordered: each has a token before the arguments
	Unordered  []string
	Module     []byte // a portable artifact
	HasVJP     bool   // a program for the derivative is there too
}

// Leaf is an array among the inputs or outputs.
type Leaf struct {
	Name  string   // its place in the tree: "args[0]['w']", or "x" for an argument with a keyword
	Type  string   // "f32"; "key<fry>" and so on for random keys
	Shape []string // numbers, or expressions of dimension variables
}

// String is the leaf as JAX prints it: f32[a,2*b].
func (l Leaf) String() string { return l.Type + "[" + strings.Join(l.Shape, ",") + "]" }

// Newest versions that are known: of the serialization, and of the calling convention.
const (
	newestVersion    = 12
	newestConvention = 10
)

// Open reads a file. What it returns may share memory with data. The error is a [parser.ErrorList].
func Open(name string, data []byte) (*File, error) {
	f, err := flatbuf.Read(data, read)
	if err != nil {
		return nil, parser.ErrorList{{File: name, Msg: err.Error()}}
	}
	return f, nil
}

func read(t flatbuf.Table) *File {
	f := &File{
		Name: t.String(fieldName), Producer: t.String(fieldProducer), Version: t.Number(fieldVersion, 2), Convention: t.Number(fieldConvention, 2),
		Platforms: t.Strings(fieldPlatforms), Devices: t.Number(fieldDevices, 4), Kept: t.Numbers(fieldKept, 2),
		Ordered: effects(t, fieldOrderedEffects), Unordered: effects(t, fieldUnorderedEffects), Module: t.Data(fieldModule),
	}
	if f.Version > newestVersion {
		t.Fail("field %d: version %d of the serialization%s is newer than this halo knows: %d is the newest", fieldVersion, f.Version, byProducer(f.Producer), newestVersion)
	}
	if f.Convention > newestConvention {
		t.Fail("field %d: version %d of the calling convention is newer than this halo knows: %d is the newest", fieldConvention, f.Convention, newestConvention)
	}
	if len(f.Module) == 0 {
		t.Fail("field %d: there is no program in the file", fieldModule)
	}
	if f.Devices == 0 {
		f.Devices = t.Number(fieldDevicesShort, 2)
	}
	_, f.HasVJP = t.Table(fieldVJP)
	f.Arguments = leaves(t, fieldInTree, fieldInAvals, fieldInAvalIndices)
	f.Results = leaves(t, fieldOutTree, fieldOutAvals, fieldOutAvalIndices)
	for _, k := range f.Kept {
		if k >= int64(len(f.Arguments)) {
			t.Fail("field %d: argument %d reaches the program, there are %d", fieldKept, k, len(f.Arguments))
		}
	}
	return f
}

// byProducer names the version of JAX, if it is known.
func byProducer(version string) string {
	if version == "" {
		return ""
	}
	return fmt.Sprintf(" (by JAX %.40q)", version)
}

func effects(t flatbuf.Table, slot int64) (names []string) {
	t.Tables(slot, func(e flatbuf.Table) { names = append(names, e.String(0)) })
	return names
}

// dtypes are the element types by their numbers.
var dtypes = []string{"pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "c64", "c128", "bf16", "s4", "u4",
	"f8e4m3b11fnuz", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "float0", "f8e4m3", "f8e3m4", "f8e8m0fnu", "f4e2m1fn", "key<fry>",
	"key<rbg>", "key<unsafe_rbg>"}

// leaves are the arrays of a tree. Types are listed, or are numbers in the list of different types.
func leaves(t flatbuf.Table, tree, avals, indices int64) []Leaf {
	var types []Leaf
	list := func(a flatbuf.Table) {
		l := Leaf{Type: "token"}
		if a.Number(0, 1) == 0 {
			d := a.Number(2, 1)
			if d >= int64(len(dtypes)) {
				a.Fail("element type %d is unknown", d)
			}
			l.Type, l.Shape = dtypes[d], a.Strings(1)
		}
		types = append(types, l)
	}
	if numbers := t.Numbers(indices, 4); len(numbers) > 0 {
		t.Tables(fieldUniqueAvals, list)
		unique := types
		types = nil
		for _, n := range numbers {
			if n >= int64(len(unique)) {
				t.Fail("field %d: type %d, there are %d", indices, n, len(unique))
			}
			types = append(types, unique[n])
		}
	} else {
		t.Tables(avals, list)
	}
	if root, ok := t.Table(tree); ok {
		names := names(root, "", 0, nil)
		if len(names) == len(types) {
			for i := range types {
				types[i].Name = names[i]
				if tree == fieldInTree {
					types[i].Name = argumentName(names[i])
				}
			}
		}
	}
	return types
}

// argumentName is the place of a leaf as the caller sees it: the tree of arguments has two parts, a tuple and a dictionary. A tree of
// results is that of one value.
func argumentName(place string) string {
	if rest, ok := strings.CutPrefix(place, "[0]["); ok {
		return "args[" + rest
	}
	if rest, ok := strings.CutPrefix(place, "[1]['"); ok {
		key, rest, _ := strings.Cut(rest, "']")
		return key + rest
	}
	return place
}

// maxTree bounds the depth of a tree, and how many leaves it may have.
const (
	maxTree   = 200
	maxLeaves = 1 << 20
)

// The kinds of a node of a tree.
const (
	nodeLeaf = iota
	nodeNone
	nodeTuple
	nodeList
	nodeDict
	nodeCustom
)

// names adds the places of the leaves below a node.
func names(t flatbuf.Table, place string, depth int, list []string) []string {
	if depth > maxTree || len(list) > maxLeaves {
		t.Fail("the tree of arguments is too large")
	}
	kind := t.Number(0, 1)
	if kind == nodeLeaf {
		return append(list, place)
	}
	keys := t.Strings(2)
	i := 0
	t.Tables(1, func(child flatbuf.Table) {
		step := fmt.Sprintf("[%d]", i)
		if i < len(keys) && kind == nodeDict {
			step = fmt.Sprintf("['%s']", keys[i])
		} else if i < len(keys) && kind == nodeCustom {
			step = "." + keys[i]
		}
		list = names(child, place+step, depth+1, list)
		i++
	})
	return list
}

// platform is the number of the platform to run as, the processor's own where there is one.
func (f *File) platform() int { return max(0, slices.Index(f.Platforms, "cpu")) }

// Program reads the program of the file.
func (f *File) Program(name string) (*mlir.Module, error) { return bytecode.Decode(name, f.Module) }

// Convert makes HLO of the program. Its parameters are the arguments that reach the program: the index of the platform is known, and
// tokens are dropped. Shapes in o are of these parameters, or of all leaves.
func (f *File) Convert(name string, o stablehlo.Options) (hlo.Module, error) {
	p, err := f.Program(name)
	if err != nil {
		return hlo.Module{}, err
	}
	if len(f.Platforms) > 1 {
		index, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32).WithDefaultLayout(), int32(f.platform()))
		if err != nil {
			return hlo.Module{}, err
		}
		o.Values = map[int]*hlo.Literal{0: index}
	}
	o.DropTokens = true
	o.Names = make([]string, 0, len(f.Kept))
	for _, k := range f.Kept {
		if f.Arguments[k].Type != "token" {
			o.Names = append(o.Names, f.Arguments[k].Name)
		}
	}
	if len(o.Shapes) == len(f.Arguments) && len(f.Kept) < len(f.Arguments) {
		kept := make([]hlo.Shape, len(f.Kept))
		for i, k := range f.Kept {
			kept[i] = o.Shapes[k]
		}
		o.Shapes = kept
	}
	return stablehlo.Convert(p, o)
}
