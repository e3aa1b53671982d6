package memory

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const aliasDoc = `let results take the memory of parameters, where the header does not say so yet

Each array of the result is given the first array of the parameters that is in the same memory and has not been given: of its shape, else of its size. It is a may-alias, so
that a caller who keeps an argument keeps it. Arrays of dynamic size, and of elements smaller than a byte, take only arrays of their own shape. A parameter that is handed on is no longer listed among the donors.`

// NewInputOutputAlias makes the pass optimize-input-output-buffer-alias.
func NewInputOutputAlias(o pass.Options) (*pass.Pass, error) {
	const donors = "registered-buffer-donor-only"
	if err := o.Known(donors); err != nil {
		return nil, err
	}
	only, err := o.Bool(donors)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "optimize-input-output-buffer-alias", Doc: aliasDoc, Options: o, Lent: true,
		Params: []pass.Param{{Name: donors, Doc: "take only the memory of parameters that the header lists as donors; false"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			config := *e.Config()
			if !shareBuffers(ctx, m, &config, only) {
				return e.Freeze(), nil
			}
			e.SetConfig(&config)
			return e.Freeze(), nil
		}}, nil
}

// place is a part of a parameter.
type place struct {
	param int64
	index string
}

func placeOf(param int64, index hlo.ShapeIndex) place { return place{param, fmt.Sprint(index)} }

// spaceOf is the memory that an array is in.
func spaceOf(s hlo.Shape) int64 {
	if l, ok := s.Layout(); ok {
		return l.MemorySpace
	}
	return 0
}

// byShape and bySize say what arrays must agree on to take one place in turn. Sizes are compared where they are known, and elements are whole bytes.
func byShape(s hlo.Shape) string { return fmt.Sprint(s.WithoutLayout(), spaceOf(s)) }

func bySize(s hlo.Shape) string {
	if !s.IsStatic() || s.Type().Bits() < 8 {
		return byShape(s)
	}
	return fmt.Sprint(s.ByteSize(), " bytes ", spaceOf(s))
}

// shareBuffers adds aliases to a header, and reports whether it added any: arrays of the same shape find each other first.
func shareBuffers(ctx *pass.Context, m hlo.Module, config *hlo.ModuleConfig, only bool) bool {
	interfaces := config.EntryLayout
	if interfaces == nil {
		s := m.Entry().Signature()
		interfaces = &s
	}
	taken, donors, given := map[place]bool{}, map[place]bool{}, map[string]bool{}
	for _, a := range config.InputOutputAlias {
		taken[placeOf(a.Parameter, a.ParameterIndex)], given[fmt.Sprint(a.Output)] = true, true
	}
	for _, d := range config.BufferDonors {
		donors[placeOf(d.Parameter, d.Index)] = true
	}
	var added []hlo.Alias
	for _, key := range []func(hlo.Shape) string{byShape, bySize} {
		free := map[string][]hlo.BufferDonor{}
		for i, p := range interfaces.Parameters {
			for index, leaf := range p.Leaves {
				if at := placeOf(int64(i), index); leaf.IsArray() && !taken[at] && (!only || donors[at]) {
					free[key(leaf)] = append(free[key(leaf)], hlo.BufferDonor{Parameter: int64(i), Index: slices.Clone(index)})
				}
			}
		}
		for index, leaf := range interfaces.Result.Leaves {
			if !leaf.IsArray() || given[fmt.Sprint(index)] || len(free[key(leaf)]) == 0 || !ctx.Spend("alias") {
				continue
			}
			donor := free[key(leaf)][0]
			free[key(leaf)] = free[key(leaf)][1:]
			added = append(added, hlo.Alias{Output: slices.Clone(index), Parameter: donor.Parameter, ParameterIndex: donor.Index})
			taken[placeOf(donor.Parameter, donor.Index)], given[fmt.Sprint(index)] = true, true
			ctx.Count("aliases", 1)
			ctx.Count("bytes", leaf.ByteSize())
		}
	}
	if len(added) == 0 {
		return false
	}
	config.InputOutputAlias = slices.Concat(config.InputOutputAlias, added)
	slices.SortFunc(config.InputOutputAlias, func(a, b hlo.Alias) int { return slices.Compare(a.Output, b.Output) })
	config.BufferDonors = slices.DeleteFunc(slices.Clone(config.BufferDonors), func(d hlo.BufferDonor) bool { return taken[placeOf(d.Parameter, d.Index)] })
	return true
}
