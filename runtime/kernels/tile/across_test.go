package tile

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// acrossFunctions are what is folded, of elements of a column and of a row, and by what.
var acrossFunctions = []struct {
	typ  hlo.PrimitiveType
	text string
	fold hlo.Opcode
}{
	{hlo.F32, "pred[1] compare(f32[1], f32[1]), direction=LT", hlo.OpOr},
	{hlo.S32, "pred[1] compare(s32[1], s32[1]), direction=EQ", hlo.OpOr},
	{hlo.U8, "pred[1] compare(u8[1], u8[1]), direction=NE", hlo.OpAnd},
	{hlo.S64, "pred[1] compare(s64[1], s64[1]), direction=GE", hlo.OpAnd},
	{hlo.F32, "f32[1] subtract(f32[1], f32[1])", hlo.OpAdd},
	{hlo.F32, "f32[1] multiply(f32[1], f32[1])", hlo.OpMaximum},
	{hlo.F64, "f64[1] subtract(f64[1], f64[1])", hlo.OpAdd},
	{hlo.F64, "f64[1] power(f64[1], f64[1])", hlo.OpMinimum},
	{hlo.S32, "s32[1] xor(s32[1], s32[1])", hlo.OpMinimum},
	{hlo.U64, "u64[1] and(u64[1], u64[1])", hlo.OpAdd},
}

// shown keeps what a program shows.
type shown struct {
	width int
	bytes []byte
}

func (s *shown) Tile(_, n int, elements unsafe.Pointer) {
	s.bytes = append(s.bytes, vec[byte](elements, n*s.width)...)
}

// TestAcross holds what code folds across rows to what steps do, which fold row after row.
func TestAcross(t *testing.T) {
	_, here := function0(t).compile() // the system lets code be made
	const units = 2
	for level := vectors.Portable; level <= vectors.Best(); level++ {
		for i := range acrossFunctions {
			for _, size := range [][2]int64{{1, 256}, {7, 300}, {300, 1021}} {
				f, rows, columns := &acrossFunctions[i], size[0], size[1]
				t.Run(fmt.Sprintf("%v/%s %v/%v", level, f.text, f.fold, size), func(t *testing.T) {
					defer vectors.Use(level)()
					r := rand.New(rand.NewPCG(uint64(i), 9))
					program := func() *Program {
						b := NewBuilder(Space{[]int64{units, rows, columns}})
						x := b.Input(0, f.typ, View{Strides: []int64{columns, 0, 1}})
						v, ok := b.Op(instruction(t, f.text), x, b.Input(1, f.typ, View{Strides: []int64{0, 1, 0}}))
						require.True(t, ok && b.FoldAcross(v, f.fold))
						p, ok := b.Build()
						require.True(t, ok && p.IsAcross())
						return p
					}
					byCode, bySteps := program(), program()
					byCode.native.work.Store(payingWork)
					bySteps.native.once.Do(func() {})
					bySteps.native.code.Store(&nativeSteps{})
					data := &raw{in: [][]byte{randomBytes(r, f.typ, int(units*columns)), randomBytes(r, f.typ, int(rows))}}
					fold := &byCode.folds[0]
					run := func(p *Program, unit, column, n int) []byte {
						s := &shown{width: fold.width}
						p.RunAcross(unit, column, n, fold.identity, data, s)
						return s.bytes
					}
					for unit := range units {
						for column := 0; column < int(columns); column += 768 {
							n := min(768, int(columns)-column)
							require.Equal(t, run(bySteps, unit, column, n), run(byCode, unit, column, n), "unit %d, from column %d", unit, column)
						}
					}
					c := byCode.native.code.Load()
					assert.Equal(t, here && level > vectors.Portable, c != nil && c.Code != nil, "code")
				})
			}
		}
	}
}
