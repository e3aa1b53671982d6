package kernels

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rowFusions are fusions of reductions along rows, of arrays of type T with R rows of N elements.
var rowFusions = map[string]string{
	"softmax": `T[R,N] fusion(T[R,N]), kind=kInput, calls={
 x = T[R,N] parameter(0) low = T[] constant(-inf) m = T[R] reduce(x, low), dimensions={1}, to_apply=MAX
 mb = T[R,N] broadcast(m), dimensions={0} s = T[R,N] subtract(x, mb) e = T[R,N] exponential(s)
 w = f32[R,N] convert(e) z = f32[] constant(0) t = f32[R] reduce(w, z), dimensions={1}, to_apply=ADD
 n = T[R] convert(t) tb = T[R,N] broadcast(n), dimensions={0} ROOT d = T[R,N] divide(e, tb) }`,
	"norm": `(T[R,N], f32[R,1], T[R]) fusion(T[R,N], T[N], T[R,N]), kind=kInput, calls={
 x = T[R,N] parameter(0) g = T[N] parameter(1) y = T[R,N] parameter(2) p = T[R,N] add(x, y) c = f32[R,N] convert(p)
 z = f32[] constant(0) s = f32[R] reduce(c, z), dimensions={1}, to_apply=ADD q = f32[R,1] reshape(s)
 k = f32[] constant(0.01) kb = f32[R,1] broadcast(k), dimensions={} mean = f32[R,1] multiply(q, kb) mr = f32[R] reshape(mean)
 mb = f32[R,N] broadcast(mr), dimensions={0} d = f32[R,N] subtract(c, mb) dd = f32[R,N] multiply(d, d)
 v = f32[R] reduce(dd, z), dimensions={1}, to_apply=ADD vt = T[R] convert(v) one = T[] constant(1) ob = T[R] broadcast(one), dimensions={}
 ve = T[R] add(vt, ob) sd = T[R] sqrt(ve) sb = T[R,N] broadcast(sd), dimensions={0} dt = T[R,N] convert(d) h = T[R,N] divide(dt, sb)
 gb = T[R,N] broadcast(g), dimensions={1} o = T[R,N] multiply(h, gb) ROOT r = (T[R,N], f32[R,1], T[R]) tuple(o, mean, sd) }`,
	"squares": `f32[R] fusion(T[R,N]), kind=kInput, calls={
 x = T[R,N] parameter(0) w = f32[R,N] convert(x) q = f32[R,N] multiply(w, w) z = f32[] constant(0)
 ROOT s = f32[R] reduce(q, z), dimensions={1}, to_apply=ADD }`,
	"moments": `(T[R], T[R], T[R]) fusion(T[R,N]), kind=kInput, calls={
 x = T[R,N] parameter(0) a = T[] constant(3) b = T[] constant(inf) c = T[] constant(-5) n = T[R,N] negate(x)
 s = T[R] reduce(x, a), dimensions={1}, to_apply=SAME_ADD lo = T[R] reduce(n, b), dimensions={1}, to_apply=SAME_MIN
 hi = T[R] reduce(x, c), dimensions={1}, to_apply=MAX ROOT r = (T[R], T[R], T[R]) tuple(s, lo, hi) }`,
}

func rowFusion(name, typ, rows, run string) string {
	text := strings.NewReplacer("to_apply=MAX", "to_apply="+reducer("maximum"), "to_apply=SAME_ADD", "to_apply="+reducer("add"),
		"to_apply=SAME_MIN", "to_apply="+reducer("minimum"), "to_apply=ADD", "to_apply="+strings.ReplaceAll(reducer("add"), "T[", "f32["),
		"[R", "["+rows, "N]", run+"]").Replace(rowFusions[name])
	return replaceType(text, typ)
}

