package algsimp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes/algsimp"
	"github.com/gohalo/halo/passes/simplify"
	"github.com/gohalo/halo/passtest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// further lists cases in which a rule goes further than XLA does, and why that is right.
var further = map[string]string{
	"rule_c03_2": "maximum hands NaN on, so -Inf beside it changes nothing",
}

// TestAgainstXLA compares what the rules make of small modules with what XLA's simplifier makes of them. The next rewrite in a chain is
// free: what XLA makes is simplified too.
func TestAgainstXLA(t *testing.T) {
	f, err := os.Open(hlotest.Shared(t, 2, "spec", "algsimp_cases.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	strict, err := algsimp.New(nil)
	require.NoError(t, err)
	p, err := algsimp.New(pass.Options{{Key: "fp", Value: "xla"}, {Key: "executing-on-cpu"}})
	require.NoError(t, err)
	ids := []string{}
	for _, r := range p.Rules() {
		ids = append(ids, strings.TrimRight(r.ID, "abcdefghijklmnopqrstuvwxyz"))
	}
	same, other := 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			ID, Before string
			After      *string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		m, err := parser.Parse(c.ID, c.Before)
		require.NoError(t, err)
		exact := passtest.Apply(t, pass.Of("", strict, simplify.DCE), m, verifier.Config{})
		got := passtest.Apply(t, pass.Of("", p, simplify.DCE), m, verifier.Config{})
		if err := shadow.Compare(context.Background(), m, exact, shadow.Config{Rounds: 3}); err != nil {
			require.ErrorIs(t, err, shadow.ErrSkipped, "%s\n%s\n%s", c.ID, c.Before, printer.String(exact))
		}
		if !slices.Contains(ids, strings.TrimRight(c.ID, "abcdefghijklmnopqrstuvwxyz")) {
			continue
		}
		want := m
		if c.After != nil {
			if want, err = parser.Parse(c.ID, *c.After); err != nil {
				continue
			}
			// Further rewrites are free on either side: XLA stops after one.
			want = passtest.Apply(t, pass.Of("", p, simplify.DCE), want, verifier.Config{})
		}
		if further[m.Name()] != "" {
			continue
		}
		if got.Hash() == withoutHeader(want, got).Hash() {
			same++
			continue
		}
		other++
		t.Errorf("%s differs: got\n%s\nwant\n%s", c.ID, printer.String(got), printer.String(want))
	}
	t.Logf("%d rules; of the cases of these, %d equal what XLA makes, %d do not", len(ids), same, other)
}

// withoutHeader gives m the header of o: the recorded results state layouts that the inputs do not.
func withoutHeader(m, o hlo.Module) hlo.Module {
	e := m.Edit()
	e.SetConfig(o.Config())
	return e.Freeze()
}
