// Package algsimp is the algebraic simplifier: a table of small rewrites, each with an id, after XLA's pass of the same purpose.
//
//	file                                                    rules about
//	arithmetic.rules, arithmetic.go                         A, B: add, subtract, multiply, divide, remainder, negate
//	minmax.rules                                            C: minimum, maximum, clamp, power, parts of complex numbers
//	logic.rules                                             D: logic, compare, select, convert
//	movement.rules, shape.go, turn.go                       E: reshape, transpose, broadcast, reverse, copy
//	slice.go                                                F: slices, pad, concatenate
//	values.go                                               G, H: empty reductions, constants, iota
//
// Rules that are algebra are text (package rules); the others are Go. A rule has a class that says what it may change in floating-point
// results. By default only exact ones fire: the same bits for every input. `algsimp{fp=xla}` allows what XLA's simplifier does, `fp=fast` what
// holds for real numbers; `rules=[-A12]` takes rules out.
package algsimp

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const doc = `apply algebraic rules until none matches

Only rules that keep every bit fire, unless fp=xla or fp=fast allows others. rules=[-A12,+A03f] takes rules out, and lets one fire whatever it
may change. The other options are those of XLA's simplifier, by their names there.`

// Every lists the rules whatever options they wait for.
func Every() []*pass.RewriteRule {
	o := defaults
	o.batchNorm = "batch-norm"
	all := catalogue(&o)
	for i, r := range all {
		all[i] = r.Whole()
	}
	return all
}

// table lists the rules for some options.
func table(o *options) []*pass.RewriteRule {
	return slices.DeleteFunc(catalogue(o), func(r *pass.RewriteRule) bool { gate := gates[r.ID]; return gate != nil && !gate(o) })
}

func catalogue(o *options) []*pass.RewriteRule {
	return slices.Concat(
		written("arithmetic.rules"), integerRules, written("minmax.rules"), written("logic.rules"), written("movement.rules"), layoutRules, shapeRules, reshapeRules, turnRules,
		sliceRules, dynamicSliceRules, padRules, reduceRules(o), windowRules(o), dotRules(o), convRules, gatherRules(o), compiledRules, callRules, valueRules, varianceRules(o))
}

// New makes the pass. Pipelines have it several times, mostly with the same options: these share rules and the tables that find them.
func New(o pass.Options) (*pass.Pass, error) {
	text := o.String()
	shared.Lock()
	defer shared.Unlock()
	p := shared.passes[text]
	if p == nil {
		var err error
		if p, err = made(o); err != nil {
			return nil, err
		}
		if len(shared.passes) == maxShared {
			clear(shared.passes)
		}
		shared.passes[text] = p
	}
	same := *p
	return &same, nil
}

// shared are passes by the text of their options.
var shared = struct {
	sync.Mutex
	passes map[string]*pass.Pass
}{passes: make(map[string]*pass.Pass)}

const maxShared = 16

func made(o pass.Options) (*pass.Pass, error) {
	opts, r := defaults, &pass.Rewriter{}
	if err := opts.read(o, r); err != nil {
		return nil, err
	}
	r.Rules = table(&opts)
	r.Layouts, r.Once = opts.layoutSensitive, !opts.fixedPoint
	return &pass.Pass{Name: "algsimp", Doc: doc, Options: o, Params: params(), Rewrites: r.Document, Local: r.Local, Lent: true}, nil
}

// rule is shorthand for the tables.
func rule(id, doc string, rewrite func(hlo.Instruction) (pass.Expr, bool), root ...hlo.Opcode) *pass.RewriteRule {
	return &pass.RewriteRule{ID: id, Doc: doc, Root: root, Rewrite: rewrite}
}

// loosely is a rule that is not exact.
func loosely(fp pass.FP, r *pass.RewriteRule) *pass.RewriteRule {
	r.FP = fp
	return r
}

// over says what the first operands must be for a rule to be asked; nil is anything.
func over(r *pass.RewriteRule, operands ...[]hlo.Opcode) *pass.RewriteRule {
	r.Operands = operands
	return r
}

// dynamic is a rule that is right for dynamic sizes too.
func dynamic(r *pass.RewriteRule) *pass.RewriteRule {
	r.Dynamic = true
	return r
}

// no is the answer of a rule that does not apply.
func no() (pass.Expr, bool) { return pass.Expr{}, false }

func use(in hlo.Instruction) (pass.Expr, bool) { return pass.Use(in), true }

// same is an elementwise instruction of the shape of in.
func same(in hlo.Instruction, op hlo.Opcode, operands ...pass.Expr) (pass.Expr, bool) {
	return pass.New(op, in.Shape(), nil, operands...), true
}

// sameShape reports whether two instructions have the same shape, so that one may stand for the other.
func sameShape(a, b hlo.Instruction) bool { return a.Shape().EqualIgnoringLayout(b.Shape()) }
