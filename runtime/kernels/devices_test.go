package kernels_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/runtime/kernels"
	"github.com/gohalo/halo/runtime/workqueue"
	"github.com/gohalo/halo/verifier"
)

// module is a program that computes the number of its device, id, and then goes on as told with its parameter x.
func module(g grid, text string) string {
	return fmt.Sprintf(`HloModule m, replica_count=%d, num_partitions=%d
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
max { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] maximum(a, b) }
min { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] minimum(a, b) }
mul { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] multiply(a, b) }
and { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] and(a, b) }
or { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] or(a, b) }
odd { a = s32[] parameter(0) b = s32[] parameter(1) n = s32[] negate(a) ROOT c = s32[] subtract(n, b) }
ENTRY e {
 x = s32[16] parameter(0)
 replica = u32[] replica-id()
 partition = u32[] partition-id()
 partitions = u32[] constant(%[2]d)
 row = u32[] multiply(replica, partitions)
 number = u32[] add(row, partition)
 id = s32[] convert(number)
 %s
}
`, g.r, g.p, text)
}

// checkDevices runs a program of one s32 array per device on both engines.
func checkDevices(t *testing.T, g grid, text string, x, want [][]int32) {
	t.Helper()
	for engine, run := range map[string]func(*testing.T, grid, hlo.Module, [][]int32) ([][]int32, error){"eval": evalDevices, "bef": befDevices} {
		got, err := run(t, g, parse(t, text), x)
		require.NoError(t, err, "%s\n%s", engine, text)
		require.Equal(t, want, got, "%s\n%s", engine, text)
	}
}

func parse(t *testing.T, text string) hlo.Module {
	t.Helper()
	m, err := parser.Parse("devices.hlo", text)
	require.NoError(t, err, text)
	require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err(), text)
	return m
}

func evalDevices(_ *testing.T, g grid, m hlo.Module, x [][]int32) ([][]int32, error) {
	args := make([][]*hlo.Literal, len(x))
	for d := range x {
		l, err := hlo.LiteralOf(m.Entry().Parameter(0).Shape(), x[d]...)
		if err != nil {
			return nil, err
		}
		args[d] = []*hlo.Literal{l}
	}
	results, err := eval.Devices(context.Background(), m, args, g.r, g.p, eval.Options{})
	if err != nil {
		return nil, err
	}
	got := make([][]int32, len(x))
	for d, r := range results {
		got[d] = hlo.Values[int32](r)
	}
	return got, nil
}

func befDevices(t *testing.T, g grid, m hlo.Module, x [][]int32) ([][]int32, error) {
	p := load(t, m)
	args, results := make([][]runtime.Buffer, len(x)), make([][]runtime.Buffer, len(x))
	for d := range x {
		b := p.Entry().ArgTypes()[0].NewBuffer()
		for i, v := range x[d] {
			binary.NativeEndian.PutUint32(b.Data[4*i:], uint32(v))
		}
		args[d], results[d] = []runtime.Buffer{b}, p.Entry().NewResults()
	}
	if err := kernels.Devices(t.Context(), p, &kernels.World{Mesh: devices.NewMesh(g.r, g.p)}, args, results, kernels.Watch{}); err != nil {
		return nil, err
	}
	got := make([][]int32, len(x))
	for d, r := range results {
		for i := range len(r[0].Data) / 4 {
			got[d] = append(got[d], int32(binary.NativeEndian.Uint32(r[0].Data[4*i:])))
		}
	}
	return got, nil
}

// load compiles a module for two workers.
func load(t *testing.T, m hlo.Module) *runtime.Program {
	t.Helper()
	cpu, err := passes.Parse("cpu")
	require.NoError(t, err)
	m, err = (&pass.Runner{}).Run(t.Context(), cpu, m)
	require.NoError(t, err)
	file, err := lower.Module(t.Context(), m)
	require.NoError(t, err)
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	queue := workqueue.NewMulti(workqueue.Config{Workers: 2})
	t.Cleanup(queue.Close)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{Host: runtime.NewHost(runtime.HostOptions{Queue: queue})})
	require.NoError(t, err)
	return p
}

// TestSendAndRecv passes values around a ring, three times in a loop.
func TestSendAndRecv(t *testing.T) {
	const attrs = `channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2},{2,3},{3,0}}"}`
	g := grid{1, 4}
	x, want := make([][]int32, 4), make([][]int32, 4)
	for d := range x {
		x[d] = slices.Repeat([]int32{int32(d + 1)}, width)
		want[(d+3)%4] = x[d]
	}
	text := strings.Replace(module(g, `zero = s32[] constant(0)
 i = (s32[], s32[16]) tuple(zero, x)
 w = (s32[], s32[16]) while(i), condition=cond, body=body
 ROOT r = s32[16] get-tuple-element(w), index=1`), "ENTRY", `cond { s = (s32[], s32[16]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
body {
 s = (s32[], s32[16]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 v = s32[16] get-tuple-element(s), index=1
 t = token[] after-all()
 rv = (s32[16], u32[], token[]) recv(t), `+attrs+`
 se = (s32[16], u32[], token[]) send(v, t), `+attrs+`, control-predecessors={rv}
 rd = (s32[16], token[]) recv-done(rv), channel_id=2, control-predecessors={se}
 sd = token[] send-done(se), channel_id=2
 got = s32[16] get-tuple-element(rd), index=0
 one = s32[] constant(1)
 j = s32[] add(i, one)
 ROOT u = (s32[], s32[16]) tuple(j, got)
}
ENTRY`, 1)
	checkDevices(t, g, text, x, want)
}

