package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/passes/emit"
)

const (
	unitAttribute = "compilation_unit"
	unitTarget    = "_xla_multi_module_call"
)

// ModuleSplitter makes modules of what is to be compiled on its own.
var ModuleSplitter = &pass.Pass{
	Name: "hlo-module-splitter",
	Doc: `make a module of each callee whose call names it as one

A call with frontend attribute compilation_unit="NAME" becomes a custom-call of _xla_multi_module_call with NAME as its backend configuration; its callee, with all that it
calls, becomes the entry of module NAME, which goes to --units=DIR. Units in units are custom-calls there. Calls of one name must be calls of one computation.
hlo-module-stitcher is the way back.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		e := ctx.Edit(m)
		made := map[string]hlo.CompID{}
		var callees idmap.Set[hlo.CompID]
		for c := range m.PostOrder() {
			ce := e.Computation(c.ID())
			for in := range pass.Each(ce) {
				name := unitOf(in)
				if name == "" {
					continue
				}
				f := in.Callee(0)
				if g, ok := made[name]; ok && g != f {
					return m, fmt.Errorf("hlo-module-splitter: %s names %%%s and %%%s", name, e.View(g).Name(), e.View(f).Name())
				} else if !ctx.Spend("unit") {
					continue
				} else if !ok {
					if err := ctx.Units().Add(name, moduleOf(e, f, name)); err != nil {
						return m, fmt.Errorf("hlo-module-splitter: %w", err)
					}
					made[name] = f
					ctx.Count("units", 1)
				}
				if err := ce.ReplaceInstruction(in.ID(), emit.Before(ce, in).Spec(unitCall(in, name, effects.OfComputation(f)))); err != nil {
					return m, err
				}
				callees.Add(f)
			}
		}
		removeUncalled(e, &callees)
		return e.Freeze(), nil
	},
}

// unitOf is the name of the module that the callee of a call is to be; "" for none.
func unitOf(in hlo.Instruction) string {
	if in.Opcode() != hlo.OpCall || in.Common() == nil {
		return ""
	}
	name, _ := in.Common().FrontendAttributes.Get(unitAttribute)
	return name
}

// unitCall is the custom-call that stands for a call of a module.
func unitCall(in hlo.Instruction, name string, effects bool) hlo.InstrSpec {
	spec := emit.Again(in)
	common := *in.Common()
	common.BackendConfig = name
	spec.Opcode, spec.Callees, spec.Common = hlo.OpCustomCall, nil, &common
	spec.Attrs = &hlo.CustomCallAttrs{FeatureGroupCount: 1, BatchGroupCount: 1, Target: unitTarget, APIVersion: hlo.APITypedFFI, HasSideEffect: effects}
	return spec
}

// moduleOf is a module whose entry is a copy of a computation.
func moduleOf(e *hlo.Editor, id hlo.CompID, name string) hlo.Module {
	config := e.Config()
	unit := hlo.NewModule(name)
	unit.SetConfig(&hlo.ModuleConfig{IsScheduled: config.IsScheduled, ReplicaCount: config.ReplicaCount, NumPartitions: config.NumPartitions,
		UseSPMD: config.UseSPMD, StackFrames: config.StackFrames})
	all := transplant(unit, e.View, id, nil)
	unit.SetEntry(all[len(all)-1])
	return unit.Freeze()
}

// transplant adds a computation of another module behind all that it calls. spec has the last word on each instruction; nil has none.
func transplant(to *hlo.Editor, from func(hlo.CompID) hlo.Computation, root hlo.CompID, spec func(*hlo.InstrSpec)) (all []hlo.CompID) {
	made := map[hlo.CompID]hlo.CompID{}
	var add func(id hlo.CompID) hlo.CompID
	add = func(id hlo.CompID) hlo.CompID {
		if now, ok := made[id]; ok {
			return now
		}
		c := from(id)
		callees := map[hlo.InstrID][]hlo.CompID{}
		for in := range c.Instructions() {
			for f := range in.Callees() {
				callees[in.ID()] = append(callees[in.ID()], add(f))
			}
		}
		b := to.NewComputation(c.Name())
		b.SetExecutionThread(c.ExecutionThread())
		b.SetScheduled(c.IsScheduled())
		ids := make(map[hlo.InstrID]hlo.InstrID, c.NumInstructions())
		for in := range c.Instructions() {
			s := emit.Again(in)
			s.Callees = callees[in.ID()]
			for i, o := range s.Operands {
				s.Operands[i] = ids[o]
			}
			for i, p := range s.Control {
				s.Control[i] = ids[p]
			}
			if spec != nil {
				spec(&s)
			}
			ids[in.ID()] = b.Append(s)
		}
		made[id] = b.Finish(ids[c.Root().ID()])
		all = append(all, made[id])
		return made[id]
	}
	add(root)
	return all
}

// ModuleStitcher puts modules together.
var ModuleStitcher = &pass.Pass{
	Name: "hlo-module-stitcher",
	Doc: `call modules that were compiled on their own: the inverse of hlo-module-splitter

A custom-call of _xla_multi_module_call becomes a call of the entry of the module that its backend configuration names, which comes from --units=DIR with all that
it calls, once however often it is called. It is an error if there is no such module, if modules call each other in a circle, or if parameters and results have other shapes
than the custom-call.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		s := &stitching{ctx: ctx, e: ctx.Edit(m), placed: map[string]hlo.CompID{}}
		for _, c := range slices.Collect(m.Computations()) {
			if err := s.calls(c.ID()); err != nil {
				return m, fmt.Errorf("hlo-module-stitcher: %w", err)
			}
		}
		return s.e.Freeze(), nil
	},
}

