package source

import (
	"fmt"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/bytecode"
	"github.com/gohalo/halo/hlo/stablehlo/export"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// readStableHLO reads MLIR text.
func readStableHLO(name string, data []byte, o Options) (hlo.Module, error) {
	p, err := mlir.Config{LinesBefore: o.Text.LinesBefore}.Parse(name, unsafe.String(unsafe.SliceData(data), len(data)))
	if err != nil {
		if n := len(Parts(StableHLOText, data)); n > 1 {
			return hlo.Module{}, fmt.Errorf("%s: error: the file holds %d modules; want one", name, n)
		}
		return hlo.Module{}, err
	}
	return stablehlo.Convert(p, o.StableHLO)
}

// readBytecode reads MLIR bytecode.
func readBytecode(name string, data []byte, o Options) (hlo.Module, error) {
	p, err := bytecode.Decode(name, data)
	if err != nil {
		return hlo.Module{}, err
	}
	return stablehlo.Convert(p, o.StableHLO)
}

// readExport reads a jax.export file.
func readExport(name string, data []byte, o Options) (hlo.Module, error) {
	f, err := export.Open(name, data)
	if err != nil {
		return hlo.Module{}, err
	}
	return f.Convert(name, o.StableHLO)
}
