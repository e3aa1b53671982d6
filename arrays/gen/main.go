// Command gen writes the vector forms of fills of floats: gen_fill_amd64.s and its declarations. Run it by go generate in the directory above.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the assembly and the Go file that declares its functions.
func generate() (asmgen.Files, error) {
	g := generator{build.NewContext()}
	g.ConstraintExpr("amd64")
	g.lanes()
	g.loop("fillF64AVX512", "float64", 8, g.wide)
	g.loop("fillF32AVX512", "float32", 4, g.narrowF32)
	g.loop("fillBF16AVX512", "uint16", 2, g.narrowBF16)
	return asmgen.Compile(g.Context, "arrays", "fill")
}

type generator struct{ *build.Context }

// storing stores a vector of float64 as elements of another type.
type storing func(x reg.VecVirtual, out operand.Mem)

const lanes = "fillLanes"

// lanes are the numbers of the elements of a vector.
func (g generator) lanes() {
	g.StaticGlobal(lanes)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AddDatum(i*8, operand.U64(i))
	}
}

// loop builds a function that makes 8 floats after 8, of size bytes each. narrow prepares their storing before the loop.
func (g generator) loop(name, element string, size int, narrow func() storing) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(dst *" + element + ", n int, state uint64, times, plus, scale float64)")
	g.Doc(name + " sets n elements of dst, n a multiple of 8: (times·(z>>40) + plus)·scale, z the draws that follow a state of SplitMix64.")
	g.Pragma("noescape")
	dst := g.Load(g.Param("dst"), g.GP64())
	n := g.Load(g.Param("n"), g.GP64())
	state := g.everywhere(g.Load(g.Param("state"), g.GP64()))
	g.VPADDQ(operand.NewDataAddr(operand.NewStaticSymbol(lanes), 0), state, state)
	times, plus, scale := g.float("times"), g.float("plus"), g.float("scale")
	first, second := g.constant(0xBF58476D1CE4E5B9), g.constant(0x94D049BB133111EB)
	next := g.constant(8)
	store := narrow()
	g.SHRQ(operand.U8(3), n)
	g.JZ(operand.LabelRef("done"))
	g.Label("loop")
	z, shifted := g.ZMM(), g.ZMM()
	mix := func(from reg.VecVirtual, by uint64) {
		g.VPSRLQ(operand.U8(by), from, shifted)
		g.VPXORQ(shifted, from, z)
	}
	mix(state, 30)
	g.VPMULLQ(first, z, z)
	mix(z, 27)
	g.VPMULLQ(second, z, z)
	mix(z, 31)
	g.VPSRLQ(operand.U8(40), z, z)
	g.VCVTQQ2PD(z, z)
	g.VFMADD213PD(plus, times, z)
	g.VMULPD(scale, z, z)
	store(z, operand.Mem{Base: dst})
	g.VPADDQ(next, state, state)
	g.ADDQ(operand.U8(8*size), dst)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("loop"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

func (g generator) everywhere(x reg.Register) reg.VecVirtual {
	v := g.ZMM()
	g.VPBROADCASTQ(x, v)
	return v
}

func (g generator) constant(x uint64) reg.VecVirtual {
	r := g.GP64()
	g.MOVQ(operand.U64(x), r)
	return g.everywhere(r)
}

func (g generator) float(name string) reg.VecVirtual {
	v := g.ZMM()
	g.VBROADCASTSD(g.Load(g.Param(name), g.XMM()), v)
	return v
}

func (g generator) wide() storing {
	return func(x reg.VecVirtual, out operand.Mem) { g.VMOVUPD(x, out) }
}

func (g generator) narrowF32() storing {
	return func(x reg.VecVirtual, out operand.Mem) {
		narrow := g.YMM()
		g.VCVTPD2PS(x, narrow)
		g.VMOVUPS(narrow, out)
	}
}

// narrowBF16 rounds 0 and what is normal in bf16: it adds just under half of the last place that stays, and the last bit of what stays so that
// a tie goes to even, and takes the difference of the biases from the exponent.
func (g generator) narrowBF16() storing {
	const dropped = 52 - 7 // bits of the significand
	one, half := g.constant(1), g.constant(1<<(dropped-1)-1)
	bias, magnitude := g.constant((1023-127)<<7), g.constant(0x7fff)
	return func(x reg.VecVirtual, out operand.Mem) {
		some := g.K()
		g.VPTESTMQ(x, x, some)
		code, odd, sign := g.ZMM(), g.ZMM(), g.ZMM()
		g.VPSRLQ(operand.U8(dropped), x, odd)
		g.VPANDQ(one, odd, odd)
		g.VPADDQ(half, x, code)
		g.VPADDQ(odd, code, code)
		g.VPSRLQ(operand.U8(dropped), code, code)
		g.VPSUBQ(bias, code, code)
		g.VPANDQ(magnitude, code, code)
		g.VPSRLQ(operand.U8(63), x, sign)
		g.VPSLLQ(operand.U8(15), sign, sign)
		g.VPORQ_Z(sign, code, some, code)
		g.VPMOVQW(code, out)
	}
}
