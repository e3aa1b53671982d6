package runtime

import (
	"fmt"
	"reflect"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// Kernel is a general kernel: async values in, async values out. Kernels of host programs, control flow and everything
// whose results may not exist yet are of this kind. The adapters (Pure2, Params3, …) make one from a typed Go function.
type Kernel struct {
	// Run gets its arguments borrowed and must set every result before it returns, to a value that may be unavailable
	// still. It waits for nothing. Results are given away with one reference.
	Run func(*Frame)
	// Sync is the implementation for synchronous functions, where every value is there.
	Sync func(*SyncFrame) error
	// Signature says what a use of the kernel must look like; nil means anything. Load checks it.
	Signature *Signature
	// NonStrict kernels start when one argument is available, and also with error arguments. Arguments that do not exist
	// yet are indirects.
	NonStrict bool
	// ForeignThread says that results become available on threads that the work queue does not own. Work that waits for
	// them is handed to the queue then, instead of running where the result was published.
	ForeignThread bool
	// Check, if set, is called for every use when a program is loaded.
	Check func(*KernelUse) error

	// plain says that the results are scalars, made with Return or errors, and that neither they nor the arguments are kept:
	// all that is ever done with them is reading their payloads.
	plain bool
}

// Count is a number of operands: exactly n, or with AtLeast n or more.
type Count int

// AtLeast is the Count of n or more.
func AtLeast(n int) Count { return Count(-n - 1) }

// Signature is the arity of a kernel. One chain more than Args is always accepted: it orders, and is not looked at.
type Signature struct {
	Args, Results, Attrs, Funcs Count

	// ArgTypes and ResultTypes are the types of payloads, as far as they are known; nil means any. Adapters set them.
	ArgTypes, ResultTypes []reflect.Type

	// Payloads says that the kernel reads its arguments' payloads: a use that the program marks as non-strict waits for them
	// all the same. Adapters set it.
	Payloads bool
}

// accepts reports whether got operands, of which extra may be surplus, are right.
func (c Count) accepts(got, extra int) bool {
	if c < 0 {
		return got >= -int(c)-1
	}
	return got >= int(c) && got <= int(c)+extra
}

func (c Count) String() string {
	if c < 0 {
		return fmt.Sprintf("%d or more", -int(c)-1)
	}
	return fmt.Sprint(int(c))
}

func (s *Signature) check(k *bef.Kernel) error {
	const extraChain = 1
	switch {
	case !s.Args.accepts(len(k.Args), extraChain):
		return fmt.Errorf("takes %v arguments, got %d", s.Args, len(k.Args))
	case !s.Results.accepts(len(k.Results), 0):
		return fmt.Errorf("takes %v results, got %d", s.Results, len(k.Results))
	case !s.Attrs.accepts(len(k.Attrs), 0):
		return fmt.Errorf("takes %v attributes, got %d", s.Attrs, len(k.Attrs))
	case !s.Funcs.accepts(len(k.Funcs), 0):
		return fmt.Errorf("takes %v functions, got %d", s.Funcs, len(k.Funcs))
	}
	return nil
}

// KernelUse is one use of a kernel in a program, for Kernel.Check.
type KernelUse struct {
	NumArgs, NumResults int
	Attrs               []bef.Attr
	Pool                *bef.Pool
	Funcs               []*Function
}

// Frame is one call of a general kernel. It is valid until the kernel returns, and used again for the next: work that
// goes on afterwards copies what it needs and takes references to counted values.
type Frame struct {
	ctx     *ExecContext
	exec    *execution
	lane    int
	kernel  *planKernel
	args    []*async.Value
	results []*async.Value
}

// NumArgs returns the number of arguments, a trailing chain included.
func (f *Frame) NumArgs() int { return len(f.args) }

// Arg returns argument i, borrowed.
func (f *Frame) Arg(i int) *async.Value { return f.args[i] }

// Args returns all arguments, borrowed, in a slice that is valid until the kernel returns.
func (f *Frame) Args() []*async.Value { return f.args }

// NumResults returns the number of results.
func (f *Frame) NumResults() int { return len(f.results) }

// Set sets result i and takes over the caller's reference to v. A result that is an argument needs a reference of its own.
func (f *Frame) Set(i int, v *async.Value) { f.results[i] = v }

// Results returns the result slots, for kernels that pass them to Function.Execute.
func (f *Frame) Results() []*async.Value { return f.results }

// NumAttrs returns the number of attributes.
func (f *Frame) NumAttrs() int { return len(f.kernel.def.Attrs) }

// Attr returns attribute i; attributes are in the byte order of their names.
func (f *Frame) Attr(i int) bef.Attr { return f.kernel.def.Attrs[i] }

// Pool is where the attributes' payloads are.
func (f *Frame) Pool() *bef.Pool { return &f.kernel.fn.program.file.Attrs }

// NumFuncs returns the number of functions.
func (f *Frame) NumFuncs() int { return len(f.kernel.funcs()) }

// Func returns function i: those that attributes refer to first, then regions.
func (f *Frame) Func(i int) *Function { return f.kernel.funcs()[i] }

// Ctx returns the execution context, which may be kept.
func (f *Frame) Ctx() ExecContext {
	ctx := *f.ctx
	ctx.depth++
	ctx.lane = int32(f.lane)
	return ctx
}

// Location returns where this use of the kernel comes from.
func (f *Frame) Location() bef.Location { return f.kernel.location() }

// LocationID returns the number of the location, which is different for every use of a kernel.
func (f *Frame) LocationID() bef.LocID { return f.kernel.def.Loc }

// Reporter returns what reports errors of this call. It may be kept.
func (f *Frame) Reporter() Reporter { return Reporter{f.ctx.Host(), f.kernel} }

// ReportError reports err as a diagnostic and makes it the error of this call: results that are not set get it, results
// that are set but unavailable become it, available ones stay.
func (f *Frame) ReportError(err error) { f.fail(f.Reporter().Report(err)) }

// SetError is ReportError without the diagnostic.
func (f *Frame) SetError(err error) { f.fail(f.Reporter().Status(err)) }

func (f *Frame) fail(st *Error) {
	var shared *async.Value
	for i, v := range f.results {
		switch {
		case v == nil:
			if shared == nil {
				shared = async.MakeError(st)
			}
			f.results[i] = shared
		case v.IsUnavailable():
			v.SetError(st)
		}
	}
}

// Reporter makes errors that know their kernel, also after the kernel has returned.
type Reporter struct {
	host   *Host
	kernel *planKernel
}

// Status returns err with the kernel's name and location.
func (r Reporter) Status(err error) *Error {
	return async.StatusOf(err).At(r.kernel.name(), statusLocation(r.kernel.location()))
}

// Report passes err to the host's diagnostics and returns it with the kernel's name and location.
func (r Reporter) Report(err error) *Error {
	st := r.Status(err)
	if r.host != nil {
		r.host.diagnostics(st)
	}
	return st
}
