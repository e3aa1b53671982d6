// Package rulecheck proves rules by trying them: it makes a rule into modules of every element type, shape and choice of constants, rewrites
// them, and evaluates both versions on the values at which wrong algebra shows. A rule that is wrong somewhere fails with the smallest input
// that shows it.
//
//	report := rulecheck.Check(ctx, rule)
//	if report.Wrong != nil { … } // f32: x = -0 gives 0, the rule makes it -0
//
// It also departs from the left side in one respect at a time (another number, another value where the same was asked for), and there the rule
// must not fire. What it cannot make are left sides with ops that need attributes other than directions and axes.
package rulecheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// Report is what the trial of a rule found.
type Report struct {
	Rule *pass.RewriteRule
	// Instances is how many modules were made, and Fired on how many the rule fired; Misses departed from the left side.
	Instances, Fired, Misses int
	// Dynamic is how many of the modules on which it fired had dimensions of dynamic size.
	Dynamic int
	// Made is how many programs were made of instances, by surrounding, Around on how many of them it fired, and Unknown on how many it did where
	// the program has no value to compare.
	Made            []int
	Around, Unknown int
	Types           []string // for which it fired
	Wrong           *Wrong
}

// Add adds the counts of another report.
func (r *Report) Add(o *Report) {
	r.Instances, r.Fired, r.Misses, r.Dynamic = r.Instances+o.Instances, r.Fired+o.Fired, r.Misses+o.Misses, r.Dynamic+o.Dynamic
	r.Around, r.Unknown = r.Around+o.Around, r.Unknown+o.Unknown
	for len(r.Made) < len(o.Made) {
		r.Made = append(r.Made, 0)
	}
	for i, n := range o.Made {
		r.Made[i] += n
	}
}

// String says how much was tried.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "fired on %d of %d programs, %d of them of dynamic size, and on %d in other surroundings, %d of which have no value; %d departures",
		r.Fired, r.Instances, r.Dynamic, r.Around, r.Unknown, r.Misses)
	for i, n := range r.Made {
		fmt.Fprintf(&b, "\n%6d programs %s", n, surroundings[i].name)
	}
	return b.String()
}

// Wrong is an instance on which a rule fails.
type Wrong struct {
	Type          hlo.PrimitiveType
	Inputs        []string // x = -0
	Want, Got     string   // of the left side, and of what the rule makes of it
	Before, After string   // modules
	Why           string   // if it is not a value: the module no longer verifies, the rule fired where it must not
}

func (w *Wrong) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: ", w.Type)
	if w.Why != "" {
		b.WriteString(w.Why)
	} else {
		if len(w.Inputs) > 0 {
			b.WriteString("with " + strings.Join(w.Inputs, ", ") + " ")
		}
		fmt.Fprintf(&b, "the left side is %s, and the rule makes it %s", w.Want, w.Got)
	}
	fmt.Fprintf(&b, "\nbefore:\n%s", w.Before)
	if w.After != "" {
		fmt.Fprintf(&b, "after:\n%s", w.After)
	}
	return b.String()
}

// wide is how many combinations of inputs an elementwise instance is tried with at once.
const wide = 1024

// Check tries a rule.
func Check(ctx context.Context, r *rules.Rule) *Report {
	c := newChecking(ctx, r.RewriteRule)
	for _, shape := range []struct {
		dims    []int64
		dynamic bool
		limit   int
	}{{[]int64{wide}, false, 100}, {nil, false, 40}, {[]int64{4}, false, 60}, {[]int64{2, 3}, false, 60}, {[]int64{2, 3, 2}, false, 60}, {[]int64{2, 2, 2}, false, 60}, {[]int64{4}, true, 60}, {[]int64{2, 3}, true, 40}, {[]int64{3, 1, 2}, true, 20}} {
		r.Instances(shape.dims, shape.dynamic, shape.limit, func(inst rules.Instance) bool {
			c.try(inst, shape.dynamic)
			return c.report.Wrong == nil && ctx.Err() == nil
		})
		if c.report.Wrong != nil || ctx.Err() != nil {
			break
		}
	}
	if c.report.Fired == 0 && c.report.Wrong == nil {
		c.report.Wrong = &Wrong{Why: "it fires on nothing that its left side was made into: perhaps its conditions exclude each other, or its right side has no shape there"}
	}
	return c.report
}

type checking struct {
	ctx     context.Context
	rule    *pass.RewriteRule
	p       *pass.Pass
	numbers pass.FP // the class of rules for which the inputs are
	report  *Report
	// surrounded is how many instances of a type were tried in other surroundings.
	surrounded map[hlo.PrimitiveType]int
}

