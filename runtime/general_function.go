package runtime

import (
	"fmt"
	"unsafe"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// generalFunction is the plan of a function that the executor runs: what the file says, with everything looked up, made
// once per program and never changed.
type generalFunction struct {
	kernels  []planKernel
	regs     []planRegister
	counts   []int32 // initial ready counts, copied into each execution
	numArgs  int
	results  []int32
	triggers []int32
	// sequential functions run in file order, without ready counts as long as everything is available.
	sequential bool
	// oneStream says that all kernels share a stream: none ever waits for another one's task.
	oneStream bool
	// attemptsAll says that a call returns when the streams were attempted, too, that it gave to other workers.
	attemptsAll bool
	hasLocals   bool
	maxArgs     int // of a kernel
	maxRes      int
	pool        executionPool
}

// planKernel is a use of a kernel.
type planKernel struct {
	run       func(*Frame)
	args      []int32
	results   []int32
	stream    int32
	nonStrict bool
	contended bool // some argument's register is
	foreign   bool
	plain     bool
	// local kernels give values that are seen by plain kernels of the same execution only. Their objects serve one
	// execution after the other.
	local bool

	calls int32 // index in Program.callees
	fn    *Function
	def   *bef.Kernel
}

// planRegister is a register of a general function.
type planRegister struct {
	users []int32 // kernels, once per mention, in the file's order
	uses  int32   // mentions by kernels and by the return
	// contended registers may be read before they are written: results, by the end of Execute, and arguments of
	// non-strict kernels.
	contended bool
}

func (k *planKernel) location() bef.Location { return k.fn.program.file.Locations.At(k.def.Loc) }

func (k *planKernel) funcs() []*Function { return k.fn.program.callees[k.calls] }

func (k *planKernel) name() string {
	if k.fn.def.Kind == bef.Native {
		return k.fn.name
	}
	return k.fn.program.file.Kernels[k.def.Code]
}

// generalLoader makes the plans of general functions.
type generalLoader struct {
	program   *Program
	reg       *Registry
	nonStrict map[bef.KernelRef]bool
	types     typeChecker

	// The rest of the memory of all plans together: a program may have very many small functions.
	kernels   []planKernel
	registers []planRegister
	counts    []int32
}

func (p *Program) loadGeneralFunctions(reg *Registry) error {
	l := generalLoader{program: p, reg: reg, nonStrict: make(map[bef.KernelRef]bool)}
	l.types.init(p.resolved)
	kernels, registers := 0, 0
	for _, fn := range p.functions {
		if fn.tensor == nil && fn.def.Kind == bef.Async {
			kernels += len(fn.def.Kernels)
			registers += len(fn.def.Registers)
		}
	}
	l.kernels, l.registers, l.counts = make([]planKernel, kernels), make([]planRegister, registers), make([]int32, kernels)
	refs, err := p.file.NonStrict()
	if err != nil {
		return err
	}
	for _, r := range refs {
		l.nonStrict[r] = true
	}
	for _, fn := range p.functions {
		if fn.tensor != nil {
			continue
		}
		switch fn.def.Kind {
		case bef.Async:
			err = l.load(fn)
		case bef.Native:
			err = l.loadNative(fn)
		case bef.Sync:
			err = l.loadSync(fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cut takes n elements from the front of a slice.
func cut[T any](from *[]T, n int) []T {
	piece := (*from)[:n:n]
	*from = (*from)[n:]
	return piece
}

func (l *generalLoader) fail(fn *Function, k *bef.Kernel, format string, args ...any) error {
	st := async.Errorf(async.InvalidArgument, format, args...)
	return st.At("", statusLocation(l.program.file.Locations.At(k.Loc)))
}

func (l *generalLoader) load(fn *Function) error {
	def := fn.def
	g := &generalFunction{
		kernels:   cut(&l.kernels, len(def.Kernels)),
		regs:      cut(&l.registers, len(def.Registers)),
		counts:    cut(&l.counts, len(def.Kernels)),
		numArgs:   len(def.Args),
		oneStream: true,
	}
	g.results = signed(def.ResultRegs)
	g.triggers = signed(def.TriggerUsers)
	for i := range def.Registers {
		g.regs[i].uses = int32(def.Registers[i].Uses)
	}
	for i, users := range def.ArgUsers {
		g.regs[i].users = signed(users)
	}
	for _, r := range g.results {
		g.regs[r].contended = true
	}
	for i := range def.Kernels {
		k := &def.Kernels[i]
		p := &g.kernels[i]
		p.args, p.results, p.stream, p.fn, p.def = signed(k.Args), signed(k.Results), int32(k.Stream), fn, k
		for r, users := range k.Users {
			g.regs[k.Results[r]].users = signed(users)
		}
		p.calls = l.program.call(k.Funcs)
		flagged := len(l.nonStrict) > 0 && l.nonStrict[bef.KernelRef{Func: bef.FuncID(fn.id), Kernel: bef.KernelIndex(i)}]
		if err := l.resolve(fn, k, p, flagged); err != nil {
			return err
		}
		if p.nonStrict {
			for _, r := range p.args {
				g.regs[r].contended = true
			}
		}
		g.counts[i] = max(1, int32(len(p.args)))
		if p.nonStrict {
			g.counts[i] = 1
		}
		g.oneStream = g.oneStream && p.stream == g.kernels[0].stream
		g.maxArgs, g.maxRes = max(g.maxArgs, len(p.args)), max(g.maxRes, len(p.results))
	}
	if err := l.checkTypes(fn); err != nil {
		return err
	}
	for i := range g.kernels {
		for _, r := range g.kernels[i].args {
			g.kernels[i].contended = g.kernels[i].contended || g.regs[r].contended
		}
	}
	g.findLocals()
	g.sequential = l.program.options.Sequential && isSequential(def)
	g.attemptsAll = !l.program.options.Strict
	fn.general = g
	return nil
}

// findLocals marks the kernels whose results stay among plain kernels.
func (g *generalFunction) findLocals() {
	for i := range g.kernels {
		p := &g.kernels[i]
		p.local = p.plain
		for _, r := range p.results {
			if g.regs[r].contended {
				p.local = false
			}
			for _, u := range g.regs[r].users {
				p.local = p.local && g.kernels[u].plain
			}
		}
		g.hasLocals = g.hasLocals || p.local
	}
}

// maxSequential is the number of kernels below which ready counts cost more than they can gain.
const maxSequential = 8

// isSequential decides whether a function is worth running in file order: it is short, or its kernels share one stream,
// which is what stream analysis says of everything that gains nothing from a second worker. File order has to be an order
// of execution.
func isSequential(def *bef.Function) bool {
	written := make([]bool, len(def.Registers))
	for i := range def.Args {
		written[i] = true
	}
	for i := range def.Kernels {
		k := &def.Kernels[i]
		if len(def.Kernels) > maxSequential && k.Stream != def.Kernels[0].Stream {
			return false
		}
		for _, r := range k.Args {
			if !written[r] {
				return false
			}
		}
		for _, r := range k.Results {
			written[r] = true
		}
	}
	return true
}

// signed is a list of the file, whose numbers are all small, as the executor's numbers. It shares memory: files have millions of them.
func signed[T ~uint32](list []T) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

// resolve finds the implementation of a kernel.
func (l *generalLoader) resolve(fn *Function, k *bef.Kernel, p *planKernel, flagged bool) error {
	e := l.program.resolved[k.Code]
	if e == nil {
		l.program.unknown.add(p.name(), p.location())
		return nil
	}
	switch {
	case e.general != nil:
	case e.tensor != nil && l.reg.values != nil:
		return l.loadTensorUse(fn, k, p, e.tensor)
	case e.tensor != nil:
		return l.fail(fn, k, "kernel '%s' is for tensor functions, and function %q has no buffer plan", p.name(), fn.name)
	default:
		return l.fail(fn, k, "kernel '%s' is for synchronous functions", p.name())
	}
	p.run = e.general.Run
	p.foreign, p.plain = e.general.ForeignThread, e.general.plain
	if flagged && e.general.Signature != nil && e.general.Signature.Payloads {
		flagged = false
	}
	p.nonStrict = (flagged || e.general.NonStrict && !l.program.options.Strict) && len(k.Args) > 0
	return l.checkUse(fn, k, p, e.general)
}

func (l *generalLoader) checkUse(fn *Function, k *bef.Kernel, p *planKernel, impl *Kernel) error {
	if impl.Signature != nil {
		if err := impl.Signature.check(k); err != nil {
			return l.fail(fn, k, "kernel '%s' %w", p.name(), err)
		}
	}
	if impl.Check != nil {
		use := &KernelUse{NumArgs: len(k.Args), NumResults: len(k.Results), Attrs: k.Attrs, Pool: &l.program.file.Attrs, Funcs: p.funcs()}
		if err := impl.Check(use); err != nil {
			return l.fail(fn, k, "kernel '%s': %w", p.name(), err)
		}
	}
	return nil
}

// NumArgs returns the number of arguments of f.
func (f *Function) NumArgs() int { return len(f.def.Args) }

// NumResults returns the number of results of f.
func (f *Function) NumResults() int { return len(f.def.Results) }

func (f *Function) ResultType(i int) string { return f.program.file.Types[f.def.Results[i]] }

// Kind reports how f is executed.
func (f *Function) Kind() bef.Kind { return f.def.Kind }

// CheckCall returns an error unless f takes args arguments and gives results results, for Kernel.Check of kernels that
// call functions.
func (f *Function) CheckCall(args, results int) error {
	if f.NumArgs() != args || f.NumResults() != results {
		return fmt.Errorf("function %q takes %d arguments and gives %d results, got %d and %d", f.name, f.NumArgs(), f.NumResults(), args, results)
	}
	return nil
}
