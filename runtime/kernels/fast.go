package kernels

import "github.com/gohalo/halo/hlo"

// fast lists, for each opcode, the fast implementations in the order in which they are tried. Filled family by family in init, so
// that adding one is a line in its own file.
var fast [hlo.NumOpcodes][]chooser

func addFast(op hlo.Opcode, c ...chooser) { fast[op] = append(fast[op], c...) }

// HasFast reports whether some implementation of op is made for speed.
func HasFast(op hlo.Opcode) bool { return len(fast[op]) > 0 }
