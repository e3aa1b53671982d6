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

// grids are meshes of 2, 4 and 8 devices.
var grids = []grid{{2, 1}, {1, 2}, {4, 1}, {2, 2}, {1, 4}, {8, 1}, {4, 2}, {2, 4}, {1, 8}}

// grid is replicas by partitions.
type grid struct{ r, p int }

func (g grid) devices() int { return g.r * g.p }

// modes are the ways to read replica groups, with the attributes that choose them.
var modes = []struct {
	name, attrs string
	ids         func(g grid) int
	// members are the devices of id in the list of device d.
	members func(g grid, d, id int) []int
	own     func(g grid, d int) int // d's own id
	global  bool                    // of the ops with use_global_device_ids
	plain   bool                    // of the ops without
}{
	{name: "cross_replica", ids: func(g grid) int { return g.r }, own: func(g grid, d int) int { return d / g.p },
		members: func(g grid, d, id int) []int { return []int{id*g.p + d%g.p} }, global: true, plain: true},
	{name: "cross_partition", attrs: ", channel_id=1", ids: func(g grid) int { return g.p }, own: func(g grid, d int) int { return d % g.p },
		members: func(g grid, d, id int) []int { return []int{d/g.p*g.p + id} }, plain: true},
	{name: "cross_replica_and_partition", attrs: ", channel_id=1", ids: func(g grid) int { return g.r }, own: func(g grid, d int) int { return d / g.p },
		members: func(g grid, _, id int) (all []int) {
			for p := range g.p {
				all = append(all, id*g.p+p)
			}
			return all
		}, global: true},
	{name: "flattened_id", attrs: ", channel_id=1, use_global_device_ids=true", ids: grid.devices, own: func(_ grid, d int) int { return d },
		members: func(_ grid, _, id int) []int { return []int{id} }, global: true},
}

// groupings are lists of groups of n ids.
func groupings(n int) map[string][][]int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	g := map[string][][]int{"one": {all}}
	if n > 1 {
		back := slices.Clone(all)
		slices.Reverse(back)
		g["backwards"] = [][]int{back}
		var even, odd []int
		for i := range n {
			if i%2 == 0 {
				even = append(even, i)
			} else {
				odd = append(odd, i)
			}
		}
		g["interleaved"] = [][]int{odd, even}
	}
	return g
}

func groupsText(groups [][]int) string {
	var lists []string
	for _, g := range groups {
		lists = append(lists, strings.ReplaceAll(strings.Trim(fmt.Sprint(g), "[]"), " ", ","))
	}
	return "{{" + strings.Join(lists, "},{") + "}}"
}

// collectiveCase is an op with what it does: want is what rank i gets from what the members have.
type collectiveCase struct {
	name   string
	global bool // has use_global_device_ids
	text   func(n int, attrs string) string
	want   func(have [][]int32, i int) []int32
}

const width = 16 // elements that each device has

