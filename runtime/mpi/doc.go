// Package mpi is the wire of package runtime/distributed over Open MPI. It exists with the build tag mpi, on Linux:
//
//	go build -tags mpi -o halo-mpi ./cmd/halo-mpi
//
// The library is loaded when it is needed, without cgo. A program that imports this package is no static binary any more, which is why
// the command halo does not, and executes halo-mpi under a launcher instead.
package mpi
