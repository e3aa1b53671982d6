package asmgen_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mmcloughlin/avo/build"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/asmgen"
)

// TestStale writes files, and changes one.
func TestStale(t *testing.T) {
	generate := func() (asmgen.Files, error) {
		ctx := build.NewContext()
		ctx.ConstraintExpr("amd64")
		ctx.Function("nothing")
		ctx.SignatureExpr("func()")
		ctx.RET()
		return asmgen.Compile(ctx, "some/pkg", "nothing")
	}
	dir := t.TempDir()
	require.Error(t, asmgen.Stale(dir, generate), "there is no file")
	t.Chdir(dir)
	asmgen.Write(generate)
	require.NoError(t, asmgen.Stale(dir, generate))
	text, err := os.ReadFile(filepath.Join(dir, "gen_nothing_amd64.go"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "package pkg\n")
	require.NoError(t, os.WriteFile("gen_nothing_amd64.s", []byte("RET\n"), 0o644))
	require.ErrorContains(t, asmgen.Stale(dir, generate), "gen_nothing_amd64.s: run go generate")
}
