// Package jobtest has programs for many devices, and holds their run in several processes to the run in one, bit by bit. The tests of
// runtime/distributed use it over memory, those of runtime/mpi over Open MPI.
package jobtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Program is a program for 8 devices, or for as many as its header says.
type Program struct {
	Name, Text string
	SPMD       bool // the text is for all devices together
}

// devices is the size of the meshes of generated programs.
const devices = 8

// sizes are arrays of few elements and of odd numbers of them, below and above what is folded in one round.
var sizes = []string{"8,1", "8,3", "16,5,3", "64,333", "8,9000"}

// types are element types that MPI has, and some that it has not.
var types = []hlo.PrimitiveType{hlo.PRED, hlo.S8, hlo.U16, hlo.S32, hlo.U64, hlo.F16, hlo.BF16, hlo.F32, hlo.F64, hlo.C64, hlo.F8E4M3FN, hlo.S4}

// groupings are lists of groups of ids: everybody, pairs of neighbours, distant pairs, and fours in another order.
var groupings = []string{"{{0,1,2,3,4,5,6,7}}", "{{0,1},{2,3},{4,5},{6,7}}", "{{0,4},{1,5},{6,2},{7,3}}", "{{7,5,3,1},{0,2,4,6}}", "{{0},{1},{2},{3},{4},{5},{6},{7}}"}

// groupSize is the size of the groups in a list.
func groupSize(groups string) int {
	return strings.Count(strings.SplitN(groups, "}", 2)[0], ",") + 1
}

// dims are the dimensions of a size.
func dims(size string) (d []int) {
	for _, s := range strings.Split(size, ",") {
		var n int
		_, _ = fmt.Sscan(s, &n)
		d = append(d, n)
	}
	return d
}

// array is the text of a shape, one dimension of which is multiplied and divided.
func array(t hlo.PrimitiveType, size string, axis, times, by int) string {
	d := dims(size)
	d[axis] = d[axis] * times / by
	return fmt.Sprintf("%v[%s]", t, strings.ReplaceAll(strings.Trim(fmt.Sprint(d), "[]"), " ", ","))
}

// Generated are the collectives over types, groups and sizes.
func Generated() (all []Program) {
	add := func(name, text string) { all = append(all, Program{Name: name, Text: text}) }
	for i, t := range types {
		for j, groups := range groupings {
			size := sizes[(i+j)%len(sizes)]
			n := groupSize(groups)
			s := array(t, size, 0, 1, 1)
			global := ", channel_id=1, use_global_device_ids=true, replica_groups=" + groups
			among := ", channel_id=1, replica_groups=" + groups
			name := func(op string) string { return fmt.Sprintf("%s/%v/%s/%s", op, t, size, groups) }
			for _, op := range reducers(t) {
				add(name("all-reduce "+op), module(t, op, s, "ROOT r = "+s+" all-reduce(x), to_apply=f"+global))
			}
			op := reducers(t)[0]
			add(name("all-reduce-start"), module(t, op, s, fmt.Sprintf("s = %s all-reduce-start(x), to_apply=f%s\n ROOT r = %[1]s all-reduce-done(s)", s, global)))
			add(name("all-reduce of two"), module(t, op, s, fmt.Sprintf("c = %s copy(x)\n ROOT r = (%[1]s, %[1]s) all-reduce(x, c), to_apply=f%s", s, global)))
			part := array(t, size, 0, 1, n)
			add(name("reduce-scatter"), module(t, op, s, "ROOT r = "+part+" reduce-scatter(x), dimensions={0}, to_apply=f"+global))
			for axis := range 2 {
				whole := array(t, size, axis, n, 1)
				add(name(fmt.Sprint("all-gather ", axis)), module(t, op, s, fmt.Sprintf("ROOT r = %s all-gather(x), dimensions={%d}%s", whole, axis, global)))
			}
			add(name("all-gather-start"), module(t, op, s, fmt.Sprintf("s = (%s, %s) all-gather-start(x), dimensions={0}%s\n ROOT r = %[2]s all-gather-done(s)", s, array(t, size, 0, n, 1), global)))
			add(name("all-to-all"), module(t, op, s, "ROOT r = "+s+" all-to-all(x), dimensions={0}"+among))
			add(name("all-to-all wrapped"), module(t, op, s, fmt.Sprintf("s = ((%s), %[1]s) all-to-all-start(x), dimensions={0}%s\n ROOT r = %[1]s all-to-all-done(s)", s, among)))
			parts, names := make([]string, n), make([]string, n)
			var slices strings.Builder
			for k := range n {
				names[k], parts[k] = fmt.Sprintf("y%d", k), s
				fmt.Fprintf(&slices, "y%d = %s copy(x)\n ", k, s)
			}
			if n > 1 {
				add(name("all-to-all of a tuple"), module(t, op, s, fmt.Sprintf("%sROOT r = (%s) all-to-all(%s)%s", slices.String(), strings.Join(parts, ", "), strings.Join(names, ", "), among)))
			}
			add(name("collective-broadcast"), module(t, op, s, "ROOT r = "+s+" collective-broadcast(x)"+among))
		}
		s := array(t, sizes[i%len(sizes)], 0, 1, 1)
		for _, pairs := range []string{"{{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}}", "{{0,7},{7,0},{2,4}}", "{}"} {
			add(fmt.Sprintf("collective-permute/%v/%s", t, pairs), module(t, reducers(t)[0], s,
				fmt.Sprintf("s = (%s, %[1]s, u32[], u32[]) collective-permute-start(x), channel_id=1, source_target_pairs=%s\n ROOT r = %[1]s collective-permute-done(s)", s, pairs)))
		}
	}
	add("all-reduce of several pieces", module(hlo.F32, "add(a, b)", "f32[8,50001]",
		"ROOT r = f32[8,50001] all-reduce(x), to_apply=f, channel_id=1, use_global_device_ids=true, replica_groups={{0,4,1,5},{7,2,6,3}}"))
	return append(all, loops()...)
}