var collectiveCases = []collectiveCase{
	{"all-reduce", true, func(_ int, a string) string {
		return "ROOT r = s32[16] all-reduce(x)" + a + ", to_apply=REDUCER"
	}, reduceOf(func(a, b int32) int32 { return a + b })},
	{"all-reduce-start", true, func(_ int, a string) string {
		return "s = s32[16] all-reduce-start(x)" + a + ", to_apply=REDUCER\n ROOT r = s32[16] all-reduce-done(s)"
	}, reduceOf(func(a, b int32) int32 { return a + b })},
	{"all-reduce of two", true, func(_ int, a string) string {
		return "y = s32[16] negate(x)\n t = (s32[16], s32[16]) all-reduce(x, y)" + a + ", to_apply=REDUCER\n ROOT r = s32[16] get-tuple-element(t), index=1"
	}, func(have [][]int32, i int) []int32 {
		sum := reduceOf(func(a, b int32) int32 { return a + b })(have, i)
		for k := range sum {
			sum[k] = -sum[k]
		}
		return sum
	}},
	{"all-gather", true, func(n int, a string) string {
		return fmt.Sprintf("ROOT r = s32[%d] all-gather(x)%s, dimensions={0}", n*width, a)
	}, func(have [][]int32, _ int) []int32 { return slices.Concat(have...) }},
	{"all-gather-start", true, func(n int, a string) string {
		return fmt.Sprintf("s = (s32[16], s32[%d]) all-gather-start(x)%s, dimensions={0}\n ROOT r = s32[%[1]d] all-gather-done(s)", n*width, a)
	}, func(have [][]int32, _ int) []int32 { return slices.Concat(have...) }},
	{"reduce-scatter", true, func(n int, a string) string {
		return fmt.Sprintf("ROOT r = s32[%d] reduce-scatter(x)%s, dimensions={0}, to_apply=REDUCER", width/n, a)
	}, func(have [][]int32, i int) []int32 {
		n := width / len(have)
		return reduceOf(func(a, b int32) int32 { return a + b })(have, i)[i*n : (i+1)*n]
	}},
	{"reduce-scatter wrapped", true, func(n int, a string) string {
		return fmt.Sprintf("s = ((s32[16]), s32[%d]) reduce-scatter-start(x)%s, dimensions={0}, to_apply=REDUCER\n ROOT r = s32[%[1]d] reduce-scatter-done(s)", width/n, a)
	}, func(have [][]int32, i int) []int32 {
		n := width / len(have)
		return reduceOf(func(a, b int32) int32 { return a + b })(have, i)[i*n : (i+1)*n]
	}},
	{"all-to-all", false, func(_ int, a string) string {
		return "ROOT r = s32[16] all-to-all(x)" + a + ", dimensions={0}"
	}, exchangeParts},
	{"all-to-all wrapped", false, func(_ int, a string) string {
		return "s = ((s32[16]), s32[16]) all-to-all-start(x)" + a + ", dimensions={0}\n ROOT r = s32[16] all-to-all-done(s)"
	}, exchangeParts},
	{"all-to-all of a tuple", false, func(n int, a string) string {
		var slices, names, shapes []string
		for i := range n {
			slices = append(slices, fmt.Sprintf("x%d = s32[%d] slice(x), slice={[%d:%d]}", i, width/n, i*width/n, (i+1)*width/n))
			names = append(names, fmt.Sprintf("x%d", i))
			shapes = append(shapes, fmt.Sprintf("s32[%d]", width/n))
		}
		text := strings.Join(slices, "\n ") + fmt.Sprintf("\n t = (%s) all-to-all(%s)%s", strings.Join(shapes, ", "), strings.Join(names, ", "), a)
		for i := range n {
			text += fmt.Sprintf("\n y%d = %s get-tuple-element(t), index=%[1]d", i, shapes[i])
			names[i] = fmt.Sprintf("y%d", i)
		}
		return text + fmt.Sprintf("\n ROOT r = s32[16] concatenate(%s), dimensions={0}", strings.Join(names, ", "))
	}, exchangeParts},
	{"collective-broadcast", false, func(_ int, a string) string {
		return "ROOT r = s32[16] collective-broadcast(x)" + a
	}, func(have [][]int32, _ int) []int32 { return have[0] }},
	{"ragged-all-to-all", false, func(n int, a string) string {
		// Rank i sends i+1 rows... of its first row to everyone, to row i of the output.
		var zeros, ones []string
		for range n {
			zeros, ones = append(zeros, "0"), append(ones, "1")
		}
		return fmt.Sprintf(`o = s32[16] constant({9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9})
 from = s32[%[1]d] constant({%[2]s})
 size = s32[%[1]d] constant({%[3]s})
 rank = s32[%[1]d] RANK
 ROOT r = s32[16] ragged-all-to-all(x, o, from, size, rank, size)%[4]s`, n, strings.Join(zeros, ","), strings.Join(ones, ","), a)
	}, func(have [][]int32, _ int) []int32 {
		out := slices.Repeat([]int32{9}, width)
		for j, h := range have {
			out[j] = h[0]
		}
		return out
	}},
}

func reduceOf(f func(a, b int32) int32) func([][]int32, int) []int32 {
	return func(have [][]int32, _ int) []int32 {
		sum := slices.Clone(have[0])
		for _, h := range have[1:] {
			for k := range sum {
				sum[k] = f(sum[k], h[k])
			}
		}
		return sum
	}
}

func exchangeParts(have [][]int32, i int) (out []int32) {
	n := width / len(have)
	for _, h := range have {
		out = append(out, h[i*n:(i+1)*n]...)
	}
	return out
}

