package mlir_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// TestNearest: an operation that is misspelled is named, always the same one.
func TestNearest(t *testing.T) {
	for wrong, want := range map[string]string{
		"stablehlo.ad":      "stablehlo.add",
		"stablehlo.slect":   "stablehlo.select",
		"chlo.aLosh":        "chlo.acosh",
		"func.fGnc":         "func.func",
		"stablehlo.reshap":  "stablehlo.reshape",
		"stablehlo.multipl": "stablehlo.multiply",
	} {
		_, err := mlir.Parse("a.mlir", wrong+" %a : tensor<f32>")
		assert.ErrorContains(t, err, "did you mean '"+want+"'?")
	}
}
