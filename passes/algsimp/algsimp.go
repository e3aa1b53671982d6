// Package algsimp is the algebraic simplifier: a table of small rewrites, each with an id, after XLA's pass of the same purpose.
//
//	file            rules about
//	arithmetic.go   A, B: add, subtract, multiply, divide, remainder, negate
//	minmax.go       C: minimum, maximum, clamp, power, parts of complex numbers
//	logic.go        D: logic, compare, select, convert
//	shape.go        E: reshape, transpose, broadcast, reverse, copy
//	slice.go        F: slices, pad, concatenate
//	values.go       G, H: empty reductions, constants, iota
//
// A rule has a class that says what it may change in floating-point results. By default only exact ones fire: the same bits for every
// input. `algsimp{fp=xla}` allows what XLA's simplifier does, `fp=fast` what holds for real numbers; `rules=[-A12]` takes rules out.
package algsimp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const doc = `apply algebraic rules until none fits

Only rules that keep every bit fire, unless fp=xla or fp=fast allows others. rules=[-A12,+A03f] takes rules out, and lets one fire whatever it
may change.`

var params = []pass.Param{
	{Name: "fp", Doc: "what rules may change in floating-point results, whatever the policy of the run: strict, xla or fast"},
	{Name: "rules", Doc: "rules to take out or to allow: rules=[-A12,+A03f]"},
}

// Rules is the table, by family.
func Rules() []*pass.RewriteRule {
	return slices.Concat(arithmeticRules, minmaxRules, logicRules, shapeRules, sliceRules, valueRules)
}

// New makes the pass. Options are fp=strict|xla|fast and rules=[-ID,+ID,…].
func New(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("fp", "rules"); err != nil {
		return nil, err
	}
	r := &pass.Rewriter{Rules: Rules()}
	for _, opt := range o {
		switch opt.Key {
		case "fp":
			level, err := pass.ParseFP(opt.Value)
			if err != nil {
				return nil, fmt.Errorf("fp=%w", err)
			}
			r.Allow = &level
		case "rules":
			for _, id := range append(opt.List, opt.Value) {
				id, off := strings.CutPrefix(strings.TrimPrefix(id, "+"), "-")
				known := slices.ContainsFunc(r.Rules, func(rule *pass.RewriteRule) bool { return rule.ID == id })
				switch {
				case id == "":
				case !known:
					return nil, fmt.Errorf("there is no rule %s", id)
				case !off:
					r.On = append(r.On, id)
				default:
					r.Off = append(r.Off, id)
				}
			}
		}
	}
	return &pass.Pass{Name: "algsimp", Doc: doc, Options: o, Params: params, Rules: r.Document(), Local: r.Local}, nil
}

// rule is shorthand for the tables.
func rule(id, doc string, rewrite func(hlo.Instruction) (pass.Expr, bool), root ...hlo.Opcode) *pass.RewriteRule {
	return &pass.RewriteRule{ID: id, Doc: doc, Root: root, Rewrite: rewrite}
}

// loose is a rule that is not exact.
func loose(fp pass.FP, r *pass.RewriteRule) *pass.RewriteRule {
	r.FP = fp
	return r
}

// no is the answer of a rule that does not apply.
func no() (pass.Expr, bool) { return pass.Expr{}, false }

func use(in hlo.Instruction) (pass.Expr, bool) { return pass.Use(in), true }

// same is an elementwise instruction of the shape of in.
func same(in hlo.Instruction, op hlo.Opcode, operands ...pass.Expr) (pass.Expr, bool) {
	return pass.New(op, in.Shape(), nil, operands...), true
}

func isConstant(in hlo.Instruction) bool { return in.Opcode() == hlo.OpConstant }

// sameShape reports whether two instructions have the same shape, so that one may stand for the other.
func sameShape(a, b hlo.Instruction) bool { return a.Shape().EqualIgnoringLayout(b.Shape()) }
