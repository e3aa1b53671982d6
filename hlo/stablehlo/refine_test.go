package stablehlo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// TestRefinedSlice: a slice of an array whose size was open has the shape of its limits, not of its operand.
func TestRefinedSlice(t *testing.T) {
	p, err := mlir.Parse("slice.mlir", `func.func @main(%x: tensor<?x4xf32>) -> tensor<?x2xf32> {
  %s = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %l = stablehlo.constant dense<[5, 4]> : tensor<2xi32>
  %t = stablehlo.constant dense<1> : tensor<2xi32>
  %r = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}`)
	require.NoError(t, err)
	m, err := stablehlo.Convert(p, stablehlo.Options{Shapes: []hlo.Shape{hlo.MakeShape(hlo.F32, 5, 4)}})
	require.NoError(t, err)
	root := m.Entry().Root()
	require.Equal(t, hlo.OpSlice, root.Opcode())
	require.Equal(t, []int64{5, 2}, root.Shape().Dimensions())
}
