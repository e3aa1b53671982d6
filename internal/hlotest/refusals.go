package hlotest

import (
	"slices"
	"strings"
)

// refusal is an error that executing a verified module may end with, and why no rule of the verifier forbids what causes it.
type refusal struct{ message, reason string }

var refusals = []refusal{
	{"custom-call target", "custom calls get their meaning from the program that runs the module"},
	{"its result is its operand", "so do those that halo knows"},
	{"a sparse product of", "and their operands fit or not"},
	{"trsm of matrices that do not fit", "those of calls to LAPACK, too"},
	{"windows that are padded by a rule", "and their windows and sizes"},
	{"in its backend_config", "some printers leave out what such a call computes"},
	{"of which one runs", "the number of devices is chosen when a program is run"},
	{"devices gather", "so is that of a group of all devices"},
	{"does not run", "so are the devices that a permutation names"},
	{"evaluating set-dimension-size", "the size is data"},
	{"with dynamic dimensions", "sizes are data, and those of two operands have to agree"},
	{"operands of sizes", "so have those of an elementwise op"},
	{"for a result of sizes", "a static operand may be too small for the size of the other"},
	{"a block of size", "and too small for a block that replaces a part of it"},
	{"of the sizes of", "whether the elements of a reshape fill its result is data, too"},
	{"broadcast to the dynamic shape", "XLA's verifier lets a broadcast add a dynamic dimension, which has no size"},
	{", of another form", "a bitcast that moves a dynamic dimension shows the memory behind the array's elements, which XLA's verifier allows"},
	{"exceeds its budget", "programs may need more memory and steps than there are"},
}

// Refusal reports whether err is one of the errors that executing a verified module may end with: sizes that are data, devices that are chosen
// later, programs that need more than there is.
func Refusal(err error) bool {
	return slices.ContainsFunc(refusals, func(r refusal) bool { return strings.Contains(err.Error(), r.message) })
}
