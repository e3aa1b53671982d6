package scalar_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime/scalar"
)

// numbers are bit patterns of every kind of trouble: zeros, ones, the ends of ranges, amounts of shifts around the width, NaN, infinities,
// denormals, halves.
func numbers(t hlo.PrimitiveType) []uint64 {
	if t == hlo.PRED {
		return []uint64{0, 1}
	}
	if t == hlo.C64 {
		var r []uint64
		for i, re := range numbers(hlo.F32) {
			for k, im := range numbers(hlo.F32) {
				if (i+2*k)%9 == 0 || re&im == re {
					r = append(r, im<<32|re)
				}
			}
		}
		return r
	}
	if t.IsFloat() {
		var r []uint64
		for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.5, 3, 1e-45, 3e-39, -1e-40, -1e-310, 1e30, -1e30, 2147483647, -2147483648, 2147483648.5,
			-3e9, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1), 16777217, math.Pi} {
			switch t {
			case hlo.BF16:
				r = append(r, uint64(math.Float32bits(float32(v))>>16))
			case hlo.F32:
				r = append(r, uint64(math.Float32bits(float32(v))))
			default:
				r = append(r, math.Float64bits(v))
			}
		}
		return r
	}
	r := []uint64{0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 1 << 15, 1<<16 - 1, 1 << 16, 1<<31 - 1, 1 << 31,
		1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 0xdeadbeefcafebabe}
	for _, v := range r[:8] {
		r = append(r, -v)
	}
	return r
}

// instruction is the HLO that a name of package scalar stands for: its operands' types and its text.
func instruction(name string) (types []string, text string) {
	parts := strings.Split(name, ".")
	op, t := parts[0], parts[len(parts)-1]
	switch op {
	case "convert":
		return parts[1:2], fmt.Sprintf("%s[N] convert(a)", parts[2])
	case "complex":
		return []string{"f32", "f32"}, "c64[N] complex(a, b)"
	case "real", "imag":
		return []string{t}, fmt.Sprintf("f32[N] %s(a)", op)
	case "select":
		return []string{"pred", t, t}, t + "[N] select(a, b, c)"
	case "eq", "ne", "lt", "le":
		kind := ""
		if len(parts) == 3 {
			kind = ", type=TOTALORDER"
		}
		return []string{t, t}, fmt.Sprintf("pred[N] compare(a, b), direction=%s%s", strings.ToUpper(op), kind)
	case "clamp":
		return []string{t, t, t}, t + "[N] clamp(a, b, c)"
	case "is-finite":
		return []string{t}, "pred[N] is-finite(a)"
	case "abs":
		if t == "c64" {
			return []string{t}, "f32[N] abs(a)"
		}
		return []string{t}, t + "[N] abs(a)"
	case "negate", "not", "sqrt", "rsqrt", "sign", "floor", "ceil", "round-nearest-even":
		return []string{t}, fmt.Sprintf("%s[N] %s(a)", t, op)
	}
	return []string{t, t}, fmt.Sprintf("%s[N] %s(a, b)", t, op)
}

// TestOps computes every op on all combinations of numbers of its types and compares with the evaluator, bit for bit.
func TestOps(t *testing.T) {
	t.Run("native", func(t *testing.T) { testOps(t, run) })
	t.Run("gentle", func(t *testing.T) { testOps(t, runGently) })
	was := scalar.SetNative(false)
	defer scalar.SetNative(was)
	t.Run("interpreted", func(t *testing.T) { testOps(t, run) })
}

// runGently is run through the code for denormals.
func runGently(p *scalar.Program, s *scalar.State) {
	s.Begin()
	for s.MeetDenormals(); !p.Run(s); s.MeetDenormals() {
	}
}

func testOps(t *testing.T, run func(p *scalar.Program, s *scalar.State)) {
	for _, op := range scalar.Names() {
		name := op.String()
		t.Run(name, func(t *testing.T) {
			names, text := instruction(name)
			types := make([]hlo.PrimitiveType, len(names))
			n := 1
			for i, s := range names {
				var ok bool
				types[i], ok = hlo.PrimitiveTypeByName(s)
				require.True(t, ok, s)
				n *= len(numbers(types[i]))
			}
			arrays := combinations(types, n)
			want := evaluate(t, names, text, arrays, n)
			got := loopOver(t, run, name, types, arrays, n, len(want)/n)
			for i := 0; i < n; i++ {
				w := len(want) / n
				if a, b := want[i*w:(i+1)*w], got[i*w:(i+1)*w]; string(a) != string(b) && !bothNaN(a, b, text) {
					assert.Failf(t, "differs", "element %d of %s: operands %v, want %x, got %x", i, text, operands(arrays, types, i), a, b)
					return
				}
			}
		})
	}
}

