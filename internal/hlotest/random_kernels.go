package hlotest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
)

// Kernels makes a module of n ops that have kernels of their own: pooling and its gradient, normalisation, sorting and top-k, gather and scatter,
// random bits, transforms, linear algebra, products and convolutions of several types. Arrays are large enough for the kernels' fast paths.
// Matrices are made well-conditioned first. The same seed makes the same module.
func Kernels(seed uint64, n int) (hlo.Module, error) {
	g := &kernelText{r: rand.New(rand.NewPCG(seed, 0xA0761D6478BD642F))}
	for range n {
		g.op()
	}
	text := fmt.Sprintf("HloModule kernels_%d\n%sENTRY main {\n%s  ROOT out = (%s) tuple(%s)\n}\n", seed, g.callees.String(), g.body.String(),
		strings.Join(g.shapes, ", "), strings.Join(g.results, ", "))
	return parser.Parse(fmt.Sprintf("kernels_%d.hlo", seed), text)
}

// kernelText writes the text of a module.
type kernelText struct {
	r               *rand.Rand
	callees, body   strings.Builder
	params, n       int
	shapes, results []string
}

// line adds an instruction and returns its name.
func (g *kernelText) line(shape, format string, args ...any) string {
	g.n++
	name := fmt.Sprintf("v%d", g.n)
	fmt.Fprintf(&g.body, "  %s = %s %s\n", name, shape, fmt.Sprintf(format, args...))
	return name
}

// param is a new parameter.
func (g *kernelText) param(shape string) string {
	g.params++
	return g.line(shape, "parameter(%d)", g.params-1)
}

func (g *kernelText) result(shape, name string) {
	g.shapes, g.results = append(g.shapes, shape), append(g.results, name)
}

// element adds element i of a tuple to the results.
func (g *kernelText) element(tuple, shape string, i int) {
	g.result(shape, g.line(shape, "get-tuple-element(%s), index=%d", tuple, i))
}

// binary is a computation of two scalars.
func (g *kernelText) binary(typ, op string) string { return g.scalars(typ, typ, op+"(a, b)") }

func (g *kernelText) compare(typ, direction string) string {
	return g.scalars(typ, "pred", "compare(a, b), direction="+direction)
}

func (g *kernelText) scalars(typ, result, root string) string {
	g.n++
	fmt.Fprintf(&g.callees, "apply%d { a = %s[] parameter(0) b = %[2]s[] parameter(1) ROOT r = %s[] %s }\n", g.n, typ, result, root)
	return fmt.Sprintf("apply%d", g.n)
}

func (g *kernelText) pick(from ...string) string { return pick(g.r, from) }

func (g *kernelText) size(lo, hi int) int { return lo + g.r.IntN(hi-lo) }

// kernelOps are the things that op picks from.
var kernelOps = []func(g *kernelText){
	(*kernelText).pool, (*kernelText).poolGradient, (*kernelText).batchNorm, (*kernelText).topK, (*kernelText).sortRows, (*kernelText).gatherRows,
	(*kernelText).scatterRows, (*kernelText).randomBits, (*kernelText).transform, (*kernelText).system, (*kernelText).cholesky, (*kernelText).dot,
	(*kernelText).convolution, (*kernelText).cumulative, (*kernelText).reduce,
}

func (g *kernelText) op() { pick(g.r, kernelOps)(g) }

// window is a pooling window over [2,h,w,c] or [2,c,h,w], and the shape of its positions.
func (g *kernelText) window() (in, out, window string) {
	size, stride, pad := g.size(2, 4), g.size(1, 3), g.r.IntN(2)
	h, w, c := g.size(4, 9), g.size(4, 9), g.size(1, 6)
	positions := func(n int) int { return (n+2*pad-size)/stride + 1 }
	if g.r.IntN(2) == 0 {
		return fmt.Sprintf("[2,%d,%d,%d]", h, w, c), fmt.Sprintf("[2,%d,%d,%d]", positions(h), positions(w), c),
			fmt.Sprintf("{size=1x%[1]dx%[1]dx1 stride=1x%[2]dx%[2]dx1 pad=0_0x%[3]d_%[3]dx%[3]d_%[3]dx0_0}", size, stride, pad)
	}
	return fmt.Sprintf("[2,%d,%d,%d]", c, h, w), fmt.Sprintf("[2,%d,%d,%d]", c, positions(h), positions(w)),
		fmt.Sprintf("{size=1x1x%[1]dx%[1]d stride=1x1x%[2]dx%[2]d pad=0_0x0_0x%[3]d_%[3]dx%[3]d_%[3]d}", size, stride, pad)
}

