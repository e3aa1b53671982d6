// Command gen writes the passes of the transform in assembly: gen_pass_amd64.s and its declarations. Run it by go generate in the
// directory above.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the assembly and the Go file that declares its functions.
func generate() (asmgen.Files, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64")
	for _, size := range []int{4, 8} {
		for _, width := range []int{32, 64} {
			for _, radix := range []int{2, 3, 4, 5} {
				(&passes{Context: ctx, size: size, width: width}).pass(radix)
			}
			(&passes{Context: ctx, size: size, width: width}).odd()
			(&passes{Context: ctx, size: size, width: width}).halves()
			(&passes{Context: ctx, size: size, width: width}).turn()
			(&passes{Context: ctx, size: size, width: width}).exchange()
			(&passes{Context: ctx, size: size, width: width}).put(false)
			(&passes{Context: ctx, size: size, width: width}).put(true)
		}
	}
	return asmgen.Compile(ctx, "runtime/kernels/fourier", "pass")
}

// passes emits instructions for complex numbers, real part first, whose parts have a size, in vectors of a width.
type passes struct {
	*build.Context
	size, width int
	ones        reg.VecVirtual // in every part
}

// pass builds a function that goes through all butterflies of one radix. Element (q, p) of the source is vector q + s·p; the radix inputs of butterfly
// p are m apart, its outputs go to radix·p and after. Output k is multiplied by twiddle k-1 of the butterfly. In the source, the s vectors of a p begin so many bytes
// apart.
func (g *passes) pass(radix int) {
	name := fmt.Sprintf("pass%df%dx%d", radix, 8*g.size, 8*g.width)
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(m, s, apart int, dst, src, twiddles, constants *byte)")
	g.Doc(fmt.Sprintf("%s is a pass of radix %d on vectors of %d bits of float%d.", name, radix, 8*g.width, 8*g.size))
	g.Pragma("noescape")
	m, s := g.Load(g.Param("m"), g.GP64()), g.Load(g.Param("s"), g.GP64())
	dst, src := g.Load(g.Param("dst"), g.GP64()), g.Load(g.Param("src"), g.GP64())
	tw, constants := g.Load(g.Param("twiddles"), g.GP64()), g.Load(g.Param("constants"), g.GP64())
	shift := operand.U8(5)
	if g.width == 64 {
		shift = 6
	}
	row := g.GP64() // bytes of s vectors
	g.MOVQ(s, row)
	g.SHLQ(shift, row)
	gap := g.Load(g.Param("apart"), g.GP64())
	between := g.GP64() // bytes between the inputs of a butterfly
	g.MOVQ(gap, between)
	g.IMULQ(m, between)
	g.SUBQ(row, gap)
	g.ones = g.register()
	g.broadcast(operand.Mem{Base: constants}, g.ones)
	var fixed []reg.VecVirtual
	for i := range map[int]int{2: 0, 3: 2, 4: 0, 5: 4}[radix] {
		c := g.register()
		g.broadcast(operand.Mem{Base: constants, Disp: (i + 1) * g.size}, c)
		fixed = append(fixed, c)
	}
	to := g.GP64()
	g.MOVQ(dst, to)
	from := g.GP64()
	g.MOVQ(src, from)
	g.Label("butterfly")
	q := g.GP64()
	g.MOVQ(s, q)
	g.Label("vector")
	x := make([]reg.VecVirtual, radix)
	at := g.GP64()
	g.MOVQ(from, at)
	for k := range x {
		x[k] = g.register()
		g.load(operand.Mem{Base: at}, x[k])
		if k+1 < radix {
			g.ADDQ(between, at)
		}
	}
	y := g.butterfly(radix, x, fixed)
	out := g.GP64()
	g.MOVQ(to, out)
	for k, v := range y {
		if k > 0 {
			g.twiddle(v, tw, k-1)
		}
		g.load(v, operand.Mem{Base: out})
		if k+1 < radix {
			g.ADDQ(row, out)
		}
	}
	g.ADDQ(operand.U32(uint32(g.width)), from)
	g.ADDQ(operand.U32(uint32(g.width)), to)
	g.DECQ(q)
	g.JNZ(operand.LabelRef("vector"))
	// The outputs of the next butterfly begin radix rows after those of this one.
	for range radix - 1 {
		g.ADDQ(row, to)
	}
	g.ADDQ(gap, from)
	g.ADDQ(operand.U32(uint32(2*g.size*(radix-1))), tw)
	g.DECQ(m)
	g.JNZ(operand.LabelRef("butterfly"))
	g.VZEROUPPER()
	g.RET()
}

// butterfly transforms radix vectors.
func (g *passes) butterfly(radix int, x, c []reg.VecVirtual) []reg.VecVirtual {
	switch radix {
	case 2:
		return []reg.VecVirtual{g.add(x[0], x[1]), g.sub(x[0], x[1])}
	case 3: // c is 1/2 and sin 60°
		sum, diff := g.add(x[1], x[2]), g.sub(x[1], x[2])
		first := g.add(x[0], sum)
		g.negMulAdd(c[0], sum, x[0])
		g.scale(c[1], diff)
		g.swap(diff, diff)
		plus := g.copy(x[0])
		g.minusI(x[0], diff)
		g.plusI(plus, diff)
		return []reg.VecVirtual{first, x[0], plus}
	case 4:
		ac, amc, bd, bmd := g.add(x[0], x[2]), g.sub(x[0], x[2]), g.add(x[1], x[3]), g.sub(x[1], x[3])
		g.swap(bmd, bmd)
		plus := g.copy(amc)
		g.minusI(amc, bmd)
		g.plusI(plus, bmd)
		return []reg.VecVirtual{g.add(ac, bd), amc, g.sub(ac, bd), plus}
	}
	// c is cos 72°, cos 144°, sin 72°, sin 144°.
	t1, t3 := g.add(x[1], x[4]), g.sub(x[1], x[4])
	t2, t4 := g.add(x[2], x[3]), g.sub(x[2], x[3])
	first := g.add(x[0], t1)
	first = g.add(first, t2)
	m1, m2 := g.copy(x[0]), x[0]
	g.mulAdd(c[0], t1, m1)
	g.mulAdd(c[1], t2, m1)
	g.mulAdd(c[1], t1, m2)
	g.mulAdd(c[0], t2, m2)
	n1, n2 := g.copy(t3), t3
	g.scale(c[2], n1)
	g.mulAdd(c[3], t4, n1)
	g.scale(c[3], n2)
	g.negMulAdd(c[2], t4, n2)
	g.swap(n1, n1)
	g.swap(n2, n2)
	p1, p2 := g.copy(m1), g.copy(m2)
	g.minusI(m1, n1)
	g.plusI(p1, n1)
	g.minusI(m2, n2)
	g.plusI(p2, n2)
	return []reg.VecVirtual{first, m1, m2, p2, p1}
}
