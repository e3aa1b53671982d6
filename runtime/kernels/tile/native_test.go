package tile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// raw are buffers of bytes.
type raw struct{ in, out [][]byte }

func (r *raw) In(i int) []byte  { return r.in[i] }
func (r *raw) Out(i int) []byte { return r.out[i] }

// chainOps are the ops of random chains, by families of types of one width: %s is the type.
var chainOps = map[string]struct {
	types []hlo.PrimitiveType
	ops   []string
}{
	"f32":  {[]hlo.PrimitiveType{hlo.F32, hlo.S32, hlo.U32, hlo.BF16, hlo.PRED}, nil},
	"f16":  {[]hlo.PrimitiveType{hlo.F32, hlo.F16, hlo.PRED}, nil},
	"bf16": {[]hlo.PrimitiveType{hlo.BF16}, nil},
	"f64":  {[]hlo.PrimitiveType{hlo.F64, hlo.S64, hlo.PRED}, nil},
	"s16":  {[]hlo.PrimitiveType{hlo.S16, hlo.U16, hlo.PRED}, nil},
	"s8":   {[]hlo.PrimitiveType{hlo.S8, hlo.U8, hlo.PRED}, nil},
	"pred": {[]hlo.PrimitiveType{hlo.PRED}, nil},
	"c64":  {[]hlo.PrimitiveType{hlo.F32, hlo.C64, hlo.S32, hlo.PRED}, nil},
}

var floatOps = []string{"add", "subtract", "multiply", "divide", "maximum", "minimum", "negate", "abs", "sqrt", "rsqrt", "exponential",
	"exponential-minus-one", "log", "log-plus-one", "tanh", "logistic", "erf", "floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign", "power", "atan2", "cbrt", "sinh", "asin", "acosh"}
var integerOps = []string{"add", "subtract", "multiply", "maximum", "minimum", "negate", "abs", "sign", "and", "or", "xor", "not",
	"shift-left", "shift-right-logical", "shift-right-arithmetic"}
var truthOps = []string{"and", "or", "xor", "not"}

var unaryOps = map[string]bool{"negate": true, "abs": true, "sqrt": true, "rsqrt": true, "exponential": true, "exponential-minus-one": true, "log": true,
	"log-plus-one": true, "tanh": true, "logistic": true, "erf": true, "floor": true, "ceil": true, "round-nearest-even": true, "round-nearest-afz": true,
	"sign": true, "not": true, "cbrt": true, "sinh": true, "asin": true, "acosh": true}

// chain is a random chain of ops over a space, the same for the same seed.
type chain struct {
	t      testing.TB
	r      *rand.Rand
	b      *Builder
	values map[hlo.PrimitiveType][]Value
	double bool // see [chain.must]
}

var parsed sync.Map

func (c *chain) op(text string, args ...Value) (Value, bool) {
	in, ok := parsed.Load(text)
	if !ok {
		in = instruction(c.t, text)
		parsed.Store(text, in)
	}
	return c.b.Op(in.(hlo.Instruction), args...)
}

func (c *chain) pick(t hlo.PrimitiveType) Value { v := c.values[t]; return v[c.r.IntN(len(v))] }

func (c *chain) step(types []hlo.PrimitiveType) {
	t := types[c.r.IntN(len(types))]
	from := types[c.r.IntN(len(types))]
	var v Value
	ok := false
	s := t.String()
	k := c.r.IntN(8)
	if t.IsComplex() || from.IsComplex() {
		c.complexStep(t, from, k)
		return
	}
	switch {
	case k == 0 && from != t:
		v, ok = c.op(fmt.Sprintf("%s[1] convert(%s[1])", s, from), c.pick(from))
	case k == 1 && len(c.values[hlo.PRED]) > 0:
		v, ok = c.op(fmt.Sprintf("%s[1] select(pred[1], %[1]s[1], %[1]s[1])", s), c.pick(hlo.PRED), c.pick(t), c.pick(t))
	case k == 2 && t != hlo.PRED:
		v, ok = c.op(fmt.Sprintf("%s[1] clamp(%[1]s[1], %[1]s[1], %[1]s[1])", s), c.pick(t), c.pick(t), c.pick(t))
	case t == hlo.PRED && k < 6:
		dir := []string{"EQ", "NE", "LT", "LE", "GT", "GE"}[c.r.IntN(6)]
		v, ok = c.op(fmt.Sprintf("pred[1] compare(%s[1], %[1]s[1]), direction=%s", from, dir), c.pick(from), c.pick(from))
	default:
		ops := integerOps
		if t.IsFloat() {
			ops = floatOps
		} else if t == hlo.PRED {
			ops = truthOps
		}
		name := ops[c.r.IntN(len(ops))]
		if t.IsUnsigned() && (name == "negate" || name == "abs" || name == "sign") {
			return
		}
		if unaryOps[name] {
			v, ok = c.op(fmt.Sprintf("%s[1] %s(%[1]s[1])", s, name), c.pick(t))
		} else {
			v, ok = c.op(fmt.Sprintf("%s[1] %s(%[1]s[1], %[1]s[1])", s, name), c.pick(t), c.pick(t))
		}
	}
	if ok {
		c.values[t] = append(c.values[t], v)
	}
}

