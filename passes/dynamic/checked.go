package dynamic

import (
	"errors"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/simplify"
)

// A checked program computes on filled arrays, and beside them whether all sizes are such that the program as it was has the same results. If they are
// not, the program as it was runs, as one fusion, from its arguments: it has its errors, and its results.

// errLeft says that a program is not written, since nothing says when its filled form does what it does.
var errLeft = errors.New("left as it is")

// runChecked writes the entry, or leaves the program.
func (p *padding) runChecked() (hlo.Module, error) {
	if !p.checkable() {
		return p.m, nil
	}
	trial := *p
	trial.ctx = p.ctx.Trial()
	if _, err := trial.writeChecked(); errors.Is(err, errLeft) {
		return p.m, nil
	} else if err != nil {
		return p.m, err
	}
	if !p.ctx.Spend("pad") {
		return p.m, nil
	}
	return p.writeChecked()
}

// checkable reports whether the program can run twice, whatever the sizes are, and has arrays of dynamic size in its entry only.
func (p *padding) checkable() bool {
	const once = hlo.TraitSideEffect | hlo.TraitRandom | hlo.TraitCollective | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	entry, reachable := p.m.Entry(), analysis.Reachable(p.m)
	if entry.IsScheduled() {
		return false
	}
	effects := analysis.FindSideEffects(p.m)
	for c := range p.m.Computations() {
		if !reachable[c.ID()] {
			continue
		}
		for in := range c.Instructions() {
			if hlo.Info(in.Opcode()).Traits&once != 0 || effects.Of(in) || !in.Shape().IsBounded() ||
				!in.Shape().IsStatic() && c.ID() != entry.ID() || in.NumControlPredecessors() > 0 {
				return false
			}
		}
	}
	return selectable(entry.Root().Shape()) && !p.depends(entry) && affordable(entry)
}

// affordable reports whether memory for the arrays filled is in proportion to what the program takes and gives. The evaluator needs it for their sizes
// only: a program that has few elements of many may run there, and would not fit into memory here.
func affordable(entry hlo.Computation) bool {
	most := int64(8 << 20)
	for i := range entry.NumParameters() {
		most = max(most, largest(entry.Parameter(i).Shape()))
	}
	most = 8 * max(most, largest(entry.Root().Shape()))
	for in := range entry.Instructions() {
		if !in.Shape().IsStatic() && largest(in.Shape()) > most {
			return false
		}
	}
	return true
}

// largest is the size in bytes of the largest array, filled.
func largest(s hlo.Shape) (n int64) {
	for _, leaf := range leavesOf(filled(s)) {
		if leaf.IsArray() {
			n = max(n, leaf.ByteSize())
		}
	}
	return n
}

// selectable reports whether all leaves are arrays.
func selectable(s hlo.Shape) bool {
	return !slices.ContainsFunc(leavesOf(s), func(leaf hlo.Shape) bool { return !leaf.IsArray() })
}

// depends reports whether something takes what depends on a size that might not end, or might be an error, were the size a wrong one.
func (p *padding) depends(entry hlo.Computation) bool {
	sized := map[hlo.InstrID]bool{}
	for in := range entry.PostOrder() {
		of := !in.Shape().IsStatic() && in.Opcode() != hlo.OpParameter
		for o := range in.OperandIDs() {
			of = of || sized[o] || !entry.MustAt(o).Shape().IsStatic()
		}
		if of && (hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) || in.Opcode() == hlo.OpCustomCall) {
			return true
		}
		sized[in.ID()] = of
	}
	return false
}

// writeChecked writes the program.
func (p *padding) writeChecked() (hlo.Module, error) {
	entry := p.m.Entry()
	root, shape := emit.Again(entry.Root()), entry.Root().Shape()
	p.e = p.ctx.Edit(p.m)
	p.conditions = nil
	b := &body{padding: p, c: p.e.Computation(entry.ID()), was: entry, of: map[hlo.InstrID]*value{}}
	otherwise := p.otherwise(entry)
	b.fillParameters()
	if err := b.writeAll(); err != nil {
		return p.m, err
	}
	b.at = emit.At{C: b.c, Before: hlo.NoInstr, Position: root.Position}
	parts, ok := b.split(b.value(entry.Root()), shape)
	if !ok {
		return p.m, errLeft
	}
	parts = b.choose(parts, otherwise)
	b.c.SetRoot(b.gather(root, shape, parts))
	emit.Reorder(b.c)
	if err := simplify.RemoveDead(p.ctx, p.e); err != nil {
		return p.m, err
	}
	return p.e.Freeze(), nil
}

// fillParameters fills up what the program is given.
func (b *body) fillParameters() {
	b.at = emit.End(b.c)
	for i := range b.was.NumParameters() {
		param := b.was.Parameter(i)
		s := param.Shape()
		if s.IsStatic() || !s.IsArray() {
			continue
		}
		f := emit.Computation(b.e, param.Name()+".filled", []hlo.Shape{s}, func(at emit.At, p []hlo.InstrID) hlo.InstrID {
			return at.Tuple(elements(at, padToStatic(at, s, p[0]))...)
		})
		v := whole(s, param.ID())
		v.take(b.at, fused(b.at, "", f, b.e.View(f).Root().Shape(), param.ID()))
		b.of[param.ID()] = v
	}
}

// elements are all parts of a tuple.
func elements(at emit.At, tuple hlo.InstrID) (parts []hlo.InstrID) {
	for i := range at.Shape(tuple).NumElems() {
		parts = append(parts, at.Element(tuple, i))
	}
	return parts
}

