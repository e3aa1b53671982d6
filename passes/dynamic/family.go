// Package dynamic writes programs with arrays whose sizes are known at run time only as programs of static shapes.
//
// An array of dynamic size becomes an array of the size of its bound, filled up with anything, and a scalar for the size of each dimension that was
// dynamic. Ops that let elements of different positions meet have the filling written over first, by values that do not count; others take it along.
//
//	flow      which arrays are written as static ones, and which stay: those that only ops without meaning here make and use
//	value     what became of a value; filled up, or cut to its sizes, where it is first asked for
//	body      one computation, from operands to users; parameters and results of computations in their new form
//	boundary  how arrays and their sizes go in and out of calls, loops and branches
//	checked   programs whose sizes are checked at run time; checks has the conditions, op by op
//	rows      how each op is written; the others of the files are its functions
package dynamic

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"dynamic-padder": NewPadder,
	},
}
