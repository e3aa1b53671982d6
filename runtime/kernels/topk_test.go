package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

func TestTopK(t *testing.T) {
	for _, typ := range []string{"f32", "bf16", "f16", "s32", "u32", "s16", "u16", "s8", "u8", "f64", "s64", "u64"} {
		for _, largest := range []bool{true, false} {
			for _, c := range []struct {
				dims, out string
				k         int
			}{{"7", "7", 7}, {"3,40", "3,5", 5}, {"2,3000", "2,100", 100}, {"1200", "1", 1}, {"2,2,9", "2,2,3", 3}, {"700", "650", 650}} {
				kernelCase{text: fmt.Sprintf("(%[1]s[%[2]s], s32[%[2]s]) topk(%[1]s[%[3]s]), k=%[4]d, largest=%[5]v", typ, c.out, c.dims, c.k, largest)}.check(t)
			}
		}
	}
}

// TestTopKCall has the comparators of the custom call: of elements and of what is made of them, of one operand and with positions.
func TestTopKCall(t *testing.T) {
	for _, typ := range [][3]string{{"f32", "s32", "2147483647"}, {"f64", "s64", "9223372036854775807"}, {"bf16", "s16", "32767"}, {"f16", "s16", "32767"}} {
		for _, comparator := range []string{
			"a = T[] parameter(0) b = T[] parameter(1) ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER",
			"a = T[] parameter(0) b = T[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER",
			"a = T[] parameter(0) b = T[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) " + signedBits("a", "l", typ[2]) + signedBits("b", "r", typ[2]) +
				"ROOT less = pred[] compare(l, r), direction=GT",
		} {
			for _, c := range []struct{ in, out string }{{"7", "7"}, {"3,40", "3,5"}, {"2,3000", "2,100"}, {"1200", "1"}, {"2,2,9", "2,2,3"}, {"700", "650"}} {
				text := fmt.Sprintf(`(T[%[2]s], s32[%[2]s]) custom-call(T[%[1]s]), custom_call_target="TopK", called_computations={ { %[3]s } }`, c.in, c.out, comparator)
				kernelCase{text: strings.NewReplacer("T[", typ[0]+"[", "I[", typ[1]+"[").Replace(text)}.check(t)
			}
		}
	}
}

func TestLargestFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + rng.IntN(200)
		v := make([]uint64, n)
		for i, p := range rng.Perm(n) {
			v[i] = uint64(p)
			if n%3 == 0 {
				v[i] = uint64(i) // in order
			}
		}
		k := 1 + rng.IntN(n)
		largestFirst(v, k)
		first := slices.Clone(v[:k])
		slices.Sort(first)
		for i, x := range first {
			require.Equal(t, uint64(n-k+i), x)
		}
	}
}

// TestTopKOfFewValues has thresholds that are equal to what follows, or nearly, as zeros are.
func TestTopKOfFewValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	few := []uint32{0, 1 << 31, 1, 1<<31 | 1, 0x7fc00000, 0xffc00000, 0xbf800000, 0x3f800000}
	for _, descending := range []bool{false, true} {
		for range 300 {
			x := &topKSearch{key: sortKey{typ: hlo.F32, descending: descending}, width: 4, n: 1 + rng.IntN(2000)}
			x.k = 1 + rng.IntN(min(x.n, 40))
			x.skip = skippingOf(&x.key)
			row, some := make([]uint32, x.n), few[rng.IntN(len(few)):]
			for i := range row {
				row[i] = some[rng.IntN(len(some))]
			}
			bytes := unsafe.Slice((*byte)(unsafe.Pointer(&row[0])), 4*x.n)
			keys := make([]uint64, x.n)
			x.key.orderable(keys, bytes)
			for i, key := range keys {
				keys[i] = key<<32 | uint64(^uint32(i))
			}
			slices.Sort(keys)
			slices.Reverse(keys)
			require.Equal(t, keys[:x.k], x.search(&topKBuffers{kept: make([]uint64, 0, max(64, 2*x.k))}, bytes))
		}
	}
}