// fused runs a computation on the evaluator.
func fused(at emit.At, name string, f hlo.CompID, s hlo.Shape, operands ...hlo.InstrID) hlo.InstrID {
	return at.Spec(hlo.InstrSpec{Opcode: hlo.OpFusion, Name: name, Shape: s, Operands: operands, Attrs: &hlo.FusionAttrs{Kind: hlo.FusionCustom}, Callees: []hlo.CompID{f}})
}

// split lists the leaves of a value of a shape: each array that is filled is followed by the sizes of all its dimensions. It reports false if an array is
// of dynamic size and the shape says it is not, or the other way round, as elements of a tuple may be.
func (b *body) split(v *value, s hlo.Shape) (parts []hlo.InstrID, ok bool) {
	switch {
	case s.IsTuple():
		for i, p := range b.taken(v) {
			leaves, ok := b.split(p, s.Elem(i))
			if !ok {
				return nil, false
			}
			parts = append(parts, leaves...)
		}
	case v.shape.IsStatic() != s.IsStatic():
		return nil, false
	case s.IsStatic():
		parts = append(parts, b.cut(v))
	default:
		parts = append(parts, b.fill(v).data)
		for i := range v.sizes {
			parts = append(parts, b.size(v, i))
		}
	}
	return parts, true
}

// otherwise is a branch that has the arguments of the program, and gives the leaves of its result as split does, by the program as it was.
func (p *padding) otherwise(entry hlo.Computation) hlo.CompID {
	live := map[hlo.InstrID]bool{}
	for work := []hlo.InstrID{entry.Root().ID()}; len(work) > 0; {
		id := work[len(work)-1]
		if work = work[:len(work)-1]; !live[id] {
			live[id] = true
			work = slices.AppendSeq(work, entry.MustAt(id).OperandIDs())
		}
	}
	c := p.e.AddComputation(entry.Name() + ".whole")
	at := emit.End(c)
	copied := map[hlo.InstrID]hlo.InstrID{}
	for i, id := range entry.Parameters() {
		if live[id] {
			spec := emit.Again(entry.Parameter(i))
			spec.Attrs, spec.Common = &hlo.ParameterAttrs{Number: int64(len(p.arguments))}, nil
			copied[id] = c.AddSpec(spec).ID()
			p.arguments = append(p.arguments, id)
		}
	}
	for in := range entry.PostOrder() {
		if live[in.ID()] && in.Opcode() != hlo.OpParameter {
			copied[in.ID()] = c.AddSpec(control.Copy(p.e, in, copied)).ID()
		}
	}
	c.SetRoot(at.Tuple(cutLeaves(at, copied[entry.Root().ID()])...))

	var shapes []hlo.Shape
	for _, id := range p.arguments {
		shapes = append(shapes, entry.MustAt(id).Shape())
	}
	result := p.e.View(c.ID()).Root().Shape()
	return emit.Computation(p.e, entry.Name()+".otherwise", []hlo.Shape{hlo.MakeTuple(shapes...)}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		at.Position = entry.Root().Position()
		return fused(at, "", c.ID(), result, elements(at, params[0])...)
	})
}

// cutLeaves lists the leaves of a value, arrays of dynamic size filled, with the sizes of all their dimensions.
func cutLeaves(at emit.At, id hlo.InstrID) (parts []hlo.InstrID) {
	switch s := at.Shape(id); {
	case s.IsTuple():
		for _, part := range elements(at, id) {
			parts = append(parts, cutLeaves(at, part)...)
		}
		return parts
	case s.IsStatic():
		return []hlo.InstrID{id}
	default:
		return elements(at, padToStatic(at, s, id))
	}
}

// choose takes what was computed if all sizes are as they should be.
func (b *body) choose(parts []hlo.InstrID, otherwise hlo.CompID) []hlo.InstrID {
	if len(b.conditions) == 0 {
		return parts
	}
	all := b.conditions[0]
	for _, p := range b.conditions[1:] {
		all = b.at.Binary(hlo.OpAnd, all, p)
	}
	computed := b.at.Tuple(parts...)
	s := b.at.Shape(computed)
	same := emit.Computation(b.e, b.was.Name()+".computed", []hlo.Shape{s}, func(_ emit.At, p []hlo.InstrID) hlo.InstrID { return p[0] })
	return elements(b.at, b.at.Spec(hlo.InstrSpec{Opcode: hlo.OpConditional, Shape: s, Operands: []hlo.InstrID{all, computed, b.at.Tuple(b.arguments...)},
		Callees: []hlo.CompID{same, otherwise}}))
}

// gather makes the result of the program of its leaves: in one fusion if some are to be cut to their sizes.
func (b *body) gather(root hlo.InstrSpec, s hlo.Shape, parts []hlo.InstrID) hlo.InstrID {
	if s.IsStatic() {
		id, _ := joined(b.at, s, parts)
		return id
	}
	shapes := make([]hlo.Shape, len(parts))
	for i, id := range parts {
		shapes[i] = b.at.Shape(id)
	}
	f := emit.Computation(b.e, b.was.Name()+".cut", shapes, func(at emit.At, p []hlo.InstrID) hlo.InstrID {
		id, _ := joined(at, s, p)
		return id
	})
	return fused(b.at, root.Name, f, s, parts...)
}

// joined is the inverse of split.
func joined(at emit.At, s hlo.Shape, parts []hlo.InstrID) (id hlo.InstrID, rest []hlo.InstrID) {
	switch {
	case s.IsTuple():
		elems := make([]hlo.InstrID, s.NumElems())
		for i := range elems {
			elems[i], parts = joined(at, s.Elem(i), parts)
		}
		return at.OpOf(hlo.OpTuple, s, nil, elems...), parts
	case s.IsStatic():
		return parts[0], parts[1:]
	default:
		n := 1 + s.Rank()
		return at.OpOf(hlo.OpCustomCall, s, callOf("SliceToDynamic"), parts[:n]...), parts[n:]
	}
}
