// Package attack mutates files and runs what comes of them, to hold the promise of SECURITY.md: no file makes halo read or write outside of
// its buffers, panic, hang or take memory without bound.
//
//	mutate.go   changes of bytes, of numbers in messages, and of texts
//	structured*.go changes of modules that often verify still
//	guard.go    memory between inaccessible pages
//	target.go   from bytes to results on both engines
//	campaign.go mutants one after the other
//
// The tests here try BEF files, messages and HLO texts; those of package halocmd try the command on all other inputs: StableHLO as text,
// bytecode and exports, host programs, pipelines and rules. They try some thousands of mutants. With -attack.for=3h they go on, with new seeds; -attack.from repeats one.
package attack
