// Command gen writes the assembly of package winograd: gen_winograd_amd64.s and its declarations. Run it by go generate in the directory above.
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

// generate returns the files by name.
func generate() (asmgen.Files, error) {
	g := generator{Context: build.NewContext()}
	g.ConstraintExpr("amd64")
	for _, v := range []struct {
		suffix string
		width  int
	}{{"AVX512", 64}, {"AVX2", 32}} {
		g.width = v.width
		g.transform("patches"+v.suffix, "the combinations of patches of four by four lines", patch, combinations, g.patch)
		g.transform("filters"+v.suffix, "the combinations of filters of three by three lines", filter, combinations, g.filter)
		g.transform("sums"+v.suffix, "two by two lines of the result of sums of sixteen lines", combinations, result, g.sums)
		g.transform("gradients"+v.suffix, "the combinations of gradients of two by two lines", result, combinations, g.gradient)
		g.transform("weights"+v.suffix, "three by three lines of the gradient of filters of sums of sixteen lines", combinations, filter, g.weights)
		g.largest("largest" + v.suffix)
	}
	return asmgen.Compile(g.Context, "runtime/kernels/winograd", "winograd")
}

type generator struct {
	*build.Context
	width int // of vectors, in bytes
}

// grid says how many lines there are from top to bottom and from left to right.
type grid struct{ rows, columns int }

var (
	patch        = grid{4, 4}
	filter       = grid{3, 3}
	combinations = grid{4, 4}
	result       = grid{2, 2}
)

// lines are where the lines of a grid are in memory: rows each have a register, and lines of a row are a distance apart.
type lines struct {
	rows            []reg.GPVirtual
	apart, threeFar reg.GPVirtual // threeFar is three times apart, if there are as many lines
}

func (l lines) at(i, j int) operand.Mem {
	m := operand.Mem{Base: l.rows[i]}
	switch j {
	case 1, 2:
		m.Index, m.Scale = l.apart, uint8(j)
	case 3:
		m.Index, m.Scale = l.threeFar, 1
	}
	return m
}

// lines loads where the lines of a grid are.
func (g generator) lines(of grid, base, row, apart string) lines {
	l := lines{apart: g.number(apart)}
	step := g.number(row)
	for i := range of.rows {
		at := g.GP64()
		if i == 0 {
			g.Load(g.Param(base), at)
		} else {
			g.LEAQ(operand.Mem{Base: l.rows[i-1], Index: step, Scale: 1}, at)
		}
		l.rows = append(l.rows, at)
	}
	if of.columns > 3 {
		l.threeFar = g.GP64()
		g.LEAQ(operand.Mem{Base: l.apart, Index: l.apart, Scale: 2}, l.threeFar)
	}
	return l
}

func (g generator) number(param string) reg.GPVirtual {
	r := g.GP64()
	g.Load(g.Param(param), r)
	return r
}

// transform writes a function that makes one grid of lines of another, again and again.
func (g generator) transform(name, what string, from, to grid, vector func(src, dst lines)) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(count, vectors int, src *float32, srcRow, srcColumn, srcNext int, dst *float32, dstRow, dstColumn, dstNext int)")
	g.Doc(fmt.Sprintf("%s writes %s, count times, each line of so many vectors.", name, what),
		"Distances are in bytes: of rows of lines, of lines in a row, and from the end of a grid's first line to the beginning of the next grid's.")
	src, dst := g.lines(from, "src", "srcRow", "srcColumn"), g.lines(to, "dst", "dstRow", "dstColumn")
	left := g.GP64()
	g.Label("grid")
	g.Load(g.Param("vectors"), left)
	g.Label("vector")
	vector(src, dst)
	for _, r := range append(append([]reg.GPVirtual(nil), src.rows...), dst.rows...) {
		g.ADDQ(operand.I32(int32(g.width)), r)
	}
	g.DECQ(left)
	g.JNZ(operand.LabelRef("vector"))
	for _, l := range []struct {
		lines lines
		next  string
	}{{src, "srcNext"}, {dst, "dstNext"}} {
		g.Load(g.Param(l.next), left)
		for _, r := range l.lines.rows {
			g.ADDQ(left, r)
		}
	}
	count, err := g.Param("count").Resolve()
	if err != nil {
		panic(err)
	}
	g.DECQ(count.Addr)
	g.JNZ(operand.LabelRef("grid"))
	g.VZEROUPPER()
	g.RET()
}

