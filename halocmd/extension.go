package halocmd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/distributed"
	"github.com/gohalo/halo/verifier"
)

// Extension is something that a program adds to the command. Every subcommand knows it: --passes and halo explain name its passes, halo verify
// and the checks around passes keep its rules, halo run finds its kernels.
type Extension struct {
	// Passes are passes, those with options, and aliases. A pass that is a table of rewrite rules is a pass.Rewriter.
	Passes pass.Family
	// Pipelines are named pipelines, and Orders constraints between passes.
	Pipelines []passes.Pipeline
	Orders    []pass.Order
	// Rules are rules of the verifier.
	Rules []verifier.Extra
	// Kernels registers kernels: what custom-calls run, by their target (runtime.Registry.CustomCall), and what host programs name.
	Kernels func(*runtime.Registry)
	// CustomCalls are the meanings of custom-calls in the reference evaluator, by target.
	CustomCalls map[string]eval.Kernel
	// Wire reaches the processes that a launcher has started together with this one. Without it, the command runs programs in one process,
	// and executes halo-mpi under a launcher.
	Wire func() (distributed.Wire, error)
}

// The extension of this process, set once before any command runs.
var (
	catalogue = passes.Builtin()
	added     Extension // all of them as one
)

// extend adds extensions to the command. The error says which promise they break.
func extend(extensions []Extension) error {
	if len(extensions) == 0 {
		catalogue, added = passes.Builtin(), Extension{}
		return nil
	}
	all := Extension{CustomCalls: map[string]eval.Kernel{}}
	var families []pass.Family
	var kernels []func(*runtime.Registry)
	for _, x := range extensions {
		families = append(families, x.Passes)
		all.Pipelines = append(all.Pipelines, x.Pipelines...)
		all.Orders = append(all.Orders, x.Orders...)
		all.Rules = append(all.Rules, x.Rules...)
		if x.Wire != nil {
			all.Wire = x.Wire
		}
		if x.Kernels != nil {
			kernels = append(kernels, x.Kernels)
		}
		for _, target := range slices.Sorted(maps.Keys(x.CustomCalls)) {
			if all.CustomCalls[target] != nil {
				return fmt.Errorf("custom-call %s is added twice", target)
			}
			all.CustomCalls[target] = x.CustomCalls[target]
		}
	}
	if err := verifier.CheckExtra(all.Rules); err != nil {
		return err
	}
	c, err := passes.With(families, all.Pipelines, all.Orders)
	if err != nil {
		return err
	}
	all.Kernels = func(r *runtime.Registry) {
		for _, register := range kernels {
			register(r)
		}
	}
	catalogue, added = c, all
	return nil
}

// options are options with the kernels that were added.
func options(o halo.Options) halo.Options {
	o.Register, o.CustomCalls = added.Kernels, added.CustomCalls
	return o
}

// verifierConfig is a configuration with the rules that were added.
func verifierConfig(cfg verifier.Config) verifier.Config {
	cfg.Extra = added.Rules
	return cfg
}
