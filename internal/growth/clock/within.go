package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
)

// step is what one pass of a pipeline has taken, in all its runs together.
type step struct {
	name      string
	took      time.Duration
	allocated int64
}

// steps runs a pipeline on modules, one after the other, and adds up what each of its passes takes where it stands, in the order of their first runs. What the runner does
// between them, which is hardly anything, nobody is charged for.
func steps(ctx context.Context, p *pass.Pipeline, modules []hlo.Module) (all []*step, err error) {
	of := map[*pass.Pass]*step{}
	var began time.Duration
	watch := pass.Instrument{
		Before: func(string, hlo.Module) { began = processorTime() },
		After: func(r pass.Report) {
			took := processorTime() - began
			s := of[r.Pass]
			if s == nil {
				s = &step{name: r.Pass.Name + r.Pass.Options.String()}
				of[r.Pass], all = s, append(all, s)
			}
			s.took += took
			s.allocated += r.Allocated
		},
	}
	for _, m := range modules {
		if _, err := (&pass.Runner{Instruments: []pass.Instrument{watch}, CountMemory: true}).Run(ctx, p, m); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// printWithin prints the rows of the passes of a pipeline as they run within it.
func printWithin(name, shape string) error {
	p, err := passes.Parse(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	sizes := lengths()
	least := map[string][]float64{}
	bytes := map[string]float64{}
	var order []string
	for range *rounds {
		for i, n := range sizes {
			modules, total, err := parsed(shape, n)
			if err != nil {
				return err
			}
			done := profile()
			all, err := steps(ctx, p, modules)
			done()
			runtime.KeepAlive(modules)
			if err != nil {
				return err
			}
			sum := map[string]float64{}
			clear(bytes)
			for _, s := range all { // the same pass may stand in several places
				sum[s.name] += float64(s.took.Nanoseconds()) / float64(total)
				bytes[s.name] += float64(s.allocated) / float64(total)
			}
			for _, s := range all {
				if least[s.name] == nil {
					least[s.name] = make([]float64, len(sizes))
					order = append(order, s.name)
				}
			}
			for name, ns := range sum {
				if was := least[name][i]; was == 0 || ns < was {
					least[name][i] = ns
				}
			}
		}
	}
	for _, pass := range order {
		var cells []string
		for _, ns := range least[pass] {
			cells = append(cells, fmt.Sprintf("%.0f", ns))
		}
		fmt.Printf("%s/%s\t%s\t%s\t%.2f\t%.0f\n", name, pass, shape, strings.Join(cells, "\t"), least[pass][len(sizes)-1]/least[pass][0], bytes[pass])
	}
	return nil
}
