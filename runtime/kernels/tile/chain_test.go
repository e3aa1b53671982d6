package tile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/stretchr/testify/require"
)

// raw are buffers of bytes.
type raw struct{ in, out [][]byte }

func (r *raw) In(i int) []byte { return r.in[i] }

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
