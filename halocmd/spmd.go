package halocmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/spmd"
	"github.com/gohalo/halo/verifier"
)

// spmdFlags are about programs for many devices that have to be partitioned first.
type spmdFlags struct {
	SPMD   bool `name:"spmd" help:"The program is for many devices: partition it, split the inputs and join the results by their shardings. --partitions says how many; default: what the program says."`
	Shards bool `help:"With --spmd: give the results of each device, keys d0/0, ..., instead of whole arrays."`
}

// spmdProgram is a partitioned program and its boundary.
type spmdProgram struct {
	*prepared
	boundary *spmd.Boundary
	whole    []halo.Value // the leaves of the parameters
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
	n := int64(c.Devices.Partitions)
	switch {
	case spmd.IsOneDevices(m):
		fmt.Fprintf(e.stderr, "%s: note: the program is one device's already: it runs as without --spmd\n", in.name)
		return nil, nil
	case n == 0:
		if imported, err := passes.Parse("sdy-import"); err == nil {
			if im, err := (&pass.Runner{}).Run(ctx, imported, m); err == nil {
				n = spmd.Devices(im)
			}
		}
	}
	if n <= 1 {
		return nil, nil
	}
	e.progress.at("partitioning")
	began = time.Now()
	whole := m
	ed := m.Edit()
	cfg := *m.Config()
	cfg.NumPartitions = n
	ed.SetConfig(&cfg)
	pipeline, err := catalogue.Parse("spmd")
	if err != nil {
		return nil, err
	}
	local, err := (&pass.Runner{}).Run(ctx, pipeline, ed.Freeze())
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", in.name, err)
	}
	split := time.Since(began)
	p := &spmdProgram{}
	if p.boundary, err = spmd.NewBoundary(whole, local); err != nil {
		return nil, fmt.Errorf("%s: error: %w", in.name, err)
	}
	p.whole = halo.SignatureOf(whole).Parameters
	verified, err := halo.Verify(local, verifierConfig(verifier.Config{Profile: verifier.XLA}))
	if err != nil {
		return nil, fmt.Errorf("%s: error: the partitioned program: %w", in.name, err)
	}
	if p.prepared, err = c.compile(ctx, e, in, verified, observer); err != nil {
		return nil, err
	}
	p.grid, p.parse, p.split = grid{max(c.Devices.Replicas, 1), int(n)}, parse, split
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
	if results, err = c.collected(ctx, e, p.prepared, results); results == nil {
		return err
	}
	if err := host.writeOutfeed(c.Feeds.Outfeed); err != nil {
		return err
	}
	if _, own := e.ownFile(output); c.Split.Shards || own {
		return c.deliver(e, in.name, p.grid, results, r)
	}
	whole := make([]*hlo.Literal, len(p.boundary.Results))
	for i := range whole {
		parts := make([]*hlo.Literal, p.grid.partitions)
		for d := range parts {
			parts[d] = results[d][i]
		}
		if whole[i], err = p.boundary.Results[i].Whole(parts); err != nil {
			return fmt.Errorf("%s: error: result %d: %w", in.name, i, err)
		}
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
	whole, err := c.arguments(p.whole, grid{1, 1})
	if err != nil {
		return nil, err
	}
	args := make([][]*hlo.Literal, p.grid.devices())
	for d := range args {
		for i, l := range whole[0] {
			if i >= len(p.boundary.Params) {
				return nil, errors.New("parameters that are no arrays cannot be split")
			}
			part, err := p.boundary.Params[i].Part(l, int64(d%p.grid.partitions))
			if err != nil {
				return nil, fmt.Errorf("parameter leaf %d: %w", i, err)
			}
			args[d] = append(args[d], part)
		}
	}
	return args, nil
}
