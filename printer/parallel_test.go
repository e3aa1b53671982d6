package printer_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// parallelModule has computations of many sizes, called from several places, one of them asynchronously.
const parallelModule = `HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}, execution_thread="other"

ENTRY main {
  x = f32[8,8]{1,0} parameter(0)
  zero = f32[] constant(0)
  t = (f32[8,8]{1,0}, f32[]) tuple(x, zero)
  e = f32[8,8]{1,0} get-tuple-element(t), index=0
  start = ((f32[8,8]{1,0}), f32[8,8]{1,0}, s32[]) negate-start(e)
  s = f32[8]{0} reduce(x, zero), dimensions={1}, to_apply=add
  done = f32[8,8]{1,0} negate-done(start), control-predecessors={s}
  c = f32[8,8]{1,0} cosine(done)
  ROOT out = (f32[8,8]{1,0}, f32[8]{0}) tuple(c, s)
}
`

// checkParallel holds the print by workers to that by one.
func checkParallel(t *testing.T, m hlo.Module) {
	t.Helper()
	styles := append(printer.Styles(), printer.Style{Name: "canonical names", Config: printer.Config{CanonicalNames: true}},
		printer.Style{Name: "comments", Config: printer.Config{NameAfterBody: true, Indent: 2, CompactTuples: true}})
	for _, style := range styles {
		var want []byte
		for _, size := range []int{1, 3, 40} {
			var got bytes.Buffer
			ran, err := printer.FprintParallel(&got, m, style.Config, 3, size)
			require.NoError(t, err)
			if !ran {
				break
			}
			if want == nil {
				want, err = printer.Append(nil, m, style.Config)
				require.NoError(t, err)
			}
			if !bytes.Equal(want, got.Bytes()) { // a diff of long texts takes longer than the test
				require.Fail(t, "prints differ", "%s of %s in chunks of %d:\n%.2000s", style.Name, m.Name(), size, got.Bytes())
			}
		}
	}
}

func TestParallel(t *testing.T) {
	m, err := parser.Parse("", parallelModule)
	require.NoError(t, err)
	checkParallel(t, m)
}

func TestParallelCorpus(t *testing.T) {
	n := 0
	for _, text := range texts(t) {
		if m, err := parser.Parse("", text); err == nil {
			if n++; testing.Short() && n%16 != 0 || len(text) > 1<<18 && n%4 != 0 {
				continue
			}
			checkParallel(t, m)
		}
	}
}

func TestParallelWriteError(t *testing.T) {
	m, err := parser.Parse("", parallelModule)
	require.NoError(t, err)
	for room := 0; room < 500; room += 50 {
		_, err := printer.FprintParallel(&fullDisk{room}, m, printer.Config{}, 2, 1)
		require.ErrorIs(t, err, errFull)
	}
	_, err = printer.FprintParallel(io.Discard, m, printer.Config{}, 2, 1)
	require.NoError(t, err)
}
