// Package layout holds the passes that choose layouts, and write what layouts say as operations.
package layout

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain:   []*pass.Pass{Assignment, MemorySpacePropagation, Normalization, Remover, ReshapeDecomposer},
	Aliases: map[string]string{"cpu-layout-assignment": "layout-assignment"},
}
