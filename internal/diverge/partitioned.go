package diverge

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
)

// ErrManual says that a program has parts that are written for one device of several, which a single device cannot run.
var ErrManual = errors.New("a part of the program is manual, for one device of several: a single device cannot run it")

// FindPartitioned executes a program on one device and, partitioned, on many, on one literal for each parameter, and compares them. To see values, both are made to
// return all values of the entry computation, so that the parts of each are put together by its sharding; the results are compared of the program as it is.
func FindPartitioned(ctx context.Context, m hlo.Module, args []*hlo.Literal, split halo.PartitionOptions, cfg Config) (*Report, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 1 << 30
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if common := in.Common(); common != nil && common.Sharding != nil && common.Sharding.Kind == hlo.ShardingManual {
				return nil, ErrManual
			}
		}
	}
	var leaves []*hlo.Literal
	for _, a := range args {
		leaves = append(leaves, a.Leaves()...)
	}
	r := &Report{}
	var err error
	if r.A, err = wholly(ctx, m, leaves, cfg.Options); err != nil {
		return nil, fmt.Errorf("on one device: %w", err)
	}
	if r.B, err = partly(ctx, m, leaves, split, cfg.Options); err != nil {
		return nil, err
	}
	room := cfg.MaxBytes
	shown, values := expose(m, func(in hlo.Instruction) bool {
		room -= in.Shape().ByteSize()
		if room < 0 {
			r.Unseen++
		}
		return room >= 0
	})
	a, err := wholly(ctx, shown, leaves, cfg.Options)
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
