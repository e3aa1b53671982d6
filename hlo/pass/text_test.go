package pass_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// shelf is a catalogue of three passes and a pipeline.
type shelf struct{}

func (shelf) Pass(name string, o pass.Options) (*pass.Pass, error) {
	switch name {
	case "local":
		p := *nothing
		p.Name, p.Run, p.Local = name, nil, func(*pass.Context, hlo.Module, hlo.CompEdit) error { return nil }
		return &p, o.Known()
	case "dce", "cse", "algsimp":
		p := *nothing
		p.Name, p.Options = name, o
		return &p, o.Known("level", "fast", "rules")
	}
	return nil, nil
}

func (shelf) Pipeline(name string) *pass.Pipeline {
	if name == "simplify" {
		p := pass.Fixpoint("simplify", nothing)
		return p
	}
	return nil
}

func (shelf) Names() []string { return []string{"dce", "cse", "algsimp", "simplify", "L1", "L2", "L0"} }

func TestTextRoundTrip(t *testing.T) {
	for _, text := range []string{
		"", "dce", "dce,cse", "fix(dce,cse),dce", "fix{limit=3}(dce)", "(dce,(cse))", "simplify,dce", "fix(fix(dce),simplify)",
		"algsimp{level=2 fast}", "if(loops,dce,cse)", "if(not-async)", "fix(if(calls,simplify{fp=xla}))", "threads{only=main}(local)",
		"threads{only=[main,host]}(local,(local))", "algsimp{rules=[-B05,A01]}", `algsimp{level="a b"}`,
	} {
		p, err := pass.Parse(text, shelf{})
		require.NoError(t, err, text)
		assert.Equal(t, text, p.String())
	}
	// Blanks and XLA's underscores are read, and written as the house writes.
	p, err := pass.Parse(" fix { limit = 3 , } ( dce , cse ) ", shelf{})
	require.NoError(t, err)
	assert.Equal(t, "fix{limit=3}(dce,cse)", p.String())
}

func TestTextErrors(t *testing.T) {
	for _, c := range []struct{ text, caret, want string }{
		{"dce,cze", "    ^", `there is no pass "cze"; did you mean "cse"?`},
		{"dce,quite-another", "    ^", `there is no pass "quite-another"`},
		{"dce,L7", "    ^", `there is no pass "L7"; want L0, L1 or L2`},
		{"l", "^", `there is no pass "l"; want L0, L1 or L2`},
		{"Lx", "^", `there is no pass "Lx"; did you mean "L1"?`},
		{"fix", "^", "fix needs passes in parentheses"},
		{"dce(cse)", "^", "only fix, if and threads take passes"},
		{"if(wet,dce)", "^", `"wet" is no condition: want async, calls`},
		{"if()", "^", "begins with a condition"},
		{"if", "^", "if needs passes in parentheses"},
		{"threads(dce)", "^", "want {only=NAME}"},
		{"dce,threads{only=main}(dce)", "    ^", "dce works on whole modules"},
		{"simplify{fp=loose}", "^", "fp=loose: want strict, xla or fast"},
		{"simplify{level=3}", "^", `unknown option "level": want fp`},
		{"dce,algsimp{colour=red}", "    ^", `unknown option "colour": want level, fast, rules`},
		{"fix{limit=many}(dce)", "^", "limit:"},
		{"dce,,cse", "    ^", `unexpected token "," (expected a pass)`},
		{"dce,", "    ^", `unexpected end (expected a pass)`},
		{"dce,(cse", "        ^", `unexpected end (expected ")")`},
		{"dce;cse", "   ^", `unexpected character ";"`},
	} {
		_, err := pass.Parse(c.text, shelf{})
		var e *pass.TextError
		require.ErrorAs(t, err, &e, c.text)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 3, "%v", err)
		assert.Contains(t, lines[0], c.want, c.text)
		assert.Equal(t, "  "+c.text, lines[1])
		assert.Equal(t, "  "+c.caret, lines[2], c.text)
	}
}

func FuzzText(f *testing.F) {
	f.Add("fix{limit=3}(dce,cse),simplify")
	f.Add(`algsimp{rules=[-B05,A01] level="x\"y"}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := pass.Parse(text, shelf{})
		if err != nil {
			_ = err.Error()
			return
		}
		again, err := pass.Parse(p.String(), shelf{})
		require.NoError(t, err, "%q prints as %q", text, p.String())
		assert.Equal(t, p.String(), again.String())
	})
}

func TestValidate(t *testing.T) {
	run := func(*pass.Context, hlo.Module) (hlo.Module, error) { return hlo.Module{}, nil }
	a := &pass.Pass{Name: "a", Doc: "title\n\nmore", Run: run}
	b := &pass.Pass{Name: "b", Doc: "title", Run: run}
	order := []pass.Order{{Before: "a", After: "b", Because: "so"}}
	require.NoError(t, pass.Validate([]*pass.Pass{a, b}, map[string]*pass.Pipeline{"p": pass.Of("p", a, b, a)}, order))
	for want, err := range map[string]error{
		"must run before b, because so": pass.Validate([]*pass.Pass{a, b}, map[string]*pass.Pipeline{"p": pass.Of("p", b, a)}, order),
		"there are two":                 pass.Validate([]*pass.Pass{a, a}, nil, nil),
		"kebab-case":                    pass.Validate([]*pass.Pass{{Name: "A_b", Doc: "x", Run: run}}, nil, nil),
		"begins with a title":           pass.Validate([]*pass.Pass{{Name: "x", Run: run}}, nil, nil),
		"nothing to run":                pass.Validate([]*pass.Pass{{Name: "x", Doc: "x"}}, nil, nil),
		"both must be passes":           pass.Validate([]*pass.Pass{a}, nil, order),
		"not in the catalogue":          pass.Validate([]*pass.Pass{a}, map[string]*pass.Pipeline{"p": pass.Of("p", b)}, nil),
	} {
		assert.ErrorContains(t, err, want)
	}
}
