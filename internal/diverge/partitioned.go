package diverge

import (
	"context"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
)

// FindPartitioned executes a program on one device and, partitioned, on many, on one literal for each parameter, and compares them. To see values, both are made to
// return all values of the entry computation, so that the parts of each are put together by its sharding; the results are compared of the program as it is.
//
// A single device cannot run a manual region, which is written for one device of several. A program with such regions runs on many devices instead, all of which
// compute all of it but for the regions: alone partitions it so. Values in regions are not compared, those at their borders are.
func FindPartitioned(ctx context.Context, m hlo.Module, args []*hlo.Literal, split, alone halo.PartitionOptions, cfg Config) (*Report, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 1 << 30
	}
	regions := hasRegions(m)
	reference := func(m hlo.Module, args []*hlo.Literal) ([]*hlo.Literal, error) {
		if regions {
			return partly(ctx, regionsOnly(m), args, alone, cfg.Options)
		}
		return wholly(ctx, m, args, cfg.Options)
	}
	var leaves []*hlo.Literal
	for _, a := range args {
		leaves = append(leaves, a.Leaves()...)
	}
	r := &Report{}
	var err error
	if r.A, err = reference(m, leaves); err != nil {
		return nil, fmt.Errorf("on one device: %w", err)
	}
	if r.B, err = partly(ctx, m, leaves, split, cfg.Options); err != nil {
		return nil, err
	}
	room, inside := cfg.MaxBytes, inRegions(m.Entry())
	shown, values := expose(m, func(in hlo.Instruction) bool {
		if inside[in.ID()] {
			return false
		}
		room -= in.Shape().ByteSize()
		if room < 0 {
			r.Unseen++
		}
		return room >= 0
	})
	a, err := reference(shown, leaves)
	if err != nil {
		return nil, fmt.Errorf("on one device, made to show its values: %w", err)
	}
	b, err := partly(ctx, shown, leaves, split, cfg.Options)
	if err != nil {
		return nil, fmt.Errorf("made to show its values: %w", err)
	}
	next := 0
	for _, in := range values {
		for k := range in.Shape().NumLeaves() {
			want, got := a[next], b[next]
			next++
			if r.First != nil || !got.Shape().IsArray() {
				continue
			}
			if d := cfg.compare(got, want); d.Bad > 0 {
				r.First = &Departure{Computation: in.Computation().Name(), Instruction: in, Partner: in.Name(), Execution: 1, Leaf: k, Difference: d, Got: got, Want: want}
			}
		}
	}
	return r, nil
}

// wholly executes a program on one device.
func wholly(ctx context.Context, m hlo.Module, args []*hlo.Literal, o halo.Options) ([]*hlo.Literal, error) {
	p, err := halo.Compile(ctx, halo.Trust(m), o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Run(ctx, args...)
}

// partly executes a program on many devices, and puts the parts of its results together.
func partly(ctx context.Context, m hlo.Module, args []*hlo.Literal, split halo.PartitionOptions, o halo.Options) ([]*hlo.Literal, error) {
	parts, err := halo.Partition(ctx, halo.Trust(m), split)
	if err != nil {
		return nil, err
	}
	p, err := halo.Compile(ctx, parts.Module, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	each, err := parts.Split(args)
	if err != nil {
		return nil, err
	}
	results, err := p.RunDevices(ctx, 1, parts.Devices, each)
	if err != nil {
		return nil, err
	}
	return parts.Join(results)
}
