package eval_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/runtime/devices"
)

func parse(t testing.TB, text string) hlo.Module {
	t.Helper()
	m, err := parser.Parse("case.hlo", text)
	require.NoError(t, err)
	return m
}

const endless = `HloModule endless
yes { p = s32[] parameter(0) ROOT t = pred[] constant(true) }
same { ROOT p = s32[] parameter(0) }
ENTRY e { p = s32[] parameter(0) ROOT w = s32[] while(p), condition=yes, body=same }
`

func TestCancellationEndsALoop(t *testing.T) {
	m := parse(t, endless)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := eval.Module(ctx, m, []*hlo.Literal{literal(t, "s32[] 1")}, eval.Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestBudget(t *testing.T) {
	m := parse(t, endless)
	_, err := eval.Module(context.Background(), m, []*hlo.Literal{literal(t, "s32[] 1")}, eval.Options{MaxSteps: 100})
	require.ErrorIs(t, err, eval.ErrBudget)

	m = parse(t, "HloModule m\nENTRY e { z = f32[] constant(0) ROOT b = f32[1000000] broadcast(z), dimensions={} }\n")
	_, err = eval.Module(context.Background(), m, nil, eval.Options{MaxBytes: 1000})
	require.ErrorIs(t, err, eval.ErrBudget)
	m = parse(t, "HloModule m\nENTRY e { z = f32[] constant(0) ROOT b = f32[1000000000,1000000000] broadcast(z), dimensions={} }\n")
	_, err = eval.Module(context.Background(), m, nil, eval.Options{})
	require.ErrorIs(t, err, eval.ErrBudget)
}

func TestArgumentsAreChecked(t *testing.T) {
	m := parse(t, "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }\n")
	_, err := eval.Module(context.Background(), m, nil, eval.Options{})
	require.ErrorContains(t, err, "arguments: want 1, got 0")
	_, err = eval.Module(context.Background(), m, []*hlo.Literal{literal(t, "s32[2] {1, 2}")}, eval.Options{})
	require.ErrorContains(t, err, "want f32[2]")
}

func TestErrorsNameTheInstruction(t *testing.T) {
	m := parse(t, "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT c = f32[2] custom-call(p), custom_call_target=\"nobody\"\n}\n")
	_, err := eval.Module(context.Background(), m, []*hlo.Literal{literal(t, "f32[2] {1, 2}")}, eval.Options{})
	var e *eval.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "c", e.Instruction)
	assert.Equal(t, hlo.OpCustomCall, e.Opcode)
	assert.EqualValues(t, 4, e.Position.Line)
}

func TestCustomCallHandler(t *testing.T) {
	m := parse(t, "HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT c = f32[2] custom-call(p), custom_call_target=\"mine\" }\n")
	x := literal(t, "f32[2] {1, 2}")
	o := eval.Options{CustomCalls: map[string]eval.Kernel{"mine": func(c *eval.Call) (*hlo.Literal, error) { return c.Args[0], nil }}}
	v, err := eval.Module(context.Background(), m, []*hlo.Literal{x}, o)
	require.NoError(t, err)
	assert.True(t, v.Equal(x))
}

func TestTraceSeesEveryValue(t *testing.T) {
	m := parse(t, "HloModule m\nf { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\nENTRY e { p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=f }\n")
	var seen []string
	o := eval.Options{Trace: func(in hlo.Instruction, _ *hlo.Literal) { seen = append(seen, in.Opcode().String()) }}
	_, err := eval.Module(context.Background(), m, []*hlo.Literal{literal(t, "f32[] 1")}, o)
	require.NoError(t, err)
	assert.Equal(t, []string{"parameter", "parameter", "negate", "call"}, seen)
}

// TestPrepared evaluates one instruction from several goroutines.
func TestPrepared(t *testing.T) {
	m := parse(t, `HloModule m
add { x = s32[] parameter(0) y = s32[] parameter(1) ROOT s = s32[] add(x, y) }
ENTRY e { p = s32[3] parameter(0) z = s32[] constant(0) ROOT r = s32[] reduce(p, z), dimensions={0}, to_apply=add }
`)
	p := eval.Prepare(m, m.Entry().Root())
	operands := []*hlo.Literal{literal(t, "s32[3] {1, 2, 3}"), literal(t, "s32[] 10")}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				v, err := p.Eval(context.Background(), eval.On{}, operands)
				if assert.NoError(t, err) {
					n, _ := v.ScalarInt()
					assert.EqualValues(t, 16, n)
				}
			}
		})
	}
	wait.Wait()
}

