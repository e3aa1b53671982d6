package kernels

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// reducer is the text of a computation of one op.
func reducer(op string) string {
	return fmt.Sprintf("{ a = T[] parameter(0) b = T[] parameter(1) ROOT c = T[] %s(a, b) }", op)
}

func TestReduce(t *testing.T) {
	shapes := []string{
		"T[4] reduce(T[4,5], T[]), dimensions={1}", "T[5] reduce(T[4,5], T[]), dimensions={0}", "T[] reduce(T[4,5], T[]), dimensions={0,1}",
		"T[] reduce(T[], T[]), dimensions={}", "T[3] reduce(T[3,0], T[]), dimensions={1}", "T[4,6] reduce(T[4,5,6], T[]), dimensions={1}",
		"T[5] reduce(T[4,5,6], T[]), dimensions={0,2}", "T[4,6] reduce(T[4,3,6,2], T[]), dimensions={1,3}", "T[] reduce(T[100000], T[]), dimensions={0}",
		"T[3] reduce(T[30000,3], T[]), dimensions={0}", "T[2] reduce(T[300,2,300], T[]), dimensions={0,2}", "T[2,1500] reduce(T[2,300,1500], T[]), dimensions={1}",
		"T[200] reduce(T[200,1000], T[]), dimensions={1}", "T[2,6] reduce(T[2,4096,6], T[]), dimensions={1}", "T[64] reduce(T[3000,64], T[]), dimensions={0}", "T[4,1] reduce(T[4,1,1], T[]), dimensions={2}",
		"T[33] reduce(T[7,33,9], T[]), dimensions={0,2}", "T[3,5] reduce(T[3,200,5,7], T[]), dimensions={1,3}", "T[3] reduce(T[4,3,1500], T[]), dimensions={0,2}",
		"T[2,3] reduce(T[9,2,8,3,5], T[]), dimensions={0,2,4}", "T[70,3] reduce(T[70,9,3,2], T[]), dimensions={1,3}", "T[130] reduce(T[40,130,17], T[]), dimensions={0,2}", "T[2] reduce(T[40,2,3], T[]), dimensions={0,2}",
		"T[0] reduce(T[3,0,4], T[]), dimensions={0,2}", "T[5] reduce(T[0,5,4], T[]), dimensions={0,2}",
	}
	for typ, ops := range map[string]string{
		"f32": "add maximum minimum", "f64": "add maximum", "bf16": "add maximum", "f16": "add", "s32": "add multiply maximum minimum and or xor",
		"u8": "add maximum and", "pred": "and or add xor maximum", "s64": "minimum add", "u32": "maximum",
	} {
		for _, op := range strings.Fields(ops) {
			for _, s := range shapes {
				if strings.HasSuffix(typ, "16") && op == "add" && strings.Contains(s, "00") {
					continue // the evaluator rounds every sum to the narrow type
				}
				kernelCase{text: replaceType(s+", to_apply="+reducer(op), typ), small: true, tol: 1e-2}.check(t)
			}
		}
	}
}

