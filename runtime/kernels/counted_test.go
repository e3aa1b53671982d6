package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countedPrograms compute an array from where its elements are. Those marked leave the range of a type on the way, or do not grow evenly.
var countedPrograms = []struct {
	body  string
	isOne bool // series, or number
}{
	{"i = u64[6,70] iota(), iota_dimension=0 c = u64[] constant(70) k = u64[6,70] broadcast(c), dimensions={} m = u64[6,70] multiply(i, k) " +
		"j = u64[6,70] iota(), iota_dimension=1 s = u64[6,70] add(m, j) ROOT r = u32[6,70] convert(s)", true},
	{"i = u64[70] iota(), iota_dimension=0 c = u64[] constant(32) k = u64[70] broadcast(c), dimensions={} ROOT s = u64[70] shift-right-logical(i, k)", true},
	{"i = u64[70] iota(), iota_dimension=0 c = u64[] constant(6) k = u64[70] broadcast(c), dimensions={} ROOT s = u64[70] shift-right-logical(i, k)", false},
	{"i = s32[70] iota(), iota_dimension=0 c = s32[] constant(9) k = s32[70] broadcast(c), dimensions={} ROOT s = s32[70] subtract(k, i)", true},
	{"i = u32[70] iota(), iota_dimension=0 c = u32[] constant(9) k = u32[70] broadcast(c), dimensions={} ROOT s = u32[70] subtract(k, i)", false},
	{"i = u8[250] iota(), iota_dimension=0 c = u8[] constant(6) k = u8[250] broadcast(c), dimensions={} ROOT s = u8[250] add(k, i)", true},
	{"i = u8[251] iota(), iota_dimension=0 c = u8[] constant(6) k = u8[251] broadcast(c), dimensions={} ROOT s = u8[251] add(k, i)", false},
	{"i = s16[250] iota(), iota_dimension=0 c = s16[] constant(7) k = s16[250] broadcast(c), dimensions={} ROOT s = s16[250] shift-left(i, k)", true},
	{"i = s16[300] iota(), iota_dimension=0 c = s16[] constant(7) k = s16[300] broadcast(c), dimensions={} ROOT s = s16[300] shift-left(i, k)", false},
	{"i = s32[70] iota(), iota_dimension=0 c = s32[] constant(127) k = s32[70] broadcast(c), dimensions={} a = s32[70] and(i, k) v = s32[70] reverse(a), dimensions={0} " +
		"ROOT s = s8[70] convert(v)", true},
	{"i = s32[70] iota(), iota_dimension=0 c = s32[] constant(63) k = s32[70] broadcast(c), dimensions={} ROOT a = s32[70] and(i, k)", false},
	{"i = s64[70] iota(), iota_dimension=0 c = s64[] constant(4611686018427387904) k = s64[70] broadcast(c), dimensions={} ROOT a = s64[70] multiply(i, k)", false},
	{"i = s64[70] iota(), iota_dimension=0 ROOT a = s64[70] multiply(i, i)", false},
}

func TestCounted(t *testing.T) {
	for _, c := range countedPrograms {
		m, err := parser.Parse("test", "HloModule m\nENTRY e {\n  "+strings.NewReplacer(" ROOT", "\n  ROOT").Replace(c.body)+"\n}")
		require.NoError(t, err, c.body)
		root := m.Entry().Root()
		space := tile.Space{Dims: root.Shape().Dimensions()}
		x := &compiler{m: m, space: space, leaf: arrayParameters}
		_, ok := x.counted(root, identity(space))
		assert.Equal(t, c.isOne, ok, c.body)
		kernelCase{text: fmt.Sprintf("%s fusion(), kind=kLoop, calls={ %s }", root.Shape(), c.body)}.check(t)
	}
}
