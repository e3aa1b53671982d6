package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// linesAtOnce is how many elements of each line a step takes, a multiple of every vector: its chains of sums keep the processor busy.
const linesAtOnce = 32

// lineLoops builds the loops that add up products of lines.
func (g generator) lineLoops() {
	for _, e := range []element{{name: "float32", size: 4}, {name: "float64", size: 8}} {
		for _, width := range []int{64, 32} {
			v := vectors{g, e, width}
			v.lines(fmt.Sprintf("linesF%d%s", 8*e.size, map[int]string{64: "AVX512", 32: "AVX2"}[width]))
		}
	}
}

// lines multiplies k lines with as many others, element by element, and adds them up.
func (v vectors) lines(name string) {
	v.Function(name)
	v.Attributes(attr.NOSPLIT)
	v.SignatureExpr(fmt.Sprintf("func(n, k int, c, a *%s, aStep int, b *%[1]s, bStep int)", v.name))
	v.Doc(fmt.Sprintf("%s sets c, of n elements, a multiple of %d, to the sum of k lines of a times lines of b, which are a step apart.", name, linesAtOnce))
	v.Pragma("noescape")
	n, k := v.Load(v.Param("n"), v.GP64()), v.Load(v.Param("k"), v.GP64())
	c, a, b := v.Load(v.Param("c"), v.GP64()), v.Load(v.Param("a"), v.GP64()), v.Load(v.Param("b"), v.GP64())
	aStep, bStep := v.Load(v.Param("aStep"), v.GP64()), v.Load(v.Param("bStep"), v.GP64())
	shift := operand.U8(uint8(bits.TrailingZeros(uint(v.size))))
	v.SHLQ(shift, aStep)
	v.SHLQ(shift, bStep)
	sums := make([]reg.VecVirtual, linesAtOnce*v.size/v.width)
	v.Label("some")
	for i := range sums {
		sums[i] = v.register()
		v.zero(sums[i])
	}
	aAt, bAt, left := v.GP64(), v.GP64(), v.GP64()
	v.MOVQ(a, aAt)
	v.MOVQ(b, bAt)
	v.MOVQ(k, left)
	v.Label("line")
	for i, sum := range sums {
		x := v.register()
		v.load(operand.Mem{Base: aAt, Disp: i * v.width}, x)
		v.fma(operand.Mem{Base: bAt, Disp: i * v.width}, x, sum, nil)
	}
	v.ADDQ(aStep, aAt)
	v.ADDQ(bStep, bAt)
	v.DECQ(left)
	v.JNZ(operand.LabelRef("line"))
	for i, sum := range sums {
		v.load(sum, operand.Mem{Base: c, Disp: i * v.width})
	}
	bytes := operand.I32(int32(linesAtOnce * v.size))
	for _, p := range []reg.Register{a, b, c} {
		v.ADDQ(bytes, p)
	}
	v.SUBQ(operand.U8(linesAtOnce), n)
	v.JG(operand.LabelRef("some"))
	v.VZEROUPPER()
	v.RET()
}
