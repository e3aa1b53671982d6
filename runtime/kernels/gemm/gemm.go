package gemm

import (
	"slices"
	"unsafe"
)

// Number is an element type of matrices.
type Number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | complex64 | complex128
}

// Kernel is the innermost loop: it multiplies a panel of MR rows with one of NR columns.
type Kernel[T Number] struct {
	MR, NR int
	// Run sets the MR by NR elements at c, rows ldc apart, to the product of the panels over k; or it adds the product to them. Several panels of rows lie one
	// behind the other in a, and so do their results in c.
	Run func(panels, k int, a, b []T, c []T, ldc int, add bool, next Ahead[T])
	// RunOnRows is Run for NR columns of a matrix whose rows are ldb apart, which become a panel by the way, unless that is nil. It may be nil.
	RunOnRows func(k int, a, b []T, ldb int, c []T, ldc int, add bool, panel []T)
	// runOnBF16 is RunOnRows for a matrix of bf16. It may be nil.
	runOnBF16 func(k int, a []T, b []uint16, ldb int, c []T, ldc int, add bool, panel []T)
	// onBroad is RunOnRows without a panel, for half as many columns more. It may be nil.
	onBroad func(k int, a, b []T, ldb int, c []T, ldc int, add bool)
	// onHalf is RunOnRows without a panel, for the first half of the rows and twice as many columns. It may be nil.
	onHalf func(k int, a, b []T, ldb int, c []T, ldc int, add bool)
	// inPlace is Run for rows where they are, and for columns [j, j+n) of the product, of which b begins with the first; nil if there is none, and no check of what
	// it is given: see BlockInPlace.
	inPlace func(panels int, a []T, rows, ks []int, b []T, ldb int, c []T, ldc int, add bool, n int)
	// heads is how many lines panels of b have before those of k, which inPlace reads.
	heads int
	// anywhere is set if inPlace takes rows of b at any distance, and less than NR columns.
	anywhere bool
}

// Ahead is what a kernel may ask memory for while it multiplies: Step bytes for each of k, from the first element of From on; or NR columns of rows that are Step bytes
// apart, if that is more.
type Ahead[T Number] struct {
	From []T
	Step int
}

// KC is how much of the common dimension is multiplied at a time: a panel of the right matrix is then 32 KiB with vectors of 512 bits, and stays in the nearest cache.
// It decides the order of additions, so it is the same on every machine.
const KC = 256

// Block computes c[m×n] = a·b or c += a·b from packed panels over k; c's rows are ldc apart. tile has room for MR*NR elements.
//
// The panels of b are in the outer loop: one stays in the nearest cache while those of a come from the next, and the next one is asked for bit by bit.
func (g *Kernel[T]) Block(m, n, k int, a, b, c []T, ldc int, add bool, tile []T) {
	var zero T
	parts := (m-1)/g.MR + 1
	for j := 0; j < n; j += g.NR {
		panel, next := b[j*k:][:k*g.NR], Ahead[T]{From: b[j*k:]}
		if j+g.NR < n {
			next = Ahead[T]{b[(j+g.NR)*k:], (g.NR*int(unsafe.Sizeof(zero))-1)/parts + 1}
		}
		g.columns(m, min(g.NR, n-j), k, a, panel, c[j:], ldc, add, tile, next)
	}
}

// BlockOnRows is Block for a matrix b that is not packed, whose rows are ldb apart, by RunOnRows. panel has room for k*NR elements.
func (g *Kernel[T]) BlockOnRows(m, n, k int, a, b []T, ldb int, c []T, ldc int, add bool, tile, panel []T) {
	j := 0
	switch {
	case m == g.MR && g.onBroad != nil:
		for end := g.broad(n); j < end; j += g.NR / 2 * 3 {
			g.onBroad(k, a[:k*g.MR], b[j:], ldb, c[j:], ldc, add)
		}
	case m <= g.MR/2 && g.onHalf != nil:
		for ; j+2*g.NR <= n; j += 2 * g.NR {
			g.half(m, k, a, b[j:], ldb, c[j:], ldc, add, tile)
		}
	}
	for ; j < n; j += g.NR {
		if n-j < g.NR {
			for x := range k {
				clear(panel[x*g.NR+copy(panel[x*g.NR:], b[x*ldb+j:][:n-j]):][:g.NR-n+j])
			}
			g.columns(m, n-j, k, a, panel[:k*g.NR], c[j:], ldc, add, tile, Ahead[T]{From: panel})
			return
		}
		if m < g.MR {
			g.RunOnRows(k, a, b[j:], ldb, tile, g.NR, false, nil)
			g.put(m, g.NR, c[j:], ldc, add, tile)
			continue
		}
		if m == g.MR {
			g.RunOnRows(k, a[:k*g.MR], b[j:], ldb, c[j:], ldc, add, nil)
		} else {
			g.RunOnRows(k, a[:k*g.MR], b[j:], ldb, c[j:], ldc, add, panel)
			next := g.rowsAhead(b, j, n, k, ldb)
			rest, a, c := m-g.MR, a[k*g.MR:], c[g.MR*ldc+j:]
			if rest > g.MR && next.Step > 0 { // while the first panel of them is multiplied
				g.columns(g.MR, g.NR, k, a, panel, c, ldc, add, tile, next)
				rest, a, c, next = rest-g.MR, a[k*g.MR:], c[g.MR*ldc:], Ahead[T]{From: panel}
			}
			g.columns(rest, g.NR, k, a, panel, c, ldc, add, tile, next)
		}
	}
}

