package eval_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
)

// TestOps evaluates the cases of testdata/ops: modules followed by the leaves of their results or an error.
func TestOps(t *testing.T) {
	for f, archive := range archives.All(t, "../../testdata/ops/*.txtar") {
		for _, c := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar")+"/"+c.Name, func(t *testing.T) {
				checkCase(t, string(c.Data))
			})
		}
	}
}

func checkCase(t *testing.T, text string) {
	module, want, failure := "HloModule m\n", []string(nil), ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "= "):
			want = append(want, strings.TrimSpace(line[2:]))
		case strings.HasPrefix(line, "! "):
			failure = strings.TrimSpace(line[2:])
		default:
			module += line
		}
	}
	m, err := parser.Parse("case.hlo", module)
	require.NoError(t, err)
	v, err := eval.Module(context.Background(), m, nil, eval.Options{})
	if failure != "" {
		require.ErrorContains(t, err, failure)
		return
	}
	require.NoError(t, err)
	got := arrayLeaves(v, nil)
	require.Len(t, got, len(want), "results")
	for i, w := range want {
		assert.Empty(t, tolerance{Kind: "exact"}.compare(got[i], literal(t, w)), "result %d", i)
	}
}

// literal reads `s32[2] {1, 2}`.
func literal(t *testing.T, text string) *hlo.Literal {
	shape, value, _ := strings.Cut(text, " ")
	s, err := parser.ParseShape(shape)
	require.NoError(t, err)
	l, err := parser.ParseLiteral(value, s.WithoutLayout())
	require.NoError(t, err)
	return l
}

// withoutKernel are the opcodes that have no meaning by themselves.
var withoutKernel = map[hlo.Opcode]string{}

func TestEveryOpcodeHasAKernel(t *testing.T) {
	for op := range hlo.Opcodes {
		if reason, ok := withoutKernel[op]; ok {
			assert.False(t, eval.Has(op), "%v has a kernel, and a reason for none: %s", op, reason)
			continue
		}
		assert.True(t, eval.Has(op), "%v has no kernel", op)
	}
}
