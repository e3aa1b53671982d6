package vec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// named is the name that String spells so.
func named(spelled string) Name {
	op, forms, _ := strings.Cut(spelled, ".")
	var n Name
	var ok bool
	if n.Op, ok = hlo.OpcodeByName(op); !ok {
		for mode, prefix := range modePrefixes {
			if prefix != "" && strings.HasPrefix(op, prefix) {
				n.Mode = Mode(mode)
			}
		}
		n.Op, _ = hlo.OpcodeByName(strings.TrimPrefix(op, modePrefixes[n.Mode]))
	}
	for i, form := range strings.Split(forms, ".") {
		n.Types[i], _ = hlo.PrimitiveTypeByName(form)
	}
	if n.String() != spelled {
		panic("no loop is called " + spelled)
	}
	return n
}

// TestNames finds every row of the tables by its name, and by how that is spelled.
func TestNames(t *testing.T) {
	for l := AVX2; l <= Best(); l++ {
		loops := levelLoops(l)
		require.NotEmpty(t, loops)
		assert.Len(t, byName(loops), len(loops), "%v has two loops with one name", l)
		for _, r := range loops {
			assert.Equal(t, r.name, named(r.name.String()))
		}
		for name, r := range recipes(l) {
			assert.Equal(t, name, r.Name)
			assert.Equal(t, name.Mode == RealPart || name.Mode == ImaginaryPart, find(l, name).loop == nil, "whether %v has a loop", name)
		}
	}
	assert.Equal(t, "convert.bf16.f32", Of(hlo.OpConvert, hlo.BF16, hlo.F32).String())
	assert.Equal(t, hlo.U16, Unsigned(hlo.S16))
	assert.Equal(t, hlo.F16, Unsigned(hlo.F16))
	assert.Equal(t, hlo.U64, Sized(8))
}
