package kernels

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/workqueue"
	"github.com/stretchr/testify/require"
)

// kernelCase is one instruction, run by its fast kernel and by the evaluator.
type kernelCase struct {
	text string
	// tol is the allowed distance relative to the largest magnitude of the result; 0 means equal values. NaN equals NaN.
	tol float64
	// small asks for small integers as operands, for which sums are exact.
	small bool
	// unit asks for complex numbers of magnitude 1, whose products stay in range.
	unit bool
}

// check runs a case, and fails if there is no fast kernel.
func (c kernelCase) check(t *testing.T) {
	t.Helper()
	s := siteOf(t, c.text)
	bound, ok := chooseFast(s)
	require.True(t, ok, "no fast kernel for %s", c.text)
	rng := rand.New(rand.NewPCG(1, uint64(len(c.text))))
	var args []*hlo.Literal
	for i := range s.in.NumOperands() {
		args = append(args, c.operand(t, rng, s.in.OperandInstr(i).Shape(), i))
	}
	want, err := eval.Instruction(context.Background(), s.m, s.in, args)
	require.NoError(t, err, c.text)
	for _, workers := range []int{1, 2} {
		got := run(t, s, bound, args, workers)
		next := 0
		require.NoError(t, storeLeaves(want, want.Shape(), func(data []byte) error {
			compareLeaf(t, c, hlo.PrimitiveType(got[next].Type), data, got[next].Data)
			next++
			return nil
		}))
	}
}

// onEveryPath calls f with every set of vector loops that this processor has, each without machine code and with code that is made at once.
func onEveryPath(f func()) {
	for _, level := range levels() {
		restore := vec.Use(level)
		f()
		undo := tile.CodeAtOnce()
		f()
		undo()
		restore()
	}
}

func siteOf(t testing.TB, text string) *site {
	t.Helper()
	m, err := parser.Parse("test", text)
	require.NoError(t, err, text)
	in := m.Entry().Root()
	var ins []runtime.TensorType
	for i := range in.NumOperands() {
		ins = append(ins, tensorTypes(in.OperandInstr(i).Shape())...)
	}
	b, err := runtime.NewBinding("hlo."+in.Opcode().String(), "", ins, tensorTypes(in.Shape()))
	require.NoError(t, err)
	require.NoError(t, checkBinding(in, b))
	return &site{m: m, in: in, b: b}
}

func tensorTypes(s hlo.Shape) (r []runtime.TensorType) {
	for _, l := range s.Leaves {
		r = append(r, runtime.TensorType{Type: uint8(l.Type()), Dims: l.Dimensions(), Bytes: l.ByteSize()})
	}
	return r
}

func run(t testing.TB, s *site, bound runtime.Bound, args []*hlo.Literal, workers int) []runtime.Buffer {
	var ins, outs []*runtime.Buffer
	for _, a := range args {
		for _, l := range a.Leaves() {
			ins = append(ins, &runtime.Buffer{Data: l.Bytes(), Type: uint8(l.Shape().Type()), Dims: l.Shape().Dimensions()})
		}
	}
	results := make([]runtime.Buffer, len(s.b.Out))
	for i := range s.b.Out {
		results[i] = s.b.Out[i].NewBuffer()
		for k := range results[i].Data {
			results[i].Data[k] = 0x55
		}
		outs = append(outs, &results[i])
	}
	queue := workqueue.NewMulti(workqueue.Config{Workers: workers})
	defer queue.Close()
	scratch := runtime.AlignedBytes(bound.Scratch)
	f := runtime.NewTensorFrame(&runtime.ExecContext{Queue: queue}, ins, outs, scratch)
	if bound.Run == nil {
		return results // nothing to fill
	}
	require.NoError(t, bound.Run(f))
	require.NoError(t, bound.Run(f), "a second run")
	if bound.Small != nil {
		requireSame(t, results, "by small calls", func() { runtime.RunSmall(bound.Small, f) })
	}
	if bound.Later != nil {
		defer tile.CodeAtOnce()()
		if later := bound.Later(); len(later.Calls) > 0 {
			requireSame(t, results, "by later calls", func() { runtime.RunLater(later, f) })
		}
	}
	return results
}