// complexStep is a step that makes t of complex numbers, or complex numbers of others.
func (c *chain) complexStep(t, from hlo.PrimitiveType, k int) {
	var text string
	var args []Value
	switch part := hlo.F32; {
	case t == hlo.F32 && from.IsComplex():
		text, args = fmt.Sprintf("f32[1] %s(c64[1])", []string{"real", "imag", "abs"}[k%3]), []Value{c.pick(from)}
	case t == hlo.PRED && from.IsComplex():
		text, args = fmt.Sprintf("pred[1] compare(c64[1], c64[1]), direction=%s", []string{"EQ", "NE"}[k%2]), []Value{c.pick(from), c.pick(from)}
	case t == hlo.C64 && k == 0:
		text, args = "c64[1] convert(f32[1])", []Value{c.pick(part)}
	case t == hlo.C64 && k == 1:
		text, args = "c64[1] complex(f32[1], f32[1])", []Value{c.pick(part), c.pick(part)}
	case t == hlo.C64 && k == 2:
		text, args = "c64[1] select(pred[1], c64[1], c64[1])", []Value{c.pick(hlo.PRED), c.pick(t), c.pick(t)}
	case t == hlo.C64 && k == 3:
		text, args = "c64[1] negate(c64[1])", []Value{c.pick(t)}
	case t == hlo.C64:
		text, args = fmt.Sprintf("c64[1] %s(c64[1], c64[1])", []string{"add", "subtract", "multiply", "multiply"}[k%4]), []Value{c.pick(t), c.pick(t)}
	default:
		return
	}
	v, ok := c.op(text, args...)
	require.True(c.t, ok, text)
	c.values[t] = append(c.values[t], v)
}

// randomChain builds a chain and the inputs for it.
func randomChain(t testing.TB, family string, seed uint64, dims []int64, steps int) (*Program, *raw) {
	r := rand.New(rand.NewPCG(seed, 7))
	s := Space{dims}
	c := &chain{t: t, r: r, b: NewBuilder(s), values: make(map[hlo.PrimitiveType][]Value)}
	n := int(s.Len())
	data := &raw{}
	types := chainOps[family].types
	for _, typ := range types {
		for range 2 {
			view := s.RowMajor()
			switch r.IntN(5) {
			case 0:
				view = View{Strides: make([]int64, len(dims))}
			case 1:
				view.Strides[0] = 0
			case 2:
				view = View{Strides: make([]int64, len(dims))}
				view.Strides[0] = 1
			}
			if r.IntN(4) == 0 {
				view.Base = int64(r.IntN(3))
			}
			data.in = append(data.in, randomBytes(r, typ, n+4))
			c.values[typ] = append(c.values[typ], c.b.Input(len(data.in)-1, typ, view))
		}
		element := randomBytes(r, typ, 1)
		c.values[typ] = append(c.values[typ], c.b.Constant(typ, element))
	}
	for range steps {
		c.step(types)
	}
	for _, typ := range types {
		last := c.values[typ][len(c.values[typ])-1]
		if c.b.values[last].def < 0 {
			continue
		}
		c.b.Store(len(data.out), last)
		data.out = append(data.out, make([]byte, n*typ.ByteSize()))
	}
	if len(data.out) == 0 {
		return nil, nil
	}
	p, ok := c.b.Build()
	require.True(t, ok)
	return p, data
}