// feed is a host that gives numbers and keeps what it gets.
type feed struct{ next, got int64 }

func (f *feed) Infeed(_ eval.Device, s hlo.Shape) (*hlo.Literal, error) {
	f.next++
	return hlo.LiteralOf(s, int32(f.next))
}

func (f *feed) Outfeed(_ eval.Device, v *hlo.Literal) error { f.got, _ = v.ScalarInt(); return nil }
func (f *feed) Send(eval.Device, hlo.Instruction, *hlo.Literal) error {
	return errors.New("nobody listens")
}

func (f *feed) Recv(_ eval.Device, _ hlo.Instruction, s hlo.Shape) (*hlo.Literal, error) {
	return hlo.LiteralOf(s, int32(77))
}

func TestHost(t *testing.T) {
	m := parse(t, `HloModule m
ENTRY e {
  t = token[] after-all()
  i = (s32[], token[]) infeed(t)
  a = s32[] get-tuple-element(i), index=0
  u = token[] get-tuple-element(i), index=1
  j = (s32[], token[]) infeed(u)
  b = s32[] get-tuple-element(j), index=0
  s = s32[] add(a, b)
  o = token[] outfeed(s, u), outfeed_shape=s32[]
  r = (s32[], u32[], token[]) recv(o), channel_id=1, is_host_transfer=true
  d = (s32[], token[]) recv-done(r), channel_id=1, is_host_transfer=true
  ROOT v = s32[] get-tuple-element(d), index=0
}
`)
	f := new(feed)
	v, err := eval.Module(context.Background(), m, nil, eval.Options{Host: f})
	require.NoError(t, err)
	n, _ := v.ScalarInt()
	assert.EqualValues(t, 77, n)
	assert.EqualValues(t, 3, f.got)
	_, err = eval.Module(context.Background(), m, nil, eval.Options{})
	require.ErrorContains(t, err, "no host")
}

func TestRngIsReproducible(t *testing.T) {
	m := parse(t, `HloModule m
ENTRY e {
  a = f32[] constant(2)
  b = f32[] constant(5)
  u = f32[1000] rng(a, b), distribution=rng_uniform
  n = f32[1001] rng(a, b), distribution=rng_normal
  i = s32[] constant(-3)
  j = s32[] constant(4)
  k = s32[1000] rng(i, j), distribution=rng_uniform
  ROOT t = (f32[1000], f32[1001], s32[1000]) tuple(u, n, k)
}
`)
	one, err := eval.Module(context.Background(), m, nil, eval.Options{Seed: 1})
	require.NoError(t, err)
	again, err := eval.Module(context.Background(), m, nil, eval.Options{Seed: 1})
	require.NoError(t, err)
	assert.True(t, one.Equal(again))
	other, err := eval.Module(context.Background(), m, nil, eval.Options{Seed: 2})
	require.NoError(t, err)
	assert.False(t, one.Equal(other))
	mean := 0.0
	for _, x := range hlo.Values[float32](one.Part(0)) {
		assert.True(t, x >= 2 && x < 5, "%v", x)
	}
	for _, x := range hlo.Values[float32](one.Part(1)) {
		mean += float64(x) / 1001
	}
	assert.InDelta(t, 2, mean, 1)
	for _, x := range hlo.Values[int32](one.Part(2)) {
		assert.True(t, x >= -3 && x < 4, "%v", x)
	}
}

