package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

func reflections() (asmgen.Files, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64")
	for _, width := range []int{64, 32} {
		(&rotation{ctx, 8, width, 1}).reflect()
	}
	return asmgen.Compile(ctx, "runtime/kernels/factor", "reflect")
}

// reflect emits a function that reflects three rows. It rounds each product, as the loop in Go does.
func (r *rotation) reflect() {
	level := map[int]string{64: "AVX512", 32: "AVX2"}[r.width]
	r.Function("reflect" + level)
	r.Attributes(attr.NOSPLIT)
	r.SignatureExpr("func(c *float64, n int, x, y, z *float64)")
	r.Doc(fmt.Sprintf("reflect%s reflects n > 0 elements of three rows, a multiple of %d.", level, r.width/r.size))
	r.Pragma("noescape")
	c, n := r.Load(r.Param("c"), r.GP64()), r.Load(r.Param("n"), r.GP64())
	var rows, factors, parts [3]reg.Register
	for i, name := range []string{"x", "y", "z"} {
		rows[i] = r.Load(r.Param(name), r.GP64())
	}
	var v [3]reg.Register
	for i := range v {
		if i > 0 {
			v[i] = r.register()
			r.broadcast(operand.Mem{Base: c, Disp: (i - 1) * r.size}, v[i])
		}
		factors[i] = r.register()
		r.broadcast(operand.Mem{Base: c, Disp: (i + 2) * r.size}, factors[i])
	}
	at := r.GP64()
	r.XORQ(at, at)
	r.Label("loop")
	for i, row := range rows {
		parts[i] = r.register()
		r.move(operand.Mem{Base: row, Index: at, Scale: 8}, parts[i])
	}
	sum, product := r.register(), r.register()
	r.VMULPD(v[1], parts[1], sum)
	r.VADDPD(sum, parts[0], sum)
	r.VMULPD(v[2], parts[2], product)
	r.VADDPD(product, sum, sum)
	for i, row := range rows {
		product := r.register()
		r.VMULPD(sum, factors[i], product)
		r.VSUBPD(product, parts[i], product)
		r.move(product, operand.Mem{Base: row, Index: at, Scale: 8})
	}
	r.ADDQ(operand.I32(int32(r.width/r.size)), at)
	r.CMPQ(at, n)
	r.JLT(operand.LabelRef("loop"))
	r.VZEROUPPER()
	r.RET()
}
