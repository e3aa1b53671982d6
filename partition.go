package halo

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/spmd"
	"github.com/gohalo/halo/verifier"
)

// Partitioned is a program for many devices that has become the program of one of them. Its devices hold parts of the arrays that the program has.
//
//	whole, err := halo.Load("step.hlo")                                     // as JAX dumps it, with shardings
//	split, err := halo.Partition(ctx, whole, halo.PartitionOptions{Devices: 8})
//	p, err := halo.Compile(ctx, split.Module, halo.Options{})
//	parts, err := split.Split(arguments)
//	results, err := p.RunDevices(ctx, 1, split.Devices, parts)
//	wholes, err := split.Join(results)
type Partitioned struct {
	Module   Module     // of one device
	Devices  int        // that run it
	Whole    *Signature // of the program before
	boundary *spmd.Boundary
}

// PartitionOptions say how to partition. The zero value is ready to use.
type PartitionOptions struct {
	Devices  int             // 0: as many as the program names
	Pipeline *pass.Pipeline  // nil: "spmd"
	Runner   *pass.Runner    // of the pipeline; nil is the zero Runner
	Verifier verifier.Config // of the result, in the profile xla
}

// Errors of programs that are not partitioned: one that is a device's already, and one that names a single device or none.
var (
	ErrPartitioned = errors.New("halo: the program is one device's already")
	ErrOneDevice   = errors.New("halo: the program is for one device")
)

// NeedsPartition reports whether a program says how to split its arrays among several devices: each of them computes all of it unless it is partitioned.
func NeedsPartition(m Module) bool {
	return !m.IsZero() && m.Config().NumPartitions > 1 && spmd.IsWhole(m.module)
}

// Partition makes the program of one device of a program whose instructions have shardings. The error is [ErrPartitioned], [ErrOneDevice], a
// *pass.Error, or that of the verifier.
func Partition(ctx context.Context, m Module, o PartitionOptions) (*Partitioned, error) {
	if m.IsZero() {
		return nil, errNoModule
	}
	if spmd.IsOneDevices(m.module) {
		return nil, ErrPartitioned
	}
	n := int64(o.Devices)
	if n == 0 {
		n = named(ctx, m.module)
	}
	if n <= 1 {
		return nil, ErrOneDevice
	}
	pipeline, runner := o.Pipeline, o.Runner
	if pipeline == nil {
		var err error
		if pipeline, err = passes.Parse("spmd"); err != nil {
			return nil, err
		}
	}
	if runner == nil {
		runner = &pass.Runner{}
	}
	ed := m.Edit()
	cfg := *m.Config()
	cfg.NumPartitions = n
	ed.SetConfig(&cfg)
	local, err := runner.Run(ctx, pipeline, ed.Freeze())
	if err != nil {
		return nil, err
	}
	p := &Partitioned{Devices: int(n), Whole: SignatureOf(m.module)}
	if p.boundary, err = spmd.NewBoundary(m.module, local); err != nil {
		return nil, fmt.Errorf("halo: %w", err)
	}
	o.Verifier.Profile = verifier.XLA
	if p.Module, err = Verify(local, o.Verifier); err != nil {
		return nil, fmt.Errorf("halo: the partitioned program: %w", err)
	}
	return p, nil
}

// named is how many devices a program names, in Shardy's form too; 0 if it names none.
func named(ctx context.Context, m hlo.Module) int64 {
	imported, err := passes.Parse("sdy-import")
	if err != nil {
		return 0
	}
	if m, err = (&pass.Runner{}).Run(ctx, imported, m); err != nil {
		return 0
	}
	return spmd.Devices(m)
}

// Split cuts arguments of the whole program, one for each leaf of its parameters, into the arguments of each device.
func (p *Partitioned) Split(args []*hlo.Literal) ([][]*hlo.Literal, error) {
	return p.SplitFor(args, func(int) bool { return true })
}

// SplitFor is Split for those devices of which wanted reports true. Others get nil: another process may have them.
func (p *Partitioned) SplitFor(args []*hlo.Literal, wanted func(device int) bool) ([][]*hlo.Literal, error) {
	if len(args) != len(p.Whole.Parameters) {
		return nil, fmt.Errorf("halo: arguments: got %d, want %d", len(args), len(p.Whole.Parameters))
	}
	if len(p.boundary.Params) != len(args) {
		return nil, errors.New("halo: parameters that are no arrays cannot be split")
	}
	parts := make([][]*hlo.Literal, p.Devices)
	for d := range parts {
		if !wanted(d) {
			continue
		}
		for i, l := range args {
			part, err := p.boundary.Params[i].Part(l, int64(d))
			if err != nil {
				return nil, fmt.Errorf("halo: parameter leaf %d: %w", i, err)
			}
			parts[d] = append(parts[d], part)
		}
	}
	return parts, nil
}

// Join puts the results of the devices together. Where several devices have the same part, they have to agree bit by bit.
func (p *Partitioned) Join(results [][]*hlo.Literal) ([]*hlo.Literal, error) {
	if len(results) != p.Devices {
		return nil, fmt.Errorf("halo: results of devices: got %d, want %d", len(results), p.Devices)
	}
	whole := make([]*hlo.Literal, len(p.boundary.Results))
	for i := range whole {
		parts := make([]*hlo.Literal, len(results))
		for d, leaves := range results {
			if len(leaves) != len(whole) {
				return nil, fmt.Errorf("halo: device %d: results: got %d, want %d", d, len(leaves), len(whole))
			}
			parts[d] = leaves[i]
		}
		var err error
		if whole[i], err = p.boundary.Results[i].Whole(parts); err != nil {
			return nil, fmt.Errorf("halo: result %d: %w", i, err)
		}
	}
	return whole, nil
}
