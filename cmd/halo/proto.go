package main

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/proto"
)

// decodeProto reads a serialized module.
func decodeProto(in *input) (hlo.Module, error) {
	m, err := proto.Decode(in.data)
	if err != nil {
		return m, fmt.Errorf("%s: error: %w", in.name, err)
	}
	return m, nil
}
