// Package hosthlo assembles host programs that compute with HLO instructions, and shows the instructions of files as text.
//
// In text a kernel carries its instruction as it is written in HLO:
//
//	%c = "hlo.add"(%a, %b) {hlo = "f32[2,3] add(f32[2,3], f32[2,3])"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
//
// In a file it carries the instruction's id in the module that the file holds, so that loading reads no text.
package hosthlo

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
	"github.com/gohalo/halo/verifier"
)

// attrName is the attribute of a kernel that says which instruction it is.
const attrName = "hlo"

// Assemble is [hostprog.Assemble] for programs whose kernels may carry the text of HLO instructions. These are verified and become the
// module of the file; equal texts are one instruction. The program's kernels name ids afterwards.
func Assemble(p *hostprog.Program, o hostprog.AssembleOptions) (*bef.File, error) {
	c := &collector{e: hlo.NewModule("host"), known: make(map[string]hlo.CompID)}
	c.b = c.e.NewComputation("host")
	var kernels []*hostprog.Op
	var comps []hlo.CompID
	for op := range kernelOps(p.Module) {
		at, ok := op.Attrs.Get(attrName)
		if !ok || at.Kind != hostprog.StringAttr {
			continue
		}
		id, err := c.add(at.Text)
		if err != nil {
			return nil, fmt.Errorf("%v: error: attribute %s of %s: %w", op.Pos, attrName, op.Name, err)
		}
		kernels, comps = append(kernels, op), append(comps, id)
	}
	if len(kernels) == 0 {
		return hostprog.Assemble(p, o)
	}
	c.e.SetEntry(comps[0])
	m := c.e.Freeze()
	program := proto.NewProgram(m)
	for i, op := range kernels {
		root := m.MustComputation(comps[i]).Root()
		op.Attrs.Set(attrName, hostprog.Attr{Kind: hostprog.IntAttr, Type: "i64", Bits: uint64(program.ID(root))})
	}
	f, err := hostprog.Assemble(p, o)
	if err != nil {
		return nil, err
	}
	f.Extensions = append(f.Extensions, bef.Section{ID: runtime.SectionModule, Body: program, Packs: true})
	return f, nil
}

// collector puts the instructions of many texts into one module, each as the root of a computation.
type collector struct {
	e     *hlo.Editor
	b     *hlo.ComputationBuilder
	used  bool
	known map[string]hlo.CompID // by text
}

func (c *collector) add(text string) (hlo.CompID, error) {
	if id, ok := c.known[text]; ok {
		return id, nil
	}
	m, err := parser.Parse(attrName, text)
	if err != nil {
		return hlo.NoComp, err
	}
	if err := verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err(); err != nil {
		return hlo.NoComp, err
	}
	copies := make(map[hlo.CompID]hlo.CompID)
	for comp := range m.PostOrder() {
		if c.used {
			c.b.Next(comp.Name())
		}
		c.used = true
		copied := make(map[hlo.InstrID]hlo.InstrID)
		for in := range comp.PostOrder() {
			copied[in.ID()] = c.b.Append(copyOf(in, copied, copies))
		}
		copies[comp.ID()] = c.b.Finish(copied[comp.Root().ID()])
	}
	id := copies[m.Entry().ID()]
	c.known[text] = id
	return id, nil
}

func copyOf(in hlo.Instruction, instrs map[hlo.InstrID]hlo.InstrID, comps map[hlo.CompID]hlo.CompID) hlo.InstrSpec {
	spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Common: in.Common()}
	for id := range in.OperandIDs() {
		spec.Operands = append(spec.Operands, instrs[id])
	}
	for id := range in.ControlPredecessors() {
		spec.Control = append(spec.Control, instrs[id])
	}
	for id := range in.Callees() {
		spec.Callees = append(spec.Callees, comps[id])
	}
	return spec
}

// Disassemble is [hostprog.Disassemble] with the text of instructions in the place of their ids. Where the file's module cannot be read,
// or does not have an instruction, the id stays.
func Disassemble(f *bef.File) (*hostprog.Program, error) {
	p, err := hostprog.Disassemble(f)
	if err != nil || !f.Has(runtime.SectionModule) {
		return p, err
	}
	program, err := proto.DecodeProgram(f.Extension(runtime.SectionModule))
	if err != nil {
		return p, nil
	}
	if err := verifier.Verify(program.Module(), verifier.Config{Profile: verifier.XLA, Levels: verifier.LevelStructure}).Err(); err != nil {
		return p, nil // it may not be safe to print
	}
	lines := make(map[printer.Config]*printer.Lines)
	for op := range kernelOps(p.Module) {
		id, ok := op.Attrs.Int(attrName)
		if !ok {
			continue
		}
		in, ok := program.Instruction(id)
		if !ok {
			continue
		}
		cfg := textConfig(in)
		if lines[cfg] == nil {
			lines[cfg] = printer.NewLines(program.Module(), cfg)
		}
		if text, err := lines[cfg].Append(nil, in); err == nil {
			op.Attrs.Set(attrName, hostprog.Attr{Kind: hostprog.StringAttr, Text: string(text)})
		}
	}
	return p, nil
}

// textConfig prints an instruction so that it can be read by itself: shapes of operands instead of names, bodies of callees in place.
func textConfig(in hlo.Instruction) printer.Config {
	cfg := printer.Canonical
	cfg.LargeConstants = true
	cfg.OmitFrontend = !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitTokens)
	cfg.OmitOrigin = true
	cfg.OmitConfig = in.Opcode() != hlo.OpCustomCall
	return cfg
}

// kernelOps yields the ops below m that are named as HLO kernels are, in the order of the text.
func kernelOps(m *hostprog.Op) iter.Seq[*hostprog.Op] {
	return func(yield func(*hostprog.Op) bool) {
		for work := []*hostprog.Op{m}; len(work) > 0; {
			op := work[len(work)-1]
			work = work[:len(work)-1]
			if strings.HasPrefix(op.Name, "hlo.") && !yield(op) {
				return
			}
			for _, r := range slices.Backward(op.Regions) {
				for _, inner := range slices.Backward(r.Ops) {
					work = append(work, inner)
				}
			}
		}
	}
}
