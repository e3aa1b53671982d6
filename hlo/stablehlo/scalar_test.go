package stablehlo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// TestEmptyIndices: a slice of a scalar has no start indices, and its text has nothing between two commas.
func TestEmptyIndices(t *testing.T) {
	root := entryRoot(t, `func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.dynamic_slice %x, , sizes = [] : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}`)
	require.Equal(t, hlo.OpParameter, root.Opcode(), "the slice is its operand")
}

// TestIotaOfOne: one element counts from zero in every type, complex numbers of 16 bytes among them.
func TestIotaOfOne(t *testing.T) {
	for _, elem := range []string{"i4", "i64", "bf16", "f64", "complex<f32>", "complex<f64>"} {
		root := entryRoot(t, `func.func @main() -> tensor<1x1x`+elem+`> {
  %r = stablehlo.iota dim = 1 : tensor<1x1x`+elem+`>
  return %r : tensor<1x1x`+elem+`>
}`)
		for root.NumOperands() > 0 {
			root = root.OperandInstr(0)
		}
		require.Equal(t, hlo.OpConstant, root.Opcode(), elem)
		for _, b := range hlo.AttrsOf[hlo.ConstantAttrs](root).Literal.Bytes() {
			require.Zero(t, b, elem)
		}
	}
}

func entryRoot(t *testing.T, text string) hlo.Instruction {
	t.Helper()
	p, err := mlir.Parse("a.mlir", text)
	require.NoError(t, err)
	m, err := stablehlo.Convert(p, stablehlo.Options{})
	require.NoError(t, err)
	return m.Entry().Root()
}
