package main

import (
	"github.com/gohalo/halo/halocmd"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/verifier"
)

// extension is everything that this program adds.
var extension = halocmd.Extension{
	Passes:      pass.Family{Plain: []*pass.Pass{Absorb, DoubleToAdd, ScaleSimplifier}},
	Pipelines:   []passes.Pipeline{{Name: "acme", Doc: "the passes of this program, and housekeeping", Text: "scale-simplifier,double-to-add,simplify"}},
	Orders:      []pass.Order{{Before: "scale-simplifier", After: "double-to-add", Because: "a scale by 2 becomes a product by 2"}},
	Rules:       []verifier.Extra{scaleHasFactor},
	Kernels:     func(r *runtime.Registry) { r.CustomCall(scaleTarget, bindScale) },
	CustomCalls: map[string]eval.Kernel{scaleTarget: evalScale},
}
