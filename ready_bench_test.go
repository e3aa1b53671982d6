package halo_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
)

// BenchmarkReady is the time from text to a loaded program, and its phases, of the programs whose run time is compared with XLA's. A process does this
// once, but what it does is mostly the same each time.
func BenchmarkReady(b *testing.B) {
	pipeline, err := passes.Parse("cpu")
	require.NoError(b, err)
	for name, path := range benchmarkPrograms(b) {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var parse time.Duration
			var s halo.Stats
			for b.Loop() {
				began := time.Now()
				m, err := halo.LoadBytes(path, data)
				require.NoError(b, err)
				filled, err := hlo.FillElided(m.HLO())
				require.NoError(b, err)
				parse += time.Since(began)
				p, err := halo.Compile(b.Context(), halo.Trust(filled), halo.Options{Pipeline: pipeline})
				require.NoError(b, err)
				t := p.Stats()
				s.Passes, s.Lower, s.Load = s.Passes+t.Passes, s.Lower+t.Lower, s.Load+t.Load
				b.StopTimer()
				p.Close()
				b.StartTimer()
			}
			for unit, took := range map[string]time.Duration{"parse-µs": parse, "passes-µs": s.Passes, "lower-µs": s.Lower, "load-µs": s.Load} {
				b.ReportMetric(float64(took.Nanoseconds())/1e3/float64(b.N), unit)
			}
		})
	}
}

// benchmarkPrograms are the files of these programs, by name.
func benchmarkPrograms(b *testing.B) map[string]string {
	files := map[string]string{}
	metas, err := filepath.Glob(filepath.Join(hlotest.Shared(b, 0, "corpus", "reference", "bench"), "*", "meta.json"))
	require.NoError(b, err)
	for _, meta := range metas {
		data, err := os.ReadFile(meta)
		require.NoError(b, err)
		var m struct{ HLO string }
		require.NoError(b, json.Unmarshal(data, &m))
		files[filepath.Base(filepath.Dir(meta))] = hlotest.Shared(b, 0, "corpus", m.HLO)
	}
	big, err := filepath.Glob(filepath.Join(hlotest.Shared(b, 0, "corpus", "reference", "programs"), "big_*", "prog.hlo"))
	require.NoError(b, err)
	for _, file := range big {
		files[filepath.Base(filepath.Dir(file))] = file
	}
	return files
}
