package halocmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/spelling"
	"github.com/gohalo/halo/passes/simplify"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// extractCmd makes a program of an instruction.
type extractCmd struct {
	File        string `arg:"" help:"A program."`
	Instruction string `required:"" help:"The instruction that the new program returns." placeholder:"%NAME"`
	Height      int    `help:"Levels of operands to include: 0 for the instruction alone, -1 for all. Other operands become parameters; constants are included." default:"-1" placeholder:"N"`

	printFlags `embed:""`
	readFlags  `embed:""`

	Profile string `help:"Verifier profile of the input: doc or xla." default:"doc" enum:"doc,xla"`
	Output  string `short:"o" help:"Write the program here." type:"path" default:"-"`
	JSON    bool   `name:"json" help:"One JSON object."`
}

// Help is what --help says beyond the flags.
func (extractCmd) Help() string {
	return `The result is a program that can be run, verified and reduced by itself: the instruction as its root, what it is computed from, and what
these call.

  halo extract model.hlo --instruction=%dot.42 --height=2 | halo run --fill=random --bench 100 -
  halo extract model.hlo --instruction=%fusion.3 --height=0 -o one.hlo`
}

func (c *extractCmd) Run(e *env) error {
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	return e.each([]string{c.File}, c.JSON, func(in *input, r *record) error {
		m, err := e.loadModule(in, moduleOptions{profile: c.Profile})
		if err != nil {
			return err
		}
		root, err := instructionNamed(m, c.Instruction)
		if err == nil {
			m, err = extract(m, root, c.Height)
		}
		if err != nil {
			return fmt.Errorf("%s: error: %w", in.name, err)
		}
		out, err := printer.Append(nil, m, cfg)
		if err != nil {
			return err
		}
		if c.JSON && c.Output == "-" {
			r.add("text", string(out))
		}
		return e.writeResult(c.Output, in.beside(), ".extract.hlo", out)
	})
}

// instructionNamed looks an instruction up, with or without %: names are unique in a module.
func instructionNamed(m hlo.Module, name string) (hlo.Instruction, error) {
	name = strings.TrimPrefix(name, "%")
	for k := range m.Computations() {
		if in, ok := k.ByName(name); ok {
			return in, nil
		}
	}
	return hlo.Instruction{}, fmt.Errorf("there is no instruction %%%s%s", name, instructionMeant(name, "", m))
}

// instructionMeant asks for the instruction of the modules whose name is nearest to one that none has; where none is near, it says instead.
func instructionMeant(name, instead string, modules ...hlo.Module) string {
	var names []string
	for _, m := range modules {
		for k := range m.Computations() {
			for in := range k.Instructions() {
				names = append(names, in.Name())
			}
		}
	}
	if near := spelling.Nearest(name, names); near != "" {
		return "; did you mean %" + near + "?"
	}
	return instead
}

// extract makes a module whose entry computes an instruction of m from so many levels of its operands.
func extract(m hlo.Module, root hlo.Instruction, height int) (hlo.Module, error) {
	if root.Opcode() == hlo.OpParameter {
		return m, fmt.Errorf("%%%s is a parameter: nothing computes it", root.Name())
	}
	from := root.Computation()
	level := levels(root)
	kept := func(in hlo.Instruction) bool {
		n, needed := level[in.ID()]
		return needed && in.Opcode() != hlo.OpParameter && (height < 0 || n <= height || in.Opcode() == hlo.OpConstant)
	}
	e := m.Edit()
	b := e.NewComputation("extracted_" + root.Name())
	made := map[hlo.InstrID]hlo.InstrID{}
	params := int64(0)
	for in := range from.Instructions() {
		switch {
		case kept(in):
			spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Common: in.Common(),
				Callees: slices.Collect(in.Callees()), Position: in.Position()}
			for id := range in.OperandIDs() {
				spec.Operands = append(spec.Operands, made[id])
			}
			made[in.ID()] = b.Append(spec)
		case usedByKept(in, kept):
			made[in.ID()] = b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: in.Name(), Shape: in.Shape(),
				Attrs: &hlo.ParameterAttrs{Number: params}, Position: in.Position()})
			params++
		}
	}
	e.SetEntry(b.Finish(made[root.ID()]))
	cfg := *m.Config()
	cfg.InputOutputAlias, cfg.BufferDonors, cfg.EntryLayout, cfg.IsScheduled = nil, nil, nil, false
	e.SetConfig(&cfg)
	e.SetName(m.Name() + "." + root.Name())
	for id := range e.Computations() {
		if e.View(id).IsScheduled() {
			e.Computation(id).ClearSchedule()
		}
	}
	out, err := simplify.DCE.Apply(pass.NewContext(context.Background()), e.Freeze())
	if err == nil {
		out, err = renamed(out, from, made)
	}
	if err == nil {
		err = verifier.Verify(out, verifierConfig(verifier.Config{Profile: verifier.XLA})).Err()
	}
	if err != nil {
		return m, fmt.Errorf("%%%s makes no program by itself: %w", root.Name(), err)
	}
	return out, nil
}

// renamed gives the instructions of the entry the names that they had where they come from. Names are not free again in the module that they were
// removed from, so it is read anew.
func renamed(m hlo.Module, from hlo.Computation, made map[hlo.InstrID]hlo.InstrID) (hlo.Module, error) {
	text, err := printer.Append(nil, m, printer.Config{LargeConstants: true})
	if err != nil {
		return m, err
	}
	again, err := parser.Config{Lenient: true}.Parse(m.Name(), string(text))
	if err != nil {
		return m, err
	}
	e := again.Edit()
	c := e.Computation(again.Entry().ID())
	for in := range from.Instructions() {
		was, ok := m.Entry().At(made[in.ID()])
		if _, isMade := made[in.ID()]; !ok || !isMade {
			continue
		}
		if now, ok := again.Entry().ByName(was.Name()); ok {
			c.Instr(now.ID()).SetName(in.Name())
		}
	}
	return e.Freeze(), nil
}

// levels is how far each instruction that root is computed from is from it.
func levels(root hlo.Instruction) map[hlo.InstrID]int {
	level := map[hlo.InstrID]int{root.ID(): 0}
	for work := []hlo.Instruction{root}; len(work) > 0; work = work[1:] {
		for o := range work[0].Operands() {
			if _, ok := level[o.ID()]; !ok {
				level[o.ID()] = level[work[0].ID()] + 1
				work = append(work, o)
			}
		}
	}
	return level
}

func usedByKept(in hlo.Instruction, kept func(hlo.Instruction) bool) bool {
	for user := range in.Users() {
		if kept(user) {
			return true
		}
	}
	return false
}
