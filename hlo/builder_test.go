package hlo_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/verifier"
)

// A softmax, with a reduction whose computation is built on the way.
func ExampleBuilder() {
	b := hlo.NewBuilder("softmax")
	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 4, 8))
	sum := b.Computation("sum", func(c *hlo.Builder) hlo.Value {
		return c.Add(c.Parameter("a", hlo.MakeShape(hlo.F32)), c.Parameter("b", hlo.MakeShape(hlo.F32)))
	})
	zero := b.As("zero").Constant(must(hlo.LiteralOf(hlo.MakeShape(hlo.F32), float32(0))))
	e := b.As("e").Exponential(x)
	total := b.As("total").Reduce(e, zero, sum, 1)
	wide := b.As("wide").Broadcast(total, []int64{0}, 4, 8)
	m, err := b.Build(b.As("y").Divide(e, wide))
	if err != nil {
		panic(err)
	}
	for in := range m.Entry().Instructions() {
		fmt.Println(in.Name(), in.Opcode(), in.Shape())
	}
	// Output:
	// x parameter f32[4,8]{1,0}
	// zero constant f32[]
	// e exponential f32[4,8]{1,0}
	// total reduce f32[4]{0}
	// wide broadcast f32[4,8]{1,0}
	// y divide f32[4,8]{1,0}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var scalar = hlo.MakeShape(hlo.F32)

func TestBuilderControlFlowAndAsync(t *testing.T) {
	b := hlo.NewBuilder("m")
	s32 := hlo.MakeShape(hlo.S32)
	x, n := b.Parameter("x", hlo.MakeShape(hlo.F32, 4)), b.Parameter("n", s32)
	state := hlo.MakeTuple(s32, hlo.MakeShape(hlo.F32, 4))
	cond := b.Computation("cond", func(c *hlo.Builder) hlo.Value {
		return c.Compare(hlo.GT, c.Element(c.Parameter("s", state), 0), hlo.ConstantOf(c, s32, int32(0)))
	})
	body := b.Computation("body", func(c *hlo.Builder) hlo.Value {
		s := c.Parameter("s", state)
		return c.Tuple(c.Subtract(c.Element(s, 0), hlo.ConstantOf(c, s32, int32(1))), c.Multiply(c.Element(s, 1), hlo.ConstantOf(c, scalar, float32(2))))
	})
	w := b.While(cond, body, b.Tuple(n, x))
	add := b.Computation("add", func(c *hlo.Builder) hlo.Value {
		return c.Add(c.Parameter("a", x.Shape()), c.Parameter("b", x.Shape()))
	})
	start := b.AsyncStart(add, "side", b.Element(w, 1))
	done := b.As("done").AsyncDone(b.AsyncUpdate(start, x))
	other := b.AsyncDone(b.AsyncOp(hlo.OpTanh, nil, "", x))
	m, err := b.Build(b.Tuple(done, other))
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(m, verifier.Config{}).Err())
	c, ok := m.Computation(add)
	require.True(t, ok)
	assert.Equal(t, "side", c.ExecutionThread())
	in, ok := m.Entry().ByName("done")
	require.True(t, ok)
	assert.Equal(t, "f32[4]{0}", in.Shape().String())
	assert.Equal(t, "((f32[4]{0}, f32[4]{0}), f32[4]{0}, u32[])", in.OperandInstr(0).Shape().String())
}

func TestBuilderBroadcastsImplicitly(t *testing.T) {
	b := hlo.NewBuilder("m")
	x, row, one := b.Parameter("x", hlo.MakeShape(hlo.F32, 3, 4)), b.Parameter("row", hlo.MakeShape(hlo.F32, 1, 4)), hlo.ConstantOf(b, scalar, float32(1))
	m, err := b.Build(b.Add(b.Add(x, row), one))
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(m, verifier.Config{}).Err())
	var ops []string
	for in := range m.Entry().Instructions() {
		ops = append(ops, in.Opcode().String())
	}
	assert.Equal(t, []string{"parameter", "parameter", "constant", "reshape", "broadcast", "add", "broadcast", "add"}, ops)
}

func TestBuilderKeepsTheFirstMistake(t *testing.T) {
	b := hlo.NewBuilder("m")
	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 4))
	y := b.Parameter("y", hlo.MakeShape(hlo.S32, 4))
	bad := b.Add(x, y)
	_, err := b.Build(b.Negate(bad))
	require.ErrorContains(t, err, "Binary op add with different element types")
	var e *hlo.ShapeError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "ELT-07", e.Rule)
	for name, f := range map[string]func(b *hlo.Builder, x hlo.Value) hlo.Value{
		"not a value of the computation": func(b *hlo.Builder, _ hlo.Value) hlo.Value { return b.Negate(hlo.Value{}) },
		"is not a value of the comput": func(b *hlo.Builder, x hlo.Value) hlo.Value { // of this one: that of the caller
			return b.Call(b.Computation("f", func(f *hlo.Builder) hlo.Value { return f.Negate(x) }))
		},
		"does not exist":               func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Call(99, x) },
		"is not an asynchronous value": func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.AsyncDone(x) },
		"cannot infer shape":           func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Op(hlo.OpConvert, nil, x) },
		"element count":                func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Reshape(x, 5) },
	} {
		b := hlo.NewBuilder("m")
		_, err := b.Build(f(b, b.Parameter("x", hlo.MakeShape(hlo.F32, 4))))
		assert.ErrorContains(t, err, name)
	}
}
