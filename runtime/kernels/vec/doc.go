// Package vec holds loops over arrays in vector assembly: arithmetic, comparison, conversion, functions, sums. [Find] gives the best one
// for the processor; the portable loop that it falls back on is the caller's, who knows what the op means.
//
// Loops on the same type give the same bits with AVX-512 and with AVX2, and where an op is exact, the same as Go. Functions are
// polynomials, evaluated with fused multiply-add, that differ from package math in the last places; on the whole range of float32 the
// error is at most, in units of the last place:
//
//	exponential          0.9    range: all
//	exponential-minus-one 1.77  XLA's bits beyond a half, and so its error
//	log                  0.9    denormal arguments too
//	log-plus-one         1.4
//	tanh                 1.5
//	1 + tanh             4.4    of the sum itself; below -43.8 it is 0
//	logistic             2.0
//	erf                  1.2
//	sine, cosine         1.5    magnitudes below 2^16
//	tan                  0.51   the same
//	magnitude of c64     0.51   exactly rounded with AVX2; with AVX-512 one in some billions is not, and may have other bits
//	power, cbrt, atan2, asin, acos, cosh, sinh, asinh, acosh, atanh   0.51
//
// and at most 2 for float64, measured on samples. The tests hold them to this.
//
// Sums keep 256 bytes of chains: element i is added to chain i modulo their number, and the chains are folded by halves. [SumOf] is the
// same order in Go.
//
//	file            what
//	vec.go          Loop, Level, Find
//	name.go         Name: op, mode and types
//	reduce.go       folds
//	runs.go         those of short runs
//	every.go        elements that lie a few apart
//	permute.go      elements picked from one or two arrays
//	permutebytes.go the same of bytes, in pieces of 16
//	vec_amd64.go    which processors have what
//	gen_*           assembly and tables, which gen writes
package vec
