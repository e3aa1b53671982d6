package scalar_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/scalar"
)

func must(t testing.TB, b *scalar.Builder, name string, args ...scalar.Value) scalar.Value {
	t.Helper()
	v, ok := b.Named(scalar.ByName(name), args...)
	require.True(t, ok, name)
	return v
}

// counting is the loop of a cumulative sum with a search for negative indices, as JAX writes it: sum += array[i < 0 ? i+n : i] + bias.
func counting(t testing.TB, n int64, array, out scalar.Place, b *scalar.Builder) {
	bias := b.Load(4, out, scalar.None, 4)
	vars := b.While([]scalar.Value{b.Const(4, 0), b.Const(4, 0)}, func(v []scalar.Value) scalar.Value {
		return must(t, b, "lt.s32", v[0], b.Const(4, uint64(n)))
	}, func(v []scalar.Value) []scalar.Value {
		negative := must(t, b, "lt.s32", v[0], b.Const(4, 0))
		i := must(t, b, "select.u32", negative, must(t, b, "add.s32", v[0], b.Const(4, uint64(n))), v[0])
		x := b.Load(4, array, b.Index(scalar.S32, i, n-1, 4), 0)
		sum := must(t, b, "add.s32", x, must(t, b, "add.s32", bias, v[1]))
		return []scalar.Value{must(t, b, "add.s32", v[0], b.Const(4, 1)), sum}
	})
	b.Store(4, out, scalar.None, 0, vars[1])
}

func run(p *scalar.Program, s *scalar.State) {
	s.Begin()
	for !p.Run(s) {
	}
}

func TestCounting(t *testing.T) {
	b := scalar.NewBuilder()
	array, out := b.Place(), b.Place()
	counting(t, 10000, array, out, b)
	p, ok := b.Build()
	require.True(t, ok)
	t.Log("\n" + p.String())
	data := make([]int32, 10000)
	want := int32(0)
	for i := range data {
		data[i] = int32(i * i)
		want += data[i] + 7
	}
	result := []int32{0, 7}
	s := p.NewState()
	s.SetPlace(array, unsafe.Pointer(&data[0]))
	s.SetPlace(out, unsafe.Pointer(&result[0]))
	run(p, s)
	require.Equal(t, want, result[0])
}

func BenchmarkCounting(bench *testing.B) {
	const n = 1000000
	b := scalar.NewBuilder()
	array, out := b.Place(), b.Place()
	counting(bench, n, array, out, b)
	p, _ := b.Build()
	data, result := make([]int32, n), []int32{0, 7}
	s := p.NewState()
	s.SetPlace(array, unsafe.Pointer(&data[0]))
	s.SetPlace(out, unsafe.Pointer(&result[0]))
	bench.ReportAllocs()
	for bench.Loop() {
		run(p, s)
	}
	bench.ReportMetric(float64(bench.Elapsed().Nanoseconds())/float64(bench.N)/n, "ns/round")
}
