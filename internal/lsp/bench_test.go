package lsp_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stretchr/testify/require"
)

// largestText is the largest text of the corpus, 4 MB.
func largestText(tb testing.TB) string {
	data, err := os.ReadFile("../../../shared/corpus/hlo/tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo")
	if err != nil {
		tb.Skip("there is no corpus beside the repository")
	}
	return string(data)
}

// processor measures the processor time of client and server together for each iteration.
func processor(b *testing.B) (done func()) {
	now := func() time.Duration {
		var u unix.Rusage
		require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	from := now()
	return func() { b.ReportMetric(float64((now()-from).Milliseconds())/float64(b.N), "cpu-ms/op") }
}

// BenchmarkOpen is the time from opening the largest text to its diagnostics.
func BenchmarkOpen(b *testing.B) {
	text := largestText(b)
	c := connect(b)
	defer processor(b)()
	for b.Loop() {
		require.Empty(b, c.open("file:///mixtral.hlo", text))
	}
}

// BenchmarkKeystroke is the time from a change of the largest text to its diagnostics: a shape in the middle of it that goes wrong and right again, and
// an attribute that changes.
func BenchmarkKeystroke(b *testing.B) {
	uri := "file:///mixtral.hlo"
	text := largestText(b)
	for name, change := range map[string][2]string{
		"broken": {"%dot.168 = bf16", "%dot.168 = bf17"},
		"wrong":  {"%dot.168 = bf16", "%dot.168 = f32"},
		"sound":  {"jit(prefill)", "jit(prefil)"},
	} {
		if !strings.Contains(text, change[0]) {
			continue
		}
		b.Run(name, func(b *testing.B) {
			c := connect(b)
			c.open(uri, text)
			defer processor(b)()
			for i := 0; b.Loop(); i++ {
				c.edit(uri, change[i%2], change[1-i%2])
			}
		})
	}
}
