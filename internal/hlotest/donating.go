package hlotest

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Donating is a module that lets every result be written over a parameter of its shape, as far as there are any: the first result over the last
// parameter, so that many are read after the result is there.
func Donating(m hlo.Module) hlo.Module {
	e, cfg := m.Edit(), *m.Config()
	cfg.InputOutputAlias = nil
	entry := m.Entry()
	given := map[int]bool{}
	for at, result := range entry.Root().Shape().Leaves {
		for i := entry.NumParameters() - 1; i >= 0; i-- {
			if p := entry.Parameter(i).Shape(); !given[i] && p.IsArray() && p.Compatible(result) {
				given[i] = true
				cfg.InputOutputAlias = append(cfg.InputOutputAlias, hlo.Alias{Output: slices.Clone(at), Parameter: int64(i)})
				break
			}
		}
	}
	e.SetConfig(&cfg)
	return e.Freeze()
}
