// Package hlotest is the harness of text-driven tests of passes, and a generator of random modules.
//
//	RunPassCases   every module of every archive under a folder, through its pass and against its CHECK lines
//	Random         a verified module that evaluates, made from a seed
//	Shared         a folder of developers' data beside the repository; the test is skipped without it
//
// A case is a file of a txtar archive. The folder of the archive is the pipeline to run, unless the case begins with `// PASS: text`.
// Its name says what is expected beyond the CHECK lines: a name that ends in `.same.hlo` must come back as the same module, by pointer.
// Every case is verified before and after, and evaluated before and after unless it says `// NOEXEC: reason`. `// PROFILE: xla` verifies
// under that profile, and `// FP: rounding` allows what rewrites of that class may change.
package hlotest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/filecheck"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// RunPassCases runs the archives in dir/NAME/*.txtar; parse reads pipeline text.
func RunPassCases(t *testing.T, dir string, parse func(string) (*pass.Pipeline, error)) {
	archives, err := filepath.Glob(filepath.Join(dir, "*", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, path := range archives {
		name := filepath.Base(filepath.Dir(path))
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		t.Run(name+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			require.NotEmpty(t, archive.Files)
			for _, f := range archive.Files {
				t.Run(f.Name, func(t *testing.T) { runPassCase(t, name, f, parse) })
			}
		})
	}
}

var directive = regexp.MustCompile(`(?m)^// ([A-Z]+): *(.*)$`)

// directives are the lines `// WORD: value` of a case but for its checks.
func directives(text string) map[string]string {
	found := map[string]string{}
	for _, m := range directive.FindAllStringSubmatch(text, -1) {
		found[m[1]] = m[2]
	}
	return found
}

func runPassCase(t *testing.T, name string, f txtar.File, parse func(string) (*pass.Pipeline, error)) {
	text := string(f.Data)
	say := directives(text)
	if p, ok := say["PASS"]; ok {
		name = p
	}
	pipeline, err := parse(name)
	require.NoError(t, err)
	m, err := parser.Parse(f.Name, text)
	require.NoError(t, err)
	cfg := verifier.Config{}
	if say["PROFILE"] == "xla" {
		cfg.Profile = verifier.XLA
	}
	after := RunPass(t, pipeline, m, cfg)
	output := printer.String(after)
	_, err = parser.Parse("output", output)
	assert.NoError(t, err, "the result must read back")
	if strings.HasSuffix(f.Name, ".same.hlo") {
		assert.True(t, after == m, "the pass has nothing to do here, yet returned another module:\n%s", output)
	} else {
		assert.False(t, after == m, "the pass left the module as it was")
	}
	if strings.Contains(text, "CHECK") {
		assert.NoError(t, filecheck.Check(f.Data, []byte(output), filecheck.Options{CheckName: f.Name}), "output:\n%s", output)
	}
	again := RunPass(t, pipeline, m, cfg)
	assert.Equal(t, output, printer.String(again), "a second run must do the same")
	if _, skip := say["NOEXEC"]; !skip {
		err := shadow.Compare(context.Background(), m, after, shadow.Config{Rounds: 3, Class: fpClass(t, say["FP"])})
		assert.NoError(t, err)
		assert.NotErrorIs(t, err, shadow.ErrSkipped, "say NOEXEC with the reason")
	}
}

// fpClass is what `// FP: rounding` lets rewrites of a case change, after the names of [pass.FP].
func fpClass(t *testing.T, name string) pass.FP {
	if name == "" {
		return pass.Exact
	}
	for f := pass.Exact; f <= pass.FastMath; f++ {
		if f.String() == name {
			return f
		}
	}
	t.Fatalf("FP: %s: there is no such class", name)
	return pass.Exact
}

// RunPass runs a pipeline with the verifier around every pass, and checks that its input stayed as it was.
func RunPass(t testing.TB, p *pass.Pipeline, m hlo.Module, cfg verifier.Config) hlo.Module {
	t.Helper()
	digest, before := m.Digest(), printer.String(m)
	runner := pass.Runner{Check: func(m hlo.Module) error { return verifier.Verify(m, cfg).Err() }}
	after, err := runner.Run(context.Background(), p, m)
	if err != nil {
		var refused *pass.Error
		if errors.As(err, &refused) && !refused.After.IsZero() {
			t.Logf("after the pass:\n%s", printer.String(refused.After))
		}
		require.NoError(t, err, "module:\n%s", before)
	}
	require.Equal(t, digest, m.Digest(), "the pass wrote to its input")
	require.Equal(t, before, printer.String(m), "the pass wrote to its input")
	return after
}

// Shared is the path of a folder beside the repository, up folders above the package under test. Without it the test is skipped.
func Shared(t testing.TB, up int, elements ...string) string {
	t.Helper()
	path := filepath.Join(strings.Repeat("../", up+1)+"shared", filepath.Join(elements...))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not beside the repository", filepath.Join(elements...))
	}
	return path
}
