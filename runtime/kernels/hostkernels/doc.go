// Package hostkernels holds the kernels of host programs: what the kernel names in their text mean.
//
// [Register] adds all of them to a registry. They are general kernels, over async values; some have a form for synchronous
// functions too. A file holds one family:
//
//	arith.go      constants, arithmetic, comparison, casts        tfrt.constant.*, tfrt.add.*, …
//	print.go      printing of scalars                             tfrt.print.*
//	chain.go      chains and values handed on                     tfrt.new.chain, tfrt.merge.chains, …
//	branch.go     calls and choices                               tfrt.call, tfrt.if, tfrt.cond, tfrt.case, tfrt.once
//	loop.go       loops                                           tfrt.repeat.i32, tfrt.while
//	parallel.go   blocks of a range, in any order                 tfrt.parallel_for.i32, tfrt.parallel_call.i32
//	string.go     texts                                           tfrt_test.get_string, …
//	value.go      small test kernels                              tfrt_test.sum, tfrt_test.identity, …
//	async.go      values that come later, atomics                 tfrt_test.async_add.i32, tfrt_test.usleep, …
//	failure.go    errors, cancellation                            tfrt_test.fail, tfrt_test.cancel, …
//	lifetime.go   values that tell when they live and die         vt.*, tfrt_test.allocate_resource, …
//	inspect.go    locations, threads, references                  tfrt_test.print_debug_info, …
//	benchmark.go  a region, timed                                 tfrt_test.benchmark
//	shape.go      shapes                                          ts.*
//	dense.go      dense tensors: making, filling, comparing       tfrt_dht.*
//	buffer.go     memory of tensors                               tfrt_dht.allocate_buffer, …
//	sparse.go     sparse tensors                                  coo.*
//	btf.go        files of tensors                                btf.read_dense_tensor.*
//	network.go    what small networks need                        tfrt_test.max_pooling_2d.f32, …
//	matrix.go     tensors as matrices, and their product          tfrt_test.matmul.*
//	sync.go       kernels of synchronous functions only           tfrt.add_s.i32, tfrt_test.sync_sum, …
//	native.go     native functions                                native_add, …
//
// elem.go and tensor.go describe element types and tensors as values, console.go where printing goes: to a [Console], which a
// request carries as a datum, else to standard output.
//
// Errors are of two sorts. Most are reported: they become a diagnostic with the kernel's position and the error of the results.
// A few, such as those of cancelled requests and of calls that cannot be made, are only the latter.
package hostkernels

import "github.com/gohalo/halo/runtime"

// Register adds all kernels and native functions of this package to the registry.
func Register(reg *runtime.Registry) {
	for _, family := range []func(*runtime.Registry){
		registerArith, registerPrint, registerChains, registerBranches, registerLoops, registerParallel,
		registerStrings, registerValues, registerAsync, registerFailures, registerLifetimes, registerInspection, registerBenchmark,
		registerShapes, registerDense, registerBuffers, registerSparse, registerFiles, registerNetwork,
		registerSync, registerNatives, registerInterop,
	} {
		family(reg)
	}
}