func operands(arrays [][]byte, types []hlo.PrimitiveType, i int) (r []string) {
	for k, a := range arrays {
		w := types[k].ByteSize()
		r = append(r, fmt.Sprintf("%x", a[i*w:(i+1)*w]))
	}
	return r
}

// bothNaN: which NaN comes out of arithmetic is the processor's choice.
func bothNaN(a, b []byte, text string) bool {
	switch text[:3] {
	case "f32":
		x, y := math.Float32frombits(binary.LittleEndian.Uint32(a)), math.Float32frombits(binary.LittleEndian.Uint32(b))
		return x != x && y != y
	case "c64":
		for i := 0; i < len(a); i += 4 {
			if string(a[i:i+4]) != string(b[i:i+4]) && !bothNaN(a[i:i+4], b[i:i+4], "f32") {
				return false
			}
		}
		return true
	case "f64":
		x, y := math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b))
		return x != x && y != y
	}
	return false
}

func combinations(types []hlo.PrimitiveType, n int) [][]byte {
	arrays, lists := make([][]byte, len(types)), make([][]uint64, len(types))
	for k, t := range types {
		lists[k] = numbers(t)
	}
	for i := range n {
		rest := i
		for k, t := range types {
			list := lists[k]
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], list[rest%len(list)])
			arrays[k] = append(arrays[k], word[:t.ByteSize()]...)
			rest /= len(list)
		}
	}
	return arrays
}

func evaluate(t *testing.T, names []string, text string, arrays [][]byte, n int) []byte {
	var s strings.Builder
	s.WriteString("HloModule m\n\nENTRY e {\n")
	for i, typ := range names {
		fmt.Fprintf(&s, "  %c = %s[%d] parameter(%d)\n", 'a'+i, typ, n, i)
	}
	fmt.Fprintf(&s, "  ROOT r = %s\n}\n", strings.ReplaceAll(text, "[N]", fmt.Sprintf("[%d]", n)))
	m, err := parser.Parse("op", s.String())
	require.NoError(t, err)
	var args []*hlo.Literal
	for i := range names {
		l, err := hlo.NewLiteral(m.Entry().Parameter(i).Shape(), arrays[i])
		require.NoError(t, err)
		args = append(args, l)
	}
	r, err := eval.Module(context.Background(), m, args, eval.Options{})
	require.NoError(t, err)
	return r.Bytes()
}

// loopOver is a loop that reads the operands one after the other, computes the op, and writes the result.
func loopOver(t *testing.T, run func(p *scalar.Program, s *scalar.State), name string, types []hlo.PrimitiveType, arrays [][]byte, n, width int) []byte {
	b := scalar.NewBuilder()
	var in []scalar.Place
	for range arrays {
		in = append(in, b.Place())
	}
	out := b.Place()
	b.While([]scalar.Value{b.Const(8, 0)}, func(v []scalar.Value) scalar.Value {
		return must(t, b, "lt.s64", v[0], b.Const(8, uint64(n)))
	}, func(v []scalar.Value) []scalar.Value {
		var args []scalar.Value
		for k, p := range in {
			w := types[k].ByteSize()
			args = append(args, b.Load(w, p, b.Index(scalar.S64, v[0], int64(n-1), int64(w)), 0))
		}
		b.Store(width, out, b.Index(scalar.S64, v[0], int64(n-1), int64(width)), 0, must(t, b, name, args...))
		return []scalar.Value{must(t, b, "add.s64", v[0], b.Const(8, 1))}
	})
	p, ok := b.Build()
	require.True(t, ok)
	s := p.NewState()
	for k, a := range arrays {
		s.SetPlace(in[k], unsafe.Pointer(&a[0]))
	}
	result := make([]byte, n*width)
	s.SetPlace(out, unsafe.Pointer(&result[0]))
	run(p, s)
	return result
}
