package verifier

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// The interface of the module: entry layout, aliases between results and parameters, donated buffers (verifier 5.16).

// entryFree is what a computation may decide for itself.
const entryFree = hlo.IgnoreTiles | hlo.IgnoreTailPadding | hlo.IgnoreMemorySpace

func (r *run) entry() {
	want, c := r.m.Config().EntryLayout, r.m.Entry()
	if want == nil {
		return
	}
	for i, s := range append([]hlo.Shape{want.Result}, want.Parameters...) {
		if !validLayouts(s) {
			what := "result"
			if i > 0 {
				what = "parameter"
			}
			r.reportModule("ENT-01", "the shape of a %s in the entry computation layout is not valid: %v", what, s)
			return
		}
	}
	root := c.Root()
	if !r.same(root.Shape(), want.Result, entryFree) {
		r.report(root, "ENT-02", "Shape of the root instruction, %v, should be compatible to one specified in module's entry computation layout, %v", root.Shape(), want.Result)
	}
	if len(want.Parameters) != c.NumParameters() {
		r.reportComputation(c, "ENT-03", "Number of parameters in entry computation layout is %d, the entry computation has %d", len(want.Parameters), c.NumParameters())
		return
	}
	for i, s := range want.Parameters {
		if p := c.Parameter(i); !r.same(p.Shape(), s, entryFree) {
			r.report(p, "ENT-04", "Shape of parameter %d, %v, should be compatible to the one specified in module's entry computation layout, %v", i, p.Shape(), s)
		}
	}
	for _, a := range r.m.Config().InputOutputAlias {
		if !a.Must || a.Parameter < 0 || a.Parameter >= int64(len(want.Parameters)) {
			continue
		}
		out, ok1 := want.Result.Sub(a.Output)
		in, ok2 := want.Parameters[a.Parameter].Sub(a.ParameterIndex)
		if ok1 && ok2 && out.IsArray() && in.IsArray() && !out.Equal(in) {
			r.reportModule("ENT-05", "Shape and memory space of the result at index %s (%v) must be the same as those of parameter %d at index %s (%v)",
				indexText(a.Output), out, a.Parameter, indexText(a.ParameterIndex), in)
		}
	}
}

// validLayouts reports whether every layout in s orders every axis once, and no size is negative.
func validLayouts(s hlo.Shape) bool {
	ok := true
	for _, leaf := range s.Leaves {
		for i := range leaf.Rank() {
			ok = ok && (leaf.Dim(i) >= 0 || leaf.IsUnboundedDimension(i))
		}
		if l, has := leaf.Layout(); has && leaf.IsArray() {
			seen := make([]bool, leaf.Rank())
			ok = ok && len(l.MinorToMajor) == leaf.Rank()
			for _, axis := range l.MinorToMajor {
				if ok = ok && axis >= 0 && axis < int64(len(seen)) && !seen[axis]; !ok {
					break
				}
				seen[axis] = true
			}
		}
		if !ok {
			break
		}
	}
	return ok
}

// interfaceShapes are the shapes that aliases and donors refer to.
func (r *run) interfaceShapes() (params []hlo.Shape, result hlo.Shape) {
	if l := r.m.Config().EntryLayout; l != nil {
		return l.Parameters, l.Result
	}
	s := r.signature(r.m.Entry().ID())
	return s.Parameters, s.Result
}

// bufferIndex names a part of a parameter.
type bufferIndex struct {
	parameter int64
	index     string
}

func (r *run) aliases() {
	pairs := r.m.Config().InputOutputAlias
	if len(pairs) == 0 || len(r.cfg.Threads) > 0 && !slices.Contains(r.cfg.Threads, r.m.Entry().ExecutionThread()) {
		return
	}
	params, result := r.interfaceShapes()
	taken, outputs := make(map[bufferIndex]bool), make(map[string]bool)
	for _, a := range pairs {
		if a.Parameter < 0 || a.Parameter >= int64(len(params)) {
			r.reportModule("ALI-01", "alias parameter number %d is out of range, there are %d parameters", a.Parameter, len(params))
			continue
		}
		out, ok := result.Sub(a.Output)
		if !ok {
			r.reportModule("ALI-02", "alias index %s is not in the result, %v", indexText(a.Output), result)
			continue
		}
		in, ok := params[a.Parameter].Sub(a.ParameterIndex)
		if !ok {
			r.reportModule("ALI-02", "alias index %s is not in parameter %d, %v", indexText(a.ParameterIndex), a.Parameter, params[a.Parameter])
			continue
		}
		if !in.IsArray() || !out.IsArray() {
			r.reportModule("ALI-03", "aliased leaf is not an array: output %s is %v, parameter %d%s is %v", indexText(a.Output), out, a.Parameter, indexText(a.ParameterIndex), in)
			continue
		}
		if x, y := r.cfg.ShapeSize(in), r.cfg.ShapeSize(out); x != y && (r.cfg.LayoutSensitive || x < 0 || y < 0) {
			r.reportModule("ALI-04", "Expected aliased input %d at index %s and output at index %s to have the same size, got %d and %d bytes",
				a.Parameter, indexText(a.ParameterIndex), indexText(a.Output), x, y)
		}
		if k := (bufferIndex{a.Parameter, indexText(a.ParameterIndex)}); taken[k] {
			r.reportModule("ALI-05", "parameter aliased twice: %d at index %s", a.Parameter, k.index)
		} else {
			taken[k] = true
		}
		if k := indexText(a.Output); outputs[k] {
			r.reportModule("ALI-06", "output aliased twice: index %s is already aliased with another parameter", k)
		} else {
			outputs[k] = true
		}
	}
}

func (r *run) donors() {
	donors := r.m.Config().BufferDonors
	if len(donors) == 0 {
		return
	}
	params, _ := r.interfaceShapes()
	aliased := make(map[bufferIndex]bool)
	for _, a := range r.m.Config().InputOutputAlias {
		aliased[bufferIndex{a.Parameter, indexText(a.ParameterIndex)}] = true
	}
	for _, d := range donors {
		if d.Parameter < 0 || d.Parameter >= int64(len(params)) {
			r.reportModule("DON-01", "donor parameter %d is out of range, there are %d parameters", d.Parameter, len(params))
			continue
		}
		part, ok := params[d.Parameter].Sub(d.Index)
		switch {
		case !ok:
			r.reportModule("DON-01", "donor parameter %d has no part %s, it is %v", d.Parameter, indexText(d.Index), params[d.Parameter])
		case !part.IsArray():
			r.reportModule("DON-02", "donor leaf is not an array: parameter %d at index %s is %v", d.Parameter, indexText(d.Index), part)
		case aliased[bufferIndex{d.Parameter, indexText(d.Index)}]:
			r.reportModule("DON-03", "Input %d at index %s is registered as a buffer donor. However, it is also in the input output alias config", d.Parameter, indexText(d.Index))
		}
	}
}
