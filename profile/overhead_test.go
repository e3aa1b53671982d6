//go:build linux

package profile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gohalo/halo/runtime"
)

// BenchmarkOverhead shows what measuring costs: each iteration runs a program for a while with a meter and for a while without one, now one first, now the other.
// The figure is the median of the processor times with, divided by the median of those without. Run it with -benchtime=300x.
func BenchmarkOverhead(b *testing.B) {
	files, err := filepath.Glob("../testdata/run/*/prog.hlo")
	require.NoError(b, err)
	more, err := filepath.Glob("../../shared/corpus/hlo/backends/cpu/benchmarks/hlo/*.hlo") // none if the shared corpus is absent
	require.NoError(b, err)
	for _, file := range append(files, more...) {
		if filepath.Base(file) == "gemma2_2b_keras_jax.hlo" {
			continue // 10 GB of arguments
		}
		b.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(b *testing.B) {
			if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("{...}")) {
				b.Skip("it has no values of its constants")
			}
			meter := runtime.NewMeter(runtime.MeterOptions{Alike: true})
			plain, _, args := compiled(b, file, nil)
			metered, _, _ := compiled(b, file, meter)
			once := func(measure bool) {
				p := plain
				if measure {
					p = metered
					meter.Begin()
					defer meter.End()
				}
				_, err := p.Run(b.Context(), args...)
				require.NoError(b, err)
			}
			pairs := 0
			for began := time.Now(); time.Since(began) < warming; pairs++ {
				once(true)
				once(false)
			}
			batch := int(overheadBatch/(warming/time.Duration(2*pairs)+1)) + 1
			var took [2][]float64
			for i := 0; b.Loop(); i++ {
				for k := range 2 {
					way := (i + k) % 2
					from := processorTime(b)
					for range batch {
						once(way == 1)
					}
					took[way] = append(took[way], float64(processorTime(b)-from))
				}
			}
			for _, t := range took {
				slices.Sort(t)
			}
			b.ReportMetric(took[1][len(took[1])/2]/took[0][len(took[0])/2], "metered/plain")
		})
	}
}

// overheadBatch is how long a program runs at least before it is the other one's turn.
const overheadBatch = 3 * time.Millisecond

// warming is for how long it runs before anything is measured.
const warming = 50 * time.Millisecond

// processorTime is what the process has had of the processors.
func processorTime(tb testing.TB) time.Duration {
	var t unix.Timespec
	require.NoError(tb, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}