// TestFusedReduce reduces what is computed on the way, through every layout: runs and rows, short and long, parts, blocks of columns.
func TestFusedReduce(t *testing.T) {
	shapes := [][3]string{ // result, operand, dimensions
		{"4", "4,5", "1"}, {"5", "4,5", "0"}, {"", "4,5", "0,1"}, {"4,6", "4,5,6", "1"}, {"", "100000", "0"}, {"3", "30000,3", "0"},
		{"2,1500", "2,300,1500", "1"}, {"200", "200,1000", "1"}, {"30", "30,3000", "1"}, {"4,1", "4,1,9", "2"}, {"2", "2,70000", "1"},
		{"1100", "900,1100", "0"}, {"40", "600,40", "0"}, {"70", "70,16", "1"}, {"700", "700,3", "1"}, {"2,6", "2,4096,6", "1"}, {"64", "3000,64", "0"}, {"", "2", "0"}, {"2100", "3,2100", "0"},
		{"33", "7,33,9", "0,2"}, {"3,5", "3,200,5,7", "1,3"}, {"3", "4,3,1500", "0,2"}, {"70,3", "70,9,3,2", "1,3"}, {"130", "40,130,17", "0,2"}, {"2", "40,2,3", "0,2"}, {"4", "3000,4,5", "0,2"}, {"8,8", "8,600,8,8", "1,3"},
	}
	for _, level := range levels() {
		restore := vec.Use(level)
		for typ, ops := range map[string]string{"f32": "add maximum", "f64": "add", "s32": "add minimum", "u8": "maximum", "bf16": "maximum", "s64": "and"} {
			for _, op := range strings.Fields(ops) {
				for _, s := range shapes {
					text := "T[R] fusion(T[S], T[]), kind=kInput, calls={ x = T[S] parameter(0) i = T[] parameter(1) two = T[] constant(2) b = T[S] broadcast(two), dimensions={} " +
						"y = T[S] multiply(x, b) ROOT r = T[R] reduce(y, i), dimensions={D}, to_apply=" + reducer(op) + " }"
					text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]", "{D}", "{"+s[2]+"}").Replace(text)
					kernelCase{text: replaceType(text, typ), small: true, tol: 1e-5}.check(t)
				}
			}
		}
		restore()
	}
	// The initial value is a constant, and narrow numbers are summed in f32.
	kernelCase{text: "f32[40] fusion(bf16[40,96]), kind=kInput, calls={ x = bf16[40,96] parameter(0) c = f32[40,96] convert(x) z = f32[] constant(5) " +
		"ROOT r = f32[40] reduce(c, z), dimensions={1}, to_apply=" + replaceType(reducer("add"), "f32") + " }", small: true, tol: 1e-5}.check(t)
	kernelCase{text: "bf16[4] fusion(bf16[4,6]), kind=kInput, calls={ x = bf16[4,6] parameter(0) n = bf16[4,6] negate(x) z = bf16[] constant(5) " +
		"ROOT r = bf16[4] reduce(n, z), dimensions={1}, to_apply=" + replaceType(reducer("add"), "bf16") + " }", small: true, tol: 1e-5}.check(t)
}

// TestNarrowRuns reduces rows of bf16 and f16, as they are and as f32, along runs of many lengths and with parts.
func TestNarrowRuns(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, typ := range []string{"bf16", "f16"} {
			for _, s := range [][3]string{{"40", "40,96", "1"}, {"7", "7,1000", "1"}, {"3", "3,17", "1"}, {"2", "2,70000", "1"}, {"", "100001", "0"}, {"5", "5,9,33", "1,2"}, {"700", "700,2", "1"}, {"300", "300,7", "1"}, {"150", "150,32", "1"}} {
				for _, op := range []string{"add", "maximum", "minimum", "multiply"} {
					if op == "multiply" && s[0] != "700" && s[0] != "300" && s[0] != "150" { // only short runs are
						continue
					}
					text := "f32[R] fusion(T[S], f32[]), kind=kInput, calls={ x = T[S] parameter(0) i = f32[] parameter(1) c = f32[S] convert(x) " +
						"ROOT r = f32[R] reduce(c, i), dimensions={D}, to_apply=" + strings.ReplaceAll(reducer(op), "T[", "f32[") + " }"
					text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]", "{D}", "{"+s[2]+"}").Replace(text)
					kernelCase{text: replaceType(text, typ), small: true, tol: 1e-4}.check(t)
					if op != "add" {
						text = "T[R] reduce(T[S], T[]), dimensions={D}, to_apply=" + reducer(op)
						text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]", "{D}", "{"+s[2]+"}").Replace(text)
						kernelCase{text: replaceType(text, typ), small: true}.check(t)
					}
				}
			}
		}
		restore()
	}
	// What is rounded on the way is not read as it was.
	kernelCase{text: "f16[40] fusion(bf16[40,96], f16[]), kind=kInput, calls={ x = bf16[40,96] parameter(0) i = f16[] parameter(1) c = f16[40,96] convert(x) " +
		"ROOT r = f16[40] reduce(c, i), dimensions={1}, to_apply=" + replaceType(reducer("maximum"), "f16") + " }", small: true}.check(t)
}

