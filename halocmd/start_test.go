package halocmd

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStart bounds what packages do before main begins: grammars, tables of rules and expressions are made when they are first needed.
func TestStart(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	inits := regexp.MustCompile(`init (github.com/gohalo/halo/\S+) .* (\d+) allocs`).FindAllSubmatch(out, -1)
	require.NotEmpty(t, inits)
	total := 0
	for _, m := range inits {
		n, err := strconv.Atoi(string(m[2]))
		require.NoError(t, err)
		assert.LessOrEqual(t, n, 1000, "%s allocates at start", m[1])
		total += n
	}
	assert.LessOrEqual(t, total, 4000)
}
