// Package fourier computes discrete Fourier transforms of several lines at once.
//
// A Plan is for one length. The lines lie side by side: element i of all of them is one vector of complex numbers, real part first, so that every step
// of the transform is a few instructions on whole vectors, and nothing is ever moved within one except to multiply by i. The algorithm is
// Stockham's: a pass for each factor of the length, from one buffer to the other, after which the elements are in order.
//
//	file       what
//	plan.go    Plan: factors, roots of unity, passes
//	put.go     the way of results to where they belong
//	real.go    lines of real numbers
//	chirp.go   lengths with large prime factors
//	pass.go    a pass of any radix in Go
//	pass_*.go  passes of radix 2, 3, 4, 5 and any odd one up to 61, and products with a chirp, in assembly, which gen writes
//
// Lengths whose prime factors are at most 61, or 13 without assembly, have passes for them; other lengths up to 32768 are transformed through a longer one.
package fourier