// TestTruthCounts counts predicates along rows of few and of as many as a byte counts, and one more: as they are in memory, and as they are compared.
func TestTruthCounts(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, typ := range []string{"s16", "s32", "s64", "u64"} {
			for _, s := range [][3]string{{"700", "700,2", "1"}, {"500", "500,3", "1"}, {"90", "90,17", "1"}, {"16", "16,255", "1"}, {"16", "16,256", "1"}, {"40", "255,40", "0"}, {"7", "3,7,64", "0,2"}} {
				end := "i = T[] constant(0) ROOT r = T[R] reduce(c, i), dimensions={D}, to_apply=" + reducer("add") + " }"
				for _, begin := range []string{
					"fusion(pred[S]), kind=kInput, calls={ x = pred[S] parameter(0) c = T[S] convert(x) ",
					"fusion(f32[S]), kind=kInput, calls={ x = f32[S] parameter(0) one = f32[] constant(1) b = f32[S] broadcast(one), dimensions={} p = pred[S] compare(x, b), direction=LT n = s32[S] convert(p) c = T[S] convert(n) ",
				} {
					text := strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]", "{D}", "{"+s[2]+"}").Replace("T[R] " + begin + end)
					kernelCase{text: replaceType(text, typ), small: true}.check(t)
				}
			}
		}
		restore()
	}
}

// TestListedRows reduces rows in memory: columns that fill several vectors, one, and parts of one, of few rows, of more than a block, and of none that is whole.
func TestListedRows(t *testing.T) {
	shapes := [][3]string{ // result, operand, dimensions
		{"3,64", "3,16,64", "1"}, {"5,300", "5,3,300", "1"}, {"2,17", "2,300,17", "1"}, {"70,33", "70,2,33", "1"}, {"1100", "700,1100", "0"}, {"40", "600,40", "0"}, {"3,1", "3,9,1", "1"},
		{"9,129", "2,9,3,129", "0,2"}, {"9,12", "2,9,3,12,5", "0,2,4"}, {"66,20", "66,7,20", "1"}, {"70,17", "70,600,17", "1"}, {"30,8", "30,40,8", "1"}, {"30,5", "30,300,5", "1"},
	}
	for _, level := range levels() {
		restore := vec.Use(level)
		for typ, ops := range map[string]string{
			"f32": "maximum minimum multiply", "f64": "maximum minimum multiply", "bf16": "maximum minimum", "f16": "maximum minimum", "s8": "add maximum minimum multiply", "u8": "add maximum minimum and or xor", "s16": "add maximum minimum multiply",
			"u16": "add maximum minimum xor", "s32": "add maximum minimum multiply and", "u32": "add maximum minimum or", "s64": "add maximum minimum multiply", "u64": "add maximum minimum xor", "pred": "and or xor",
		} {
			for _, op := range strings.Fields(ops) {
				for _, s := range shapes {
					text := "T[R] reduce(T[S], T[]), dimensions={D}, to_apply=" + reducer(op)
					text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]", "{D}", "{"+s[2]+"}").Replace(text)
					kernelCase{text: replaceType(text, typ), small: !strings.Contains("f32 f64 bf16 f16", typ), tol: 1e-5}.check(t)
				}
			}
		}
		for _, c := range []struct{ typ, op string }{{"f32", "add"}, {"bf16", "add"}, {"f16", "add"}, {"bf16", "multiply"}, {"f16", "multiply"}} { // what is folded in f32
			for _, s := range shapes {
				text := "f32[R] fusion(T[S], f32[]), kind=kInput, calls={ x = T[S] parameter(0) i = f32[] parameter(1) c = f32[S] convert(x) " +
					"ROOT r = f32[R] reduce(c, i), dimensions={D}, to_apply=" + strings.ReplaceAll(reducer(c.op), "T[", "f32[") + " }"
				text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]", "{D}", "{"+s[2]+"}").Replace(text)
				kernelCase{text: replaceType(text, c.typ), small: c.op == "add", tol: 1e-4}.check(t)
			}
		}
		restore()
	}
}

// levels are the instruction sets of this processor.
func levels() (all []vec.Level) {
	for l := vec.Portable; l <= vec.Best(); l++ {
		all = append(all, l)
	}
	return all
}

// argmax is JAX's reducer: the greater value, NaN above all, and of equals the one with the lower index.
const argmax = `{ a = T[] parameter(0) i = s32[] parameter(1) b = T[] parameter(2) j = s32[] parameter(3)
 gt = pred[] compare(a, b), direction=GT
 ne = pred[] compare(a, a), direction=NE
 keep = pred[] or(gt, ne)
 eq = pred[] compare(a, b), direction=EQ
 lt = pred[] compare(i, j), direction=LT
 tie = pred[] and(eq, lt)
 first = pred[] or(keep, tie)
 v = T[] select(keep, a, b)
 n = s32[] select(first, i, j)
 ROOT r = (T[], s32[]) tuple(v, n) }`