func (g generator) register() reg.VecVirtual {
	if g.width == 64 {
		return g.ZMM()
	}
	return g.YMM()
}

func (g generator) load(from operand.Op) reg.VecVirtual {
	x := g.register()
	g.VMOVUPS(from, x)
	return x
}

// less is a-b, and plus is a+b.
func (g generator) less(a reg.VecVirtual, b operand.Op) reg.VecVirtual {
	x := g.register()
	g.VSUBPS(b, a, x)
	return x
}

func (g generator) plus(a reg.VecVirtual, b operand.Op) reg.VecVirtual {
	x := g.register()
	g.VADDPS(b, a, x)
	return x
}

// patch writes BᵀdB of a patch d, where Bᵀ is
//
//	1  0 -1  0
//	0  1  1  0
//	0 -1  1  0
//	0  1  0 -1
func (g generator) patch(src, dst lines) {
	for j := range 4 {
		var t [4]reg.VecVirtual
		for i := range t {
			switch j {
			case 0:
				t[i] = g.less(g.load(src.at(i, 0)), src.at(i, 2))
			case 1:
				t[i] = g.plus(g.load(src.at(i, 1)), src.at(i, 2))
			case 2:
				t[i] = g.less(g.load(src.at(i, 2)), src.at(i, 1))
			case 3:
				t[i] = g.less(g.load(src.at(i, 1)), src.at(i, 3))
			}
		}
		g.VMOVUPS(g.less(t[0], t[2]), dst.at(0, j))
		g.VMOVUPS(g.plus(t[1], t[2]), dst.at(1, j))
		g.VMOVUPS(g.less(t[2], t[1]), dst.at(2, j))
		g.VMOVUPS(g.less(t[1], t[3]), dst.at(3, j))
	}
}

// filter writes GgGᵀ of a filter g, where G is
//
//	1    0    0
//	1/2  1/2  1/2
//	1/2 -1/2  1/2
//	0    0    1
func (g generator) filter(src, dst lines) {
	scaled := g.halves()
	for i := range 4 {
		var t [3]reg.VecVirtual
		for j := range t {
			switch i {
			case 0:
				t[j] = g.load(src.at(0, j))
			case 1:
				t[j] = scaled(g.plus(g.plus(g.load(src.at(0, j)), src.at(2, j)), src.at(1, j)))
			case 2:
				t[j] = scaled(g.less(g.plus(g.load(src.at(0, j)), src.at(2, j)), src.at(1, j)))
			case 3:
				t[j] = g.load(src.at(2, j))
			}
		}
		outer := g.plus(t[0], t[2])
		g.VMOVUPS(t[0], dst.at(i, 0))
		g.VMOVUPS(scaled(g.plus(outer, t[1])), dst.at(i, 1))
		g.VMOVUPS(scaled(g.less(outer, t[1])), dst.at(i, 2))
		g.VMOVUPS(t[2], dst.at(i, 3))
	}
}

// halves loads a half, and returns what multiplies with it.
func (g generator) halves() (scaled func(x reg.VecVirtual) reg.VecVirtual) {
	half := g.register()
	word := g.GP32()
	g.MOVL(operand.U32(0x3f000000), word)
	g.VMOVD(word, half.AsX())
	g.VBROADCASTSS(half.AsX(), half)
	return func(x reg.VecVirtual) reg.VecVirtual {
		y := g.register()
		g.VMULPS(half, x, y)
		return y
	}
}

// gradient writes AhAᵀ of a gradient h. What is to be negative is so by a subtraction from 0.
func (g generator) gradient(src, dst lines) {
	zero := g.register()
	g.VXORPS(zero.AsY(), zero.AsY(), zero.AsY())
	for j := range 4 {
		var t [2]reg.VecVirtual
		for i := range t {
			switch j {
			case 0:
				t[i] = g.load(src.at(i, 0))
			case 1:
				t[i] = g.plus(g.load(src.at(i, 0)), src.at(i, 1))
			case 2:
				t[i] = g.less(g.load(src.at(i, 0)), src.at(i, 1))
			case 3:
				t[i] = g.less(zero, src.at(i, 1))
			}
		}
		g.VMOVUPS(t[0], dst.at(0, j))
		g.VMOVUPS(g.plus(t[0], t[1]), dst.at(1, j))
		g.VMOVUPS(g.less(t[0], t[1]), dst.at(2, j))
		g.VMOVUPS(g.less(zero, t[1]), dst.at(3, j))
	}
}