// randomBytes are elements of a type: some are special.
func randomBytes(r *rand.Rand, t hlo.PrimitiveType, n int) []byte {
	out := make([]byte, 0, n*8)
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 1e-40, 1e-310, 3e38, -88.5, 104, 1e30, 0.5, 2, 0.55}
	for range n {
		if t.IsComplex() {
			out = append(out, randomBytes(r, t.ComponentType(), 2)...)
			continue
		}
		x := r.NormFloat64() * float64(int(1)<<r.IntN(12)) / 16
		if r.IntN(8) == 0 {
			x = special[r.IntN(len(special))]
		}
		switch {
		case t == hlo.F32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
		case t == hlo.BF16:
			out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(float32(x))>>16))
		case t == hlo.F64:
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		case t == hlo.PRED:
			out = append(out, byte(r.IntN(2)))
		default:
			out = append(out, binary.LittleEndian.AppendUint64(nil, r.Uint64()>>r.IntN(64))[:t.ByteSize()]...)
		}
	}
	return out
}

// withSteps runs p as it is without code.
func withSteps(p *Program, lo, hi int, b Buffers) {
	p.native.once.Do(func() {})
	p.native.code.Store(&nativeSteps{})
	p.Run(lo, hi, b)
}

// TestNative holds machine code to the bits of the steps that it replaces.
func TestNative(t *testing.T) {
	compiled := make(map[string]int)
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		for family := range chainOps {
			if level == vectors.AVX2 && family == "f16" {
				continue // is decoded by Go there
			}
			for seed := range uint64(150) {
				dims := [][]int64{{3000}, {5, 700}, {40, 96}, {64, 3, 20}, {1, 1040}, {1, 1}}[seed%6]
				steps := []int{3, 8, 25, 120}[seed/6%4]
				p, data := randomChain(t, family, seed, dims, steps)
				if p == nil {
					continue
				}
				n := p.Len()
				withSteps(p, 0, n, data)
				want := data.out
				p2, data := randomChain(t, family, seed, dims, steps)
				p2.native.work.Store(payingWork)
				p2.Run(0, n/3, data)
				p2.Run(n/3, n, data)
				if p2.native.code.Load().Code != nil {
					compiled[level.String()+" "+family]++
				}
				for i := range want {
					if family == "bf16" && n <= shortSpace && isNaNOfBF16(want[i]) && isNaNOfBF16(data.out[i]) {
						continue // the steps have loops in Go there, which may pass on another of two NaNs
					}
					require.Equal(t, want[i], data.out[i], "%v %s seed %d output %d", level, family, seed, i)
				}
			}
		}
		restore()
	}
	for key, n := range compiled {
		t.Log(key, n)
		assert.Greater(t, n, 10, key)
	}
}

func isNaNOfBF16(element []byte) bool {
	x := minifloat.BF16ToFloat32(binary.LittleEndian.Uint16(element))
	return x != x
}

// foldedChain is a random chain whose last values are folded along rows, beside the outputs.
func foldedChain(t testing.TB, family string, seed uint64, dims []int64, steps int) (*Program, *raw) {
	r := rand.New(rand.NewPCG(seed, 8))
	c := &chain{t: t, r: r, b: NewBuilder(Space{dims}), values: make(map[hlo.PrimitiveType][]Value)}
	data := &raw{}
	n := int(c.b.space.Len())
	types := chainOps[family].types
	for _, typ := range types {
		view := c.b.space.RowMajor()
		switch r.IntN(4) {
		case 0:
			view.Strides[len(dims)-1], view.Strides[0] = 0, 1
		case 1:
			view.Strides[0] = 0
		}
		data.in = append(data.in, randomBytes(r, typ, n))
		c.values[typ] = append(c.values[typ], c.b.Input(len(data.in)-1, typ, view), c.b.Constant(typ, randomBytes(r, typ, 1)))
	}
	for range steps {
		c.step(types)
	}
	if v := c.values[types[0]]; seed%3 == 0 {
		c.b.Store(0, v[len(v)-1])
		data.out = append(data.out, make([]byte, n*types[0].ByteSize()))
	}
	for _, typ := range types {
		op := []hlo.Opcode{hlo.OpAdd, hlo.OpMaximum, hlo.OpMinimum}[r.IntN(3)]
		if v := c.values[typ]; c.b.Fold(len(data.out), v[len(v)-1], op) {
			data.out = append(data.out, make([]byte, 8*n/int(dims[len(dims)-1])))
		}
	}
	p, ok := c.b.Build()
	require.True(t, ok)
	return p, data
}

