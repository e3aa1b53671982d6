package halo_test

import (
	"encoding/json"
	"math"
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

// BenchmarkReady is the time from text to a loaded program, of the programs whose run time is compared with XLA's, and the least that each phase took.
func BenchmarkReady(b *testing.B) {
	pipeline, err := passes.Parse("cpu")
	require.NoError(b, err)
	for name, path := range benchmarkPrograms(b) {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			least := []float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
			for b.Loop() {
				began := time.Now()
				m, err := halo.LoadBytes(path, data)
				require.NoError(b, err)
				filled, err := hlo.FillElided(m.HLO())
				require.NoError(b, err)
				parse := time.Since(began)
				p, err := halo.Compile(b.Context(), halo.Trust(filled), halo.Options{Pipeline: pipeline})
				require.NoError(b, err)
				s := p.Stats()
				for i, took := range []time.Duration{parse, s.Passes, s.Lower, s.Load} {
					least[i] = min(least[i], float64(took.Nanoseconds())/1e3)
				}
				p.Close()
			}
			for i, unit := range []string{"parse-µs", "passes-µs", "lower-µs", "load-µs"} {
				b.ReportMetric(least[i], unit)
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