// weights writes GᵀmG of sums m.
func (g generator) weights(src, dst lines) {
	scaled := g.halves()
	for i := range 3 {
		var t [4]reg.VecVirtual
		for j := range t {
			first, second := g.load(src.at(1, j)), src.at(2, j)
			switch i {
			case 0:
				t[j] = g.plus(scaled(g.plus(first, second)), src.at(0, j))
			case 1:
				t[j] = scaled(g.less(first, second))
			case 2:
				t[j] = g.plus(scaled(g.plus(first, second)), src.at(3, j))
			}
		}
		both := scaled(g.plus(t[1], t[2]))
		g.VMOVUPS(g.plus(both, t[0]), dst.at(i, 0))
		g.VMOVUPS(scaled(g.less(t[1], t[2])), dst.at(i, 1))
		g.VMOVUPS(g.plus(both, t[3]), dst.at(i, 2))
	}
}

// sums writes AᵀmA of sums m, where Aᵀ is
//
//	1  1  1  0
//	0  1 -1 -1
func (g generator) sums(src, dst lines) {
	var above, below [4]reg.VecVirtual
	for j := range 4 {
		first, second := g.load(src.at(1, j)), g.load(src.at(2, j))
		above[j] = g.plus(g.plus(first, second), src.at(0, j))
		below[j] = g.less(g.less(first, second), src.at(3, j))
	}
	for i, t := range [][4]reg.VecVirtual{above, below} {
		g.VMOVUPS(g.plus(g.plus(t[1], t[2]), t[0]), dst.at(i, 0))
		g.VMOVUPS(g.less(g.less(t[1], t[2]), t[3]), dst.at(i, 1))
	}
}

// largest writes a function that finds the largest magnitude of each line: as integers, magnitudes are in the same order, with infinity and what is no number behind.
func (g generator) largest(name string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(count, vectors int, src *float32, dst *uint32)")
	g.Doc(fmt.Sprintf("%s writes the bits of the largest magnitude of each of count lines of so many vectors, which lie together.", name))
	src, dst, count := g.number("src"), g.number("dst"), g.number("count")
	left := g.GP64()
	signs := g.register()
	g.VPCMPEQD(signs.AsY(), signs.AsY(), signs.AsY())
	g.VPSRLD(operand.U8(1), signs.AsY(), signs.AsY())
	if g.width == 64 {
		g.VPBROADCASTD(signs.AsX(), signs)
	}
	g.Label("line")
	g.Load(g.Param("vectors"), left)
	most := g.register()
	g.VPXOR(most.AsY(), most.AsY(), most.AsY())
	g.Label("vector")
	x := g.register()
	if g.width == 64 {
		g.VPANDD(operand.Mem{Base: src}, signs, x)
	} else {
		g.VPAND(operand.Mem{Base: src}, signs, x)
	}
	g.VPMAXUD(x, most, most)
	g.ADDQ(operand.I32(int32(g.width)), src)
	g.DECQ(left)
	g.JNZ(operand.LabelRef("vector"))
	other := g.YMM()
	if g.width == 64 {
		g.VEXTRACTI64X4(operand.U8(1), most, other)
		g.VPMAXUD(other, most.AsY(), most.AsY())
	}
	g.VEXTRACTI128(operand.U8(1), most.AsY(), other.AsX())
	g.VPMAXUD(other.AsX(), most.AsX(), most.AsX())
	for _, order := range []uint8{0b01_00_11_10, 0b10_11_00_01} {
		g.VPSHUFD(operand.U8(order), most.AsX(), other.AsX())
		g.VPMAXUD(other.AsX(), most.AsX(), most.AsX())
	}
	g.VMOVD(most.AsX(), operand.Mem{Base: dst})
	g.ADDQ(operand.U8(4), dst)
	g.DECQ(count)
	g.JNZ(operand.LabelRef("line"))
	g.VZEROUPPER()
	g.RET()
}
