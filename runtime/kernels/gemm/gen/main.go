// Command gen writes the vector forms of the inner loop of matrix multiplication: gen_micro_amd64.s and its declarations. Run it by go
// generate in the directory above.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"

	"github.com/gohalo/halo/internal/asmgen"
)

func main() { asmgen.Write(generate) }

// generate returns the assembly and the Go file that declares its functions.
func generate() (asmgen.Files, error) {
	g := generator{build.NewContext()}
	g.ConstraintExpr("amd64")
	f32, f64 := element{name: "float32", size: 4}, element{name: "float64", size: 8}
	i32, pairs := element{name: "int32", size: 4, integer: true}, element{name: "int32", size: 4, integer: true, pairs: true}
	for _, m := range []struct {
		name         string
		element      element
		rows, vector int
	}{
		{"f32AVX512", f32, 14, 64}, {"f32AVX512Few", f32, 8, 64}, {"f32AVX2", f32, 6, 32}, {"f32AVX2Few", f32, 4, 32},
		{"f64AVX512", f64, 14, 64}, {"f64AVX512Few", f64, 8, 64}, {"f64AVX2", f64, 6, 32}, {"f64AVX2Few", f64, 4, 32},
		{"i32AVX512", i32, 12, 64}, {"i32AVX2", i32, 6, 32},
		{"pairsAVX512", pairs, 12, 64}, {"pairsAVX2", pairs, 6, 32},
	} {
		g.micro(m.name, m.element, m.rows, m.vector, onPanels)
		g.micro(m.name+"Packing", m.element, m.rows, m.vector, packing)
		g.micro(m.name+"OnRows", m.element, m.rows, m.vector, onRows)
		if m.element == f32 {
			g.micro(m.name+"Decoding", m.element, m.rows, m.vector, decoding)
		}
	}
	for _, e := range []element{f32, f64} {
		name := fmt.Sprintf("f%dAVX512", 8*e.size)
		g.micro(name+"FewOnBroad", e, 8, 64, onBroad)
		g.micro(name+"FewOnHalf", e, 4, 64, onHalf)
		g.micro(name+"InPlace", e, 8, 64, inPlace)
		g.anywhere(name+"Narrow", e, 1, false)
		g.anywhere(name+"NarrowPart", e, 1, true)
		g.anywhere(name+"WidePart", e, 2, true)
	}
	g.micro("quadsVNNI", element{name: "int32", size: 4, integer: true, quads: true}, 14, 64, onPanels)
	g.micro("quadsVNNIInPlace", element{name: "int32", size: 4, integer: true, quads: true, unsigned: true}, 8, 64, inPlace)
	g.quadsOfRuns("quadsOfRunsAVX512")
	g.signs("signsVNNI")
	g.micro("f32AVX2InPlace", f32, 6, 32, inPlace)
	g.micro("f64AVX2InPlace", f64, 6, 32, inPlace)
	g.vectorLoops()
	g.lineLoops()
	g.runs("runsAVX512", 64)
	g.runs("runsAVX2", 32)
	g.runsOfBF16("runsBF16AVX512")
	for _, columns := range []int{4, 6, 16} {
		g.runsOfBF16Exactly(fmt.Sprintf("runsBF16By%dAVX2", columns), columns)
	}
	g.peak("peakAVX512", 64)
	g.peak("peakAVX2", 32)
	return asmgen.Compile(g.Context, "runtime/kernels/gemm", "micro")
}

type generator struct{ *build.Context }

// element is a Go type and its size. Pairs are integers of 16 bits, two in an element, whose products are added; quads are four of 8 bits, without a sign on the right, or else
// on the left, and panels of them begin with a line of numbers that sums begin with.
type element struct {
	name                            string
	size                            int
	integer, pairs, quads, unsigned bool
}
