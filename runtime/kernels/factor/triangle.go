package factor

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Triangle is a lower triangular matrix, packed for solving.
//
// Rows are taken MR at a time, as the kernel of products does. For each such block there is the part left of the diagonal, negated, as a
// panel, and for each column of the diagonal block what is below its diagonal, negated, with zeros above: subtracting multiples of a row of the
// solution from the rows below it is then a product too.
type Triangle[T Number] struct {
	kernel  gemm.Kernel[T]
	n       int
	unit    bool
	panels  []T // block by block: i·MR numbers for the block that begins at row i
	below   []T // MR·MR for each block
	diag    []T // each as often as right sides are solved together
	offsets []int
	divide  func(x, y []T) // element by element
	solver  blockSolver[T]
}

// blockSolver is how a whole block of unknowns is solved for a panel of right sides, with below and diag as a [Triangle] keeps them. Its loops may be nil.
type blockSolver[T Number] struct {
	divided func(below, diag, x []T)
	unit    func(below, x []T) // of a diagonal that is 1
}

// Pack reads the lower triangle of a[n,n]; with unit, the diagonal is taken to be 1 and not read. It may be used again for another matrix.
func (t *Triangle[T]) Pack(a Matrix[T], n int, unit bool) {
	if t.kernel.Run == nil {
		t.kernel, t.divide = gemm.For[T](), divider[T]()
		t.solver = blockSolverFor[T](t.kernel.MR, t.kernel.NR)
	}
	t.n, t.unit = n, unit
	mr := t.kernel.MR
	blocks := (n + mr - 1) / mr
	t.panels = grown(t.panels, mr*mr*blocks*(blocks-1)/2)
	t.below = grown(t.below, blocks*mr*mr)
	nr := t.kernel.NR
	t.diag = grown(t.diag, n*nr)
	var g gemm.Matrix
	g, t.offsets = a.offsets(n, n, t.offsets)
	at := 0
	for i := 0; i < n; i += mr {
		rows := min(mr, n-i)
		if i > 0 {
			packed(t.panels[at:], &a, &g, mr, i, i+rows, 0, i, true)
			at += i * mr
		}
		block := t.below[i*mr:][:mr*mr]
		clear(block)
		for c := range rows {
			at := a.At + (i+c)*a.Row + (i+c)*a.Col
			if !unit {
				repeat(t.diag[(i+c)*nr:][:nr], a.Data[at])
			}
			for r := c + 1; r < rows; r++ {
				at += a.Row
				block[c*mr+r] = -a.Data[at]
			}
		}
	}
	if a.Conjugate {
		Conjugate(t.below[:blocks*mr*mr])
		if !unit {
			Conjugate(t.diag[:n*nr])
		}
	}
}

// repeat fills a slice that is not empty with x.
func repeat[T Number](all []T, x T) {
	all[0] = x
	for n := 1; n < len(all); n *= 2 {
		copy(all[n:], all[:n])
	}
}

// Width is how many right sides are solved together.
func (t *Triangle[T]) Width() int { return t.kernel.NR }

// Solve replaces cols ≤ Width right sides x[n,cols] by the solutions of L·X = B. room is memory that it may reuse, and returns.
func (t *Triangle[T]) Solve(x Matrix[T], cols int, room []T) []T {
	mr, nr := t.kernel.MR, t.kernel.NR
	room = grown(room, gemm.Padded(t.n, mr)*nr)
	p := room[:gemm.Padded(t.n, mr)*nr]
	clear(p[t.n*nr:])
	if x.Row == 1 && cols > 1 {
		transpose(p, x.Data[x.At:], cols, t.n, nr, x.Col)
	} else {
		for i := range t.n {
			x.CopyRow(p[i*nr:][:cols], i, 0)
		}
	}
	for i := range t.n {
		clear(p[i*nr+cols:][:nr-cols])
	}
	at := 0
	for i := 0; i < t.n; i += mr {
		if i > 0 {
			t.kernel.Run(1, i, t.panels[at:][:i*mr], p, p[i*nr:], nr, true, gemm.Ahead[T]{From: p})
			at += i * mr
		}
		t.solveBlock(p, i, min(mr, t.n-i))
	}
	if x.Row == 1 && cols > 1 {
		transpose(x.Data[x.At:], p, t.n, cols, x.Col, nr)
		return room
	}
	for i := range t.n {
		x.SetRow(i, p[i*nr:][:cols])
	}
	return room
}

// solveBlock solves rows i to i+rows of the right sides p, when what is left of the diagonal block has been subtracted from them.
func (t *Triangle[T]) solveBlock(p []T, i, rows int) {
	mr, nr := t.kernel.MR, t.kernel.NR
	block := t.below[i*mr:]
	switch {
	case rows == mr && t.unit && t.solver.unit != nil:
		t.solver.unit(block, p[i*nr:])
		return
	case rows == mr && !t.unit && t.solver.divided != nil:
		t.solver.divided(block, t.diag[i*nr:], p[i*nr:])
		return
	}
	for r := range rows {
		row := p[(i+r)*nr:][:nr]
		if !t.unit {
			t.divide(row, t.diag[(i+r)*nr:][:nr])
		}
		if r+1 < rows {
			t.kernel.Run(1, 1, block[r*mr:][:mr], row, p[i*nr:], nr, true, gemm.Ahead[T]{From: row})
		}
	}
}

// SolveAll solves any number of right sides.
func (t *Triangle[T]) SolveAll(x Matrix[T], cols int, room []T) []T {
	for j := 0; j < cols; j += t.Width() {
		room = t.Solve(x.From(0, j), min(t.Width(), cols-j), room)
	}
	return room
}

// divider divides as many numbers as there are in x, which is not empty, by those in y.
func divider[T Number]() func(x, y []T) {
	plain := func(x, y []T) {
		for i, d := range y[:len(x)] {
			x[i] /= d
		}
	}
	if isComplex[T]() {
		return plain
	}
	var one T
	name := vec.Of(hlo.OpDivide, map[uintptr]hlo.PrimitiveType{4: hlo.F32, 8: hlo.F64}[unsafe.Sizeof(one)])
	loop := vec.Find(name, func(n int, d, _, b, _ unsafe.Pointer) { plain(unsafe.Slice((*T)(d), n), unsafe.Slice((*T)(b), n)) })
	return func(x, y []T) {
		loop(len(x), unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), nil)
	}
}
