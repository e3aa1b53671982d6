package native_test

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/kernels/native"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
)

// interesting are numbers of every kind, as bits of so many bytes.
func interesting(lane int) (bits []uint64) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.3, -2.5, 7.25, 88, -104, 700, 1e-3, -1e-30, 1e-42, 5e-310, 1e30, -3e38, math.Inf(1), math.Inf(-1), math.NaN()} {
		if lane == 4 {
			bits = append(bits, uint64(math.Float32bits(float32(v))))
		} else {
			bits = append(bits, math.Float64bits(v))
		}
	}
	return append(bits, 1, 2, 77, 1<<31-1, 1<<31, math.MaxUint64)
}

// TestElement compares what elements compute in programs over scalars with their loops, on all combinations of numbers.
func TestElement(t *testing.T) {
	for _, level := range []vec.Level{vec.AVX512, vec.AVX2} {
		if vec.Best() >= level {
			t.Run(level.String(), func(t *testing.T) {
				defer vec.Use(level)()
				testElement(t)
			})
		}
	}
}

func testElement(t *testing.T) {
	tried := 0
	for name := range vec.Recipes() {
		e, ok := native.NewElement(name, 0)
		if !ok {
			continue
		}
		loop := vec.Find(name, nil)
		if loop == nil {
			continue // one that leaves a rest
		}
		tried++
		list, lane := interesting(e.Lane()), e.Lane()
		n := 1
		for range e.Args() {
			n *= len(list)
		}
		arrays := make([][]byte, 3)
		for k := range arrays {
			arrays[k] = make([]byte, 8*n)
		}
		for i := range n {
			rest := i
			for k := range e.Args() {
				copy(arrays[k][i*lane:], unsafe.Slice((*byte)(unsafe.Pointer(&list[rest%len(list)])), lane))
				rest /= len(list)
			}
		}
		at := func(k int) unsafe.Pointer { return unsafe.Pointer(&arrays[k][0]) }
		want, got := make([]byte, lane*n), make([]byte, lane*n)
		loop(n, unsafe.Pointer(&want[0]), at(0), at(1), at(2))

		b := scalar.NewBuilder()
		in, out := []scalar.Place{b.Place(), b.Place(), b.Place()}, b.Place()
		ofType := func(typ scalar.Type, op string, args ...scalar.Value) scalar.Value {
			v, ok := b.Named(scalar.Name{Op: op, Type: typ}, args...)
			require.True(t, ok)
			return v
		}
		named := func(op string, args ...scalar.Value) scalar.Value { return ofType(scalar.S64, op, args...) }
		start, sums := []scalar.Value{b.Const(8, 0)}, b.Place()
		const others = 12 // numbers in registers beside the element
		for range others {
			start = append(start, b.Const(8, 0))
		}
		last := b.While(start, func(v []scalar.Value) scalar.Value {
			return named("lt", v[0], b.Const(8, uint64(n)))
		}, func(v []scalar.Value) []scalar.Value {
			offset := b.Index(scalar.S64, v[0], int64(n-1), int64(lane))
			var args []scalar.Value
			for k := range e.Args() {
				args = append(args, b.Load(lane, in[k], offset, 0))
			}
			b.Store(lane, out, offset, 0, b.Call(scalar.Loop(loop), e, lane, args...))
			next := []scalar.Value{named("add", v[0], b.Const(8, 1))}
			for k := range others {
				next = append(next, ofType(scalar.F64, "add", v[1+k], b.Const(8, math.Float64bits(float64(k)))))
			}
			return next
		})
		for k := range others {
			b.Store(8, sums, scalar.None, int64(8*k), last[1+k])
		}
		p, ok := b.Build()
		require.True(t, ok, name)
		s := p.NewState()
		for k := range in {
			s.SetPlace(in[k], at(k))
		}
		s.SetPlace(out, unsafe.Pointer(&got[0]))
		var counted [others]float64
		s.SetPlace(sums, unsafe.Pointer(&counted[0]))
		for s.Begin(); !p.Run(s); {
		}
		for k, sum := range counted {
			require.Equal(t, float64(k*n), sum, "%s beside number %d", name, k)
		}
		if !bytes.Equal(want, got) {
			for i := 0; i < n; i++ {
				require.Equalf(t, want[i*lane:(i+1)*lane], got[i*lane:(i+1)*lane], "%s of element %d, %x", name, i, arrays[0][i*lane:(i+1)*lane])
			}
		}
	}
	if native.Possible() {
		require.Greater(t, tried, 100)
	}
	t.Log(tried, "loops")
}
