//go:build mpi && linux

// Command halo-mpi is halo whose programs run on the devices of several processes, over Open MPI. The command halo executes it when mpirun or
// srun has started several processes:
//
//	go build -tags mpi ./cmd/halo-mpi
//	mpirun -np 4 halo run --spmd prog.hlo --inputs in.npz --output out.npz
package main

import (
	"github.com/gohalo/halo/halocmd"
	"github.com/gohalo/halo/runtime/mpi"
)

func main() { halocmd.Main(halocmd.Extension{Wire: mpi.Open}) }
