package rulecheck

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// CheckPrograms tries a rule that is not text on programs on which it fires, and on those that it makes of them: every type of theirs in turn is
// every other one, every dimension of the parameters is known at run time only, and each of these is tried in other surroundings.
func CheckPrograms(ctx context.Context, rule *pass.RewriteRule, programs ...hlo.Module) *Report {
	c := newChecking(ctx, rule)
	if rule.FP >= pass.Rounding {
		c.numbers = pass.FastMath // sums of numbers that are far apart show their order
	}
	for _, p := range programs {
		c.program(p, false)
		for _, m := range retyped(p) {
			c.program(m, false)
		}
		for _, m := range unsized(p) {
			c.program(m, true)
		}
	}
	if c.report.Fired == 0 && c.report.Wrong == nil {
		c.report.Wrong = &Wrong{Why: "it fires on none of the programs"}
	}
	return c.report
}

func (c *checking) program(m hlo.Module, dynamic bool) {
	r := c.report
	if r.Wrong != nil || c.ctx.Err() != nil || verifier.Verify(m, verifier.Config{}).Err() != nil {
		return
	}
	r.Instances++
	t := m.Entry().Root().Shape().Type()
	fired, wrong := c.keeps(t, m, verifier.Config{}, programRounds)
	if r.Wrong = wrong; !fired || wrong != nil {
		return
	}
	r.Fired++
	if dynamic {
		r.Dynamic++
	}
	if name := t.String(); !slices.Contains(r.Types, name) {
		r.Types = append(r.Types, name)
	}
	r.Wrong = c.around(t, m)
}

// arrayType matches the type of a shape in text.
var arrayType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-z]+[0-9]*[a-z0-9]*\[`) })

// retyped are the programs in which one element type is another.
func retyped(m hlo.Module) (all []hlo.Module) {
	if count(m, func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpCustomCall }) > 0 {
		return nil // what it calls wants the types that it has
	}
	text := printer.String(m)
	var types []string
	for _, t := range arrayType().FindAllString(text, -1) {
		if _, ok := hlo.PrimitiveTypeByName(t[:len(t)-1]); ok && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	for _, from := range types {
		for _, to := range rules.InstanceTypes {
			if from == to.String()+"[" {
				continue
			}
			other := arrayType().ReplaceAllStringFunc(text, func(s string) string {
				if s == from {
					return to.String() + "["
				}
				return s
			})
			if m, err := parser.Parse("", other); err == nil { // a constant may not be one of that type
				all = append(all, m)
			}
		}
	}
	return all
}

// unsized are the programs in which one dimension of a parameter is known at run time only, and those in which the first of every parameter is.
func unsized(m hlo.Module) (all []hlo.Module) {
	n := m.Entry().NumParameters()
	first := map[int][]int{}
	for i := range n {
		s := m.Entry().Parameter(i).Shape()
		if !s.IsArray() {
			continue
		}
		for d := range s.Rank() {
			all = append(all, spread(m, map[int][]int{i: {d}}))
		}
		if s.Rank() > 0 {
			first[i] = []int{0}
		}
	}
	if len(first) > 1 {
		all = append(all, spread(m, first))
	}
	return all
}

// spread makes dimensions of parameters dynamic, and those that follow from them.
func spread(m hlo.Module, dims map[int][]int) hlo.Module {
	a := newAround(m)
	for i, ds := range dims {
		p := a.c.Edit(m.Entry().Parameter(i))
		for _, d := range ds {
			p.SetShape(p.Shape().WithDynamicDimension(d, true))
		}
	}
	for _, in := range a.values {
		if !in.Shape().IsArray() {
			continue
		}
		ctx := hlo.ShapeContext{Op: in.Opcode(), Attrs: in.Attrs(), Stated: in.Shape(), MixedPrecision: true}
		for id := range in.OperandIDs() {
			ctx.Operands = append(ctx.Operands, a.c.At(id).Shape())
		}
		for id := range in.Callees() {
			ctx.Callees = append(ctx.Callees, a.e.View(id).Signature())
		}
		if in.Opcode() == hlo.OpBroadcast {
			for i, d := range hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions {
				ctx.Stated = ctx.Stated.WithDynamicDimension(int(d), ctx.Operands[0].IsDynamicDimension(i))
			}
		}
		s, err := hlo.InferShape(&ctx)
		if err != nil || s.Rank() != in.Shape().Rank() {
			return m // the program cannot be that of another size
		}
		for d := range s.Rank() {
			ctx.Stated = ctx.Stated.WithDynamicDimension(d, s.IsDynamicDimension(d))
		}
		a.c.Edit(in).SetShape(ctx.Stated)
	}
	return a.freeze()
}