// TestCollectives holds each op in each mode on 2, 4 and 8 devices to a direct computation, on both engines.
func TestCollectives(t *testing.T) {
	for _, c := range collectiveCases {
		for _, mode := range modes {
			if c.global && !mode.global || !c.global && !mode.plain {
				continue
			}
			for _, g := range grids {
				for name, groups := range groupings(mode.ids(g)) {
					t.Run(fmt.Sprintf("%s/%s/%dx%d/%s", c.name, mode.name, g.r, g.p, name), func(t *testing.T) {
						x := make([][]int32, g.devices())
						want := make([][]int32, len(x))
						for d := range x {
							for k := range width {
								x[d] = append(x[d], int32(100*d+k+1))
							}
						}
						ranks := make([]int, len(x))
						size := 0
						for d := range x {
							i := slices.IndexFunc(groups, func(ids []int) bool { return slices.Contains(ids, mode.own(g, d)) })
							var members []int
							for _, id := range groups[i] {
								members = append(members, mode.members(g, d, id)...)
							}
							var have [][]int32
							for _, m := range members {
								have = append(have, x[m])
							}
							ranks[d], size = slices.Index(members, d), len(members)
							want[d] = c.want(have, ranks[d])
						}
						attrs := ", replica_groups=" + groupsText(groups) + mode.attrs
						text := strings.ReplaceAll(c.text(size, attrs), "REDUCER", "add")
						checkDevices(t, g, module(g, rankTable(text, ranks, size)), x, want)
					})
				}
			}
		}
	}
}

// rankTable replaces RANK by the instructions for a vector of the device's own rank.
func rankTable(text string, ranks []int, size int) string {
	if !strings.Contains(text, "RANK") {
		return text
	}
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(ranks), "[]"), " ", ",")
	return fmt.Sprintf(`ranks = s32[%d] constant({%s})
 mine = s32[1] dynamic-slice(ranks, id), dynamic_slice_sizes={1}
 me = s32[] reshape(mine)
 `, len(ranks), list) + strings.Replace(text, "RANK", "broadcast(me), dimensions={}", 1)
}

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

// TestReducers tries the computations that all-reduce may apply, one of which is no common one.
func TestReducers(t *testing.T) {
	g := grid{1, 4}
	x := [][]int32{}
	for d := range 4 {
		x = append(x, nil)
		for k := range width {
			x[d] = append(x[d], int32((d+2)*(k-5)))
		}
	}
	for name, f := range map[string]func(a, b int32) int32{
		"add": func(a, b int32) int32 { return a + b }, "max": func(a, b int32) int32 { return max(a, b) },
		"min": func(a, b int32) int32 { return min(a, b) }, "mul": func(a, b int32) int32 { return a * b },
		"and": func(a, b int32) int32 { return a & b }, "or": func(a, b int32) int32 { return a | b },
		"odd": func(a, b int32) int32 { return -a - b },
	} {
		all := reduceOf(f)(x, 0)
		checkDevices(t, g, module(g, "ROOT r = s32[16] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply="+name),
			x, [][]int32{all, all, all, all})
	}
}

// TestPermutations tries collective-permute in its forms: a ring, a swap with bystanders, and one that sends nothing.
func TestPermutations(t *testing.T) {
	for _, g := range grids {
		for _, mode := range modes[:2] {
			n := mode.ids(g)
			ring := make(map[int]int)
			for i := range n {
				ring[(i+1)%n] = i
			}
			pairs := map[string]map[int]int{"ring": ring, "none": {}}
			if n > 2 {
				pairs["swap"] = map[int]int{0: n - 1, n - 1: 0}
				pairs["chain"] = map[int]int{1: 0, 2: 1}
			}
			for name, sources := range pairs {
				var list []string
				for target, source := range sources {
					list = append(list, fmt.Sprintf("{%d,%d}", source, target))
				}
				attrs := mode.attrs + ", source_target_pairs={" + strings.Join(list, ",") + "}"
				x, want := make([][]int32, g.devices()), make([][]int32, g.devices())
				for d := range x {
					x[d] = slices.Repeat([]int32{int32(d + 1)}, width)
				}
				for d := range want {
					want[d] = make([]int32, width)
					if source, ok := sources[mode.own(g, d)]; ok {
						want[d] = x[mode.members(g, d, source)[0]]
					}
				}
				for form, text := range map[string]string{
					"plain": "ROOT r = s32[16] collective-permute(x)" + attrs,
					"start": "s = (s32[16], s32[16], u32[], u32[]) collective-permute-start(x)" + attrs + "\n ROOT r = s32[16] collective-permute-done(s)",
				} {
					t.Run(fmt.Sprintf("%s/%s/%dx%d/%s", mode.name, name, g.r, g.p, form), func(t *testing.T) {
						checkDevices(t, g, module(g, text), x, want)
					})
				}
			}
		}
	}
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
