package runtime

import (
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// syncFunction is the plan of a synchronous function: kernels in file order over plain values. There are no counters and
// no async values inside, and scalars are not allocated.
type syncFunction struct {
	kernels []syncKernel
	numRegs int
	numArgs int
	results []int32
	states  sync.Pool // *syncState
}

// syncKernel is one use of a kernel in a synchronous function.
type syncKernel struct {
	run     func(*SyncFrame) error
	in, out []int32
	dead    []int32     // registers whose last use this is
	plan    *planKernel // what general frames have: name, location, attributes
}

// SyncFrame is one call of a kernel in a synchronous function. It is valid until the kernel returns.
type SyncFrame struct {
	regs   []SyncValue
	kernel *syncKernel
	ctx    *ExecContext
}

type syncState struct {
	regs  []SyncValue
	ctx   ExecContext
	frame SyncFrame
}

// NumArgs returns the number of arguments.
func (f *SyncFrame) NumArgs() int { return len(f.kernel.in) }

// Arg returns argument i; SyncArg reads it.
func (f *SyncFrame) Arg(i int) *SyncValue { return &f.regs[f.kernel.in[i]] }

// NumResults returns the number of results.
func (f *SyncFrame) NumResults() int { return len(f.kernel.out) }

// Result returns the place of result i, which is empty; SyncReturn fills it.
func (f *SyncFrame) Result(i int) *SyncValue { return &f.regs[f.kernel.out[i]] }

// NumAttrs returns the number of attributes.
func (f *SyncFrame) NumAttrs() int { return len(f.kernel.plan.def.Attrs) }

// Attr returns attribute i, in the byte order of their names.
func (f *SyncFrame) Attr(i int) bef.Attr { return f.kernel.plan.def.Attrs[i] }

// Pool is where the attributes' payloads are.
func (f *SyncFrame) Pool() *bef.Pool { return &f.kernel.plan.fn.program.file.Attrs }

// Ctx returns the execution context, which may be kept.
func (f *SyncFrame) Ctx() ExecContext { return *f.ctx }

func (l *generalLoader) loadSync(fn *Function) error {
	def := fn.def
	s := &syncFunction{numRegs: len(def.Registers), numArgs: len(def.Args)}
	s.results = signed(def.ResultRegs)
	s.kernels = make([]syncKernel, len(def.Kernels))
	for i := range def.Kernels {
		k := &def.Kernels[i]
		p := &s.kernels[i]
		p.in, p.out = signed(k.Args), signed(k.Results)
		p.plan = &planKernel{fn: fn, def: k, calls: l.program.call(k.Funcs)}
		e := l.program.resolved[k.Code]
		if e == nil {
			l.program.unknown.add(p.plan.name(), p.plan.location())
			continue
		}
		if e.sync == nil {
			return l.fail(fn, k, "Invalid SyncBEFFunction(%s): kernel '%s' has no synchronous implementation", fn.name, p.plan.name())
		}
		p.run = e.sync.Sync
		p.plan.plain = e.sync.plain
		if err := l.checkUse(fn, k, p.plan, e.sync); err != nil {
			return err
		}
	}
	s.findLastUses()
	s.states.New = func() any {
		return &syncState{regs: make([]SyncValue, s.numRegs)}
	}
	fn.sync = s
	return nil
}

// findLastUses gives each register to the kernel after which it is not needed. Results of the function are kept, and so are
// results of plain kernels: scalars may lie where they are until they are overwritten.
func (s *syncFunction) findLastUses() {
	kept := make([]bool, s.numRegs)
	for _, r := range s.results {
		kept[r] = true
	}
	for i := range s.kernels {
		if k := &s.kernels[i]; k.plan.plain {
			for _, r := range k.out {
				kept[r] = true
			}
		}
	}
	for i := len(s.kernels) - 1; i >= 0; i-- {
		k := &s.kernels[i]
		for _, list := range [][]int32{k.in, k.out} {
			for _, r := range list {
				if !kept[r] {
					kept[r] = true
					k.dead = append(k.dead, r)
				}
			}
		}
	}
}

// executeSync runs a synchronous function when all arguments are available. It takes over their references.
func (f *Function) executeSync(ctx ExecContext, args, results []*async.Value) {
	f.whenAvailable(ctx, args, results, func(ctx *ExecContext, args, results []*async.Value) {
		if failed := lastError(ctx, args); failed != nil {
			failAll(args, results, failed)
			return
		}
		st := f.sync.states.Get().(*syncState)
		for i, v := range args {
			st.regs[i].setAsync(v)
		}
		if err := f.runSync(ctx, st); err != nil {
			setAll(results, async.MakeError(err))
		} else {
			for i, r := range f.sync.results {
				results[i] = st.regs[r].takeAsync()
			}
		}
		f.endSync(st)
	})
}

// Call runs a synchronous function on plain values: args are borrowed, results are given to the caller, who clears them.
// It allocates nothing for scalars. The first error ends it.
func (f *Function) Call(ctx ExecContext, args, results []SyncValue) error {
	if f.sync == nil || len(args) != f.sync.numArgs || len(results) != len(f.sync.results) {
		return async.Errorf(async.InvalidArgument, "function %q is not synchronous, or does not take %d arguments and give %d results", f.name, len(args), len(results))
	}
	st := f.sync.states.Get().(*syncState)
	for i := range args {
		st.regs[i] = args[i]
		if args[i].value != nil {
			args[i].value.AddRef()
		}
	}
	err := f.runSync(&ctx, st)
	if err == nil {
		for i, r := range f.sync.results {
			results[i] = st.regs[r]
			st.regs[r] = SyncValue{}
		}
	}
	f.endSync(st)
	if err != nil {
		return err
	}
	return nil
}

// endSync drops what an execution left and returns its state.
func (f *Function) endSync(st *syncState) {
	for i := range st.regs {
		if st.regs[i].value != nil {
			st.regs[i].Clear()
		}
	}
	st.frame, st.ctx = SyncFrame{}, ExecContext{}
	f.sync.states.Put(st)
}

// neverCancelled stands for the request where there is none.
var neverCancelled atomic.Pointer[async.Value]

// runSync runs the kernels in order, up to the first error.
func (f *Function) runSync(ctx *ExecContext, st *syncState) (failed *Error) {
	frame := &st.frame
	st.ctx = *ctx
	frame.regs, frame.ctx = st.regs, &st.ctx
	defer func() {
		if r := recover(); r != nil {
			failed = frame.report(panicStatus(r))
		}
	}()
	cancelled := &neverCancelled
	if ctx.Request != nil {
		cancelled = &ctx.Request.cancelled
	}
	kernels := f.sync.kernels
	for i := range kernels {
		k := &kernels[i]
		frame.kernel = k
		if v := cancelled.Load(); v != nil {
			return v.Status()
		}
		if err := k.run(frame); err != nil {
			return frame.report(err)
		}
		for _, r := range k.dead {
			if v := &st.regs[r]; v.value != nil {
				v.Clear()
			}
		}
	}
	return nil
}

func (f *SyncFrame) report(err error) *Error {
	return Reporter{f.ctx.Host(), f.kernel.plan}.Report(err)
}
