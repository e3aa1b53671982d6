package main

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// decodeProto reads a serialized module.
func decodeProto(in *input) (hlo.Module, error) {
	return hlo.Module{}, fmt.Errorf("%s: error: serialized modules are not supported yet", in.name)
}
