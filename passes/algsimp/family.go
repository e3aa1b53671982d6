package algsimp

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Made:    map[string]func(pass.Options) (*pass.Pass, error){"algsimp": New, "rules": NewRules},
	Aliases: map[string]string{"algebraic-simplifier": "algsimp"},
}
