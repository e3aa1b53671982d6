package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every opcode has a rule, and no rule panics or returns an invalid shape without an error, whatever it is given.
func TestShapeRulesAreTotal(t *testing.T) {
	odd := []Shape{
		MakeShape(F32), MakeShape(F32, 4), MakeShape(S32, 2, 3), MakeShape(PRED), MakeShape(S32), MakeTuple(), MakeTuple(MakeShape(F32, 4), MakeShape(F32, 4)),
		MakeTuple(MakeTuple(MakeShape(F32, 4)), MakeShape(F32, 4), MakeShape(U32)), MakeToken(), MakeOpaque(), MakeBuffer(MakeShape(F32, 4)),
		MakeArray(F32, []int64{UnboundedSize, 2}, []bool{true, false}, nil), MakeShape(C64, 0), MakeShape(BF16, 1<<40, 1<<40),
		MakeArray(F32, []int64{4, 4}, []bool{true, false}, &Layout{MinorToMajor: []int64{7, -1}}),
	}
	callee := []ProgramShape{
		{Parameters: []Shape{odd[0], odd[0]}, Result: odd[0]}, {Parameters: []Shape{odd[0]}, Result: odd[3]}, {Result: odd[6]}, {Parameters: []Shape{odd[6]}, Result: odd[6]},
	}
	for op := Opcode(1); int(op) < NumOpcodes; op++ {
		info := Info(op)
		require.NotNil(t, info.Shape, op)
		for n := range 8 {
			for k := range odd {
				for f := range callee {
					c := &ShapeContext{Op: op, Callees: []ProgramShape{callee[f], callee[(f+1)%len(callee)]}}
					for i := range n {
						c.Operands = append(c.Operands, odd[(k+i*(f+1))%len(odd)])
					}
					for _, c.Stated = range []Shape{{}, odd[k], odd[(k+1)%len(odd)]} {
						for _, c.LayoutSensitive = range []bool{false, true} {
							if s, err := InferShape(c); err == nil {
								assert.True(t, s.IsValid(), "%v of %v", op, c.Operands)
							}
						}
					}
				}
			}
		}
	}
}

func TestWindowArithmetic(t *testing.T) {
	for _, c := range []struct{ n, w, s, lo, hi, bd, wd, out int64 }{
		{8, 2, 2, 0, 0, 1, 1, 4}, {10, 3, 2, 1, 1, 1, 1, 5}, {4, 3, 1, 0, 0, 2, 1, 5}, {10, 3, 1, 0, 0, 1, 4, 2},
		{5, 2, 1, -1, 0, 1, 1, 3}, {3, 4, 1, 0, 0, 1, 1, 0}, {0, 1, 1, 2, 2, 1, 1, 4}, {2, 1, 1, -1, -1, 1, 1, 0},
		{UnboundedSize, 2, 1, 0, 0, 1, 1, UnboundedSize},
	} {
		d := WindowDim{Size: c.w, Stride: c.s, PadLow: c.lo, PadHigh: c.hi, BaseDilation: c.bd, WindowDilation: c.wd}
		out, why := d.OutputSize(c.n)
		assert.Empty(t, why)
		assert.Equal(t, c.out, out, "%+v of %d", d, c.n)
	}
	for _, d := range []WindowDim{{}, {Size: 1}, {Size: 1, Stride: 1}, {Size: 1, Stride: 1, BaseDilation: 1}, {Size: 1, Stride: 1, BaseDilation: 1, WindowDilation: 1, PadLow: -9}} {
		_, why := d.OutputSize(4)
		assert.NotEmpty(t, why, "%+v", d)
	}
}

// Layouts of inferred shapes are those of hlo-text section 5.4, once arrays without one have the default.
func TestInferredLayouts(t *testing.T) {
	perm := &Layout{MinorToMajor: []int64{0, 1, 2}}
	x := MakeArray(F32, []int64{2, 3, 4}, nil, DefaultLayout(3))
	y := x.WithLayout(perm)
	for _, c := range []struct {
		c    ShapeContext
		want string
	}{
		{ShapeContext{Op: OpTranspose, Operands: []Shape{x}, Attrs: &DimensionsAttrs{Dimensions: []int64{2, 0, 1}}}, "f32[4,2,3]{0,2,1}"},
		{ShapeContext{Op: OpIsFinite, Operands: []Shape{y}}, "pred[2,3,4]{0,1,2}"},
		{ShapeContext{Op: OpAdd, Operands: []Shape{y, x}}, "f32[2,3,4]{0,1,2}"},
		{ShapeContext{Op: OpAdd, Operands: []Shape{MakeShape(F32), y}}, "f32[2,3,4]{2,1,0}"},
		{ShapeContext{Op: OpConcatenate, Operands: []Shape{y, y}, Attrs: &AxisAttrs{Dimensions: []int64{1}}}, "f32[2,6,4]{2,1,0}"},
		{ShapeContext{Op: OpReduce, Operands: []Shape{y, MakeShape(F32)}, Attrs: &DimensionsAttrs{Dimensions: []int64{0, 2}}, Callees: []ProgramShape{
			{Parameters: []Shape{MakeShape(F32), MakeShape(F32)}, Result: MakeShape(F32)}}}, "f32[3]{0}"},
		{ShapeContext{Op: OpDot, Operands: []Shape{y, x}, Attrs: &DotAttrs{LHSBatch: []int64{1, 0}, RHSBatch: []int64{1, 0}, LHSContracting: []int64{2}, RHSContracting: []int64{2}}}, "f32[3,2]{1,0}"},
	} {
		s, err := InferShape(&c.c)
		require.NoError(t, err)
		assert.Equal(t, c.want, s.WithDefaultLayout().String(), c.c.Op)
	}
	_, err := InferShape(&ShapeContext{Op: OpReshape, Operands: []Shape{x}})
	assert.ErrorContains(t, err, "cannot infer shape for opcode: reshape")
}
