package halo

import (
	"fmt"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// Bind makes the arguments of a program from arrays with names, the weights of a model for instance, that arrays.ReadAll or
// arrays.ReadSafetensors have read. The names of parameters, as in params['layers'][0]['w'], and those of the arrays, layers.0.w, need only end
// alike: see arrays.Match. Parameters without an array stay nil, for the caller to fill in; arrays without a parameter are left alone.
func (s *Signature) Bind(named map[string]*npz.Array) ([]*hlo.Literal, error) {
	leaves := make([][]string, len(s.Parameters))
	for i, p := range s.Parameters {
		leaves[i] = []string{p.Name}
	}
	keys := make([]string, 0, len(named))
	for key := range named {
		keys = append(keys, key)
	}
	matched, err := arrays.Match(leaves, keys)
	if err != nil {
		return nil, fmt.Errorf("halo: %w", err)
	}
	args := make([]*hlo.Literal, len(leaves))
	for i, key := range matched {
		if key == "" {
			continue
		}
		if args[i], err = arrays.Argument(named[key], s.Parameters[i].Shape); err != nil {
			return nil, &ArgumentError{Device: -1, Index: i, Name: s.Parameters[i].Name, Problem: fmt.Sprintf("array %s: %v", key, err)}
		}
	}
	return args, nil
}
