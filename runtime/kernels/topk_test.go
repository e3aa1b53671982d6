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

// TestTopKCallWithoutComparator has the call as TensorFlow 2.12 has it: the largest, in total order.
func TestTopKCallWithoutComparator(t *testing.T) {
	for _, typ := range []string{"f32", "bf16", "s32", "u8", "f64"} {
		for _, c := range []struct{ in, out string }{{"7", "7"}, {"3,40", "3,5"}, {"2,2,9", "2,2,3"}} {
			kernelCase{text: fmt.Sprintf(`(%[1]s[%[3]s], s32[%[3]s]) custom-call(%[1]s[%[2]s]), custom_call_target="TopK"`, typ, c.in, c.out)}.check(t)
		}
	}
}

// TestTopKCallRefused has computations that compare nothing: the call is left to the evaluator, which says so.
func TestTopKCallRefused(t *testing.T) {
	for _, body := range []string{"ROOT r = pred[] constant(true)", "a = f32[] parameter(0) ROOT r = pred[] is-finite(a)"} {
		_, ok := chooseFast(siteOf(t, `(f32[8,4], s32[8,4]) custom-call(f32[8,16]), custom_call_target="TopK", called_computations={ { `+body+` } }`))
		require.False(t, ok, body)
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

// TestFirstOfSort compares with what sorts of everything give: of ties, of both zeros, which are equal or not, of NaN, and of operands that are carried along.
func TestFirstOfSort(t *testing.T) {
	const program = `HloModule m
by { p = T[] parameter(0) q = T[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) a = u8[] parameter(4) b = u8[] parameter(5)
 m = T[] negate(p) n = T[] negate(q) ROOT c = pred[] compare(ORDER }
first { x = T[9,N] parameter(0) y = u8[9,N] parameter(1) i = s32[N] iota(), iota_dimension=0 k = s32[9,N] broadcast(i), dimensions={1}
 s = (T[9,N], s32[9,N], u8[9,N]) sort(x, k, y), dimensions={1}, to_apply=by
 v = T[9,N] get-tuple-element(s), index=0 at = s32[9,N] get-tuple-element(s), index=1 z = u8[9,N] get-tuple-element(s), index=2
 v7 = T[9,7] slice(v), slice={[0:9], [0:7]} at7 = s32[9,7] slice(at), slice={[0:9], [0:7]} z3 = u8[9,3] slice(z), slice={[0:9], [2:5]}
 ROOT r = (T[9,7], s32[9,7], u8[9,3]) tuple(v7, at7, z3) }
ENTRY main { x = T[9,N] parameter(0) y = u8[9,N] parameter(1) `
	const first = "ROOT f = (T[9,7], s32[9,7], u8[9,3]) fusion(x, y), kind=kCustom, calls=first }"
	const all = "k = s32[9,N] parameter(2) ROOT s = (T[9,N], s32[9,N], u8[9,N]) sort(x, k, y), dimensions={1}, to_apply=by }"
	for _, typ := range []string{"f32", "bf16", "f16", "s32", "u8", "s16", "u32"} {
		for _, order := range []string{"p, q), direction=GT", "p, q), direction=LT", "q, p), direction=LT", "m, n), direction=LT", "p, q), direction=GT, type=TOTALORDER"} {
			if strings.Contains(order, "TOTAL") && !strings.Contains(typ, "f") {
				continue
			}
			for _, n := range []int{64, 700} {
				as := strings.NewReplacer("T[", typ+"[", "N]", fmt.Sprint(n)+"]", "ORDER", order)
				some, whole := siteOf(t, as.Replace(program+first)), siteOf(t, as.Replace(program+all))
				rng := rand.New(rand.NewPCG(1, uint64(n)))
				args := []*hlo.Literal{kernelCase{}.operand(t, rng, some.shape(0), 0), kernelCase{}.operand(t, rng, some.shape(1), 1)}
				counts := make([]int32, 9*n)
				for i := range counts {
					counts[i] = int32(i % n)
				}
				at, err := hlo.LiteralOf(whole.shape(1), counts...)
				require.NoError(t, err)
				ordered, ok := chooseFast(whole)
				require.True(t, ok)
				found, ok := chooseFast(some)
				require.True(t, ok)
				want := run(t, whole, ordered, []*hlo.Literal{args[0], at, args[1]}, 1)
				got := run(t, some, found, args, 2)
				w := some.shape(0).Type().ByteSize()
				for row := range 9 {
					about := fmt.Sprintf("%s, %s, row %d of %d", typ, order, row, n)
					require.Equal(t, want[0].Data[row*n*w:][:7*w], got[0].Data[row*7*w:][:7*w], about)
					require.Equal(t, want[1].Data[row*n*4:][:7*4], got[1].Data[row*7*4:][:7*4], about)
					require.Equal(t, want[2].Data[row*n+2:][:3], got[2].Data[row*3:][:3], about)
				}
			}
		}
	}
}
