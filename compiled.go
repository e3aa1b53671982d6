package halo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
)

// Save writes the compiled program, a BEF file, which [LoadProgram] reads. Programs of the evaluator have no compiled form.
func (p *Program) Save(w io.Writer) error {
	c, ok := p.engine.(*compiled)
	if !ok {
		return errors.New("halo: a program of the evaluator cannot be saved: it is not compiled")
	}
	data, err := bef.Marshal(c.program.File(), bef.EncodeOptions{Extensions: true})
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// LoadProgram reads a program that [Program.Save] or halo lower wrote. Passes and the evaluator's options do not matter.
func LoadProgram(path string, o Options) (*Program, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return LoadProgramBytes(path, data, o)
}

// LoadProgramFS is [LoadProgram] from a file system, such as one that is embedded in the program.
func LoadProgramFS(fsys fs.FS, path string, o Options) (*Program, error) {
	data, err := fs.ReadFile(fsys, path)
	if err != nil {
		return nil, err
	}
	return LoadProgramBytes(path, data, o)
}

// LoadProgramBytes is [LoadProgram] from memory, which must not be written afterwards. The name is for messages.
func LoadProgramBytes(name string, data []byte, o Options) (*Program, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Engine == Eval {
		return nil, fmt.Errorf("%s: error: a compiled program runs on the engine %q only", name, BEF)
	}
	file, err := bef.Decode(data, bef.DecodeOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", name, err)
	}
	p, err := link(file, o, Stats{})
	if err != nil {
		return nil, fmt.Errorf("%s: error: %w", name, err)
	}
	return p, nil
}

// link loads a file onto the runtime.
func link(file *bef.File, o Options, stats Stats) (*Program, error) {
	began := time.Now()
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	o.registerCallbacks(reg)
	if o.Register != nil {
		o.Register(reg)
	}
	c := &compiled{watch: kernels.Watch{Tracer: o.Observer.Kernels, Meter: o.Observer.Meter, Rounds: o.Observer.Rounds}}
	queue := o.Queue
	if queue == nil {
		queue = workqueue.NewMulti(workqueue.Config{Workers: o.Threads})
		c.queue = queue
	}
	host := runtime.NewHost(runtime.HostOptions{Queue: queue, Allocator: o.Allocator})
	program, err := runtime.Load(file, reg, runtime.LoadOptions{MaxBytes: o.MaxBytes, Host: host})
	if err == nil && program.Entry() == nil {
		err = errors.New("the file has no HLO program")
	}
	var signature *Signature
	if err == nil {
		signature, err = signatureIn(file, program)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.program, c.needsMesh = program, kernels.NeedsMesh(program)
	c.args, c.results = program.Entry().ArgTypes(), program.Entry().ResultTypes()
	if work := o.Observer.Work; work != nil {
		c.watch.Tracer = newWorkTracer(program, work)
	}
	if update := o.Observer.Update; update != nil {
		c.watch.Update = func(u runtime.Update) error {
			in, _ := kernels.UpdateInstruction(program, u)
			return update(in, u)
		}
	}
	stats.Load, stats.ArenaBytes = time.Since(began), program.Entry().ArenaBytes()
	return newProgram(c, signature, stats), nil
}
