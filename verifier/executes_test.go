package verifier_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/verifier"
)

// TestVerifiedModulesExecute changes numbers and element types in the cases of testdata/ops. What the verifier then accepts must execute, or
// be refused for a reason that the types do not show.
func TestVerifiedModulesExecute(t *testing.T) {
	texts := hlotest.OpCases(t, 1)
	verified, ran := 0, 0
	for _, text := range texts {
		mutants(text, func(mutant string) {
			m, err := (parser.Config{MaxConstantBytes: 1 << 16}).Parse("", mutant)
			if err != nil || m.Entry().IsZero() || verifier.Verify(m, verifier.Config{}).Err() != nil {
				return
			}
			verified++
			if err := execute(m); err != nil {
				if !hlotest.Refusal(err) {
					assert.Fail(t, "a verified module does not execute", "%v\n%s", err, mutant)
				}
				return
			}
			ran++
		})
	}
	t.Logf("%d mutants are verified, %d of them execute", verified, ran)
}

func execute(m hlo.Module) error {
	m, err := hlo.FillElided(m)
	if err != nil {
		return eval.ErrBudget
	}
	var args []*hlo.Literal
	for i := range m.Entry().NumParameters() {
		s := m.Entry().Parameter(i).Shape()
		if !s.IsArray() || s.ByteSize() > 1<<16 {
			return eval.ErrBudget
		}
		l, err := arrays.Fill(arrays.Random, 1, i, s)
		if err != nil {
			return err
		}
		args = append(args, l)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = eval.Module(ctx, m, args, eval.Options{MaxSteps: 1 << 20, MaxBytes: 1 << 22})
	return err
}

var (
	number      = regexp.MustCompile(`-?\d+`)
	elementType = regexp.MustCompile(`\b(pred|[su]\d+|f\d+|bf16|c64|c128)\[`)
)

// mutants calls f with texts that differ from text: in one number, in one element type, or in all of one kind.
func mutants(text string, f func(string)) {
	for _, at := range number.FindAllStringIndex(text, -1) {
		for _, other := range []string{"-1", "0", "3", "9"} {
			f(text[:at[0]] + other + text[at[1]:])
		}
	}
	numbers := map[string]bool{}
	for _, n := range number.FindAllString(text, -1) {
		numbers[n] = true
	}
	for n := range numbers {
		for _, other := range []string{"-1", "0", "3", "9"} {
			f(regexp.MustCompile(`\b`+regexp.QuoteMeta(n)+`\b`).ReplaceAllString(text, other))
		}
	}
	types := map[string]bool{}
	for _, s := range elementType.FindAllString(text, -1) {
		types[s] = true
	}
	for s := range types {
		for _, other := range []string{"pred", "s4", "u8", "f8e4m3fn", "bf16", "c64"} {
			f(strings.ReplaceAll(text, s, other+"["))
		}
	}
	for _, at := range elementType.FindAllStringIndex(text, -1) {
		for _, other := range []string{"pred", "s4", "u8", "f8e4m3fn", "bf16", "c64"} {
			f(text[:at[0]] + other + text[at[1]-1:])
		}
	}
}