func (g *kernelText) pool() {
	in, out, window := g.window()
	t, op := g.pick("f32", "bf16", "s32", "f64"), g.pick("add", "maximum", "minimum")
	init := map[string]string{"add": "0", "maximum": "-100", "minimum": "100"}[op]
	g.result(t+out, g.line(t+out, "reduce-window(%s, %s), window=%s, to_apply=%s", g.param(t+in), g.line(t+"[]", "constant(%s)", init), window, g.binary(t, op)))
}

func (g *kernelText) poolGradient() {
	in, out, window := g.window()
	t := g.pick("f32", "bf16", "f16", "s32", "f64")
	g.result(t+in, g.line(t+in, "select-and-scatter(%s, %s, %s), window=%s, select=%s, scatter=%s", g.param(t+in), g.param(t+out), g.line(t+"[]", "constant(0)"), window,
		g.compare(t, g.pick("GE", "GT", "LE", "LT")), g.binary(t, "add")))
}

func (g *kernelText) batchNorm() {
	t, c := g.pick("f32", "bf16", "f64"), g.size(1, 20)
	x, v := fmt.Sprintf("%s[3,%d,5,%d]", t, g.size(2, 7), c), fmt.Sprintf("%s[%d]", t, c)
	three := fmt.Sprintf("(%s, %s, %[2]s)", x, v)
	const attrs = "epsilon=0.1, feature_index=3"
	switch g.r.IntN(3) {
	case 0:
		y := g.line(three, "batch-norm-training(%s, %s, %s), %s", g.param(x), g.param(v), g.param(v), attrs)
		g.element(y, x, 0)
		g.element(y, v, 1)
		g.element(y, v, 2)
	case 1:
		g.result(x, g.line(x, "batch-norm-inference(%s, %s, %s, %s, %s), %s", g.param(x), g.param(v), g.param(v), g.param(v), g.positive(v), attrs))
	default:
		y := g.line(three, "batch-norm-grad(%s, %s, %s, %s, %s), %s", g.param(x), g.param(v), g.param(v), g.positive(v), g.param(x), attrs)
		g.element(y, x, 0)
		g.element(y, v, 1)
		g.element(y, v, 2)
	}
}

// positive is a parameter, squared.
func (g *kernelText) positive(shape string) string {
	p := g.param(shape)
	return g.line(shape, "multiply(%s, %[1]s)", p)
}

func (g *kernelText) topK() {
	t, rows, n := g.pick("f32", "bf16", "s32", "u8", "f64"), g.size(1, 4), g.size(5, 900)
	k := g.size(1, n)
	values, indices := fmt.Sprintf("%s[%d,%d]", t, rows, k), fmt.Sprintf("s32[%d,%d]", rows, k)
	y := g.line(fmt.Sprintf("(%s, %s)", values, indices), "topk(%s), k=%d, largest=%s", g.param(fmt.Sprintf("%s[%d,%d]", t, rows, n)), k, g.pick("true", "false"))
	g.element(y, values, 0)
	g.element(y, indices, 1)
}

func (g *kernelText) sortRows() {
	t := g.pick("f32", "bf16", "s32", "s64", "f64")
	x := fmt.Sprintf("%s[%d,%d]", t, g.size(1, 40), g.size(1, 300))
	g.result(x, g.line(x, "sort(%s), dimensions={%d}, to_apply=%s", g.param(x), g.r.IntN(2), g.compare(t, g.pick("LT", "GT"))))
}

