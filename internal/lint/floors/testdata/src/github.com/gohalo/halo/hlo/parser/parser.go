package parser

import (
	_ "strings"

	_ "github.com/gohalo/halo/runtime/async" // want `hlo/parser imports runtime/async: the wings meet in lower and runtime/kernels only`

	//halo:allow floors to show that it can be
	_ "github.com/gohalo/halo/cmd/tool"
)
