package halocmd

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/verifier"
)

// TestExtensionsThatAreRefused has every mistake of a program that extends the command. What works is in examples/extension.
func TestExtensionsThatAreRefused(t *testing.T) {
	defer func() { assert.NoError(t, extend(nil)) }()
	run := func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) { return m, nil }
	named := func(names ...string) (f pass.Family) {
		for _, n := range names {
			f.Plain = append(f.Plain, &pass.Pass{Name: n, Doc: "a pass", Run: run})
		}
		return f
	}
	check := func(hlo.Module, verifier.Report) {}
	custom := map[string]eval.Kernel{"x": nil}
	for want, xs := range map[string][]Extension{
		"a pass or pipeline dce already":   {{Passes: named("dce")}},
		"a pass or pipeline O2 already":    {{Passes: named("O2")}},
		"a pass or pipeline mine already":  {{Passes: named("mine")}, {Passes: named("mine")}},
		"a pass or pipeline cse already":   {{Passes: pass.Family{Aliases: map[string]string{"cse": "dce"}}}},
		"a pass or pipeline cpu already":   {{Pipelines: []passes.Pipeline{{Name: "cpu", Doc: "a pipeline", Text: "dce"}}}},
		"pipeline p: ":                     {{Pipelines: []passes.Pipeline{{Name: "p", Doc: "a pipeline", Text: "nosuch"}}}},
		"Not_Kebab":                        {{Passes: named("Not_Kebab")}},
		"nosuch":                           {{Orders: []pass.Order{{Before: "dce", After: "nosuch", Because: "it is so"}}}},
		"there is a rule ASYNC-25 already": {{Rules: []verifier.Extra{{Rule: verifier.Rule{ID: "ASYNC-25", What: "a rule"}, Check: check}}}},
		"there is a rule MINE-1 already": {
			{Rules: []verifier.Extra{{Rule: verifier.Rule{ID: "MINE-1", What: "a rule"}, Check: check}}},
			{Rules: []verifier.Extra{{Rule: verifier.Rule{ID: "MINE-1", What: "a rule"}, Check: check}}},
		},
		"want an id, a sentence and a check": {{Rules: []verifier.Extra{{Rule: verifier.Rule{ID: "MINE-1"}}}}},
		"custom-call x is added twice":       {{CustomCalls: map[string]eval.Kernel{"x": func(*eval.Call) (*hlo.Literal, error) { return nil, nil }}}, {CustomCalls: custom}},
	} {
		var out bytes.Buffer
		assert.Equal(t, exitBug, Run([]string{"list-passes"}, nil, &out, &out, xs...), want)
		assert.Contains(t, out.String(), want)
	}
}
