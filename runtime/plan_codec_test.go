package runtime_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
)

var samplePlan = runtime.BufferPlan{Functions: []runtime.FunctionPlan{
	{Func: 0, FrameBytes: 0},
	{
		Func: 300, FrameBytes: 1 << 40,
		Registers: []runtime.Register{
			{Type: 4, Dims: []int64{2, 3}, Bytes: 24, Slot: runtime.ArgSlot(0)},
			{Type: 4, Dims: []int64{-1}, Bytes: 0, Slot: runtime.OutSlot(7)},
			{Type: 1, Bytes: 1, Slot: runtime.ArenaSlot(1 << 33)},
			{Type: 11, Dims: []int64{0}, Slot: runtime.ConstSlot(64)},
			{Type: 17},
		},
		Controls: []runtime.Control{
			{Kernel: 1, Frames: []int64{64, 128}, TripCount: runtime.UnknownTripCount},
			{Kernel: 2, Frames: []int64{0}, Counts: []int{1, 2}, Thread: "side", Outputs: []int{4}, Detached: true, TripCount: 1 << 50},
		},
	},
}}

var sampleMetadata = runtime.Metadata{
	Module: "resnet", Entry: 3, Replicas: 2, Partitions: 1,
	Params:     []runtime.Leaf{{Name: "x{0}", Shape: "f32[2]{0}", Type: 11, Dims: []int64{2}, Bytes: 8}},
	Results:    []runtime.Leaf{{Name: "", Shape: "token[]", Type: 17}, {Shape: "f32[]", Type: 11, Bytes: 4}},
	Aliases:    []runtime.Alias{{Result: 1, Param: 0, Must: true}},
	Properties: []runtime.Property{{Key: "tool", Value: "halo"}},
}

func TestPlanSectionsSurviveEncoding(t *testing.T) {
	plan, err := runtime.DecodeBufferPlan(samplePlan.Encode())
	require.NoError(t, err)
	assert.Equal(t, &samplePlan, plan)
	m, err := runtime.DecodeMetadata(sampleMetadata.Encode())
	require.NoError(t, err)
	assert.Equal(t, &sampleMetadata, m)
}

// TestPlanSectionsCutShort cuts and extends the sections at every byte: an error each time.
func TestPlanSectionsCutShort(t *testing.T) {
	plan, metadata := samplePlan.Encode(), sampleMetadata.Encode()
	for i := range plan {
		_, err := runtime.DecodeBufferPlan(plan[:i])
		assert.Error(t, err, "plan cut at %d", i)
	}
	for i := range metadata {
		_, err := runtime.DecodeMetadata(metadata[:i])
		assert.Error(t, err, "metadata cut at %d", i)
	}
	_, err := runtime.DecodeBufferPlan(append(plan, 0))
	assert.ErrorContains(t, err, "1 bytes after the end")
	_, err = runtime.DecodeMetadata([]byte{2})
	assert.ErrorContains(t, err, "metadata version 2, want 1")
	_, err = runtime.DecodeBufferPlan([]byte{1, 0xff, 0xff, 0xff, 0x7f})
	assert.ErrorContains(t, err, "list of 268435455")
}

// FuzzBufferPlan decodes anything without harm, and what it accepts is a fixpoint.
func FuzzBufferPlan(f *testing.F) {
	f.Add(samplePlan.Encode())
	f.Add([]byte{1, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := runtime.DecodeBufferPlan(b)
		if err != nil {
			return
		}
		e := p.Encode()
		q, err := runtime.DecodeBufferPlan(e)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(e, q.Encode()))
	})
}

// FuzzLoadPlan puts any plan into a file of a loop, an async chain and a branch: loading refuses it or the program runs.
func FuzzLoadPlan(f *testing.F) {
	file, err := assemble(fuzzProgram)
	require.NoError(f, err)
	f.Add(file.Extension(runtime.SectionBufferPlan))
	reg := toyKernels()
	f.Fuzz(func(t *testing.T, plan []byte) {
		file, err := assemble(fuzzProgram)
		require.NoError(t, err)
		file.Extensions[0].Data = plan
		p, err := runtime.Load(file, reg, runtime.LoadOptions{MaxBytes: 1 << 20})
		if err != nil || p.Function("main") == nil || !p.Function("main").IsTensor() {
			return
		}
		fn := p.Function("main")
		_ = fn.Run(t.Context(), runtime.RunOptions{}, argsOf(fn), fn.NewResults())
	})
}

const fuzzProgram = `
const 1
func twice frame=64
  x:i32[1] = arg
  t:i32[1]@arena(0) = toy.copy x
  return t
func cond frame=0
  i:i32[1] = arg
  p:pred[]@out(0) = toy.nothing i
  return p
func body frame=0
  i:i32[1] = arg
  return i
func main frame=256
  x:i32[1] = arg
  s:pred[] = arg
  k:i32[1]@const(0) = hlo.constant
  e:tok = hlo.async-start x calls=twice@64 outputs=a
  a:i32[1]@arena(0) = hlo.async-done e
  w:i32[1]@arena(128) = hlo.while a calls=cond@192,body@192 trips=3
  b:i32[1]@out(0) = hlo.conditional s w k calls=twice@64,twice@64 counts=1,1
  return b
`
