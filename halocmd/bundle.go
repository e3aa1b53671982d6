package halocmd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/bundle"
)

// saved is a program in a folder of torch_xla, which says where its arguments are.
type saved struct {
	*bundle.Function
	folder string
	meta   string // the file of the description

	all map[string]*npz.Array // see bound
}

// savedPrograms are the programs of a folder of torch_xla; none if it is another folder.
func savedPrograms(dir string) (places []place, err error) {
	found, err := bundle.Programs(os.DirFS(dir), ".")
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", dir, err)
	}
	for _, rel := range found {
		rel = filepath.FromSlash(rel)
		places = append(places, place{name: filepath.Join(dir, rel), rel: rel})
	}
	return places, nil
}

// isSaved reports whether a folder is one of torch_xla.
func isSaved(dir string) bool {
	found, err := bundle.Programs(os.DirFS(dir), ".")
	return len(found) > 0 || err != nil
}

// oneFunction refuses folders of several functions, which want different inputs.
func oneFunction(args []string) error {
	for _, dir := range args {
		if found, _ := savedPrograms(dir); len(found) > 1 {
			var names []string
			for _, p := range found {
				names = append(names, p.name)
			}
			return fmt.Errorf("%s holds %d functions: name one, %s", dir, len(found), strings.Join(names, " or "))
		}
	}
	return nil
}

// openSaved reads what there is beside a program of such a folder; nil for other programs.
func openSaved(name string) (*saved, error) {
	dir, program, ok := bundle.Cut(name)
	if !ok {
		return nil, nil
	}
	meta := filepath.Join(dir, filepath.FromSlash(bundle.Description(program)))
	f, err := bundle.Open(os.DirFS(dir), ".", program)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", meta, unwrapPath(err))
	}
	return &saved{Function: f, folder: dir, meta: meta}, nil
}

// bound gives arrays the numbers that they have in the program, where those of the user are the inputs of the model, and adds the
// parameters and constants of the folder, unless others are given by their names.
func (c *runCmd) bound(given map[string]*npz.Array) (map[string]*npz.Array, error) {
	s := c.saved
	if s.all != nil {
		return s.all, nil
	}
	all, err := s.arguments(given)
	if err != nil {
		return nil, err
	}
	names := make([][]string, len(s.Locations))
	for i, l := range s.Locations {
		names[i] = []string{l.Name} // "" for those that have none
	}
	byName, err := c.named(names, given)
	if err != nil {
		return nil, err
	}
	for i, l := range s.Locations {
		key, from := strconv.Itoa(i), byName[i].key
		a := byName[i].array
		if a != nil {
			delete(all, from)
		} else if a = all[key]; a == nil && l.Kind != bundle.Input {
			from = filepath.Join(s.folder, filepath.FromSlash(l.File()))
			if a, err = c.stored(i, from); err != nil {
				return nil, fmt.Errorf("%v: %w", l, err)
			}
		}
		if a == nil {
			continue
		}
		if _, err := arrays.Literal(a, s.Signature[i].Shape()); err != nil {
			if from != "" {
				err = fmt.Errorf("%s: %w", from, err)
			}
			return nil, fmt.Errorf("%v: %w", l, err)
		}
		all[key] = a
	}
	s.all = all
	return all, nil
}

// passed gives arrays the numbers that they have in the program.
func (c *runCmd) passed(given map[string]*npz.Array, params int) (map[string]*npz.Array, error) {
	switch {
	case c.saved == nil:
		return c.kept(given), nil
	case len(c.saved.Locations) != params:
		return nil, fmt.Errorf("%s locates %s, and the program has %d", filepath.Base(c.saved.meta), count(len(c.saved.Locations), "argument", "arguments"), params)
	}
	return c.bound(given)
}

// arguments gives the inputs of the model the numbers that they have in the program, and leaves out those that it does not use.
func (s *saved) arguments(given map[string]*npz.Array) (map[string]*npz.Array, error) {
	all, inputs := make(map[string]*npz.Array, len(given)), s.Inputs()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !isKey(key) {
			all[key] = given[key]
			continue
		}
		at := strings.LastIndexByte(key, '/') + 1 // behind the device
		n, err := strconv.Atoi(key[at:])
		if err != nil || n >= len(inputs) {
			return nil, fmt.Errorf("there is no input %q: the model has %s", key, numbered(len(inputs)))
		}
		if inputs[n] >= 0 {
			all[key[:at]+strconv.Itoa(inputs[n])] = given[key]
		}
	}
	return all, nil
}

// savedShapes are the shapes of the program's arguments; invalid ones are not known.
func (c *runCmd) savedShapes(given map[string]*npz.Array) ([]hlo.Shape, error) {
	all, err := c.bound(given)
	if err != nil {
		return nil, err
	}
	shapes := make([]hlo.Shape, len(c.saved.Signature))
	for i, v := range c.saved.Signature {
		if a := all[strconv.Itoa(i)]; a != nil {
			shapes[i] = hlo.MakeShape(v.Shape().Type(), a.Shape...)
		} else if s := v.Shape(); s.IsStatic() {
			shapes[i] = s
		}
	}
	return shapes, nil
}

// leaf is what messages call a parameter leaf.
func (c *runCmd) leaf(i int) string {
	if c.saved != nil {
		return c.saved.Locations[i].String()
	}
	return "parameter leaf " + strconv.Itoa(i)
}

// stored reads the array of an argument. Parameters may be absent where something else makes them.
func (c *runCmd) stored(i int, file string) (*npz.Array, error) {
	a, err := c.saved.Array(i)
	switch {
	case err == nil:
		return a, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", file, unwrapPath(err))
	case c.saved.Locations[i].Kind != bundle.Parameter:
		return nil, fmt.Errorf("there is no file %s", file)
	case c.Fill == "":
		return nil, fmt.Errorf("there is no file %s: --weights gives parameters by their names", file)
	}
	return nil, nil
}
