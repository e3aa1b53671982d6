package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// Comparisons of numbers that grow evenly, of shape pred[60,70] but for the last ones, and whether a table says what they are.
var comparedPrograms = []struct {
	dims, body string
	isTable    bool
}{
	{"60,70", "i = s64[60,70] iota(), iota_dimension=0 j = s64[60,70] iota(), iota_dimension=1 c = pred[60,70] compare(i, j), direction=GE", true},
	{"60,70", "i = s32[60,70] iota(), iota_dimension=0 j = s32[60,70] iota(), iota_dimension=1 c = pred[60,70] compare(i, j), direction=LT", true},
	{"60,70", "i = u8[60,70] iota(), iota_dimension=0 j = u8[60,70] iota(), iota_dimension=1 c = pred[60,70] compare(j, i), direction=GT", true},
	{"60,70", "i = s64[60,70] iota(), iota_dimension=0 k = s64[] constant(-3) b = s64[60,70] broadcast(k), dimensions={} s = s64[60,70] add(i, b) " +
		"j = s64[60,70] iota(), iota_dimension=1 c = pred[60,70] compare(s, j), direction=EQ", true},
	{"60,70", "i = s32[60,70] iota(), iota_dimension=0 j = s32[60,70] iota(), iota_dimension=1 s = s32[60,70] add(i, j) k = s32[] constant(69) " +
		"b = s32[60,70] broadcast(k), dimensions={} c = pred[60,70] compare(s, b), direction=NE", true},
	{"60,70", "j = s32[60,70] iota(), iota_dimension=1 k = s32[] constant(7) b = s32[60,70] broadcast(k), dimensions={} c = pred[60,70] compare(j, b), direction=LE", true},
	{"60,70", "j = s32[60,70] iota(), iota_dimension=0 k = s32[] constant(7) b = s32[60,70] broadcast(k), dimensions={} c = pred[60,70] compare(j, b), direction=LE", true},
	{"60,70", "i = s32[60,70] iota(), iota_dimension=0 j = s32[60,70] iota(), iota_dimension=1 s = s32[60,70] add(j, j) c = pred[60,70] compare(i, s), direction=GE", false},
	{"4,5,6,7", "i = s32[4,5,6,7] iota(), iota_dimension=1 j = s32[4,5,6,7] iota(), iota_dimension=3 c = pred[4,5,6,7] compare(i, j), direction=GE", true},
	{"4,1,60,7", "i = s32[4,1,60,7] iota(), iota_dimension=0 j = s32[4,1,60,7] iota(), iota_dimension=3 c = pred[4,1,60,7] compare(i, j), direction=GE", true},
	{"600,1", "i = s32[600,1] iota(), iota_dimension=0 j = s32[600,1] iota(), iota_dimension=1 c = pred[600,1] compare(i, j), direction=GE", false},
	{"10,20", "i = s32[10,20] iota(), iota_dimension=0 j = s32[10,20] iota(), iota_dimension=1 c = pred[10,20] compare(i, j), direction=GE", false},
	{"4000", "i = s32[4000] iota(), iota_dimension=0 k = s32[] constant(7) b = s32[4000] broadcast(k), dimensions={} c = pred[4000] compare(i, b), direction=GE", false},
}

func TestComparedCounts(t *testing.T) {
	defer tile.CodeAtOnce()()
	for _, c := range comparedPrograms {
		body := strings.Replace(c.body, " c = pred", "\n  ROOT c = pred", 1)
		m, err := parser.Parse("test", "HloModule m\nENTRY e {\n  "+body+"\n}")
		require.NoError(t, err, c.body)
		root := m.Entry().Root()
		space := tile.Space{Dims: root.Shape().Dimensions()}
		x := &compiler{m: m, space: space, leaf: arrayParameters, b: tile.NewBuilder(space)}
		_, ok := x.comparedCounts(root, identity(space))
		assert.Equal(t, c.isTable, ok, c.body)
		kernelCase{text: fmt.Sprintf("pred[%s] fusion(), kind=kLoop, calls={ %s }", c.dims, strings.Replace(c.body, " c = pred", " ROOT c = pred", 1))}.check(t)
		for _, typ := range []string{"u8", "bf16", "f32", "f64", "c64"} {
			kernelCase{text: fmt.Sprintf("%s[%s] fusion(%[1]s[%[2]s], %[1]s[%[2]s]), kind=kLoop, calls={ x = %[1]s[%[2]s] parameter(0) y = %[1]s[%[2]s] parameter(1) %[3]s ROOT z = %[1]s[%[2]s] select(c, x, y) }",
				typ, c.dims, c.body)}.check(t)
		}
	}
}

// BenchmarkTriangle clears what is above the diagonal of bytes.
func BenchmarkTriangle(b *testing.B) {
	benchmarkSite(b, "u8[1000,1001] fusion(u8[1000,1001]), kind=kLoop, calls={ x = u8[1000,1001] parameter(0) i = s64[1000,1001] iota(), iota_dimension=0 "+
		"j = s64[1000,1001] iota(), iota_dimension=1 c = pred[1000,1001] compare(i, j), direction=GE z = u8[] constant(0) "+
		"zs = u8[1000,1001] broadcast(z), dimensions={} ROOT s = u8[1000,1001] select(c, x, zs) }")
}
