package halocmd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/hlo/stablehlo/export"
)

// openExport opens a file of jax.export, whose trees say what the caller gave; nil for other files.
func openExport(in *input) (*export.File, error) {
	if in.kind != source.JAXExport {
		return nil, nil
	}
	return export.Open(in.name, in.data)
}

// kept gives arrays the numbers that they have in the program: an export does not pass on arguments that it does not use. Arrays that have
// numbers beyond those of the program are numbered as the caller's arguments.
func (c *runCmd) kept(given map[string]*npz.Array) map[string]*npz.Array {
	x := c.exported
	if x == nil || len(x.Kept) == len(x.Arguments) {
		return given
	}
	beyond := false
	for key := range given {
		n, err := strconv.Atoi(key)
		beyond = beyond || err == nil && n >= len(x.Kept) && n < len(x.Arguments)
	}
	if !beyond {
		return given
	}
	all := make(map[string]*npz.Array, len(given))
	for key, a := range given {
		n, err := strconv.Atoi(key)
		if err != nil || n >= len(x.Arguments) {
			all[key] = a
		} else if i := slices.Index(x.Kept, int64(n)); i >= 0 {
			all[strconv.Itoa(i)] = a
		}
	}
	return all
}

// allWeights reads the arrays that --weights names.
func (c *runCmd) allWeights() (map[string]*npz.Array, error) {
	if c.weights != nil || len(c.Weights) == 0 {
		return c.weights, nil
	}
	c.weights = map[string]*npz.Array{}
	for _, file := range c.Weights {
		all, err := arrays.ReadAll(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, unwrapPath(err))
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if c.weights[key] != nil {
				return nil, fmt.Errorf("%s: array %s is in another file of --weights, too", file, key)
			}
			c.weights[key] = all[key]
		}
	}
	return c.weights, nil
}

// namedArray is an array that was found by its name.
type namedArray struct {
	key   string
	array *npz.Array
}

// byName finds arrays for parameters by their names: among those of --inputs and --input that have names for keys, then among the weights.
func (c *runCmd) byName(params []halo.Value, given map[string]*npz.Array) ([]namedArray, error) {
	names := make([][]string, len(params))
	for i, p := range params {
		names[i] = []string{p.Name}
	}
	return c.named(names, given)
}

func (c *runCmd) named(names [][]string, given map[string]*npz.Array) ([]namedArray, error) {
	found := make([]namedArray, len(names))
	weights, err := c.allWeights()
	if err != nil {
		return nil, err
	}
	for _, from := range []map[string]*npz.Array{given, weights} {
		keys := slices.DeleteFunc(slices.Collect(maps.Keys(from)), isKey)
		if len(keys) == 0 {
			continue
		}
		matched, err := arrays.Match(names, keys)
		if err != nil {
			return nil, err
		}
		for i, key := range matched {
			if key != "" && found[i].array == nil {
				found[i] = namedArray{key, from[key]}
			}
		}
	}
	return found, nil
}

// exportedShapes are the shapes of the arguments that reach the program of an export with dynamic shapes; nil when its shapes are known, or
// when those of the arrays are not.
func (c *runCmd) exportedShapes(given map[string]*npz.Array) ([]hlo.Shape, error) {
	x := c.exported
	dynamic := false
	names := make([][]string, len(x.Kept))
	for i, k := range x.Kept {
		names[i] = []string{x.Arguments[k].Name}
		_, static := dimensions(x.Arguments[k])
		dynamic = dynamic || !static
	}
	if !dynamic {
		return nil, nil
	}
	given = c.kept(given)
	named, err := c.named(names, given)
	if err != nil {
		return nil, err
	}
	var shapes []hlo.Shape
	for i, k := range x.Kept {
		if x.Arguments[k].Type == "token" {
			continue
		}
		a := given[strconv.Itoa(i)]
		if a == nil {
			a = given[names[i][0]]
		}
		if a == nil {
			a = named[i].array
		}
		dims, static := dimensions(x.Arguments[k])
		switch {
		case a != nil:
			dims = a.Shape
		case !static:
			return nil, nil
		}
		shapes = append(shapes, hlo.MakeShape(hlo.U8, dims...))
	}
	return shapes, nil
}

// dimensions are those of a leaf, if they are numbers.
func dimensions(l export.Leaf) ([]int64, bool) {
	dims := make([]int64, len(l.Shape))
	for i, d := range l.Shape {
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil {
			return nil, false
		}
		dims[i] = n
	}
	return dims, true
}
