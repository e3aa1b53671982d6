package origin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/hlo/parser"
)

const text = `HloModule m

FileNames
1 "/src/train.py"

FunctionNames
1 "step"
2 "attend"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=4 end_column=20}
2 {file_name_id=1 function_name_id=2 line=12 end_line=12 column=8 end_column=30}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

fused {
  p = f32[4] parameter(0)
  q = f32[4] negate(p), metadata={op_name="jit(f)/neg" source_file="/src/f.py" source_line=7}
  ROOT r = f32[4] tanh(q)
}

ENTRY main {
  x = f32[4] parameter(0)
  e = f32[4] exponential(x), metadata={op_name="jit(f)/exp" stack_frame_id=2}
  f = f32[4] fusion(e), kind=kLoop, calls=fused
  ROOT s = f32[4] sine(f)
}
`

func TestOf(t *testing.T) {
	m, err := parser.Parse("m.hlo", text)
	require.NoError(t, err)
	of := func(f *origin.Finder, name string) origin.Origin {
		in, ok := m.Entry().ByName(name)
		require.True(t, ok, name)
		return f.Of(in)
	}
	f := origin.NewFinder(m, hlo.Module{})
	assert.Equal(t, origin.Origin{Name: "e", Computation: "main", Opcode: "exponential", Shape: "f32[4]", Line: 26, OpName: "jit(f)/exp", Source: "train.py:12",
		Frames: []string{"attend train.py:12", "step train.py:40"}}, of(f, "e"))
	assert.Equal(t, origin.Origin{Name: "s", Computation: "main", Opcode: "sine", Shape: "f32[4]", Line: 28}, of(f, "s"), "nothing is known but its line")
	fusion := of(f, "f")
	assert.Equal(t, "f.py:7", fusion.Source, "a fusion without metadata has that of what it computes")
	assert.Equal(t, "jit(f)/neg", fusion.OpName)

	// Of a module that passes made, the names are those of the text.
	read, err := parser.Parse("m.hlo", text)
	require.NoError(t, err)
	assert.Empty(t, of(origin.NewFinder(m, read), "e").Of, "it is in the text")
	assert.Equal(t, []string{"f", "r", "q"}, of(origin.NewFinder(m, read), "f").Of)
}

func TestWhere(t *testing.T) {
	for want, o := range map[string]origin.Origin{
		"train.py:12": {Source: "train.py:12", OpName: "jit(f)/exp", Line: 3},
		"jit(f)/exp":  {OpName: "jit(f)/exp", Line: 3},
		"line 3":      {Line: 3},
		"":            {},
	} {
		assert.Equal(t, want, o.Where())
	}
}

func TestSplitFrame(t *testing.T) {
	name, file, line := origin.SplitFrame("attend train.py:12")
	assert.Equal(t, []any{"attend", "train.py", 12}, []any{name, file, line})
	name, file, line = origin.SplitFrame("train.py:12")
	assert.Equal(t, []any{"", "train.py", 12}, []any{name, file, line})
}
