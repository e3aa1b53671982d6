package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

// blockRows and blockVectors are the panels of package gemm with vectors of 256 bits: of as many rows, and of as many vectors of columns.
const (
	blockRows    = 6
	blockVectors = 2
)

func blocks() (asmgen.Files, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64")
	for _, size := range []int{4, 8} {
		for _, unit := range []bool{false, true} {
			(&rotation{ctx, size, 32, blockVectors}).block(unit)
		}
	}
	return asmgen.Compile(ctx, "runtime/kernels/factor", "block")
}

// block emits a function that solves a block with all right sides in registers: each row, when it is solved, is subtracted from those below.
func (r *rotation) block(unit bool) {
	element := fmt.Sprintf("float%d", 8*r.size)
	name, what, params := fmt.Sprintf("solveBlockF%dAVX2", 8*r.size), "a block", "below, diag, x"
	if unit {
		name, what, params = fmt.Sprintf("solveUnitBlockF%dAVX2", 8*r.size), "a block whose diagonal is 1", "below, x"
	}
	r.Function(name)
	r.Attributes(attr.NOSPLIT)
	r.SignatureExpr(fmt.Sprintf("func(%s *%s)", params, element))
	r.Doc(fmt.Sprintf("%s solves %s of %d unknowns for %d right sides.", name, what, blockRows, blockVectors*r.width/r.size))
	r.Pragma("noescape")
	below, x := r.Load(r.Param("below"), r.GP64()), r.Load(r.Param("x"), r.GP64())
	at := func(base reg.Register, row, j int) operand.Mem {
		return operand.Mem{Base: base, Disp: (row*blockVectors + j) * r.width}
	}
	var rows [blockRows][blockVectors]reg.VecVirtual
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = r.register()
			r.move(at(x, i, j), rows[i][j])
		}
	}
	var diag reg.Register
	if !unit {
		diag = r.Load(r.Param("diag"), r.GP64())
	}
	for i, row := range rows {
		for j, v := range row {
			if !unit {
				r.divide(at(diag, i, j), v, v)
			}
			r.move(v, at(x, i, j))
		}
		for k := i + 1; k < blockRows; k++ {
			factor := r.register()
			r.broadcast(operand.Mem{Base: below, Disp: (i*blockRows + k) * r.size}, factor)
			for j, v := range row {
				r.multiplyAdd(factor, v, rows[k][j])
			}
		}
	}
	r.VZEROUPPER()
	r.RET()
}

func (r *rotation) divide(by, x, to operand.Op) {
	r.pick(func(o ...operand.Op) { r.VDIVPS(o...) }, func(o ...operand.Op) { r.VDIVPD(o...) }, by, x, to)
}
