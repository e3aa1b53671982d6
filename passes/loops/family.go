package loops

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{ConstantSinking, InvariantCodeMotion, ModuleDCE, Simplifier, TripCountAnnotator},
	Made:  map[string]func(pass.Options) (*pass.Pass, error){"while-loop-unroller": NewUnroller},
}
