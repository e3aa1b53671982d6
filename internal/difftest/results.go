package difftest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passtest"
	"github.com/gohalo/halo/verifier"
)

// Results runs a program on the evaluator and on BEF, first as it is and then as a pipeline makes it, which must change it.
func Results(t *testing.T, text, pipeline string, args ...*hlo.Literal) (results [][]*hlo.Literal) {
	t.Helper()
	m, err := parser.Parse("program", text)
	require.NoError(t, err)
	p, err := passes.Parse(pipeline)
	require.NoError(t, err)
	after := passtest.Apply(t, p, m, verifier.Config{})
	require.NotEqual(t, m.Digest(), after.Digest(), "%s leaves the program as it is", pipeline)
	for _, program := range []hlo.Module{m, after} {
		for _, engine := range []halo.Engine{halo.Eval, halo.BEF} {
			compiled, err := halo.Compile(t.Context(), program, halo.Options{Engine: engine})
			require.NoError(t, err)
			got, err := compiled.Run(t.Context(), args...)
			require.NoError(t, err)
			compiled.Close()
			results = append(results, got)
		}
	}
	return results
}