func TestReduceLanes(t *testing.T) {
	for _, typ := range []string{"f32", "s32", "bf16"} {
		for _, s := range []string{
			"(T[6], s32[6]) reduce(T[4,6], s32[4,6], T[], s32[]), dimensions={0}", "(T[4], s32[4]) reduce(T[4,6], s32[4,6], T[], s32[]), dimensions={1}",
			"(T[], s32[]) reduce(T[7003], s32[7003], T[], s32[]), dimensions={0}", "(T[3], s32[3]) reduce(T[3,100], s32[3,100], T[], s32[]), dimensions={1}",
			"(T[300], s32[300]) reduce(T[300,9], s32[300,9], T[], s32[]), dimensions={1}", "(T[2,700], s32[2,700]) reduce(T[2,30,700], s32[2,30,700], T[], s32[]), dimensions={1}",
			"(T[5], s32[5]) reduce(T[4,5,6], s32[4,5,6], T[], s32[]), dimensions={0,2}",
			"(T[5], s32[5]) reduce(T[900,5], s32[900,5], T[], s32[]), dimensions={0}", "(T[2,3], s32[2,3]) reduce(T[2,9000,3], s32[2,9000,3], T[], s32[]), dimensions={1}",
		} {
			c := strings.ReplaceAll(s+", to_apply="+argmax, "(T[", "( T[")
			kernelCase{text: strings.ReplaceAll(c, "T[", typ+"["), small: true}.check(t)
		}
	}
	kernelCase{text: "f32[5] reduce(f32[900,5], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) " +
		"p = f32[] multiply(a, b) q = f32[] add(p, a) ROOT r = f32[] add(q, b) }", small: true, tol: 1e-3}.check(t)
}

// TestFusedRowLanes folds what is computed with its positions: by the comparisons of JAX, which are recognised, also of the smallest and with the value of the first of
// equals; by others, which are not; and by one that is not a choice.
func TestFusedRowLanes(t *testing.T) {
	reducers := []string{argmax, strings.ReplaceAll(argmax, "direction=GT", "direction=LT"), strings.ReplaceAll(argmax, "direction=GT", "direction=GE"),
		strings.Replace(argmax, "select(keep, a, b)", "select(first, a, b)", 1), strings.ReplaceAll(argmax, "or(gt, ne)", "or(gt, gt)"),
		strings.ReplaceAll(argmax, "select(first, i, j)", "add(i, j)")}
	for _, reducer := range reducers {
		for _, typ := range []string{"f32", "f64", "s32", "pred", "s8", "u8", "s16", "u16", "bf16", "f16"} {
			for _, s := range [][2]string{{"4", "4,5"}, {"300", "300,40"}, {"3", "3,1100"}, {"2", "2,20001"}, {"2,9", "2,9,77"}, {"", "33000"}} {
				for _, body := range []string{"x = T[S] parameter(0) y = T[S] maximum(x, x)", "y = T[S] parameter(0)"} {
					axis := fmt.Sprint(strings.Count(s[1], ","))
					text := "( T[R], s32[R]) fusion(T[S], T[]), kind=kInput, calls={ " + body + " i = T[] parameter(1) n = s32[S] iota(), iota_dimension=" + axis +
						" z = s32[] constant(0) ROOT r = ( T[R], s32[R]) reduce(y, n, i, z), dimensions={" + axis + "}, to_apply=" + reducer + " }"
					text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]").Replace(text)
					kernelCase{text: replaceType(text, typ), small: true}.check(t)
				}
			}
		}
	}
}

