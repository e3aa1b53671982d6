package tile

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// TestTurns: large numbers among others have the sine that Go gives, the others that which they have without these, in place too.
func TestTurns(t *testing.T) {
	for level := vectors.Portable; level <= vectors.Best(); level++ {
		restore := vectors.Use(level)
		testTurns[float32](t, hlo.F32)
		testTurns[float64](t, hlo.F64)
		restore()
	}
}

func testTurns[T float](t *testing.T, typ hlo.PrimitiveType) {
	name := vectors.Of(hlo.OpSine, typ)
	if vectors.Find(name, nil) == nil {
		return
	}
	portable := map1(func(x T) T { return T(math.Sin(float64(x))) })
	fn := turns(name, portable)
	r := rand.New(rand.NewPCG(1, 2))
	far := []T{1 << mostTurned, -1e9, 3e15, T(math.Inf(1)), T(math.NaN())}
	for _, n := range []int{1, 7, 100, Size + 40} {
		near, x, want, got := make([]T, n), make([]T, n), make([]T, n), make([]T, n)
		for i := range near {
			near[i] = T(r.NormFloat64() * 100)
		}
		fn(n, unsafe.Pointer(&want[0]), unsafe.Pointer(&near[0]), nil, nil)
		copy(x, near)
		for i := range x {
			if r.IntN(9) == 0 {
				x[i] = far[r.IntN(len(far))]
				want[i] = T(math.Sin(float64(x[i])))
			}
		}
		fn(n, unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), nil, nil)
		fn(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), nil, nil)
		for i, w := range want {
			if w != w && got[i] != got[i] && x[i] != x[i] {
				continue
			}
			require.Equal(t, []T{w, w}, []T{got[i], x[i]}, "%v: element %d of %d", typ, i, n)
		}
	}
}
