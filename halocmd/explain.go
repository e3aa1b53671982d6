package halocmd

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/spelling"
	"github.com/gohalo/halo/verifier"
)

// explainCmd explains whatever has a name.
type explainCmd struct {
	Names []string `arg:"" name:"name" help:"A pass (cse), a rule of one (algsimp.A12), a pipeline (O2), a rule of the verifier (ASYNC-25), or an opcode (dot)."`
}

// Help is what --help says beyond the flags.
func (explainCmd) Help() string {
	return `Explains a pass with its options, rules, phases and order; a rewrite rule; a pipeline; a rule of the verifier with programs that break it; an op.

Instructions have a history once passes have run:
  halo opt -O2 --explain=%add.7 model.hlo     where an instruction comes from
  halo opt -O2 --where=%dot.3 model.hlo       what became of one`
}

func (c *explainCmd) Run(e *env) error {
	for i, name := range c.Names {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		if text, ok := explain(name); ok {
			fmt.Fprint(e.stdout, text)
			continue
		}
		if op, ok := hlo.OpcodeByName(strings.ReplaceAll(name, "_", "-")); ok {
			explainOp(e.stdout, op)
			continue
		}
		known, err := explainPass(e.stdout, name)
		if err != nil {
			return err
		}
		if !known {
			return usageError{fmt.Errorf("nothing is called %q: no pass, pipeline, rule or op%s", name, meant(name))}
		}
	}
	return nil
}

// meant asks for the nearest of all names that can be explained.
func meant(name string) string {
	var names []string
	for _, p := range catalogue.All() {
		names = append(names, p.Name)
	}
	for n := range catalogue.Pipelines {
		names = append(names, n)
	}
	for op := range hlo.NumOpcodes {
		names = append(names, hlo.Info(hlo.Opcode(op)).Name)
	}
	names = append(names, ruleNames()...)
	slices.Sort(names)
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; halo list-passes lists the passes and pipelines"
}

// ruleMeant asks for the nearest of the verifier's rules.
func ruleMeant(name string) string {
	if near := spelling.Nearest(name, ruleNames()); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; findings have theirs in brackets, [ASYNC-25]; halo explain knows passes and ops, too"
}

func ruleNames() (names []string) {
	for _, r := range verifier.Rules() {
		names = append(names, r.ID)
	}
	for _, r := range added.Rules {
		names = append(names, r.ID)
	}
	return names
}

// explain is the documentation of a rule of the verifier.
func explain(rule string) (string, bool) {
	for _, x := range added.Rules {
		if strings.EqualFold(x.ID, rule) {
			return fmt.Sprintf("%s: %s.\n", x.ID, x.What), true
		}
	}
	return verifier.Explain(rule)
}

// traitNames are the facts about ops that are worth telling.
var traitNames = []struct {
	trait hlo.Trait
	text  string
}{
	{hlo.TraitElementwise, "works element by element"}, {hlo.TraitCommutative, "is the same with its operands exchanged"}, {hlo.TraitSideEffect, "has side effects"},
	{hlo.TraitCollective, "communicates with other devices"}, {hlo.TraitControl, "executes computations"}, {hlo.TraitApply, "applies a computation to elements"},
	{hlo.TraitAsyncStart, "begins asynchronous work"}, {hlo.TraitAsyncDone, "waits for asynchronous work"},
	{hlo.TraitMovesData, "moves elements and computes none"}, {hlo.TraitRandom, "differs from run to run"}, {hlo.TraitTokens, "is ordered by tokens"},
}

func explainOp(out io.Writer, op hlo.Opcode) {
	info := hlo.Info(op)
	fmt.Fprintf(out, "%s: %s\n\nOperands: %v.\n", info.Name, info.Doc, info.Arity)
	for _, role := range info.Callees {
		fmt.Fprintf(out, "Calls: %s.\n", role.Name)
	}
	if info.NewAttrs != nil {
		fmt.Fprint(out, "Attributes:\n")
		t := reflect.TypeOf(info.NewAttrs()).Elem()
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("hlo"), ","); name != "" && name != "-" {
				fmt.Fprintf(out, "  %s\n", name)
			}
		}
	}
	for _, t := range traitNames {
		if info.Traits.Has(t.trait) {
			fmt.Fprintf(out, "It %s.\n", t.text)
		}
	}
}