// TestFusedColumns does so in rows of few elements, which are folded as columns.
func TestFusedColumns(t *testing.T) {
	for _, reducer := range []string{argmax, strings.ReplaceAll(argmax, "direction=GT", "direction=LT"), strings.ReplaceAll(argmax, "select(first, i, j)", "add(i, j)")} {
		for _, typ := range []string{"f32", "f64", "s32", "pred", "u8", "s16", "bf16", "f16"} {
			for _, s := range [][3]string{{"8", "40,8", "0"}, {"3", "1100,3", "0"}, {"2,5", "2,77,5", "1"}, {"2", "20001,2", "0"}, {"2,2", "30,40,2,2", "0,1"}, {"2,20", "2,50,20", "1"}, {"100", "17,100", "0"}} {
				if isMany := s[0] == "2,20" || s[0] == "100"; isMany && strings.Contains(reducer, "add") {
					continue // only extremes of so many columns are folded so
				}
				for _, body := range []string{"x = T[S] parameter(0) y = T[S] maximum(x, x)", "y = T[S] parameter(0)"} {
					text := "( T[R], s32[R]) fusion(T[S], T[]), kind=kInput, calls={ " + body + " i = T[] parameter(1) n = s32[S] iota(), iota_dimension=" + s[2][:1] +
						" z = s32[] constant(0) ROOT r = ( T[R], s32[R]) reduce(y, n, i, z), dimensions={" + s[2] + "}, to_apply=" + reducer + " }"
					text = strings.NewReplacer("[R]", "["+s[0]+"]", "[S]", "["+s[1]+"]").Replace(text)
					kernelCase{text: replaceType(text, typ), small: true}.check(t)
				}
			}
		}
	}
}

// TestExtremes finds not-a-numbers and zeros of both signs where the evaluator finds them.
func TestExtremes(t *testing.T) {
	for _, typ := range []string{"f32", "bf16", "f16"} {
		for _, columns := range []int{17, 20, 32, 33, 64, 65, 100, 1200} {
			testExtremes(t, typ, columns)
		}
	}
}

func testExtremes(t *testing.T, typ string, columns int) {
	t.Helper()
	s := siteOf(t, strings.NewReplacer("T[", typ+"[", "C]", fmt.Sprint(columns)+"]").Replace("(T[9], s32[9]) fusion(T[9,C], T[]), kind=kInput, calls={ x = T[9,C] parameter(0) i = T[] parameter(1) n = s32[9,C] iota(), "+
		"iota_dimension=1 z = s32[] constant(0) ROOT r = ( T[9], s32[9]) reduce(x, n, i, z), dimensions={1}, to_apply="+argmax+" }"))
	bound, ok := chooseFast(s)
	require.True(t, ok)
	x, init := elems[float32](runtime.AlignedBytes(int64(9*columns*4))), elems[float32](runtime.AlignedBytes(4))
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(0)
	init[0] = -inf
	for i := range x {
		x[i] = -1
	}
	row := func(i int) []float32 { return x[i*columns:][:columns] }
	at := func(of int) int { return of * (columns - 1) / 1199 }
	row(0)[at(700)], row(0)[at(900)] = nan, nan
	row(1)[at(3)], row(1)[at(1100)], row(1)[at(600)] = inf, nan, 7
	row(2)[at(5)], row(2)[at(1199)] = zero, -zero
	row(3)[at(5)], row(3)[at(600)] = -zero, zero
	for i := range row(4) {
		row(4)[i] = -inf
	}
	row(5)[at(511)], row(5)[at(576)] = 3, 3
	row(6)[at(1199)] = 1
	for i := range row(8) {
		row(8)[i] = nan
	}
	var args []*hlo.Literal
	for i, v := range [][]float32{x, init} {
		data := bytesOf(v)
		if format, narrow := testFormats[s.shape(i).Type()]; narrow {
			codes := make([]uint16, len(v))
			for k, x := range v {
				codes[k] = format.FromFloat32(x)
			}
			data = bytesOf(codes)
		}
		l, err := hlo.NewLiteral(s.shape(i), data)
		require.NoError(t, err)
		args = append(args, l)
	}
	want, err := eval.Instruction(t.Context(), s.m, s.in, args)
	require.NoError(t, err)
	got := run(t, s, bound, args, 1)
	for i, l := range want.Leaves() {
		require.Equal(t, l.Bytes(), got[i].Data)
	}
}

