// Package copies holds the passes that make copies of values where the memory of one is to be written by another.
//
// Some instructions name the memory of their result: the state of a loop is written over itself round by round, the branches of a conditional write
// where the conditional's result is read, a dynamic-update-slice writes into its operand, results of the program over parameters that are
// aliased with them. That is right while nothing reads what was there before, and where something does, a copy has to be made first.
//
//	values   which value is at which leaf of which instruction: a value is defined once, and forwarded by tuples, calls and loops
//	buffers  values that must have one memory, in the order in which they have it
//	order    whether one value is done with before another one is there
package copies

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"copy-insertion": NewInsertion,
	},
}
