package pass_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
)

// swap is a rule that turns an op of one operand into another.
func swap(id string, from, to hlo.Opcode, fp pass.FP) *pass.RewriteRule {
	return &pass.RewriteRule{ID: id, Doc: "exchange", FP: fp, Root: []hlo.Opcode{from}, Rewrite: func(in hlo.Instruction) (pass.Expr, bool) {
		return pass.New(to, in.Shape(), nil, pass.Use(in.OperandInstr(0))), true
	}}
}

func at(f pass.FP) *pass.FP { return &f }

func TestRewriterStopsRulesThatUndoEachOther(t *testing.T) {
	r := &pass.Rewriter{Rules: []*pass.RewriteRule{
		swap("X1", hlo.OpNegate, hlo.OpAbs, pass.Exact), swap("X2", hlo.OpAbs, hlo.OpNegate, pass.Exact),
	}}
	said := ""
	runner := &pass.Runner{Instruments: []pass.Instrument{{Remark: func(r pass.Remark) { said = r.Text }}}}
	_, err := runner.Run(context.Background(), pass.Of("", &pass.Pass{Name: "circle", Doc: "go round", Local: r.Local}), module(t, "m"))
	require.NoError(t, err)
	assert.Contains(t, said, "rules undo each other")
}

func TestRewriterHoldsItsPolicy(t *testing.T) {
	rounding := swap("X3", hlo.OpNegate, hlo.OpTanh, pass.Rounding)
	m := module(t, "m")
	for _, c := range []struct {
		r    *pass.Rewriter
		fuel map[string]int
		want hlo.Opcode
	}{
		{&pass.Rewriter{}, nil, hlo.OpNegate},
		{&pass.Rewriter{Allow: at(pass.Rounding)}, nil, hlo.OpTanh},
		{&pass.Rewriter{Allow: at(pass.FastMath), Off: []string{"X3"}}, nil, hlo.OpNegate},
		{&pass.Rewriter{Allow: at(pass.FastMath)}, map[string]int{"p.X3": 0}, hlo.OpNegate},
	} {
		c.r.Rules = []*pass.RewriteRule{rounding}
		after, err := (&pass.Runner{Fuel: c.fuel}).Run(context.Background(), pass.Of("", &pass.Pass{Name: "p", Local: c.r.Local}), m)
		require.NoError(t, err)
		assert.Equal(t, c.want, after.Entry().Root().Opcode())
		assert.Equal(t, c.want == hlo.OpNegate, after == m, "unchanged means the same module")
	}
	assert.Equal(t, []pass.Rule{{ID: "X3", Doc: "exchange (may change: rounding)"}}, (&pass.Rewriter{Rules: []*pass.RewriteRule{rounding}}).Document())
}

func TestMatch(t *testing.T) {
	b := hlo.NewBuilder("m")
	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 4))
	two := b.Broadcast(hlo.ConstantOf(b, hlo.MakeShape(hlo.F32), float32(2)), nil, 4)
	m, err := b.Build(b.Add(two, b.Multiply(x, x)))
	require.NoError(t, err)
	root := m.Entry().Root()
	var y, product hlo.Instruction
	var l *hlo.Literal
	square := match.Op(hlo.OpMultiply, match.Any(&y), match.Same(&y)).As(&product)
	assert.True(t, match.Swap(hlo.OpAdd, square.OneUse(), match.Splat(&l))(root))
	assert.Equal(t, "x", y.Name())
	assert.Equal(t, hlo.OpMultiply, product.Opcode())
	assert.Equal(t, []float32{2}, hlo.Values[float32](l))
	assert.False(t, match.Op(hlo.OpAdd, square, match.Any(nil))(root), "the other order")
	assert.False(t, match.Op(hlo.OpAdd, match.Any(nil))(root), "the number of operands counts")
	assert.True(t, match.Either(match.Op(hlo.OpAbs), match.Any(nil))(root))
}