// TestWholeFolds has few results folded from rows of computed elements, where those can be cut into rows that are long enough, and no others.
func TestWholeFolds(t *testing.T) {
	const never = vec.AVX512 + 1
	cases := []struct {
		operand, result, dimensions string
		from                        vec.Level // that has rows of this length
	}{
		{"640000", "", "0", vec.AVX2}, {"4096", "", "0", vec.AVX2}, {"513", "", "0", vec.AVX512}, {"512", "", "0", never}, {"100003", "", "0", never}, {"70,300", "", "0,1", vec.AVX512},
		{"9,20000", "9", "1", vec.AVX2}, {"2,3,1000", "2", "1,2", vec.AVX512}, {"4000,3", "", "0,1", never}, {"40000,1", "", "0,1", vec.AVX2}, {"300,8192", "8192", "0", never}, {"40000,5", "5", "0", never},
	}
	for _, level := range levels() {
		restore := vec.Use(level)
		for typ, ops := range map[string]string{"f32": "add maximum", "f64": "minimum", "s64": "add", "bf16": "maximum", "f16": "maximum"} {
			for _, op := range strings.Fields(ops) {
				for _, c := range cases {
					first, _, _ := strings.Cut(c.operand, ",")
					text := "T[R] fusion(T[S], T[F], T[]), kind=kInput, calls={ x = T[S] parameter(0) f = T[F] parameter(1) i = T[] parameter(2) b = T[S] broadcast(f), dimensions={0} " +
						"y = T[S] add(x, b) ROOT r = T[R] reduce(y, i), dimensions={D}, to_apply=" + reducer(op) + " }"
					text = strings.NewReplacer("[R]", "["+c.result+"]", "[S]", "["+c.operand+"]", "[F]", "["+first+"]", "{D}", "{"+c.dimensions+"}").Replace(text)
					text = replaceType(text, typ)
					kernelCase{text: text, small: true, tol: 1e-5}.check(t)
					if typ == "f32" {
						assert.Equal(t, level >= c.from, foldsWhole(t, text), text)
					}
				}
			}
		}
		restore()
	}
}

// TestFlatWholeFolds has dimensions not matter where elements depend on those at the same place alone.
func TestFlatWholeFolds(t *testing.T) {
	const start = "f32[] fusion(f32[3200,7], f32[3200,7], f32[], f32[7]), kind=kInput, calls={ x = f32[3200,7] parameter(0) y = f32[3200,7] parameter(1) s = f32[] parameter(2) w = f32[7] parameter(3) " +
		"two = f32[] constant(2) f = f32[] multiply(s, two) b = f32[3200,7] broadcast(f), dimensions={} d = f32[3200,7] subtract(x, y) e = f32[3200,7] multiply(d, b) "
	for _, level := range levels() {
		restore := vec.Use(level)
		for body, flat := range map[string]bool{
			"v = f32[3200,7] multiply(e, d)":                                                  true,
			"p = pred[3200,7] compare(e, b), direction=GT v = f32[3200,7] select(p, d, e)":    true,
			"v = f32[3200,7] clamp(s, e, f)":                                                  true,
			"c = f32[3200,7] broadcast(w), dimensions={1} v = f32[3200,7] multiply(e, c)":     false,
			"h = s64[3200,7] convert(d) g = f32[3200,7] convert(h) v = f32[3200,7] add(e, g)": false,
			"c = f32[3200,7] iota(), iota_dimension=1 v = f32[3200,7] multiply(e, c)":         false,
			"c = f32[3200,7] reverse(e), dimensions={1} v = f32[3200,7] multiply(e, c)":       false,
		} {
			text := start + body + " z = f32[] constant(3) ROOT r0 = f32[] reduce(v, z), dimensions={0,1}, to_apply=" + replaceType(reducer("add"), "f32") + " }"
			kernelCase{text: text, small: true, tol: 1e-5}.check(t)
			assert.Equal(t, flat && level >= vec.AVX2, foldsWhole(t, text), body)
		}
		restore()
	}
}

// foldsWhole reports whether a fusion of f32 is folded as rows.
func foldsWhole(t *testing.T, text string) bool {
	s := siteOf(t, text)
	s = &site{m: s.m, in: s.m.MustComputation(s.in.Callee(0)).Root(), b: s.b, reg: s.reg}
	op, typ, ok := s.foldOp()
	require.True(t, ok)
	r := &reduction[float32]{fold: foldOf[float32](op)}
	r.layOut(s.shape(0).Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions)
	return r.takeWholeRows(s, s.in.OperandInstr(0), op, typ, arrayParameters)
}