func (g *kernelText) gatherRows() {
	t, n, width, m := g.pick("f32", "bf16", "s64", "u8"), g.size(1, 50), g.size(1, 20), g.size(1, 200)
	out := fmt.Sprintf("%s[%d,%d]", t, m, width)
	g.result(out, g.line(out, "gather(%s, %s), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,%d}",
		g.param(fmt.Sprintf("%s[%d,%d]", t, n, width)), g.param(fmt.Sprintf("%s[%d,1]", g.pick("s32", "u32", "s64"), m)), width))
}

func (g *kernelText) scatterRows() {
	t, n, width, m := g.pick("f32", "bf16", "s32", "f64"), g.size(1, 50), g.size(1, 20), g.size(1, 200)
	x := fmt.Sprintf("%s[%d,%d]", t, n, width)
	g.result(x, g.line(x, "scatter(%s, %s, %s), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%s",
		g.param(x), g.param(fmt.Sprintf("s32[%d,1]", m)), g.param(fmt.Sprintf("%s[%d,%d]", t, m, width)), g.binary(t, g.pick("add", "maximum", "multiply"))))
}

func (g *kernelText) randomBits() {
	algorithm := g.pick("rng_philox", "rng_three_fry", "rng_default")
	state := "u64[3]"
	if algorithm == "rng_three_fry" {
		state = "u64[2]"
	}
	bits := fmt.Sprintf("%s[%d,%d]", g.pick("u8", "u16", "u32", "u64"), g.size(1, 40), g.size(1, 40))
	y := g.line(fmt.Sprintf("(%s, %s)", state, bits), "rng-bit-generator(%s), algorithm=%s", g.param(state), algorithm)
	g.element(y, state, 0)
	g.element(y, bits, 1)
}

func (g *kernelText) transform() {
	n, rows := pick(g.r, []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 30, 37, 60, 64, 100, 128, 243, 257, 360}), g.size(1, 20)
	complexes, floats := "c64", "f32"
	if g.r.IntN(3) == 0 {
		complexes, floats = "c128", "f64"
	}
	full, half, reals := fmt.Sprintf("%s[%d,%d]", complexes, rows, n), fmt.Sprintf("%s[%d,%d]", complexes, rows, n/2+1), fmt.Sprintf("%s[%d,%d]", floats, rows, n)
	switch kind := g.pick("FFT", "IFFT", "RFFT", "IRFFT"); kind {
	case "RFFT":
		g.result(half, g.line(half, "fft(%s), fft_type=RFFT, fft_length={%d}", g.param(reals), n))
	case "IRFFT":
		g.result(reals, g.line(reals, "fft(%s), fft_type=IRFFT, fft_length={%d}", g.param(half), n))
	default:
		if g.r.IntN(3) == 0 {
			g.result(full, g.line(full, "fft(%s), fft_type=%s, fft_length={%d,%d}", g.param(full), kind, rows, n))
			return
		}
		g.result(full, g.line(full, "fft(%s), fft_type=%s, fft_length={%d}", g.param(full), kind, n))
	}
}

// matrix is a parameter of n by n with n added to the diagonal: as good a condition as one can wish for, if it is symmetric also positive definite.
func (g *kernelText) matrix(t string, n int, symmetric bool) (shape, name string) {
	shape = fmt.Sprintf("%s[%d,%[2]d]", t, n)
	i, j := g.line(fmt.Sprintf("s32[%d,%[1]d]", n), "iota(), iota_dimension=0"), g.line(fmt.Sprintf("s32[%d,%[1]d]", n), "iota(), iota_dimension=1")
	on := g.line(fmt.Sprintf("pred[%d,%[1]d]", n), "compare(%s, %s), direction=EQ", i, j)
	large, none := g.line(t+"[]", "constant(%d)", 2*n), g.line(t+"[]", "constant(0)")
	diagonal := g.line(shape, "select(%s, %s, %s)", on, g.line(shape, "broadcast(%s), dimensions={}", large), g.line(shape, "broadcast(%s), dimensions={}", none))
	x := g.param(shape)
	if symmetric {
		x = g.line(shape, "add(%s, %s)", x, g.line(shape, "transpose(%s), dimensions={1,0}", x))
	}
	return shape, g.line(shape, "add(%s, %s)", x, diagonal)
}