// reducers are the reductions of a type; one of them is no op that libraries know.
func reducers(t hlo.PrimitiveType) []string {
	switch {
	case t == hlo.PRED:
		return []string{"and(a, b)", "or(a, b)"}
	case t == hlo.C64:
		return []string{"add(a, b)"}
	case t.IsFloat():
		return []string{"add(a, b)", "multiply(a, b)", "maximum(a, b)"}
	}
	return []string{"add(a, b)", "minimum(a, b)", "xor(a, b)"}
}

// module is a program with a reducer f and a parameter x.
func module(t hlo.PrimitiveType, reducer, shape, body string) string {
	return fmt.Sprintf(`HloModule m, num_partitions=%d

f {
 a = %v[] parameter(0)
 b = %[2]v[] parameter(1)
 ROOT c = %[2]v[] %s
}

ENTRY e {
 x = %s parameter(0)
 %s
}
`, devices, t, reducer, shape, body)
}

// loops are programs in which collectives are executed many times, and beside each other.
func loops() []Program {
	const pairs = `frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}}"}`
	const head = `HloModule m, num_partitions=8

f {
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b)
}

less {
 s = (s32[], f32[64,1000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(20)
 ROOT c = pred[] compare(i, n), direction=LT
}

body {
 s = (s32[], f32[64,1000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 one = s32[] constant(1)
 j = s32[] add(i, one)
 v = f32[64,1000] get-tuple-element(s), index=1
 %s
 ROOT u = (s32[], f32[64,1000]) tuple(j, w)
}

ENTRY e {
 x = f32[64,1000] parameter(0)
 zero = s32[] constant(0)
 i = (s32[], f32[64,1000]) tuple(zero, x)
 l = (s32[], f32[64,1000]) while(i), condition=less, body=body
 ROOT r = f32[64,1000] get-tuple-element(l), index=1
}
`
	return []Program{
		{Name: "loop of reductions among different groups", Text: fmt.Sprintf(head, `p = f32[64,1000] all-reduce(v), channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3},{4,5},{6,7}}, to_apply=f
 q = f32[64,1000] all-reduce(p), channel_id=2, use_global_device_ids=true, replica_groups={{0,2,4,6},{1,3,5,7}}, to_apply=f
 k = f32[] constant(0.125)
 kb = f32[64,1000] broadcast(k), dimensions={}
 w = f32[64,1000] multiply(q, kb)`)},
		{Name: "loop of independent starts", Text: fmt.Sprintf(head, `p = f32[64,1000] all-reduce-start(v), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=f
 n = f32[64,1000] negate(v)
 q = f32[64,1000] all-reduce-start(n), channel_id=2, use_global_device_ids=true, replica_groups={{0,7,2,5},{4,3,6,1}}, to_apply=f
 c = (f32[64,1000], f32[64,1000], u32[], u32[]) collective-permute-start(v), channel_id=3, source_target_pairs={{0,3},{3,6},{6,1},{1,4},{4,7},{7,2},{2,5},{5,0}}
 d = f32[64,1000] collective-permute-done(c)
 qd = f32[64,1000] all-reduce-done(q)
 pd = f32[64,1000] all-reduce-done(p)
 k = f32[] constant(0.1)
 kb = f32[64,1000] broadcast(k), dimensions={}
 a1 = f32[64,1000] add(pd, qd)
 a2 = f32[64,1000] add(a1, d)
 w = f32[64,1000] multiply(a2, kb)`)},
		{Name: "loop of sends", Text: fmt.Sprintf(head, `t = token[] after-all()
 rv = (f32[64,1000], u32[], token[]) recv(t), channel_id=2, `+pairs+`
 se = (f32[64,1000], u32[], token[]) send(v, t), channel_id=2, `+pairs+`, control-predecessors={rv}
 rd = (f32[64,1000], token[]) recv-done(rv), channel_id=2, control-predecessors={se}
 sd = token[] send-done(se), channel_id=2
 w = f32[64,1000] get-tuple-element(rd), index=0`)},
		{Name: "ragged-all-to-all", Text: `HloModule m, num_partitions=8

ENTRY e {
 x = f32[16,300] parameter(0)
 o = f32[32,300] parameter(1)
 id = u32[] partition-id()
 me = s32[] convert(id)
 two = s32[] constant(2)
 at = s32[] multiply(me, two)
 to = s32[8] broadcast(at), dimensions={}
 from = s32[8] iota(), iota_dimension=0
 size = s32[8] broadcast(two), dimensions={}
 ROOT r = f32[32,300] ragged-all-to-all(x, o, from, size, to, size), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}
}
`},
		{Name: "ragged-all-to-all in groups, of several updates", Text: `HloModule m, num_partitions=8

ENTRY e {
 x = f32[64,100] parameter(0)
 o = f32[96,100] parameter(1)
 id = u32[] partition-id()
 me = s64[] convert(id)
 three = s64[] constant(3)
 mine = s64[] remainder(me, three)
 size = s64[4,2] broadcast(mine), dimensions={}
 k = s64[4,2] iota(), iota_dimension=0
 l = s64[4,2] iota(), iota_dimension=1
 many = s64[4,2] constant({{0,9},{1,30},{0,0},{12,1}})
 sizes = s64[4,2] multiply(size, many)
 sum = s64[4,2] add(k, l)
 times = s64[4,2] broadcast(three), dimensions={}
 to = s64[4,2] multiply(sum, times)
 ROOT r = f32[96,100] ragged-all-to-all(x, o, k, sizes, to, sizes), channel_id=1, replica_groups={{0,5,2,7},{6,1,4,3}}
}
`},
	}
}

// Corpus are the programs for many devices below a folder of cases, if it is there.
func Corpus(shared string) (all []Program) {
	for _, kind := range []struct {
		pattern string
		spmd    bool
	}{{"corpus/spmd/*/before.hlo", true}, {"corpus/reference/programs/spmd_*/prog.hlo", false}} {
		files, _ := filepath.Glob(filepath.Join(shared, kind.pattern))
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil {
				all = append(all, Program{Name: filepath.Base(filepath.Dir(f)), Text: string(text), SPMD: kind.spmd})
			}
		}
	}
	return all
}
