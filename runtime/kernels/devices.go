package kernels

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/devices"
)

// World is the mesh that the devices of a program are in, and the host that they talk to; without a host, infeed, outfeed, and send and recv
// that go to it fail. It is the datum of a request.
type World struct {
	Mesh *devices.Mesh
	Host eval.Host
}

// Watch sees what devices do; what is nil sees nothing.
type Watch struct {
	Tracer runtime.Tracer
	Meter  *runtime.Meter
	Rounds *atomic.Int64
	Update func(runtime.Update) error
}

// Devices runs the entry function of a program on every device of a world at once: device i, in the mesh's order, reads args[i] and writes
// results[i], if this process holds it. Devices are executions on the program's host; one that waits for others holds no worker. The first error ends all, and when
// all wait for each other that is the error.
//
// A tracer sees the kernels of all devices, each in lanes of its own.
//
// Programs that infeed, outfeed, send or receive need a mesh even if it is of one device. It must not be called on a worker.
func Devices(ctx context.Context, p *runtime.Program, w *World, args, results [][]runtime.Buffer, see Watch) error {
	mesh := w.Mesh
	n := mesh.NumDevices()
	if len(args) != n || len(results) != n {
		return fmt.Errorf("arguments for %d and results of %d devices, want %d", len(args), len(results), n)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request := runtime.NewRequest(ctx, p.Host(), runtime.RequestOptions{Data: []any{w}})
	defer request.Close()
	var done []*async.Value
	var told sync.WaitGroup // the mesh, of what became of each: who awaits a value may go on before its waiters have run
	for i := range n {
		d := mesh.Device(i)
		if !mesh.Holds(d) {
			continue
		}
		told.Add(1)
		o := runtime.RunOptions{Request: request, Replica: d.Replica, Partition: d.Partition, Rest: mesh.Rest, Meter: see.Meter, Rounds: see.Rounds, Update: see.Update}
		if see.Tracer != nil {
			o.Tracer = deviceTracerOf(see.Tracer, i, n)
		}
		run := p.Entry().Start(ctx, o, args[i], results[i])
		done = append(done, run.Value())
		run.AndThen(func() {
			defer told.Done()
			if err := run.Value().Err(); err != nil {
				if n > 1 {
					err = fmt.Errorf("device %d: %w", i, err)
				}
				mesh.Fail(err)
				cancel(err)
			}
			mesh.Finish(d)
		})
	}
	if err := p.Host().Queue().Await(context.Background(), done...); err != nil {
		return err
	}
	told.Wait()
	return mesh.Err()
}

// deviceTracer keeps the lanes of devices apart.
type deviceTracer struct {
	to            runtime.Tracer
	device, count int
}

// deviceTracerOf is the tracer of a device. One of work is told the device by the runtime.
func deviceTracerOf(t runtime.Tracer, device, count int) runtime.Tracer {
	if _, ok := t.(runtime.WorkTracer); ok {
		return t
	}
	return &deviceTracer{t, device, count}
}

func (t *deviceTracer) Begin(lane int, category, name string) {
	t.to.Begin(lane*t.count+t.device, category, name)
}

func (t *deviceTracer) End(lane int, category, name string) {
	t.to.End(lane*t.count+t.device, category, name)
}

// deviceOf is the device that a frame belongs to. A program that is run by itself is alone.
func deviceOf(f *runtime.TensorFrame) eval.On {
	on := eval.On{Device: devices.Device{Replica: f.Ctx().Replica, Partition: f.Ctx().Partition}}
	if w, ok := runtime.Data[*World](f.Ctx()); ok {
		on.Mesh, on.Host = w.Mesh, w.Host
	}
	return on
}
