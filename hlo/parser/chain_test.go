package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// TestLongChains hands an asynchronous value on many times and looks at it after each. Every look finds the start, in time that does not
// grow with the length of the way.
func TestLongChains(t *testing.T) {
	const n = 20000
	const value = "((f32[8]{0}), f32[8]{0}, s32[])"
	for name, step := range map[string]func(b *strings.Builder, i int){
		"copies": func(b *strings.Builder, i int) { fmt.Fprintf(b, "  v%d = %s copy(v%d)\n", i, value, i-1) },
		"tuples": func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "  t%d = (%s, f32[8]{0}) tuple(v%d, x)\n  v%d = %[2]s get-tuple-element(t%[1]d), index=0\n", i, value, i-1, i)
		},
		"barriers": func(b *strings.Builder, i int) {
			from := fmt.Sprintf("opt-barrier(t%d)", i-1)
			if i == 1 {
				from = "tuple(x, v0)"
			}
			fmt.Fprintf(b, "  t%d = (f32[8]{0}, %s) %s\n  v%[1]d = %[2]s get-tuple-element(t%[1]d), index=1\n", i, value, from)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "HloModule m\nENTRY e {\n  x = f32[8]{0} parameter(0)\n  v0 = %s negate-start(x)\n", value)
			for i := 1; i <= n; i++ {
				step(&b, i)
				fmt.Fprintf(&b, "  d%d = f32[8]{0} negate-done(v%[1]d)\n", i)
			}
			b.WriteString("  ROOT r = f32[8]{0} cosine(x)\n}\n")
			m, err := parser.Parse("", b.String())
			require.NoError(t, err)
			last, _ := m.Entry().ByName(fmt.Sprintf("d%d", n))
			start, ok := hlo.AsyncStartOf(m, last)
			require.True(t, ok)
			require.Equal(t, "v0", start.Name())

			other := strings.Replace(b.String(), fmt.Sprintf("negate-done(v%d)", n), fmt.Sprintf("cosine-done(v%d)", n), 1)
			_, err = parser.Parse("", other)
			require.ErrorContains(t, err, "Expect async wrapped opcode to be negate, but got cosine")
		})
	}
}
