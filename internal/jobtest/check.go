package jobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/distributed"
)

// Prepared is a program that is ready to run on one engine, with arguments for its devices, and what it computes in one process.
type Prepared struct {
	Program
	program              *halo.Program
	replicas, partitions int
	args, want           [][]*hlo.Literal
}

// Prepare compiles a program and runs it in this process. It is nil for a program of one device.
func Prepare(ctx context.Context, p Program, engine halo.Engine) (*Prepared, error) {
	m, err := halo.LoadBytes(p.Name, []byte(p.Text))
	if err != nil {
		return nil, err
	}
	if p.SPMD {
		split, err := halo.Partition(ctx, m, halo.PartitionOptions{})
		if errors.Is(err, halo.ErrOneDevice) || errors.Is(err, halo.ErrPartitioned) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		m = split.Module
	}
	r := &Prepared{Program: p, replicas: max(1, int(m.Config().ReplicaCount)), partitions: max(1, int(m.Config().NumPartitions))}
	if r.replicas*r.partitions == 1 {
		return nil, nil
	}
	if r.program, err = halo.Compile(ctx, m, halo.Options{Engine: engine, Threads: 2}); err != nil {
		return nil, err
	}
	for d := range r.replicas * r.partitions {
		r.args = append(r.args, nil)
		for i, v := range r.program.Signature().Parameters {
			l, err := arrays.Fill("random", uint64(d+1), i, v.Shape)
			if err != nil {
				return nil, err
			}
			if !p.SPMD && v.Shape.Type().IsFloat() {
				odd(l, d)
			}
			r.args[d] = append(r.args[d], l)
		}
	}
	r.want, err = r.program.RunDevices(ctx, r.replicas, r.partitions, r.args)
	return r, err
}

// odd puts bits into some elements that are NaN, infinite, -0 or tiny.
func odd(l *hlo.Literal, device int) {
	data, width := l.Bytes(), l.Shape().Type().ByteSize()
	for i := device * width; i+width <= len(data); i += 37 * width {
		for k := range width {
			data[i+k] = []byte{0xff, 0x80, 0x00, 0x7f, 0x01}[(i/width+k+device)%5]
		}
	}
}

// Close frees the program.
func (r *Prepared) Close() { r.program.Close() }

// Devices is how many devices the program is for.
func (r *Prepared) Devices() int { return len(r.args) }

// Run runs the program in the processes of a job, and compares what the devices of this process compute.
func (r *Prepared) Run(ctx context.Context, j *distributed.Job) error {
	args := make([][]*hlo.Literal, len(r.args))
	from, to := j.Devices(len(args))
	copy(args[from:to], r.args[from:to])
	got, err := r.program.Execute(ctx, halo.Execution{Replicas: r.replicas, Partitions: r.partitions, Args: args, Job: j})
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	for d := from; d < to; d++ {
		for i, l := range got[d] {
			if !bytes.Equal(l.Bytes(), r.want[d][i].Bytes()) {
				return fmt.Errorf("%s: result %d of device %d differs from the run in one process", r.Name, i, d)
			}
		}
	}
	return nil
}
