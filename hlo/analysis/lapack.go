package analysis

import "github.com/gohalo/halo/hlo"

// lapackWork is about how many operations the routines of LAPACK do for an element of an n·n matrix, in units of n. What is computed by
// iteration has the count of the usual number of rounds.
var lapackWork = map[string]int64{
	"trsm": 1, "potrf": 1, "getrf": 1, "geqrf": 2, "geqp3": 2, "orgqr": 2, "ungqr": 2, "ormqr": 2, "unmqr": 2, "gtsv": 1,
	"sytrd": 2, "hetrd": 2, "gehrd": 4, "syevd": 10, "heevd": 10, "gesdd": 20, "gesvd": 20, "geev": 25, "gees": 25,
}

// lapackFlops is the number of operations of a call to LAPACK; of other calls ok is false.
func lapackFlops(in hlo.Instruction) (flops int64, ok bool) {
	_, routine, _ := hlo.Lapack(hlo.AttrsOf[hlo.CustomCallAttrs](in).Target)
	work := lapackWork[routine]
	if work == 0 || in.NumOperands() == 0 || in.OperandInstr(0).Shape().Rank() < 1 {
		return 0, false
	}
	a := in.OperandInstr(0).Shape()
	n, of := a.Dim(a.Rank()-1), elements(in.OperandInstr(0))
	if routine == "trsm" && in.NumOperands() > 1 { // of a matrix of right sides
		of = elements(in.OperandInstr(1))
	}
	return mulSat(mulSat(of, n), work), true
}
