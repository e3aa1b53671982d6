package halocmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/verifier"
)

// spmdFlags are about programs for many devices that have to be partitioned first.
type spmdFlags struct {
	SPMD   bool `name:"spmd" help:"The program is for many devices: partition it, split the inputs and join the results by their shardings. --partitions says how many; default: what the program says."`
	Shards bool `help:"With --spmd: give the results of each device, keys d0/0, ..., instead of whole arrays."`
}

// spmdProgram is a partitioned program that is ready to run.
type spmdProgram struct {
	*prepared
	split *halo.Partitioned
}

// spmdOf partitions the program of a file; nil if it runs as it is, for one device or because it is one device's already.
func (c *runCmd) spmdOf(ctx context.Context, e *env, in *input, observer halo.Observer) (*spmdProgram, error) {
	if in.kind == source.BEF {
		return nil, usageError{fmt.Errorf("%s: a BEF file is one device's program: --spmd takes HLO", in.name)}
	}
	e.progress.at("reading")
	began := time.Now()
	m, err := e.loadModule(in, moduleOptions{profile: c.Profile, fill: c.fillElided()})
	if err != nil {
		return nil, err
	}
	parse := time.Since(began)
	e.progress.at("partitioning")
	began = time.Now()
	pipeline, err := catalogue.Parse("spmd")
	if err != nil {
		return nil, err
	}
	split, err := halo.Partition(ctx, halo.Trust(m), halo.PartitionOptions{Devices: c.Devices.Partitions, Pipeline: pipeline, Verifier: verifierConfig(verifier.Config{})})
	switch {
	case errors.Is(err, halo.ErrPartitioned):
		fmt.Fprintf(e.stderr, "%s: note: the program is one device's already: it runs as without --spmd\n", in.name)
		return nil, nil
	case errors.Is(err, halo.ErrOneDevice):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: error: %w", in.name, err)
	}
	p := &spmdProgram{split: split}
	took := time.Since(began)
	program, err := c.compile(ctx, e, in, split.Module, c.options(observer))
	if err != nil {
		return nil, err
	}
	if p.prepared, err = c.prepared(e, program, grid{max(c.Devices.Replicas, 1), split.Devices}); err != nil { // whether or not devices have anything to say to each other
		return nil, err
	}
	p.parse, p.prepared.split = parse, took
	return p, nil
}

// runSPMD runs a partitioned program on whole arrays.
func (c *runCmd) runSPMD(ctx context.Context, e *env, in *input, r *record, p *spmdProgram) error {
	defer p.Close()
	e.progress.at("making the inputs")
	args, err := c.spmdArguments(p)
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	e.progress.at("running")
	if c.Bench > 0 {
		return c.bench(ctx, e, p.prepared, args, r)
	}
	host, err := c.Feeds.host(c, p.grid)
	if err != nil {
		return err
	}
	output := c.Output
	results, err := p.run(ctx, args, nil, host)
	if err != nil {
		return err
	}
	if err := host.writeOutfeed(ctx, e); err != nil {
		return err
	}
	if results, err = c.collected(ctx, e, p.prepared, results); results == nil {
		return err
	}
	if _, own := e.ownFile(output); c.Split.Shards || own {
		return c.deliver(e, in.name, p.grid, results, r)
	}
	whole, err := p.split.Join(results[:p.grid.partitions])
	if err != nil {
		return fmt.Errorf("%s: error: %w", in.name, err)
	}
	return c.deliver(e, in.name, grid{1, 1}, [][]*hlo.Literal{whole}, r)
}

// spmdArguments splits whole arrays over the devices; where the files have arrays of single devices, those are the parts.
func (c *runCmd) spmdArguments(p *spmdProgram) ([][]*hlo.Literal, error) {
	given, err := c.files()
	if err != nil {
		return nil, err
	}
	for key := range given {
		if strings.HasPrefix(key, "d") {
			return c.arguments(p.Signature().Parameters, p.grid)
		}
	}
	whole, err := c.arguments(p.split.Whole.Parameters, grid{1, 1})
	if err != nil {
		return nil, err
	}
	from, to := c.held(p.grid)
	parts, err := p.split.SplitFor(whole[0], func(partition int) bool {
		for d := partition; d < to; d += p.grid.partitions {
			if d >= from {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	args := slices.Repeat(parts, p.grid.replicas)
	for d := range args {
		if d < from || d >= to {
			args[d] = nil
		}
	}
	return args, nil
}