// farMatrix is the size in bytes of a matrix from which on what of it will be needed next is far away.
const farMatrix = 8 << 20

// rowsAhead is the columns behind [j, j+NR) of k rows of b, or the first ones of the next rows, if b does not stay in a cache.
func (g *Kernel[T]) rowsAhead(b []T, j, n, k, ldb int) Ahead[T] {
	size := int(unsafe.Sizeof(b[0]))
	from := b[j+g.NR:]
	if j+g.NR >= n {
		from = b[min(k*ldb, len(b)):]
	}
	if len(from)*size < farMatrix || ldb <= g.NR {
		return Ahead[T]{From: b}
	}
	return Ahead[T]{from, ldb * size}
}

// ReadsBF16 reports whether [Kernel.BlockOnBF16] can be used.
func (g *Kernel[T]) ReadsBF16() bool { return g.runOnBF16 != nil }

// BlockOnBF16 is BlockOnRows for a matrix b of bf16. panel has room for k*NR elements.
func (g *Kernel[T]) BlockOnBF16(m, n, k int, a []T, b []uint16, ldb int, c []T, ldc int, add bool, tile, panel []T) {
	panel = panel[:k*g.NR]
	_ = b[(k-1)*ldb+n-1] // assembly reads so far
	for j := 0; j < n; j += g.NR {
		columns, rows := min(g.NR, n-j), 0
		if m >= g.MR && columns == g.NR {
			g.runOnBF16(k, a, b[j:], ldb, c[j:], ldc, add, panel)
			rows = g.MR
		} else {
			decodeRest(k, b[j:], ldb, words(panel), columns, g.NR)
		}
		if rows < m {
			g.columns(m-rows, columns, k, a[rows*k:], panel, c[rows*ldc+j:], ldc, add, tile, Ahead[T]{From: panel})
		}
	}
}

// half computes 2*NR columns of up to half of the rows of a panel.
func (g *Kernel[T]) half(m, k int, a, b []T, ldb int, c []T, ldc int, add bool, tile []T) {
	if m == g.MR/2 {
		g.onHalf(k, a, b, ldb, c, ldc, add)
		return
	}
	g.onHalf(k, a, b, ldb, tile, 2*g.NR, false)
	put(m, 2*g.NR, c, ldc, add, tile, 2*g.NR)
}

// broad is how many of n columns are multiplied one and a half panels at a time: what is left fills panels if it can.
func (g *Kernel[T]) broad(n int) int {
	half := g.NR / 2
	count := n / (3 * half)
	if n%half == 0 && (n-3*half*count)%g.NR != 0 {
		count--
	}
	return 3 * half * max(0, count)
}

// HasInPlace reports whether [Kernel.BlockInPlace] can be used.
func (g *Kernel[T]) HasInPlace() bool { return g.inPlace != nil }

// ReadsRows reports whether [Kernel.BlockInPlace] takes a matrix b that is not packed.
func (g *Kernel[T]) ReadsRows() bool { return g.anywhere }

// BlockInPlace is Block for rows that are not packed: element x of row r is a[rows[r]+ks[x]]. Rows of b are ldb apart, or packed if that is 0.
// Besides tile, it needs room for MR numbers of rows.
func (g *Kernel[T]) BlockInPlace(n int, a []T, rows, ks []int, b []T, ldb int, c []T, ldc int, add bool, tile []T, last []int) {
	g.BlockInPlaceBySteps(max(1, len(ks)), n, a, NewRows(rows, ks), b, ldb, c, ldc, add, tile, last)
}

// Rows are rows of a matrix that is not packed: element x of row r is at rows[r]+ks[x]. How far they reach is known, which takes as long to find as some multiplications.
type Rows struct {
	rows, ks    []int
	first, last int // of their elements
}

