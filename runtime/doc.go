// Package runtime loads a BEF file and runs it. It knows nothing of HLO or of any particular kernel: names in the file meet
// implementations in a [Registry], and that is all.
//
//	bef.File ─┐
//	          ├─Load─▶ Program ─▶ Function ─┬─ Execute   general and native functions, synchronous ones
//	Registry ─┘                             └─ Run       tensor functions
//
// A file has two worlds of functions.
//
// General functions are graphs of kernels over async values, as TFRT has them. A [Kernel] gets a [Frame] of values that
// may not exist yet, and gives values of the same sort. The executor (execution*.go) keeps ready counts, runs what is
// ready, and waits for nothing: what is not there leaves a continuation. Errors are values, control flow is a matter
// of kernels that execute functions. Kernels are best made from typed Go functions with the adapters: [Pure2] and its
// kin for plain values, [Params3] and its kin for arguments, results, attributes and functions that are told apart.
// Synchronous functions (sync_*.go) are the special case of plain values in file order, native functions Go functions
// that programs call by name.
//
// Tensor functions are what HLO computations become. They have a buffer plan (plan.go), so every register is memory known
// before the first run, and every kernel is chosen when the program is loaded: its [TensorBinder] sees a [Binding], types
// and attributes and constant inputs, and returns what to call. At run time the driver (driver*.go) calls one kernel after the
// other with frames that were filled in advance. An instance of a function, its arena and all activations of everything it
// calls, is pooled between runs; a run allocates nothing and costs a few nanoseconds per kernel. Loops, branches, calls and
// async operations are steps of the driver, whose stack is its own, so it can stop in the middle and go on elsewhere.
//
// The same words mean the same things everywhere: a [Host] is a place to run, with queue and allocator; a [Request] is one
// call from outside, with cancellation and data; an [ExecContext] is what a kernel sees of both.
//
// A program from a file to numbers:
//
//	reg := runtime.NewRegistry()
//	kernels.Register(reg)
//	prog, err := runtime.Load(file, reg, runtime.LoadOptions{})
//	...
//	fn := prog.Entry()
//	results := fn.NewResults()
//	err = fn.Run(ctx, runtime.RunOptions{}, args, results)
//
// [TensorControlKernels] lists the kernels that the driver itself knows. [Program.CheckPlans] proves that a plan uses memory
// rightly; it is for the tests of compilers.
package runtime
