package eval_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/hlotest"
)

// FuzzModule evaluates whatever the reader accepts, verified or not: an error is fine, a panic in a kernel is a bug.
func FuzzModule(f *testing.F) {
	for _, text := range hlotest.OpCases(f, 2) {
		f.Add(text)
	}
	f.Fuzz(evaluateAnything)
}

// evaluateAnything fails on a panic, and on nothing else.
func evaluateAnything(t *testing.T, text string) {
	m, err := parser.Parse("case.hlo", text)
	if err != nil || m.Entry().IsZero() {
		return
	}
	m, err = hlo.FillElided(m)
	require.NoError(t, err)
	args, err := parameters(m, func(s hlo.Shape) (*hlo.Literal, error) {
		if s.IsArray() && s.ByteSize() > 1<<16 {
			return nil, eval.ErrBudget
		}
		return arrays.Fill(arrays.Random, 1, 0, s)
	})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = eval.Module(ctx, m, args, eval.Options{MaxSteps: 10000, MaxBytes: 1 << 20})
	if err != nil && strings.Contains(err.Error(), "is a bug") {
		t.Errorf("%v\nof\n%s", err, text)
	}
}

var number = regexp.MustCompile(`-?\d+`)

// TestOtherNumbers puts other numbers in the place of each number of the cases: the reader accepts many of them, and no verifier looks
// at what comes out.
func TestOtherNumbers(t *testing.T) {
	for _, text := range hlotest.OpCases(t, 2) {
		for _, at := range number.FindAllStringIndex(text, -1) {
			for _, other := range []string{"-1", "0", "1", "3", "9", "1000003"} {
				evaluateAnything(t, text[:at[0]]+other+text[at[1]:])
			}
		}
	}
}