// NewRows are rows by their offsets; rows and ks stay as they are.
func NewRows(rows, ks []int) Rows {
	if len(rows) == 0 || len(ks) == 0 {
		return Rows{}
	}
	return Rows{rows, ks, slices.Min(rows) + slices.Min(ks), slices.Max(rows) + slices.Max(ks)}
}

// Top is the first n rows. They are taken to reach as far as all.
func (r Rows) Top(n int) Rows {
	r.rows = r.rows[:n]
	return r
}

// BlockInPlaceBySteps is BlockInPlace that adds up the products of so many of k at a time, and then these sums: the rounding errors of n numbers that are added one by one
// grow like n, and those of n/step sums of step numbers like step + n/step.
func (g *Kernel[T]) BlockInPlaceBySteps(step, n int, a []T, left Rows, b []T, ldb int, c []T, ldc int, add bool, tile []T, last []int) {
	rows, ks := left.rows, left.ks
	m, k := len(rows), len(ks)
	inPanels := ldb == 0
	lines := g.heads + k
	need := Padded(n, g.NR) * lines
	if !inPanels {
		need = (k-1)*ldb + n
	}
	if m == 0 || k == 0 || n < 1 || ldb < 0 || !inPanels && !g.anywhere || len(b) < need || len(c) < (m-1)*ldc+n || len(tile) < g.MR*g.NR || len(last) < g.MR {
		panic("gemm: blocks are too short")
	}
	if step < k && g.heads > 0 {
		panic("gemm: sums that begin with a number have one step")
	}
	if left.first < 0 || left.last >= len(a) {
		panic("gemm: rows outside of the matrix")
	}
	last = last[:g.MR] // the rows of the last panel, filled up with one of them
	for i := range last {
		last[i] = rows[min(m/g.MR*g.MR+i, m-1)]
	}
	for j := 0; j < n; j += g.NR {
		from, by, width := b[j:], ldb, min(g.NR, n-j)
		if inPanels {
			from, by = b[j*lines:], g.NR
		}
		for x := 0; x < k; x += step {
			g.columnsInPlace(width, a, rows, ks[x:min(x+step, k)], from[x*by:], by, c[j:], ldc, add || x > 0, tile, last)
		}
	}
}

// columnsInPlace computes up to NR columns of a block, of which b begins with the first.
func (g *Kernel[T]) columnsInPlace(width int, a []T, rows, ks []int, b []T, ldb int, c []T, ldc int, add bool, tile []T, last []int) {
	m := len(rows)
	whole := m / g.MR
	switch {
	case whole == 0:
	case width == g.NR || g.anywhere:
		g.inPlace(whole, a, rows, ks, b, ldb, c, ldc, add, width)
	default:
		for i := 0; i < whole*g.MR; i += g.MR {
			g.inPlace(1, a, rows[i:], ks, b, ldb, tile, g.NR, false, g.NR)
			g.put(g.MR, width, c[i*ldc:], ldc, add, tile)
		}
	}
	if left := m - whole*g.MR; left > 0 {
		filled := g.NR
		if g.anywhere {
			filled = width
		}
		g.inPlace(1, a, last, ks, b, ldb, tile, g.NR, false, filled)
		g.put(left, width, c[whole*g.MR*ldc:], ldc, add, tile)
	}
}

// columns computes up to NR columns of a block, panel by panel of a.
func (g *Kernel[T]) columns(m, n, k int, a, b []T, c []T, ldc int, add bool, tile []T, next Ahead[T]) {
	i := 0
	if whole := m / g.MR; whole > 0 && n == g.NR {
		g.Run(whole, k, a, b, c, ldc, add, next)
		i = whole * g.MR
	}
	for ; i < m; i += g.MR {
		if i > 0 || m >= g.MR || next.Step <= g.NR*int(unsafe.Sizeof(b[0])) { // it would be late
			next.Step = 0
		}
		g.Run(1, k, a[i*k:], b, tile, g.NR, false, next)
		g.put(min(g.MR, m-i), n, c[i*ldc:], ldc, add, tile)
	}
}

// put writes m rows of n columns of a tile to c, or adds them.
func (g *Kernel[T]) put(m, n int, c []T, ldc int, add bool, tile []T) {
	put(m, n, c, ldc, add, tile, g.NR)
}

// put is that for a tile whose rows are ldt apart.
func put[T Number](m, n int, c []T, ldc int, add bool, tile []T, ldt int) {
	for r := range m {
		to, from := c[r*ldc:][:n], tile[r*ldt:][:n]
		if !add {
			copy(to, from)
			continue
		}
		for x, v := range from {
			to[x] += v
		}
	}
}

// Padded is n rounded up to a multiple of r.
func Padded(n, r int) int { return (n + r - 1) / r * r }