func (g *kernelText) system() {
	t, n, cols := g.pick("f32", "f64"), g.size(1, 60), g.size(1, 40)
	_, a := g.matrix(t, n, false)
	b, left := fmt.Sprintf("%s[%d,%d]", t, n, cols), g.r.IntN(2) == 0
	if !left {
		b = fmt.Sprintf("%s[%d,%d]", t, cols, n)
	}
	g.result(b, g.line(b, "triangular-solve(%s, %s), left_side=%v, lower=%s, transpose_a=%s", a, g.param(b), left, g.pick("true", "false"), g.pick("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")))
}

func (g *kernelText) cholesky() {
	shape, a := g.matrix(g.pick("f32", "f64"), g.size(1, 60), true)
	g.result(shape, g.line(shape, "cholesky(%s), lower=%s", a, g.pick("true", "false")))
}

func (g *kernelText) dot() {
	types := pick(g.r, [][2]string{{"f32", "f32"}, {"f64", "f64"}, {"bf16", "bf16"}, {"bf16", "f32"}, {"c64", "c64"}, {"s8", "s32"}, {"u8", "s32"}, {"s32", "s32"}, {"s64", "s64"}})
	b, m, n, k := g.size(1, 4), g.size(1, 50), g.size(1, 50), g.size(1, 70)
	out := fmt.Sprintf("%s[%d,%d,%d]", types[1], b, m, n)
	g.result(out, g.line(out, "dot(%s, %s), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		g.param(fmt.Sprintf("%s[%d,%d,%d]", types[0], b, m, k)), g.param(fmt.Sprintf("%s[%d,%d,%d]", types[0], b, k, n))))
}

func (g *kernelText) convolution() {
	t, c, o := g.pick("f32", "bf16", "f64", "s32"), g.size(1, 9), g.size(1, 20)
	h := g.size(5, 12)
	in, kernel, out := fmt.Sprintf("%s[2,%d,%[2]d,%d]", t, h, c), fmt.Sprintf("%s[3,3,%d,%d]", t, c, o), fmt.Sprintf("%s[2,%d,%[2]d,%d]", t, h, o)
	g.result(out, g.line(out, "convolution(%s, %s), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f", g.param(in), g.param(kernel)))
}

func (g *kernelText) cumulative() {
	t, rows, n := g.pick("f32", "s32", "f64"), g.size(1, 10), g.size(1, 200)
	x := fmt.Sprintf("%s[%d,%d]", t, rows, n)
	op := g.pick("add", "maximum")
	init := map[string]string{"add": "0", "maximum": "-1000"}[op]
	pad := fmt.Sprintf("%d_0", n-1)
	if g.r.IntN(2) == 0 {
		pad = fmt.Sprintf("0_%d", n-1)
	}
	g.result(x, g.line(x, "reduce-window(%s, %s), window={size=1x%d pad=0_0x%s}, to_apply=%s", g.param(x), g.line(t+"[]", "constant(%s)", init), n, pad, g.binary(t, op)))
}

func (g *kernelText) reduce() {
	t, a, b, c := g.pick("f32", "bf16", "s32", "u8", "f64", "c64"), g.size(1, 20), g.size(1, 40), g.size(1, 90)
	out := pick(g.r, []struct{ shape, dims string }{{"", "0,1,2"}, {fmt.Sprint(a), "1,2"}, {fmt.Sprint(c), "0,1"}, {fmt.Sprintf("%d,%d", a, c), "1"}, {fmt.Sprintf("%d,%d", a, b), "2"}})
	shape := fmt.Sprintf("%s[%s]", t, out.shape)
	op, init := "add", "0"
	if t == "c64" {
		init = "(0, 0)"
	} else if g.r.IntN(3) == 0 {
		op = "maximum"
	}
	g.result(shape, g.line(shape, "reduce(%s, %s), dimensions={%s}, to_apply=%s", g.param(fmt.Sprintf("%s[%d,%d,%d]", t, a, b, c)), g.line(t+"[]", "constant(%s)", init), out.dims, g.binary(t, op)))
}
