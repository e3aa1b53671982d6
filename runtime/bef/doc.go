// Package bef reads and writes TFRT's binary executable format: a lowered
// program, ready to be walked where it lies.
//
// A [File] is the decoded form and plain data. It knows nothing of executors.
//
//	File
//	├─ Kernels, Types      names; a KernelCode or TypeID is an index
//	├─ Functions           a FuncID is an index
//	│   ├─ Registers       use counts and types; arguments come first
//	│   └─ Kernels         operands, attributes, callees, results, and for
//	│                      each result the kernels that wait for it
//	├─ Attrs (Pool)        constants, aligned, addressed by byte offset
//	├─ Locations           where kernels come from, decoded on demand
//	└─ Extensions          sections that other readers skip
//
// The ways in and out:
//
//	Builder   ──File()──▶ File ──Encode──▶ bytes ──Decode / Open──▶ File ──Disassemble──▶ text
//
// [Builder] is what a compiler uses: it computes use counts, used-by lists and
// every index. [Decode] validates all that an executor relies on, so indices in
// a decoded File need no further checks. Constants are [Value]s while a program
// is built; in a file they are payloads in the [Pool], read by typed accessors
// that share memory with the file.
//
// Files are written as generation G2, byte for byte as TFRT's own encoder does,
// and deterministic. Sections with ids from 0x80 belong to halo (extension.go):
// they carry buffer plans and the kernels that may start before all their
// arguments are there; a reader that ignores them computes the same values.
//
// A File is immutable once built or decoded and may be shared by any number of
// goroutines. Host program text is the business of package hostprog.
package bef
