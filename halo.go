// Package halo reads HLO programs, the graph language of XLA that JAX, TensorFlow and PyTorch/XLA dump, and runs them.
//
//	m, err := halo.Load("step.hlo")                  // a file in any form → a verified module
//	p, err := halo.Compile(ctx, m, halo.Options{})   // passes → BEF → kernels
//	defer p.Close()
//	out, err := p.Run(ctx, x, y)                     // literals in, literals out
//
// The command halo is built on this package.
//
//	file           what
//	load.go        Load and its kin, Verify, Module
//	bundle.go      LoadBundle: folders of torch_xla, with parameters and constants
//	compile.go     Compile and Lower: Options, engines
//	partition.go   Partition: programs for many devices
//	compiled.go    Save and LoadProgram: compiled programs in files
//	warm.go        Warm: compiling before there is a program
//	program.go     Program: Run, RunInto, RunDevices, Execute, Close
//	array.go bind.go hostcallback.go   literals; arrays by name; answers to callbacks
//	arguments.go   arguments and results against the signature
//	signature*.go  Signature: names, shapes, layouts, donation, shardings
//	elided.go      constants whose values a dump leaves out
//	observe.go     instructions of the kernels that observers see
//	engine_*.go    the two engines: BEF on the runtime, and the reference evaluator
//
// The parts are packages of their own: hlo (the IR), hlo/source and its readers, printer, verifier, hlo/pass and passes, lower, runtime,
// and arrays (literals in npz, npy, safetensors and raw files). Those below do not know this package.
package halo
