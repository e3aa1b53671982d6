package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// turn builds the function that multiplies vectors by one number each.
func (g *passes) turn() {
	name := fmt.Sprintf("turnf%dx%d", 8*g.size, 8*g.width)
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(n, step int, dst, src, by *byte)")
	g.Doc(fmt.Sprintf("%s multiplies n vectors of %d bits of float%d, step bytes apart, by one number each.", name, 8*g.width, 8*g.size))
	g.Pragma("noescape")
	n, step := g.Load(g.Param("n"), g.GP64()), g.Load(g.Param("step"), g.GP64())
	dst, src, by := g.Load(g.Param("dst"), g.GP64()), g.Load(g.Param("src"), g.GP64()), g.Load(g.Param("by"), g.GP64())
	g.Label("vector")
	x := g.register()
	g.load(operand.Mem{Base: src}, x)
	g.twiddle(x, by, 0)
	g.load(x, operand.Mem{Base: dst})
	g.ADDQ(step, src)
	g.ADDQ(operand.U32(uint32(g.width)), dst)
	g.ADDQ(operand.U32(uint32(2*g.size)), by)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("vector"))
	g.VZEROUPPER()
	g.RET()
}

// exchange builds the function that exchanges vectors and multiplies them by a number.
func (g *passes) exchange() {
	name := fmt.Sprintf("exchangef%dx%d", 8*g.size, 8*g.width)
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(n, step int, x, y, scale *byte)")
	g.Doc(fmt.Sprintf("%s exchanges n vectors of %d bits of float%d that follow x with as many, step bytes apart, from y on, and scales them.", name, 8*g.width, 8*g.size))
	g.Pragma("noescape")
	n, step := g.Load(g.Param("n"), g.GP64()), g.Load(g.Param("step"), g.GP64())
	first, second, scale := g.Load(g.Param("x"), g.GP64()), g.Load(g.Param("y"), g.GP64()), g.Load(g.Param("scale"), g.GP64())
	c := g.register()
	g.broadcast(operand.Mem{Base: scale}, c)
	g.Label("pair")
	x, y := g.register(), g.register()
	g.load(operand.Mem{Base: first}, x)
	g.load(operand.Mem{Base: second}, y)
	g.scale(c, x)
	g.scale(c, y)
	g.load(y, operand.Mem{Base: first})
	g.load(x, operand.Mem{Base: second})
	g.ADDQ(operand.U32(uint32(g.width)), first)
	g.ADDQ(step, second)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("pair"))
	g.VZEROUPPER()
	g.RET()
}
