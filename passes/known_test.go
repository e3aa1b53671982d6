package passes

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKnown: what a pass that is not there is answered with exists, and the pass itself does not.
func TestKnown(t *testing.T) {
	names := standard.Names()
	all := maps.Clone(known)
	for name, near := range backends {
		assert.NotContains(t, all, name)
		all[name] = near
	}
	for name, near := range all {
		assert.NotContains(t, names, name, "the catalogue has it")
		if near == "" {
			continue
		}
		p, err := catalogued().Pass(near, nil)
		assert.NoError(t, err, name)
		assert.NotNil(t, p, "%s: nearest is %s", name, near)
	}
	_, err := Parse("dce,space_to_batch_converter")
	assert.ErrorContains(t, err, "known, but not implemented")
	_, err = Parse("dce,topk-splitter{x=1}")
	assert.ErrorContains(t, err, "known, but not implemented")
}

// TestNames: every name that XLA's passes have is that of a pass here, or is answered.
func TestNames(t *testing.T) {
	text, err := os.ReadFile("../testdata/names/xla-passes.txt")
	require.NoError(t, err)
	accepted, answered := 0, 0
	for line := range strings.Lines(string(text)) {
		name, _, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		switch _, err := Parse(name); {
		case err == nil:
			accepted++
		case strings.Contains(err.Error(), "known, but not implemented"):
			answered++
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d names accepted, %d answered", accepted, answered)
	assert.Greater(t, accepted, 100)
}
