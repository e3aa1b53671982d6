package passes

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestKnown: what a pass that is not there is answered with exists, and the pass itself does not.
func TestKnown(t *testing.T) {
	names := standard.Names()
	for name, near := range known {
		assert.NotContains(t, names, name, "the catalogue has it")
		if near == "" {
			continue
		}
		p, err := catalogued.Pass(near, nil)
		assert.NoError(t, err, name)
		assert.NotNil(t, p, "%s: nearest is %s", name, near)
	}
	_, err := Parse("dce,shape_canonicalizer")
	assert.ErrorContains(t, err, "known, but not implemented")
	_, err = Parse("dce,literal-canonicalizer{x=1}")
	assert.ErrorContains(t, err, "known, but not implemented")
}
