// Package npz reads and writes NumPy's array files: npy, one array, and npz, a zip archive of them.
//
// An [Array] is a shape and raw items. The package does not interpret items beyond their size and byte
// order, because half of HLO's element types have no NumPy type of their own: bf16 travels as
// two raw bytes, the narrower floats and integers as one, value in the low bits. [Descr]
// says how an element type is written, [Array.Holds] as what it may be read.
//
//	arrays, err := npz.ReadNPZ(file, size)
//	for _, a := range arrays {
//		fmt.Println(a.Name, a.Descr, a.Shape) // 0 <f4 [2 3]
//	}
//
// Arrays in memory are always row-major and little-endian; what is stored otherwise is converted.
//
//	file       what
//	array.go   Array, and the items that HLO's element types become
//	header.go  the header: magic, version, a Python dictionary
//	npy.go     one array
//	file.go    one array from a file
//	order.go   column-major and big-endian data
//	npz.go     archives
//
// Files come from anywhere, so nothing is believed before it is checked: memory grows with the bytes that
// are there, not with those that a header promises, and an archive may unpack to 64 times its size
// or a gigabyte, whichever is larger. Structured types, strings, dates and pickled objects are refused.
//
// # Why not npyio
//
// Its readers fill Go slices of NumPy's numeric types. It has no raw items, so it cannot carry bf16 and the
// types below 16 bits, ignores column-major order but for matrices, and trusts headers. What it can
// read and write, the tests exchange with it.
package npz
