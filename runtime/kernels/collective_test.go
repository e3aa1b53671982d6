package kernels_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Collectives, each in each way to read replica groups, held to a direct computation on both engines.

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
