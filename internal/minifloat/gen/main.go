// Command gen writes the vector forms of the conversions between f16, bf16 and float32: gen_half_amd64.s
// and its declarations. Run it by go generate in the directory above.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the assembly and the Go file that declares its functions.
func generate() (asmgen.Files, error) {
	g := generator{build.NewContext()}
	g.ConstraintExpr("amd64")
	g.loop("widenF16AVX2", "dst *float32, src *uint16, n int", "sets n values of dst, n a multiple of 8.", 2, 4, g.widenF16)
	g.loop("narrowF16AVX2", "dst *uint16, src *float32, n int", "sets n codes of dst, n a multiple of 8.", 4, 2, g.narrowF16)
	g.loop("widenBF16AVX2", "dst *float32, src *uint16, n int", "sets n values of dst, n a multiple of 8.", 2, 4, g.widenBF16)
	g.narrowBF16Constants()
	g.loop("narrowBF16AVX2", "dst *uint16, src *float32, n int", "sets n codes of dst, n a multiple of 8.", 4, 2, g.narrowBF16)
	return asmgen.Compile(g.Context, "internal/minifloat", "half")
}

type generator struct{ *build.Context }

// loop builds a function that runs body for every 8 elements of inSize and outSize bytes.
func (g generator) loop(name, signature, doc string, inSize, outSize int, body func(in, out operand.Mem)) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr("func(" + signature + ")")
	g.Doc(name + " " + doc)
	g.Pragma("noescape")
	dst := g.Load(g.Param("dst"), g.GP64())
	src := g.Load(g.Param("src"), g.GP64())
	n := g.Load(g.Param("n"), g.GP64())
	g.SHRQ(operand.U8(3), n)
	g.JZ(operand.LabelRef("done"))
	g.Label("loop")
	body(operand.Mem{Base: src}, operand.Mem{Base: dst})
	g.ADDQ(operand.U8(8*inSize), src)
	g.ADDQ(operand.U8(8*outSize), dst)
	g.DECQ(n)
	g.JNZ(operand.LabelRef("loop"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

func (g generator) widenF16(in, out operand.Mem) {
	x := g.YMM()
	g.VCVTPH2PS(in, x)
	g.VMOVUPS(x, out)
}

// narrowF16 rounds to nearest even whatever the mode of the processor.
func (g generator) narrowF16(in, out operand.Mem) {
	x := g.YMM()
	g.VMOVUPS(in, x)
	g.VCVTPS2PH(operand.U8(0), x, out)
}

func (g generator) widenBF16(in, out operand.Mem) {
	x := g.YMM()
	g.VPMOVZXWD(in, x)
	g.VPSLLD(operand.U8(16), x, x)
	g.VMOVDQU(x, out)
}

const (
	roundBias = iota * 32
	one
	quiet
)

func (g generator) narrowBF16Constants() {
	g.StaticGlobal("narrowBF16Constants")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, value := range []uint32{0x7fff, 1, 0x40} {
		for j := range 8 {
			g.AddDatum(i*32+j*4, operand.U32(value))
		}
	}
}

// narrowBF16 adds just under half of the last place that stays, and the last bit of what stays so that a tie goes
// to even. A NaN keeps its upper half, made quiet.
func (g generator) narrowBF16(in, out operand.Mem) {
	constant := func(offset int) operand.Mem {
		return operand.NewDataAddr(operand.NewStaticSymbol("narrowBF16Constants"), offset)
	}
	x, nan, rounded, odd := g.YMM(), g.YMM(), g.YMM(), g.YMM()
	g.VMOVUPS(in, x)
	g.VCMPPS(operand.U8(3), x, x, nan) // unordered with itself
	g.VPSRLD(operand.U8(16), x, odd)
	g.VPADDD(constant(roundBias), x, rounded)
	g.VPOR(constant(quiet), odd, x)
	g.VPAND(constant(one), odd, odd)
	g.VPADDD(odd, rounded, rounded)
	g.VPSRLD(operand.U8(16), rounded, rounded)
	g.VPBLENDVB(nan, x, rounded, rounded)
	// Both halves of the register are packed apart; the order 0, 2 brings their results together.
	g.VPACKUSDW(rounded, rounded, rounded)
	g.VPERMQ(operand.U8(0b1000), rounded, rounded)
	g.VMOVDQU(rounded.AsX().(operand.Op), out)
}
