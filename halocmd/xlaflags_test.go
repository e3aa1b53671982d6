package halocmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestXLAFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flags")
	require.NoError(t, os.WriteFile(file, []byte("--xla_disable_hlo_passes=dce\n"), 0o666))
	for _, c := range []struct{ args, environment, want, stderr string }{
		{"fmt --xla_nonsense", "--xla_other", "fmt --xla_nonsense", ""},
		{"opt a.hlo --xla_disable_hlo_passes=cse,dce", "", "opt a.hlo --xla_disable_hlo_passes=cse,dce", ""},
		{"opt a.hlo", "--xla_fuel=algsimp=3 --xla_gpu_autotune_level=0 --xla_dump_hlo_as_proto", "opt --xla_fuel=algsimp=3 --dump-as=proto a.hlo", ""},
		{"opt a.hlo", file, "opt --xla_disable_hlo_passes=dce a.hlo", ""},
		{"opt --passes=dce a.hlo", "--xla_backend_optimization_level=0", "opt --passes=dce a.hlo", ""},
		{"opt a.hlo", "--xla_backend_optimization_level=0", "opt --xla_backend_optimization_level=0 a.hlo", ""},
		{"opt a.hlo --xla_cpu_enable_fast_math=true", "", "opt a.hlo --fp=fast", ""},
		{"opt a.hlo --xla_syntax_sugar_async_ops=false", "", "opt a.hlo --sugar=off", ""},
		{"opt a.hlo --xla_disable_hlo_pases=cse", "", "opt a.hlo", "warning: unknown flag --xla_disable_hlo_pases; did you mean --xla_disable_hlo_passes?\n"},
		{"opt --strict-flags a.hlo --xla_zzz", "", "", "unknown flag --xla_zzz"},
	} {
		var stderr bytes.Buffer
		got, err := xlaFlags(strings.Fields(c.args), c.environment, &stderr)
		if err != nil {
			assert.EqualError(t, err, c.stderr)
			continue
		}
		assert.Equal(t, c.want, strings.Join(got, " "))
		assert.Equal(t, c.stderr, stderr.String())
	}
}
