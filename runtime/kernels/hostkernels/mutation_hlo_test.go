package hostkernels_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
)

// loweredFiles are programs of HLO as bytes, with plans, constants and the texts of their kernels.
func loweredFiles(t testing.TB) map[string][]byte {
	files := make(map[string][]byte)
	for _, pattern := range []string{"../../../testdata/run/*.hlo", "../../../testdata/run/*/prog.hlo"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			m, err := parser.Parse(path, string(data))
			if err != nil {
				continue
			}
			pipeline, err := passes.Parse("cpu")
			require.NoError(t, err)
			m, err = (&pass.Runner{}).Run(t.Context(), pipeline, m)
			require.NoError(t, err)
			f, err := lower.Module(t.Context(), m)
			require.NoError(t, err)
			name := strings.TrimSuffix(strings.TrimPrefix(path, "../../../testdata/run/"), "/prog.hlo")
			files[name], err = bef.Marshal(f, bef.EncodeOptions{Extensions: true})
			require.NoError(t, err)
		}
	}
	return files
}

// TestMutantsOfLoweredPrograms is TestMutants for programs of HLO: a byte may be in the plan, in the text of a kernel, anywhere.
func TestMutantsOfLoweredPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const some = 300
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	for name, original := range loweredFiles(t) {
		if !strings.Contains(name, *mutateOnly) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			eachMutant(t, name, original, someValues, some, func(b []byte, _ string) bool { return runTensorMutant(t, reg, b) })
		})
	}
}

// runTensorMutant is runMutant for a lowered program.
func runTensorMutant(t *testing.T, reg *runtime.Registry, b []byte) bool {
	f, err := bef.Decode(bytes.Clone(b), bef.DecodeOptions{})
	if err != nil {
		return false
	}
	p, err := runtime.Load(f, reg, runtime.LoadOptions{MaxBytes: 64 << 20})
	if err != nil || p.Entry() == nil || !p.Entry().IsTensor() {
		return false
	}
	fn := p.Entry()
	var args []runtime.Buffer
	for _, typ := range fn.ArgTypes() {
		args = append(args, typ.NewBuffer())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_ = fn.Run(ctx, runtime.RunOptions{}, args, fn.NewResults())
	return true
}
