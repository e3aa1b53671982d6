package moddiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/moddiff"
)

// chain is a program of n steps, each of which reads the last one and the input; elements is the size of its arrays and tag a part of its names.
func chain(n, elements int, tag string) string {
	ops := []string{"add", "multiply", "subtract", "maximum"}
	var b strings.Builder
	fmt.Fprintf(&b, "HloModule m\n\nENTRY main {\n  %s0 = f32[%d] parameter(0)\n", tag, elements)
	for i := 1; i <= n; i++ {
		root := ""
		if i == n {
			root = "ROOT "
		}
		fmt.Fprintf(&b, "  %s%s%d = f32[%d] %s(%s%d, %s0)\n", root, tag, i, elements, ops[i*i%7%4], tag, i-1, tag)
	}
	return b.String() + "}\n"
}

// TestFindGrowsFromOnePair: a name says of one value which it is in the other program, and that one leads to the next, from beginning to end. The roots
// are no pair. With a round over the program for each step this would not end.
func TestFindGrowsFromOnePair(t *testing.T) {
	const n = 50000
	long := func(tag, first, root string) hlo.Module {
		text := chain(n, 4, tag)
		text = strings.Replace(text, tag+"1 = ", "k = f32[4] constant({"+first+", 0, 0, 0})\n  "+tag+"1 = ", 1)
		text = strings.Replace(text, fmt.Sprintf("(%s0, %s0)", tag, tag), fmt.Sprintf("(%s0, k)", tag), 1)
		text = strings.Replace(text, "ROOT ", "", 1)
		return parse(t, strings.Replace(text, "\n}", fmt.Sprintf("\n  ROOT r%s = f32[4] %s(%s%d)\n}", tag, root, tag, n), 1))
	}
	d := moddiff.Find(long("a", "1", "negate"), long("b", "2", "tanh"))
	require.Equal(t, n+1, d.Same)
	require.Len(t, d.Changes, 3)
}

// BenchmarkFind compares programs in which no value is the same: other sizes, and other names.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1000, 40000} {
		for _, tag := range []string{"a", "b"} {
			b.Run(fmt.Sprintf("%d/%s", n, tag), func(b *testing.B) {
				one, err := parser.Parse("a", chain(n, 4, "a"))
				if err != nil {
					b.Fatal(err)
				}
				other, err := parser.Parse("b", chain(n, 8, tag))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					moddiff.Find(one, other)
				}
			})
		}
	}
}