// requireSame runs what writes the results again, and requires that they stay the same.
func requireSame(t testing.TB, results []runtime.Buffer, how string, run func()) {
	t.Helper()
	var want [][]byte
	for i := range results {
		want = append(want, slices.Clone(results[i].Data))
		for k := range results[i].Data {
			results[i].Data[k] = 0xaa
		}
	}
	run()
	for i := range results {
		require.Equal(t, want[i], results[i].Data, "result %d %s", i, how)
	}
}

// operand makes random data with the awkward values mixed in.
func (c kernelCase) operand(t *testing.T, rng *rand.Rand, s hlo.Shape, which int) *hlo.Literal {
	n := int(s.NumElements())
	values := make([]float64, n)
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 0.5, -2.5, 1e-40, 3e38}
	for i := range values {
		switch {
		case c.small:
			values[i] = float64(rng.IntN(9) - 4)
		case s.Type().IsFloat() && rng.IntN(5) == 0 && c.tol == 0:
			values[i] = special[rng.IntN(len(special))]
		case s.Type().IsFloat():
			values[i] = (rng.Float64()*2 - 1) * math.Exp(rng.Float64()*3)
		default:
			values[i] = float64(rng.IntN(21) - 10)
		}
	}
	b := runtime.AlignedBytes(s.ByteSize())
	encode(b, s.Type(), values)
	if c.unit {
		var parts []float64
		for _, x := range values {
			im, re := math.Sincos(x)
			parts = append(parts, re, im)
		}
		encode(b, s.Type().ComponentType(), parts)
	}
	l, err := hlo.NewLiteral(s, b)
	require.NoError(t, err)
	return l
}

func compareLeaf(t *testing.T, c kernelCase, typ hlo.PrimitiveType, want, got []byte) {
	t.Helper()
	require.Len(t, got, len(want))
	if bytes.Equal(want, got) {
		return
	}
	w, g := decode(want, typ), decode(got, typ)
	scale := 0.0
	for _, x := range w {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			scale = max(scale, math.Abs(x))
		}
	}
	for i := range w {
		if w[i] != w[i] && g[i] != g[i] || w[i] == g[i] && (c.tol > 0 || math.Signbit(w[i]) == math.Signbit(g[i])) {
			continue
		}
		if d := math.Abs(w[i] - g[i]); c.tol > 0 && d <= c.tol*scale {
			continue
		}
		t.Fatalf("%s: element %d is %v, want %v", c.text, i, g[i], w[i])
	}
}

var testFormats = map[hlo.PrimitiveType]minifloat.Format{hlo.F16: minifloat.F16, hlo.BF16: minifloat.BF16,
	hlo.F8E5M2: minifloat.F8E5M2, hlo.F8E4M3FN: minifloat.F8E4M3FN, hlo.F8E4M3FNUZ: minifloat.F8E4M3FNUZ}

func encode(b []byte, t hlo.PrimitiveType, v []float64) {
	w := t.ByteSize()
	if t == hlo.C128 {
		for i, x := range v {
			encode(b[16*i:], hlo.F64, []float64{x, x/2 + 1})
		}
		return
	}
	f, narrow := testFormats[t]
	for i, x := range v {
		var code uint64
		switch {
		case narrow:
			code = uint64(f.FromFloat64(x))
		case t == hlo.F32:
			code = uint64(math.Float32bits(float32(x)))
		case t == hlo.F64:
			code = math.Float64bits(x)
		case t == hlo.PRED:
			code = uint64(int64(x) & 1)
		case t.IsComplex() && w == 8:
			code = uint64(math.Float32bits(float32(x))) | uint64(math.Float32bits(float32(x/2+1)))<<32
		default:
			code = uint64(int64(x))
		}
		for k := range w {
			b[i*w+k] = byte(code >> (8 * k))
		}
	}
}

func decode(b []byte, t hlo.PrimitiveType) []float64 {
	if t.IsComplex() {
		t = t.ComponentType()
	}
	w := t.ByteSize()
	v := make([]float64, len(b)/max(w, 1))
	f, narrow := testFormats[t]
	for i := range v {
		var code uint64
		for k := range w {
			code |= uint64(b[i*w+k]) << (8 * k)
		}
		switch {
		case narrow:
			v[i] = f.Float64(uint16(code))
		case t == hlo.F32:
			v[i] = float64(math.Float32frombits(uint32(code)))
		case t == hlo.F64:
			v[i] = math.Float64frombits(code)
		case t.IsSigned():
			v[i] = float64(int64(code<<(64-8*w)) >> (64 - 8*w))
		default:
			v[i] = float64(code)
		}
	}
	return v
}