func TestDevices(t *testing.T) {
	m := parse(t, `HloModule m, num_partitions=4
add { x = s32[] parameter(0) y = s32[] parameter(1) ROOT s = s32[] add(x, y) }
ENTRY e {
  p = s32[1] parameter(0)
  id = u32[] partition-id()
  g = s32[2] all-gather(p), channel_id=1, replica_groups={{0,2},{3,1}}, dimensions={0}, use_global_device_ids=true
  r = s32[1] all-reduce(p), channel_id=2, replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=add
  s = s32[1] reduce-scatter(g), channel_id=3, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, dimensions={0}, to_apply=add
  c = s32[1] collective-permute(p), channel_id=4, source_target_pairs={{0,1},{1,2}}
  a = s32[2] all-to-all(g), channel_id=5, replica_groups={{0,1},{2,3}}, dimensions={0}
  b = s32[1] collective-broadcast(p), channel_id=6, replica_groups={{2,0}}
  ROOT t = (u32[], s32[2], s32[1], s32[1], s32[1], s32[2], s32[1]) tuple(id, g, r, s, c, a, b)
}
`)
	args := make([][]*hlo.Literal, 4)
	for i, text := range []string{"s32[1] {10}", "s32[1] {20}", "s32[1] {30}", "s32[1] {40}"} {
		args[i] = []*hlo.Literal{literal(t, text)}
	}
	got, err := eval.Devices(context.Background(), m, args, 1, 4, eval.Options{})
	require.NoError(t, err)
	want := [][]string{
		{"u32[] 0", "s32[2] {10, 30}", "s32[1] {30}", "s32[1] {50}", "s32[1] {0}", "s32[2] {10, 40}", "s32[1] {30}"},
		{"u32[] 1", "s32[2] {40, 20}", "s32[1] {30}", "s32[1] {50}", "s32[1] {10}", "s32[2] {30, 20}", "s32[1] {0}"},
		{"u32[] 2", "s32[2] {10, 30}", "s32[1] {70}", "s32[1] {50}", "s32[1] {20}", "s32[2] {10, 40}", "s32[1] {30}"},
		{"u32[] 3", "s32[2] {40, 20}", "s32[1] {70}", "s32[1] {50}", "s32[1] {0}", "s32[2] {30, 20}", "s32[1] {0}"},
	}
	for i, leaves := range want {
		for k, w := range leaves {
			assert.Empty(t, tolerance{Kind: "exact"}.compare(got[i].Part(k), literal(t, w)), "device %d result %d", i, k)
		}
	}
}

func TestDevicesThatWaitForEachOther(t *testing.T) {
	m := parse(t, `HloModule m, replica_count=2
add { x = s32[] parameter(0) y = s32[] parameter(1) ROOT s = s32[] add(x, y) }
reduces { p = s32[] parameter(0) ROOT r = s32[] all-reduce(p), replica_groups={{0,1}}, to_apply=add }
idle { ROOT p = s32[] parameter(0) }
ENTRY e {
  p = s32[] parameter(0)
  ROOT c = s32[] conditional(p, p, p), branch_computations={reduces, idle}
}
`)
	args := [][]*hlo.Literal{{literal(t, "s32[] 0")}, {literal(t, "s32[] 1")}}
	_, err := eval.Devices(context.Background(), m, args, 2, 1, eval.Options{})
	require.ErrorIs(t, err, devices.ErrDeadlock)
	require.ErrorContains(t, err, "device 0 waits in all-reduce r for device 1\n  device 1 has finished")
}

// TestTopKCall gives the call of XLA:CPU comparators of values, and of values and their indices, or none. Among equals the first comes first.
func TestTopKCall(t *testing.T) {
	for _, comparator := range []string{
		"",
		"f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GT }",
		"f { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) ROOT c = pred[] compare(a, b), direction=GT }",
	} {
		called := ""
		if comparator != "" {
			called = ", called_computations={f}"
		}
		m := parse(t, "HloModule m\n"+comparator+`
ENTRY e { p = f32[2,4] parameter(0) ROOT c = (f32[2,3], s32[2,3]) custom-call(p), custom_call_target="TopK"`+called+` }
`)
		v, err := eval.Module(context.Background(), m, []*hlo.Literal{literal(t, "f32[2,4] {{1, 4, 2, 4}, {0, -1, 7, -1}}")}, eval.Options{})
		require.NoError(t, err)
		assert.Equal(t, literal(t, "f32[2,3] {{4, 4, 2}, {7, 0, -1}}").Bytes(), v.Part(0).Bytes())
		assert.Equal(t, literal(t, "s32[2,3] {{1, 3, 2}, {2, 0, 1}}").Bytes(), v.Part(1).Bytes())
	}
}
