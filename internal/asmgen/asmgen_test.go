package asmgen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
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

// TestRegistersOfAVX2 uses one vector more than AVX2 has.
func TestRegistersOfAVX2(t *testing.T) {
	for name, vectors := range map[string]int{"fewAVX2": 16, "manyAVX2": 17, "manyx256": 17, "manyAVX512": 17} {
		ctx := build.NewContext()
		ctx.ConstraintExpr("amd64")
		ctx.Function(name)
		ctx.SignatureExpr("func()")
		var live []reg.VecVirtual
		for range vectors {
			live = append(live, ctx.YMM())
			ctx.VMOVUPS(operand.Mem{Base: reg.StackPointer}, live[len(live)-1])
		}
		for _, v := range live {
			ctx.VMOVUPS(v, operand.Mem{Base: reg.StackPointer})
		}
		ctx.RET()
		_, err := asmgen.Compile(ctx, "some/pkg", "vectors")
		switch name {
		case "manyAVX2", "manyx256":
			assert.EqualError(t, err, name+": Y16 needs AVX-512")
		default:
			assert.NoError(t, err, name)
		}
	}
}

// TestMovesOfVectors moves vectors to where they are.
func TestMovesOfVectors(t *testing.T) {
	for _, c := range []struct {
		name  string
		v     reg.VecPhysical
		stays bool
	}{{"someAVX2", reg.Y1, false}, {"someAVX2", reg.X1, true}, {"someAVX512", reg.Z1, false}, {"someAVX512", reg.Y1, true}} {
		ctx := build.NewContext()
		ctx.ConstraintExpr("amd64")
		ctx.Function(c.name)
		ctx.SignatureExpr("func()")
		ctx.VMOVAPS(c.v, c.v)
		ctx.VMOVUPD(c.v, c.v)
		ctx.RET()
		files, err := asmgen.Compile(ctx, "some/pkg", "moves")
		require.NoError(t, err)
		for _, op := range []string{"VMOVAPS ", "VMOVUPD "} {
			move := op + c.v.Asm() + ", " + c.v.Asm()
			assert.Equal(t, c.stays, strings.Contains(string(files["gen_moves_amd64.s"]), move), "%s in %s", move, c.name)
		}
	}
}
