package eval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
)

// BenchmarkInstruction evaluates the root of small programs over filled parameters.
func BenchmarkInstruction(b *testing.B) {
	const reducer = "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
	for _, c := range []struct{ name, text string }{
		{"add/f32[]", "ENTRY e { p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] add(p, q) }"},
		{"add/f32[1048576]", "ENTRY e { p = f32[1048576] parameter(0) q = f32[1048576] parameter(1) ROOT r = f32[1048576] add(p, q) }"},
		{"exponential/bf16[1048576]", "ENTRY e { p = bf16[1048576] parameter(0) ROOT r = bf16[1048576] exponential(p) }"},
		{"dot/f32[512,512]", "ENTRY e { p = f32[512,512] parameter(0) q = f32[512,512] parameter(1) ROOT r = f32[512,512] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"},
		{"convolution/f32[1,56,56,64]", "ENTRY e { p = f32[1,56,56,64] parameter(0) q = f32[3,3,64,64] parameter(1) ROOT r = f32[1,56,56,64] convolution(p, q), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }"},
		{"transpose/f32[1024,1024]", "ENTRY e { p = f32[1024,1024] parameter(0) ROOT r = f32[1024,1024] transpose(p), dimensions={1,0} }"},
		{"reduce/f32[1024,1024]", reducer + "ENTRY e { p = f32[1024,1024] parameter(0) z = f32[] parameter(1) ROOT r = f32[1024] reduce(p, z), dimensions={0}, to_apply=add }"},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := parse(b, "HloModule m\n"+c.text+"\n")
			root := m.Entry().Root()
			var operands []*hlo.Literal
			bytes := root.Shape().ByteSize()
			for i := range root.NumOperands() {
				s := root.OperandInstr(i).Shape()
				l, err := arrays.Fill(arrays.Random, 1, i, s)
				require.NoError(b, err)
				operands = append(operands, l)
				bytes += s.ByteSize()
			}
			p := eval.Prepare(m, root)
			b.ReportAllocs()
			b.SetBytes(bytes)
			for b.Loop() {
				if _, err := p.Eval(context.Background(), eval.On{}, operands); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleModule() {
	m := parse(exampleT{}, `HloModule square
ENTRY e {
  x = f32[3] parameter(0)
  ROOT y = f32[3] multiply(x, x)
}
`)
	x, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), float32(1), 2, 3)
	y, err := eval.Module(context.Background(), m, []*hlo.Literal{x}, eval.Options{})
	fmt.Println(hlo.Values[float32](y), err)
	// Output: [1 4 9] <nil>
}

// exampleT lets an example use the helpers of tests.
type exampleT struct{ testing.TB }

func (exampleT) Helper() {}
