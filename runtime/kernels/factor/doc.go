// Package factor solves triangular systems and factorises matrices by blocks, so that most of the work is products of matrices, which
// package gemm computes.
//
// Matrices are views over slices with a stride for each axis, so an upper triangle is a lower one seen from its other corner, and a system
// with the unknown on the left is one of transposed views. The package computes in the element type, as LAPACK does.
//
//	file         what
//	matrix.go    Matrix: views
//	update.go    updater: C -= A·B
//	triangle.go  Triangle: a lower triangle packed once, for many right sides
//	block_*.go   its blocks, which gen writes in assembly
//	substitute.go few right sides, with the triangle where it is
//	cholesky.go  Cholesky
//	lu.go        LU, with partial pivoting
//	qr.go        QR, by reflectors
//	direct.go    reflectors of small matrices, one by one
//	rotate.go    rotations of neighbouring rows, which gen writes in assembly
//	tridiagonal.go, eigen.go                      Eigen: eigenvalues and eigenvectors of Hermitian matrices
//	bidiagonal.go, bidiagonalqr.go, singular.go   Singular: singular values and vectors
//	quotients.go                                  singular values without vectors
//	general.go, francis.go                        General: eigenvalues and eigenvectors of real matrices
//	reflect.go, reflect_*.go                      reflections of three rows, which gen writes in assembly
//
// A value of these types is for one goroutine at a time, but for a packed Triangle, which any number may use.
package factor
