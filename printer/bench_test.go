package printer_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// BenchmarkFprint prints large dumps of models.
func BenchmarkFprint(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(corpus(b), "hlo", "tools", "benchmarks", "hlo", "*.hlo"))
	require.NoError(b, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(b, err)
		if len(text) < 1<<19 {
			continue
		}
		m, err := parser.Parse(file, string(text))
		require.NoError(b, err)
		for _, style := range []string{"default", "long"} {
			cfg, _ := printer.StyleByName(style)
			b.Run(filepath.Base(file)[:12]+"/"+style, func(b *testing.B) {
				var n countWriter
				require.NoError(b, printer.Fprint(&n, m, cfg))
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					_ = printer.Fprint(io.Discard, m, cfg)
				}
			})
		}
	}
}

type countWriter int64

func (n *countWriter) Write(b []byte) (int, error) {
	*n += countWriter(len(b))
	return len(b), nil
}
