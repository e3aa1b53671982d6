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
// Memory is bounded by 75 pages, since each costs the process a fault before it has read its arguments; what is made later
// comes from large pages.
func TestStart(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	inits := regexp.MustCompile(`init (github.com/gohalo/halo/\S+) .* (\d+) bytes, (\d+) allocs`).FindAllSubmatch(out, -1)
	require.NotEmpty(t, inits)
	total, memory := 0, 0
	for _, m := range inits {
		bytes, err := strconv.Atoi(string(m[2]))
		require.NoError(t, err)
		memory += bytes
		n, err := strconv.Atoi(string(m[3]))
		require.NoError(t, err)
		assert.LessOrEqual(t, n, 1000, "%s allocates at start", m[1])
		total += n
	}
	assert.LessOrEqual(t, total, 4000)
	assert.LessOrEqual(t, memory, 75*4096, "bytes")
}
