package passtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/filecheck"
	"github.com/gohalo/halo/internal/passcases"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// Options say how cases are run.
type Options = passcases.Options

// Run runs the cases of the archives dir/PASS/*.txtar, strictly. Parse reads pipeline text.
func Run(t *testing.T, dir string, parse func(string) (*pass.Pipeline, error)) {
	RunWith(t, dir, Options{Parse: parse, Strict: true})
}

// RunWith is [Run] with options.
func RunWith(t *testing.T, dir string, o Options) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(dir, "*", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are no cases %s", filepath.Join(dir, "PASS", "*.txtar"))
	}
	for _, path := range archives {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases := passcases.Cases(path, data, o.Parse)
		t.Run(filepath.Base(filepath.Dir(path))+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			if len(cases) == 0 {
				t.Fatal("the archive has no files")
			}
			for _, c := range cases {
				t.Run(c.Name[len(path)+1:], func(t *testing.T) {
					if _, err := c.Run(t.Context(), o); err != nil {
						t.Errorf("%s: %v", c.Name, err)
					}
				})
			}
		})
	}
}

// Apply runs a pipeline on a module with the verifier around every pass, and returns the result.
func Apply(t testing.TB, p *pass.Pipeline, m hlo.Module, cfg verifier.Config) hlo.Module {
	t.Helper()
	c := passcases.Case{Name: "module"}
	after, _, err := c.Transform(t.Context(), p, m, Options{Verify: cfg, Strict: true})
	if err != nil {
		t.Fatalf("%v\nmodule:\n%s", err, printer.String(m))
	}
	return after
}

// CheckLines holds an output to the CHECK lines of a text. The names are for messages.
func CheckLines(name string, checks []byte, outputName string, output []byte) error {
	return filecheck.Check(checks, output, filecheck.Options{CheckName: name, OutputName: outputName})
}

// SameResults evaluates two versions of a module on several inputs, among them infinities, NaN and zeros of both signs, and says where they
// differ beyond what rewrites of a class may change. It is nil, too, when the first version cannot be evaluated.
func SameResults(ctx context.Context, before, after hlo.Module, class pass.FP) error {
	err := shadow.Compare(ctx, before, after, shadow.Config{Rounds: 3, Class: class})
	if errors.Is(err, shadow.ErrSkipped) {
		return nil
	}
	return err
}
