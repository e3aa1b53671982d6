package halocmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const withTanh = `HloModule big

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] add(x, y)
  t = f32[4] tanh(a), metadata={op_name="t"}
  m = f32[4] multiply(t, y)
  ROOT r = (f32[4], f32[4]) tuple(m, a)
}
`

// TestReduceByCommand reduces with a command as the judge.
func TestReduceByCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.hlo")
	require.NoError(t, os.WriteFile(file, []byte(withTanh), 0o666))
	var stdout, stderr bytes.Buffer
	code := run([]string{"reduce", file, "--command=! grep -q tanh"}, nil, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	assert.Equal(t, `HloModule big, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %t = f32[4]{0} tanh(%x)
}

`, stdout.String())
	assert.Contains(t, stderr.String(), "6 instructions: exit status 1\n2 instructions, after ")
}

// TestReduceNeedsAFailure says so when there is nothing to reduce, or no way to tell.
func TestReduceNeedsAFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.hlo")
	require.NoError(t, os.WriteFile(file, []byte(withTanh), 0o666))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--passes=dce"}, exitInput, "nothing fails on it"},
		{[]string{"--command=true"}, exitInput, "nothing fails on it"},
		{nil, exitUsage, "says what fails"},
		{[]string{"--passes=dce", "--command=true"}, exitUsage, "exclude each other"},
		{[]string{"--passes=nonsense"}, exitUsage, "there is no pass"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, c.code, run(append([]string{"reduce", file}, c.args...), nil, &stdout, &stderr), stderr.String())
		assert.Contains(t, stderr.String(), c.want)
	}
}