type stitching struct {
	ctx    *pass.Context
	e      *hlo.Editor
	placed map[string]hlo.CompID
	within []string // the units that are being placed
}

// calls replaces the custom-calls of a computation.
func (s *stitching) calls(id hlo.CompID) error {
	ce := s.e.Computation(id)
	for in := range pass.Each(ce) {
		if in.Opcode() != hlo.OpCustomCall || hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != unitTarget || !s.ctx.Spend("unit") {
			continue
		}
		common := hlo.Common{}
		if in.Common() != nil {
			common = *in.Common()
		}
		f, err := s.place(common.BackendConfig)
		if err != nil {
			return err
		}
		if err := sameSignature(s.e.View(f).Signature(), in, common.BackendConfig); err != nil {
			return err
		}
		spec := emit.Again(ce.At(in.ID()))
		common.BackendConfig = ""
		spec.Opcode, spec.Attrs, spec.Callees, spec.Common = hlo.OpCall, &hlo.CallAttrs{}, []hlo.CompID{f}, &common
		if err := ce.ReplaceInstruction(in.ID(), emit.Before(ce, in).Spec(spec)); err != nil {
			return err
		}
		s.ctx.Count("calls", 1)
	}
	return nil
}

// place adds a unit to the module, with the units that it calls.
func (s *stitching) place(name string) (hlo.CompID, error) {
	if id, ok := s.placed[name]; ok {
		return id, nil
	}
	if slices.Contains(s.within, name) {
		return 0, fmt.Errorf("circular dependency detected: %s", strings.Join(append(s.within, name), " calls "))
	}
	unit, ok, err := s.ctx.Units().Unit(name)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, fmt.Errorf("sub-module %s not found: --units=DIR is the folder of %s.hlo", name, name)
	}
	s.within = append(s.within, name)
	foreign := unit.Config().StackFrames != s.e.Config().StackFrames
	all := transplant(s.e, unit.MustComputation, unit.Entry().ID(), func(spec *hlo.InstrSpec) {
		if foreign && spec.Common != nil && spec.Common.Metadata != nil && spec.Common.Metadata.StackFrameID != 0 { // a number in the tables of the unit
			common, metadata := *spec.Common, *spec.Common.Metadata
			metadata.StackFrameID, common.Metadata = 0, &metadata
			spec.Common = &common
		}
	})
	for _, c := range all {
		if err := s.calls(c); err != nil {
			return 0, err
		}
	}
	s.within = s.within[:len(s.within)-1]
	s.placed[name] = all[len(all)-1]
	return s.placed[name], nil
}

// sameSignature refuses a unit that takes or gives something else than a custom-call of it.
func sameSignature(f hlo.ProgramShape, in hlo.Instruction, name string) error {
	if len(f.Parameters) != in.NumOperands() {
		return fmt.Errorf("%%%s has %d operands, but module %s has %d parameters", in.Name(), in.NumOperands(), name, len(f.Parameters))
	}
	for i, p := range f.Parameters {
		if got := in.OperandInstr(i).Shape(); !got.Compatible(p) {
			return fmt.Errorf("operand %d of %%%s is %v, but module %s takes %v", i, in.Name(), got, name, p)
		}
	}
	if !in.Shape().Compatible(f.Result) {
		return fmt.Errorf("%%%s is %v, but module %s gives %v", in.Name(), in.Shape(), name, f.Result)
	}
	return nil
}