// TestRowPasses compares the passes over rows with the evaluator, over lengths with and without a rest, of one block and of several, with code and
// without.
func TestRowPasses(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for name := range rowFusions {
			for _, typ := range []string{"f32", "bf16", "f16", "f64"} {
				if name != "moments" && typ == "f64" || name == "moments" && typ != "f32" && typ != "f64" {
					continue
				}
				tol := map[string]float64{"f32": 2e-5, "bf16": 2e-2, "f16": 4e-3, "f64": 1e-12}[typ]
				for _, s := range [][2]string{{"40", "96"}, {"700", "105"}, {"3", "16"}, {"9", "4500"}, {"2", "13001"}, {"300", "768"}} {
					text := rowFusion(name, typ, s[0], s[1])
					requireRows(t, text)
					kernelCase{text: text, small: true, tol: tol}.check(t)
				}
			}
		}
		restore()
	}
}

func requireRows(t *testing.T, text string) {
	t.Helper()
	_, ok := fusedRows(siteOf(t, text))
	require.True(t, ok, "no passes over rows for %s", text)
}

// TestRowPassesNative holds the code for rows to the bits of tiles.
func TestRowPassesNative(t *testing.T) {
	for _, level := range levels()[1:] {
		restore := vec.Use(level)
		for name := range rowFusions {
			for _, size := range [][2]string{{"900", "330"}, {"900", "328"}, {"40", "9000"}} {
				testRowCode(t, rowFusion(name, "f32", size[0], size[1]))
				if name != "moments" {
					testRowCode(t, rowFusion(name, "bf16", size[0], size[1]))
				}
			}
		}
		restore()
	}
}

func testRowCode(t *testing.T, text string) {
	s := siteOf(t, text)
	var args []*hlo.Literal
	for i := range s.in.NumOperands() {
		args = append(args, kernelCase{}.operand(t, rand.New(rand.NewPCG(3, uint64(i))), s.in.OperandInstr(i).Shape(), i))
	}
	results := func() (all [][]byte) {
		bound, ok := fusedRows(s)
		require.True(t, ok)
		for range 3 { // code is made on the way
			all = nil
			for _, b := range run(t, s, bound, args, 2) {
				all = append(all, b.Data)
			}
		}
		return all
	}
	restore := native.Disable()
	want := results()
	restore()
	assert.Equal(t, want, results(), text)
}

// TestRowFolds has one pass over rows fold what is computed for them, where there are many and long ones.
func TestRowFolds(t *testing.T) {
	for _, size := range []struct {
		rows, run string
		passes    bool
	}{{"32", "256", true}, {"31", "256", false}, {"32", "255", false}, {"700", "4097", true}} {
		text := rowFusion("squares", "bf16", size.rows, size.run)
		_, ok := fusedRowFolds(siteOf(t, text))
		require.Equal(t, size.passes, ok, "%s rows of %s", size.rows, size.run)
		kernelCase{text: text, small: true, tol: 2e-5}.check(t)
	}
	_, ok := fusedRowFolds(siteOf(t, rowFusion("moments", "f32", "700", "4097")))
	require.False(t, ok, "several results")
	decoded := strings.Replace(rowFusion("squares", "bf16", "700", "4097"), "multiply(w, w)", "copy(w)", 1)
	_, ok = fusedRowFolds(siteOf(t, strings.Replace(decoded, "reduce(q,", "reduce(w,", 1)))
	require.False(t, ok, "nothing but decoded")
}

// TestRowPassesRefuse what reads other rows than its own: their values may not be there.
func TestRowPassesRefuse(t *testing.T) {
	for _, text := range []string{
		"f32[64,64] fusion(f32[64,64]), kind=kInput, calls={ x = f32[64,64] parameter(0) z = f32[] constant(0) s = f32[64] reduce(x, z), dimensions={1}, to_apply=" +
			replaceType(reducer("add"), "f32") + " b = f32[64,64] broadcast(s), dimensions={1} ROOT d = f32[64,64] subtract(x, b) }",
		"f32[64,64] fusion(f32[64,64]), kind=kInput, calls={ x = f32[64,64] parameter(0) z = f32[] constant(0) s = f32[64] reduce(x, z), dimensions={1}, to_apply=" +
			replaceType(reducer("add"), "f32") + " r = f32[64] reverse(s), dimensions={0} b = f32[64,64] broadcast(r), dimensions={0} ROOT d = f32[64,64] subtract(x, b) }",
	} {
		_, ok := fusedRows(siteOf(t, text))
		assert.False(t, ok, text)
		kernelCase{text: text, small: true, tol: 1e-5}.check(t)
	}
}