// TestNativeFolds holds folds of rows by code to those of tiles, over rows of one block and of several.
func TestNativeFolds(t *testing.T) {
	compiled := make(map[string]int)
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		for _, family := range []string{"f32", "bf16", "f64", "c64"} {
			for seed := range uint64(120) {
				dims := [][]int64{{30, 100}, {5, 704}, {3, 7, 96}, {2, 9001}, {33, 16}}[seed%5]
				steps := []int{1, 4, 12, 40}[seed%4]
				rows := int(productOf(dims[:len(dims)-1]))
				p, data := foldedChain(t, family, seed, dims, steps)
				p.native.once.Do(func() {})
				p.native.code.Store(&nativeSteps{})
				p.RunRows(0, rows, data)
				want := data.out
				p2, data := foldedChain(t, family, seed, dims, steps)
				p2.native.work.Store(payingWork)
				p2.RunRows(0, rows/3, data)
				p2.RunRows(rows/3, rows, data)
				if p2.native.code.Load().Code != nil {
					compiled[level.String()+" "+family]++
				}
				require.Equal(t, want, data.out, "%v %s seed %d", level, family, seed)
			}
		}
		restore()
	}
	for key, n := range compiled {
		t.Log(key, n)
		assert.Greater(t, n, 5, key)
	}
}

func productOf(dims []int64) int64 {
	s := Space{dims}
	return s.Len()
}

// TestFold compares folds of rows with plain ones: of integers, whose sums are exact.
func TestFold(t *testing.T) {
	for _, n := range []int{16, 100, 4096, 4100, 20000} {
		b := NewBuilder(Space{[]int64{3, int64(n)}})
		v := b.Input(0, hlo.S32, b.space.RowMajor())
		for i, op := range []hlo.Opcode{hlo.OpAdd, hlo.OpMaximum, hlo.OpMinimum} {
			require.True(t, b.Fold(i, v, op))
		}
		p, ok := b.Build()
		require.True(t, ok)
		data := &raw{in: [][]byte{randomBytes(rand.New(rand.NewPCG(1, uint64(n))), hlo.S32, 3*n)}, out: [][]byte{make([]byte, 12), make([]byte, 12), make([]byte, 12)}}
		p.RunRows(0, 3, data)
		for row := range 3 {
			sum, high, low := int32(0), int32(math.MinInt32), int32(math.MaxInt32)
			for i := range n {
				x := int32(binary.LittleEndian.Uint32(data.in[0][4*(row*n+i):]))
				sum, high, low = sum+x, max(high, x), min(low, x)
			}
			for i, want := range []int32{sum, high, low} {
				require.Equal(t, want, int32(binary.LittleEndian.Uint32(data.out[i][4*row:])), "n %d row %d fold %d", n, row, i)
			}
		}
	}
}

// compiledChain is a random chain that there is code for.
func compiledChain(t testing.TB) (*Program, *raw, uint64) {
	for seed := uint64(2); ; seed++ {
		p, data := randomChain(t, "f32", seed, []int64{40, 512}, 25)
		if _, ok := p.compile(); ok {
			p.native.work.Store(payingWork)
			return p, data, seed
		}
		if seed > 50 {
			t.Skip("no machine code here")
		}
	}
}

// TestNativeAmongGoroutines runs one program in many goroutines while the garbage collector is always at work.
func TestNativeAmongGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	p, data, seed := compiledChain(t)
	judge, expected := randomChain(t, "f32", seed, []int64{40, 512}, 25)
	withSteps(judge, 0, p.Len(), expected)
	want := expected.out
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			own := &raw{in: data.in}
			for i := range want {
				own.out = append(own.out, make([]byte, len(want[i])))
			}
			for range 100 {
				p.Run(0, p.Len(), own)
			}
			assert.Equal(t, want, own.out)
		})
	}
	all.Wait()
}

// TestNativeAllocates nothing once it has run.
func TestNativeAllocates(t *testing.T) {
	p, data, _ := compiledChain(t)
	p.Run(0, p.Len(), data)
	require.NotNil(t, p.native.code.Load().Code)
	var b Buffers = data
	assert.Zero(t, testing.AllocsPerRun(20, func() { p.Run(0, p.Len(), b) }))
}

func TestNativeDisabled(t *testing.T) {
	defer native.Disable()()
	p, data := randomChain(t, "f32", 2, []int64{40, 512}, 25)
	p.native.work.Store(payingWork)
	p.Run(0, p.Len(), data)
	assert.Nil(t, p.native.code.Load().Code)
}
