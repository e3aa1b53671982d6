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
	options, broken := filepath.Join(t.TempDir(), "options"), filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(options, []byte("# a comment\nxla_disable_hlo_passes: \"cse\"\nxla_fuel: \"dce=1\"\n"), 0o666))
	require.NoError(t, os.WriteFile(broken, []byte("what is this\n"), 0o666))
	for _, c := range []struct{ args, environment, want, stderr string }{
		{"fmt --xla_nonsense", "--xla_other", "fmt --xla_nonsense", ""},
		{"opt a.hlo --xla_disable_hlo_passes=cse,dce", "", "opt a.hlo --xla_disable_hlo_passes=cse,dce", ""},
		{"opt a.hlo", "--xla_fuel=algsimp=3 --xla_gpu_autotune_level=0 --xla_dump_hlo_as_proto", "opt --xla_fuel=algsimp=3 --dump-as=proto a.hlo", ""},
		{"opt a.hlo", file, "opt --xla_disable_hlo_passes=dce a.hlo", ""},
		{"opt --passes=dce a.hlo", "--xla_backend_optimization_level=0", "opt --passes=dce a.hlo", ""},
		{"opt a.hlo", "--xla_backend_optimization_level=0", "opt --xla_backend_optimization_level=0 a.hlo", ""},
		{"opt a.hlo --xla_cpu_enable_fast_math=true", "", "opt a.hlo --fp=fast", ""},
		{"opt a.hlo --xla_cpu_enable_fast_math=false", "--xla_cpu_enable_fast_math=true", "opt a.hlo", ""},
		{"opt a.hlo --xla_allow_excess_precision", "--xla_allow_excess_precision=false", "opt a.hlo --xla_allow_excess_precision", ""},
		{"opt a.hlo --xla_cpu_enable_fast_math=perhaps", "", "", "--xla_cpu_enable_fast_math=perhaps: want true or false"},
		{"opt a.hlo --xla_syntax_sugar_async_ops=false", "", "opt a.hlo --sugar=off", ""},
		{"opt a.hlo --xla_disable_hlo_pases=cse", "", "opt a.hlo", "warning: unknown flag --xla_disable_hlo_pases; did you mean --xla_disable_hlo_passes?\n"},
		{"opt a.hlo --debug_options_file=" + options, "--xla_fuel=dce=2", "opt --xla_disable_hlo_passes=cse --xla_fuel=dce=1 --xla_fuel=dce=2 a.hlo", ""},
		{"opt a.hlo --xla_dump_hlo_snapshots", "", "opt a.hlo", "note: --xla_dump_hlo_snapshots has no effect here\n"},
		{"opt --debug_options_file " + broken + " a.hlo", "", "", broken + ":1: got \"what is this\", want an option and its value: xla_dump_to: \"dir\""},
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