// deadlocks are programs whose devices do different things, with a part of the report.
var deadlocks = map[string]struct{ text, report string }{
	"one does not come": {`k = s32[] constant(1)
 c = pred[] compare(id, k), direction=LT
 ROOT r = s32[16] conditional(c, x, x), true_computation=reduces, false_computation=idle`,
		"device 0 waits in all-reduce ar for device 1\n  device 1 has finished"},
	"other collectives": {`k = s32[] constant(1)
 c = pred[] compare(id, k), direction=LT
 ROOT r = s32[16] conditional(c, x, x), true_computation=reduces, false_computation=other`,
		"device 0 waits in all-reduce ar for device 1\n  device 1 waits in all-reduce other.ar for device 0"},
	"nobody sends": {`t = token[] after-all()
 rv = (s32[16], u32[], token[]) recv(t), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
 rd = (s32[16], token[]) recv-done(rv), channel_id=2
 ROOT r = s32[16] get-tuple-element(rd), index=0`,
		"device 0 waits in recv-done rd for device 1\n  device 1 waits in recv-done rd for device 0"},
	"asynchronous": {`k = s32[] constant(1)
 c = pred[] compare(id, k), direction=LT
 ROOT r = s32[16] conditional(c, x, x), true_computation=starts, false_computation=idle`,
		"device 0 waits in "},
}

// TestDeadlockReport runs programs whose devices wait for each other: the error comes at once and says who waits for whom.
func TestDeadlockReport(t *testing.T) {
	g := grid{1, 2}
	x := [][]int32{make([]int32, width), make([]int32, width)}
	callees := `reduces { x = s32[16] parameter(0) ROOT ar = s32[16] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add }
other { x = s32[16] parameter(0) ROOT other.ar = s32[16] all-reduce(x), channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add }
starts { x = s32[16] parameter(0)
 s = ((s32[16]), s32[16]) all-to-all-start(x), channel_id=4, replica_groups={{0,1}}, dimensions={0}
 ROOT d = s32[16] all-to-all-done(s) }
idle { ROOT x = s32[16] parameter(0) }
ENTRY`
	for name, c := range deadlocks {
		m := parse(t, strings.Replace(module(g, c.text), "ENTRY", callees, 1))
		for engine, run := range map[string]func(*testing.T, grid, hlo.Module, [][]int32) ([][]int32, error){"eval": evalDevices, "bef": befDevices} {
			t.Run(name+"/"+engine, func(t *testing.T) {
				_, err := run(t, g, m, x)
				require.ErrorIs(t, err, devices.ErrDeadlock)
				assert.ErrorContains(t, err, c.report)
			})
		}
	}
}

// TestDeviceFails ends all devices with the error of one.
func TestDeviceFails(t *testing.T) {
	g := grid{1, 2}
	x := [][]int32{make([]int32, width), make([]int32, width)}
	text := strings.Replace(module(g, `k = s32[] constant(1)
 c = pred[] compare(id, k), direction=LT
 r = s32[16] conditional(c, x, x), true_computation=fails, false_computation=idle
 ROOT ar = s32[16] all-reduce(r), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add`), "ENTRY",
		`fails { x = s32[16] parameter(0) ROOT c = s32[16] custom-call(x), custom_call_target="nobody knows" }
idle { ROOT x = s32[16] parameter(0) }
ENTRY`, 1)
	for _, run := range []func(*testing.T, grid, hlo.Module, [][]int32) ([][]int32, error){evalDevices, befDevices} {
		_, err := run(t, g, parse(t, text), x)
		require.ErrorContains(t, err, "nobody knows")
	}
}

// TestReferenceDevices runs the reference programs for several devices, whose arrays have keys like d3/0.
func TestReferenceDevices(t *testing.T) {
	folders, _ := filepath.Glob("../../../shared/corpus/reference/programs/spmd_*")
	if len(folders) == 0 {
		t.Skip("no reference programs")
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var meta struct {
				Tols []struct{ Rtol, Atol float64 }
			}
			text, err := os.ReadFile(dir + "/meta.json")
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &meta))
			text, err = os.ReadFile(dir + "/prog.hlo")
			require.NoError(t, err)
			m := parse(t, string(text))
			in, err := arrays.ReadNPZ(dir + "/in.npz")
			require.NoError(t, err)
			out, err := arrays.ReadNPZ(dir + "/out.npz")
			require.NoError(t, err)
			p := load(t, m)
			g := grid{max(1, int(m.Config().ReplicaCount)), max(1, int(m.Config().NumPartitions))}
			args, results := make([][]runtime.Buffer, g.devices()), make([][]runtime.Buffer, g.devices())
			for d := range args {
				results[d] = p.Entry().NewResults()
				for i, at := range p.Entry().ArgTypes() {
					b := at.NewBuffer()
					copy(b.Data, in[fmt.Sprintf("d%d/%d", d, i)].Data)
					args[d] = append(args[d], b)
				}
			}
			require.NoError(t, kernels.Devices(t.Context(), p, &kernels.World{Mesh: devices.NewMesh(g.r, g.p)}, args, results, kernels.Watch{}))
			for d := range results {
				for i, rt := range p.Entry().ResultTypes() {
					s := hlo.MakeShape(hlo.PrimitiveType(rt.Type), rt.Dims...)
					got, err := hlo.NewLiteral(s, results[d][i].Data)
					require.NoError(t, err)
					want, err := arrays.Literal(out[fmt.Sprintf("d%d/%d", d, i)], s)
					require.NoError(t, err)
					diff := arrays.Compare(got, want, meta.Tols[i].Rtol, meta.Tols[i].Atol)
					assert.Zero(t, diff.Bad, "device %d, result %d: %v", d, i, diff)
				}
			}
		})
	}
}