func newChecking(ctx context.Context, rule *pass.RewriteRule) *checking {
	rewriter := &pass.Rewriter{Rules: []*pass.RewriteRule{rule}, On: []string{rule.ID}, Once: true}
	return &checking{ctx: ctx, rule: rule, numbers: rule.FP, p: &pass.Pass{Name: "rule", Doc: rule.ID, Local: rewriter.Local},
		report: &Report{Rule: rule, Made: make([]int, len(surroundings))}, surrounded: map[hlo.PrimitiveType]int{}}
}

func (c *checking) try(inst rules.Instance, dynamic bool) {
	r := c.report
	r.Instances++
	after, err := (&pass.Runner{}).Run(c.ctx, pass.Of("", c.p), inst.Module)
	wrong := func(why string) {
		r.Wrong = &Wrong{Type: inst.Type, Why: why, Before: printer.String(inst.Module)}
		if err == nil {
			r.Wrong.After = printer.String(after)
		}
	}
	switch {
	case err != nil:
		wrong(err.Error())
		return
	case inst.Miss != "":
		r.Misses++
	}
	if after == inst.Module || verifier.Verify(inst.Module, verifier.Config{}).Err() != nil {
		return // types for which the left side is no program: complex numbers have no order
	}
	// A departure may be an instance of another form of the rule: then it must be right all the same.
	if inst.Miss == "" {
		r.Fired++
		if dynamic {
			r.Dynamic++
		}
		if t := inst.Type.String(); !slices.Contains(r.Types, t) {
			r.Types = append(r.Types, t)
		}
	}
	if err := verifier.Verify(after, verifier.Config{}).Err(); err != nil {
		wrong("what the rule makes does not verify: " + err.Error())
		return
	}
	if r.Wrong = c.compare(inst, after); r.Wrong == nil && inst.Miss == "" && c.surrounded[inst.Type] < aroundEach {
		c.surrounded[inst.Type]++
		r.Wrong = c.around(inst.Type, inst.Module)
	}
}

// compare evaluates both versions. Where sizes are dynamic, they are evaluated at the bound, below it, and at zero.
func (c *checking) compare(inst rules.Instance, after hlo.Module) *Wrong {
	if !isDynamic(inst.Module) {
		return c.compareAt(inst, after, 0)
	}
	for less := range int64(maxLess) {
		if w := c.compareAt(inst, after, less); w != nil {
			return w
		}
	}
	return nil
}

// maxLess is more than any bound of an instance.
const maxLess = 5

func isDynamic(m hlo.Module) bool {
	for i := range m.Entry().NumParameters() {
		if !m.Entry().Parameter(i).Shape().IsStatic() {
			return true
		}
	}
	return false
}

// compareAt evaluates both versions where dynamic sizes are that much less than their bounds.
func (c *checking) compareAt(inst rules.Instance, after hlo.Module, less int64) *Wrong {
	args := inputs(inst.Module, c.numbers, less, 0)
	want, err := eval.Module(c.ctx, inst.Module, args, eval.Options{MaxBytes: 1 << 24})
	if err != nil {
		return nil // the left side has no value
	}
	got, err := eval.Module(c.ctx, after, args, eval.Options{MaxBytes: 1 << 24})
	if err != nil {
		return &Wrong{Type: inst.Type, Why: "what the rule makes has no value: " + err.Error(), Before: printer.String(inst.Module), After: printer.String(after)}
	}
	at := differ(want, got, c.rule.FP)
	if at < 0 {
		return nil
	}
	w := &Wrong{Type: inst.Type, Want: elementText(want, at), Got: elementText(got, at)}
	small, changed := inst, after
	elementwise := len(args) > 0
	for i, a := range args {
		if a.Shape().Rank() == 0 || a.Shape().NumElements() != want.Shape().NumElements() {
			elementwise = false
		} else {
			w.Inputs = append(w.Inputs, fmt.Sprintf("%s = %s", inst.Names[i], elementText(a, at)))
		}
	}
	if elementwise {
		// The same on scalars is easier to read.
		if s, ok := inst.WithDims(nil); ok && s.Miss == inst.Miss {
			if m, err := (&pass.Runner{}).Run(c.ctx, pass.Of("", c.p), s.Module); err == nil && m != s.Module {
				small, changed = s, m
			}
		}
	} else if len(args) > 0 && want.Shape().Rank() > 0 {
		w.Inputs = []string{fmt.Sprintf("at element %d", at)}
	}
	w.Before, w.After = printer.String(small.Module), printer.String(changed)
	return w
}
