// Package memory holds the passes that are about how much memory a program needs, and where its values are.
//
//	alias    which results may take the memory of parameters
//	remat    compute values again instead of keeping them, where a limit is exceeded
//	lives    which values an order of instructions keeps, from where to where
//	sweep    the walk along that order which gives values up and makes them again
//	share    equal literals and equal shapes of a module once
package memory

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{ShapeCanonicalizer},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"literal-canonicalizer":              NewLiteralCanonicalizer,
		"optimize-input-output-buffer-alias": NewInputOutputAlias,
		"rematerialization":                  NewRematerialization,
	},
	Aliases: map[string]string{
		"hlo-rematerialization": "rematerialization",
	},
}
