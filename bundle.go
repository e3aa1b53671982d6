package halo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/bundle"
)

// Bundle is a program that torch_xla.stablehlo.save_as_stablehlo wrote, and the arrays beside it: parameters, buffers, and what tracing made
// constants of. It may be used by several goroutines while nobody writes Weights.
type Bundle struct {
	// Module takes the inputs of the model, its parameters and constants, in an order of its own. Its parameters have the names of Function.
	Module Module
	// Function says which argument of the program is which.
	Function *bundle.Function
	// Weights replace parameters of the folder, or stand in for those that it lacks; arrays.ReadAll reads some. Names need only end alike: see arrays.Match.
	Weights map[string]*npz.Array

	folder string // for messages
}

// LoadBundle reads and verifies the program of a folder that torch_xla wrote, and what the folder says about the program's arguments. The
// folder of several functions wants one named: model/functions/forward.bytecode. Arrays are read by [Bundle.Bind].
func LoadBundle(path string) (*Bundle, error) { return Loader{}.LoadBundle(path) }

// LoadBundleFS is [LoadBundle] from a file system: one that is embedded in the program, or a *zip.Reader.
func LoadBundleFS(fsys fs.FS, path string) (*Bundle, error) { return Loader{}.LoadBundleFS(fsys, path) }

// LoadBundle is [LoadBundle] with these options. Shapes are those of the inputs of the model, or of all arguments of the program.
func (l Loader) LoadBundle(path string) (*Bundle, error) { return l.LoadBundleFS(disk{}, path) }

// LoadBundleFS is [LoadBundleFS] with these options.
func (l Loader) LoadBundleFS(fsys fs.FS, name string) (*Bundle, error) {
	folder, program, ok := bundle.Cut(name)
	if !ok {
		found, err := bundle.Programs(fsys, name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: error: %w", name, err)
		case len(found) == 0:
			if _, err := fs.Stat(fsys, name); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%s: error: this is a folder, and not one that torch_xla wrote: there is no functions/*.meta", name)
		case len(found) > 1:
			return nil, fmt.Errorf("%s: error: the folder holds %d functions: name one, %s", name, len(found), path.Join(name, strings.Join(found, " or "+name+"/")))
		}
		folder, program = name, found[0]
	}
	f, err := bundle.Open(fsys, folder, program)
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", path.Join(folder, bundle.Description(program)), bare(err))
	}
	name = path.Join(folder, program)
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	l.Shapes = f.Arguments(l.Shapes)
	m, err := l.read(name, data, f.Names())
	if err != nil {
		return nil, err
	}
	if have := m.Entry().NumParameters(); have != len(f.Locations) {
		return nil, fmt.Errorf("%s: error: arguments: it locates %d, and the program has %d", path.Join(folder, bundle.Description(program)), len(f.Locations), have)
	}
	return &Bundle{Module: m, Function: f, folder: folder}, nil
}

// inBundle reports whether a path is that of a folder, or of a program with a description.
func inBundle(fsys fs.FS, name string) bool {
	file := name
	if folder, program, ok := bundle.Cut(name); ok {
		file = path.Join(folder, bundle.Description(program))
	}
	info, err := fs.Stat(fsys, file)
	return err == nil && (file != name || info.IsDir())
}

// Bind makes the arguments of the program from the inputs of the model, in the order of the leaves of its arguments; those that the program
// does not use may be nil. Parameters come from Weights, where they are there, else from the folder, as constants do.
func (b *Bundle) Bind(inputs ...*hlo.Literal) ([]*hlo.Literal, error) {
	f := b.Function
	positions := f.Inputs()
	if len(inputs) != len(positions) {
		return nil, fmt.Errorf("halo: inputs: got %d, the model has %d", len(inputs), len(positions))
	}
	args := make([]*hlo.Literal, len(f.Locations))
	for position, i := range positions {
		if i >= 0 {
			args[i] = inputs[position]
		}
	}
	parameters := &Signature{Parameters: make([]Value, len(args))} // others have no name, which nothing matches
	for i, l := range f.Locations {
		parameters.Parameters[i] = Value{Name: l.Name, Shape: f.Signature[i].Shape()}
	}
	given, err := parameters.Bind(b.Weights)
	if err != nil {
		return nil, err
	}
	for i, l := range f.Locations {
		switch {
		case l.Kind == bundle.Input:
		case given[i] != nil:
			args[i] = given[i]
		default:
			if args[i], err = b.stored(i); err != nil {
				return nil, fmt.Errorf("halo: %v: %w", l, err)
			}
		}
	}
	return args, nil
}

// stored reads the array of an argument.
func (b *Bundle) stored(i int) (*hlo.Literal, error) {
	l := b.Function.Locations[i]
	file := path.Join(b.folder, l.File())
	a, err := b.Function.Array(i)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.Kind == bundle.Parameter:
		return nil, fmt.Errorf("there is no file %s, and Weights has none: %w", file, fs.ErrNotExist)
	case err == nil:
		var literal *hlo.Literal
		if literal, err = arrays.Literal(a, b.Function.Signature[i].Shape()); err == nil {
			return literal, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", file, bare(err))
}

// bare is an error of the file system without the path, which the message has already.
func bare(err error) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// disk is the file system of the operating system. Its paths are those of package os, which fs.ValidPath need not accept.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }
