package tile

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// exactQuotient bounds the whole quotients whose products with a number of 24 bits are exact in a float64.
const exactQuotient = 1 << 29

// remainder64 is math.Mod. The difference of the dividend and a multiple of the divisor is exact where it is below that.
func remainder64(x, y float64) float64 {
	ax, ay := math.Abs(x), math.Abs(y)
	if ax < ay {
		return x
	}
	q := ax / ay
	if !(q < 1<<53) {
		return math.Mod(x, y)
	}
	r := math.FMA(-float64(int64(q)), ay, ax)
	if r < 0 {
		r += ay
	}
	return math.Copysign(r, x)
}

// remainder32 is math.Mod of numbers of 24 bits, bit for bit. A whole quotient in float64 is the exact one, or one more where the division was
// rounded up to it; product and difference are exact.
func remainder32(x, y float32) float32 {
	ax, ay := math.Abs(float64(x)), math.Abs(float64(y))
	if ax < ay {
		return x
	}
	q := ax / ay
	if !(q < exactQuotient) { // a NaN, an infinity or a zero, too
		return float32(math.Mod(float64(x), float64(y)))
	}
	r := ax - float64(float64(int64(q))*ay)
	if r < 0 {
		r += ay
	}
	return float32(math.Copysign(r, float64(x)))
}

// isFloatRemainder reports whether a loop is of those that end where quotients are large.
func isFloatRemainder(name vectors.Name) bool {
	return name.Op == hlo.OpRemainder && name.Types[0].IsFloat() && name.Mode == vectors.Elementwise
}

// remainders is the loop in assembly for remainders of floats. A vector in which it ends, and what is less than a vector, are left to Go.
func remainders(name vectors.Name, portable loop) loop {
	fn, width := vectors.Find(name, nil), name.Types[0].ByteSize()
	lanes := map[vectors.Level]int{vectors.AVX2: 4, vectors.AVX512: 8}[vectors.InUse()]
	if fn == nil {
		return portable
	}
	return func(n int, d, a, b, _ unsafe.Pointer) {
		left := leftPool.Get().(*int)
		for n >= lanes {
			whole := n / lanes * lanes
			fn(whole, d, a, b, unsafe.Pointer(left))
			done := whole - *left
			n -= done
			d, a, b = unsafe.Add(d, done*width), unsafe.Add(a, done*width), unsafe.Add(b, done*width)
			if *left > 0 {
				portable(lanes, d, a, b, nil)
				n -= lanes
				d, a, b = unsafe.Add(d, lanes*width), unsafe.Add(a, lanes*width), unsafe.Add(b, lanes*width)
			}
		}
		if n > 0 {
			portable(n, d, a, b, nil)
		}
		leftPool.Put(left)
	}
}

// leftPool has room for how many elements a loop has left: what loops are given is on the heap.
var leftPool = sync.Pool{New: func() any { return new(int) }}
