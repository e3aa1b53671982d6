package proto_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
)

// TestProgramKeepsIDs finds every instruction of an edited module by its id, before and after its message.
func TestProgramKeepsIDs(t *testing.T) {
	m, err := parser.Parse("test", `HloModule ids
unused { ROOT z = f32[] parameter(0) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[8] parameter(0), metadata={op_name="p['x']"}
  zero = f32[] constant(0)
  dead = f32[8] negate(x), metadata={op_name="gone"}
  n = f32[8] exponential(x), metadata={op_name="gone"}
  ROOT r = f32[] reduce(n, zero), dimensions={0}, to_apply=add
}`)
	require.NoError(t, err)
	e := m.Edit()
	unused, _ := m.ComputationByName("unused")
	e.RemoveComputation(unused.ID())
	dead, _ := m.Entry().ByName("dead")
	e.Computation(m.Entry().ID()).Remove(dead.ID())
	m = e.Freeze()

	p := proto.NewProgram(m)
	back, err := proto.DecodeProgram(p.Encode())
	require.NoError(t, err)
	n := 0
	for c := range m.Computations() {
		for in := range c.Instructions() {
			n++
			here, ok := p.Instruction(p.ID(in))
			assert.True(t, ok && here.Name() == in.Name(), in.Name())
			there, ok := back.Instruction(p.ID(in))
			assert.True(t, ok && there.Name() == in.Name() && there.Opcode() == in.Opcode(), in.Name())
		}
	}
	assert.Equal(t, 7, n)
	for _, id := range []int64{-1, 1 << 62, int64(m.Entry().ID())<<32 | 100, int64(unused.ID()) << 32, int64(m.CompIDLimit()) << 32} {
		_, ok := p.Instruction(id)
		assert.False(t, ok, "%x", id)
		_, ok = back.Instruction(id)
		assert.False(t, ok, "%x", id)
	}

	x, exp := back.Module().Entry().Parameter(0), back.Module().Entry().Root().OperandInstr(0)
	assert.Equal(t, "p['x']", x.Common().Metadata.OpName, "parameters of the entry keep their names")
	assert.Equal(t, hlo.OpExponential, exp.Opcode())
	assert.Nil(t, exp.Common())
}

// TestProgramKeepsElided writes no filler for constants whose values are elsewhere.
func TestProgramKeepsElided(t *testing.T) {
	m, err := parser.Parse("test", "HloModule m\nENTRY e { ROOT c = f32[1000] constant({...}) }")
	require.NoError(t, err)
	data := proto.NewProgram(m).Encode()
	assert.Less(t, len(data), 500)
	back, err := proto.DecodeProgram(data)
	require.NoError(t, err)
	assert.True(t, back.Module().Entry().Root().Literal().IsElided())
}
