package mlir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

func TestTmp(t *testing.T) {
	files, _ := filepath.Glob("/tmp/stablehlo/ref/*/*.mlir")
	n := 0
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if _, err := mlir.Parse(filepath.Base(f), string(b)); err != nil {
			n++
			if n < 30 {
				t.Log(err)
			}
		}
	}
	t.Log(len(files), n)
}
