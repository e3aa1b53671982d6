package native

import (
	"encoding/binary"
	"math"
	"runtime"
	"unsafe"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Product is a product of two small matrices of floats, M×K and K×N. Each sum begins with zero, to which products are added in order, each with one rounding. The result's
// elements lie together, and so do those of a row of the right side.
type Product struct {
	M, N, K int
	Double  bool // elements of 64 bits
	// In bytes: from a row on the left to the next, from an element of one to the next, and from a row on the right to the next.
	LeftRow, LeftK, RightRow int
}

// ProductCode is a product as machine code, which any number of goroutines can call at once.
type ProductCode struct{ memory []byte }

// Compile makes the code. It refuses where there are fewer columns than a vector has lanes and no masks, and where the system has no memory that can be executed.
func (p *Product) Compile() (*ProductCode, bool) {
	level := vec.InUse()
	w := &productWriter{Product: *p, wide: level == vec.AVX512, size: 4, registers: 16, bits: 256}
	if p.Double {
		w.size = 8
	}
	if w.wide {
		w.registers, w.bits = 32, 512
	}
	w.lanes = w.bits / 8 / w.size
	if disabled.Load() || level == vec.Portable || p.N < w.lanes && !w.wide || !p.fits(w.size) {
		return nil, false
	}
	memory, cleanup := executable(w.write())
	if memory == nil {
		return nil, false
	}
	c := &ProductCode{memory}
	runtime.AddCleanup(c, cleanup, memory)
	return c, true
}

// fits reports whether the product is one, and its offsets fit into instructions.
func (p *Product) fits(size int) bool {
	if min(p.M, p.N, p.K) < 1 || min(p.LeftRow, p.LeftK) < 0 || p.RightRow < p.N*size {
		return false
	}
	return max(p.M*p.LeftRow+p.K*p.LeftK, p.K*p.RightRow, p.M*p.N*size) < math.MaxInt32/2
}

// Run computes a product.
func (c *ProductCode) Run(out, left, right unsafe.Pointer) {
	slots := [...]unsafe.Pointer{out, left, right}
	enter(unsafe.Pointer(&c.memory[0]), unsafe.Pointer(&slots), nil, 0)
	runtime.KeepAlive(c) // or its memory would be given back
}

// The registers of a product.
const (
	regOut   = amd64.RDX // the result, of the rows at work
	regLeft  = amd64.RBX // the left side, of these rows
	regRight = amd64.Reg(8)
	regRows  = amd64.RCX     // bundles of rows still to come
	regSteps = amd64.RAX     // steps of k still to come
	regA     = amd64.Reg(9)  // the left side at a step
	regB     = amd64.Reg(10) // the right side at a step
)

// stepsTogether is how many steps of k are written out in the loop over k.
const stepsTogether = 4

// productWriter writes the code block by block: of so many rows and so many vectors of columns that their sums stay in registers.
type productWriter struct {
	Product
	c                            amd64.Code
	wide                         bool
	size, lanes, bits, registers int
	tail                         bool // the last vector is cut off by a mask
}

func (w *productWriter) write() []byte {
	rest := w.N % w.lanes
	w.tail = w.wide && rest > 0
	mask := w.c.NewLabel()
	if w.tail {
		w.c.MaskMove(tailMask, amd64.ML(mask))
	}
	w.c.Do(amd64.MOV, true, regRight, amd64.M(regSlots, 16))
	vectors := (w.N-1)/w.lanes + 1
	rows, columns := w.block(vectors)
	for j := 0; j < vectors; j += columns {
		n := min(columns, vectors-j)
		w.c.Do(amd64.MOV, true, regOut, amd64.M(regSlots, 0))
		w.c.Do(amd64.MOV, true, regLeft, amd64.M(regSlots, 8))
		if bundles := w.M / rows; bundles > 1 {
			again := w.c.NewLabel()
			w.c.MovImm(regRows, uint64(bundles))
			w.c.Mark(again)
			w.sums(rows, j, n)
			w.c.DoImm(amd64.ADD, true, amd64.R(regOut), int32(rows*w.N*w.size))
			w.c.DoImm(amd64.ADD, true, amd64.R(regLeft), int32(rows*w.LeftRow))
			w.c.DoImm(amd64.SUB, true, amd64.R(regRows), 1)
			w.c.JumpIf(amd64.NE, again)
		} else {
			w.sums(rows, j, n)
			w.c.DoImm(amd64.ADD, true, amd64.R(regOut), int32(rows*w.N*w.size))
			w.c.DoImm(amd64.ADD, true, amd64.R(regLeft), int32(rows*w.LeftRow))
		}
		if left := w.M % rows; left > 0 {
			w.sums(left, j, n)
		}
	}
	w.c.ZeroUpper()
	w.c.Return()
	if w.tail {
		w.c.Align(8)
		w.c.Mark(mask)
		w.c.Data(binary.LittleEndian.AppendUint64(nil, 1<<rest-1)...)
	}
	return w.c.Bytes()
}

// block chooses rows and vectors of columns of a block: those that take the fewest cycles for a step of k, if two products and two loads are done in each, and the next product
// for the same sum waits for four.
func (w *productWriter) block(vectors int) (rows, columns int) {
	best := math.MaxInt
	for c := 1; c <= vectors && 2*c < w.registers; c++ {
		r := min(w.M, (w.registers-1-c)/c)
		blocks := ((vectors-1)/c + 1) * ((w.M-1)/r + 1)
		if cost := blocks * max(r*c, r+c, 8); cost < best {
			best, rows, columns = cost, r, c
		}
	}
	return rows, columns
}

// sums computes a block of the rows at regLeft, from vector j of the columns on. Registers hold the sums of row after row, a row on the right, and an element on the left.
func (w *productWriter) sums(rows, j, columns int) {
	for i := range rows * columns {
		r := amd64.Reg(i)
		w.c.Vector(&amd64.Vector{Op: w.pick(amd64.VPXOR, amd64.VPXORD, w.wide), Wide: w.wide, Bits: w.bits, D: amd64.R(r), X: r, Y: amd64.R(r)})
	}
	w.c.Do(amd64.MOV, true, regA, amd64.R(regLeft))
	w.c.Do(amd64.MOV, true, regB, amd64.R(regRight))
	rest := w.K
	if loops := w.K / stepsTogether; loops > 1 {
		again := w.c.NewLabel()
		w.c.MovImm(regSteps, uint64(loops))
		w.c.Mark(again)
		for k := range stepsTogether {
			w.step(rows, j, columns, k)
		}
		w.c.DoImm(amd64.ADD, true, amd64.R(regA), int32(stepsTogether*w.LeftK))
		w.c.DoImm(amd64.ADD, true, amd64.R(regB), int32(stepsTogether*w.RightRow))
		w.c.DoImm(amd64.SUB, true, amd64.R(regSteps), 1)
		w.c.JumpIf(amd64.NE, again)
		rest = w.K % stepsTogether
	}
	for k := range rest {
		w.step(rows, j, columns, k)
	}
	for i := range rows {
		for x := range columns {
			at := amd64.M(regOut, int32(i*w.N*w.size+w.column(j+x)))
			w.move(j+x, at, amd64.R(amd64.Reg(i*columns+x)))
		}
	}
}

// step adds products k behind regA and regB to the sums.
func (w *productWriter) step(rows, j, columns, k int) {
	right := amd64.Reg(rows * columns)
	left := right + amd64.Reg(columns)
	for x := range columns {
		w.move(j+x, amd64.R(right+amd64.Reg(x)), amd64.M(regB, int32(k*w.RightRow+w.column(j+x))))
	}
	for i := range rows {
		at := amd64.M(regA, int32(k*w.LeftK+i*w.LeftRow))
		if w.isInMemory(i, rows) {
			for x := range columns {
				w.c.Vector(&amd64.Vector{Op: w.pick(amd64.VFMADD231PS, amd64.VFMADD231PD, w.Double), Wide: true, Bits: w.bits, Broadcast: true,
					D: amd64.R(amd64.Reg(i*columns + x)), X: right + amd64.Reg(x), Y: at})
			}
			continue
		}
		w.c.Vector(&amd64.Vector{Op: w.pick(amd64.VBROADCASTSS, amd64.VBROADCASTSD, w.Double), Wide: w.wide, Bits: w.bits, D: amd64.R(left), Y: at})
		for x := range columns {
			w.c.Vector(&amd64.Vector{Op: w.pick(amd64.VFMADD231PS, amd64.VFMADD231PD, w.Double), Wide: w.wide, Bits: w.bits,
				D: amd64.R(amd64.Reg(i*columns + x)), X: right + amd64.Reg(x), Y: amd64.R(left)})
		}
	}
}

// isInMemory reports whether the element of row i is an operand in memory, without an instruction of its own: two of three are, spread evenly, which leaves as many
// loads as multiplications.
func (w *productWriter) isInMemory(i, rows int) bool {
	some := rows * 2 / 3
	return w.wide && (i+1)*some/rows > i*some/rows
}

// column is where vector x of a row is. Without masks, the last one begins early enough to be whole.
func (w *productWriter) column(x int) int {
	at := x * w.lanes
	if !w.wide {
		at = min(at, w.N-w.lanes)
	}
	return at * w.size
}

// move loads or stores vector x of a row.
func (w *productWriter) move(x int, to, from amd64.Arg) {
	v := amd64.Vector{Op: w.pick(amd64.VMOVUPS, amd64.VMOVUPD, w.Double), Wide: w.wide, Bits: w.bits, D: to, Y: from}
	if _, loads := to.Reg(); w.tail && x == (w.N-1)/w.lanes {
		v.Mask, v.Zero = tailMask, loads
	}
	w.c.Vector(&v)
}

func (w *productWriter) pick(first, second amd64.VectorOp, other bool) amd64.VectorOp {
	if other {
		return second
	}
	return first
}
