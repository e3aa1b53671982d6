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

// put builds the function that writes rows of vectors to where they belong, scaled or multiplied by a number for each of theirs.
func (g *passes) put(turned bool) {
	verb, how := "scale", "scaled"
	if turned {
		verb, how = "turn", "each multiplied by a vector"
	}
	name := fmt.Sprintf("%srowsf%dx%d", verb, 8*g.size, 8*g.width)
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(n, each, to, from int, dst, src, by *byte)")
	g.Doc(fmt.Sprintf("%s copies n rows of so many vectors of %d bits of float%d, %s. Rows begin so many bytes apart.", name, 8*g.width, 8*g.size, how))
	g.Pragma("noescape")
	n, each := g.Load(g.Param("n"), g.GP64()), g.Load(g.Param("each"), g.GP64())
	to, from := g.Load(g.Param("to"), g.GP64()), g.Load(g.Param("from"), g.GP64())
	dst, src, by := g.Load(g.Param("dst"), g.GP64()), g.Load(g.Param("src"), g.GP64()), g.Load(g.Param("by"), g.GP64())
	c := g.register()
	if !turned {
		g.broadcast(operand.Mem{Base: by}, c)
	}
	left, d, s := g.GP64(), g.GP64(), g.GP64()
	g.Label("row")
	g.MOVQ(each, left)
	g.MOVQ(dst, d)
	g.MOVQ(src, s)
	g.Label("vector")
	x := g.register()
	g.load(operand.Mem{Base: s}, x)
	if turned {
		w := g.register()
		g.load(operand.Mem{Base: by}, w)
		g.turnEach(x, w)
		g.ADDQ(operand.U32(uint32(g.width)), by)
	} else {
		g.scale(c, x)
	}
	g.load(x, operand.Mem{Base: d})
	g.ADDQ(operand.U32(uint32(g.width)), s)
	g.ADDQ(operand.U32(uint32(g.width)), d)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("vector"))
	g.ADDQ(to, dst)
	g.ADDQ(from, src)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("row"))
	g.VZEROUPPER()
	g.RET()
}
