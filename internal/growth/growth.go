// Package growth makes programs of any length, for tests that hold passes to work in proportion to it.
package growth

import (
	"fmt"
	"slices"
	"strings"
)

// Shapes are the ways in which a program may be long.
var Shapes = []string{"blocks", "wide", "calls", "rounds", "chains"}

// Program is the text of a module of about n instructions.
//
//	blocks   one long chain of elementwise code, reductions, calls, loops and branches
//	wide     everything reads the same few values, and one tuple takes all results
//	calls    many computations, equal and different ones, each with a caller
//	rounds   one loop with a large state and a large body
//	chains   collectives and asynchronous pairs, one after the other
func Program(shape string, n int) string {
	w := &writer{}
	switch shape {
	case "blocks":
		w.blocks(n)
	case "wide":
		w.wide(n)
	case "calls":
		w.calls(n)
	case "rounds":
		w.rounds(n)
	case "chains":
		w.chains(n)
	default:
		panic(fmt.Sprintf("growth: no shape %q among %v", shape, Shapes))
	}
	return "HloModule " + shape + "\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n" +
		w.others.String() + "\nENTRY main {\n" + w.entry.String() + "}\n"
}

// writer counts the instructions that it writes.
type writer struct {
	entry, others strings.Builder
	count         int
}

// add writes lines to the entry computation.
func (w *writer) add(format string, args ...any) { w.lines(&w.entry, format, args) }

// also writes lines to other computations.
func (w *writer) also(format string, args ...any) { w.lines(&w.others, format, args) }

func (w *writer) lines(to *strings.Builder, format string, args []any) {
	text := fmt.Sprintf(format, args...)
	w.count += strings.Count(text, " = ")
	to.WriteString(text)
}

func (w *writer) blocks(n int) {
	w.add("  p = f32[8,4] parameter(0)\n  q = pred[] parameter(1)\n  k = s32[] constant(0)\n")
	prev := "p"
	for i := 0; w.count < n; i++ {
		switch i % 12 {
		case 3:
			w.also("f_%d {\n  x = f32[8,4] parameter(0)\n  y = f32[8,4] negate(x)\n  ROOT z = f32[8,4] multiply(y, x)\n}\n", i)
			w.add("  c_%d = f32[8,4] call(%s), to_apply=f_%[1]d\n", i, prev)
			prev = fmt.Sprint("c_", i)
		case 7:
			w.also("b_%d {\n  p = (s32[], f32[8,4]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  x = f32[8,4] get-tuple-element(p), index=1\n"+
				"  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = f32[8,4] sine(x)\n  ROOT t = (s32[], f32[8,4]) tuple(j, y)\n}\n", i)
			w.also("d_%d {\n  p = (s32[], f32[8,4]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(%d)\n  ROOT lt = pred[] compare(i, n), direction=LT\n}\n", i, 5+i%7)
			w.add("  t_%d = (s32[], f32[8,4]) tuple(k, %s)\n  w_%[1]d = (s32[], f32[8,4]) while(t_%[1]d), condition=d_%[1]d, body=b_%[1]d\n  g_%[1]d = f32[8,4] get-tuple-element(w_%[1]d), index=1\n", i, prev)
			prev = fmt.Sprint("g_", i)
		case 10:
			w.also("y_%d {\n  x = f32[8,4] parameter(0)\n  ROOT y = f32[8,4] cosine(x)\n}\nn_%[1]d {\n  x = f32[8,4] parameter(0)\n  ROOT y = f32[8,4] tanh(x)\n}\n", i)
			w.add("  v_%d = f32[8,4] conditional(q, %s, %[2]s), true_computation=y_%[1]d, false_computation=n_%[1]d\n", i, prev)
			prev = fmt.Sprint("v_", i)
		default:
			w.add("  r_%d = f32[32] reshape(%s)\n  e_%[1]d = f32[32] exponential(r_%[1]d)\n  s_%[1]d = f32[8,4] reshape(e_%[1]d)\n"+
				"  h_%[1]d = f32[4,8] transpose(%[2]s), dimensions={1,0}\n  l_%[1]d = f32[8,4] transpose(h_%[1]d), dimensions={1,0}\n"+
				"  k_%[1]d = f32[] constant(%[3]d)\n  o_%[1]d = f32[8,4] broadcast(k_%[1]d), dimensions={}\n  m_%[1]d = f32[8,4] maximum(s_%[1]d, o_%[1]d)\n"+
				"  a_%[1]d = f32[8,4] add(m_%[1]d, l_%[1]d)\n  u_%[1]d = f32[8] reduce(a_%[1]d, k_%[1]d), dimensions={1}, to_apply=sum\n"+
				"  x_%[1]d = f32[8,4] broadcast(u_%[1]d), dimensions={0}\n  z_%[1]d = f32[8,4] subtract(a_%[1]d, x_%[1]d)\n", i, prev, i%13)
			prev = fmt.Sprint("z_", i)
		}
	}
	w.add("  ROOT root = f32[8,4] negate(%s)\n", prev)
}

func (w *writer) wide(n int) {
	w.add("  p = f32[8,4] parameter(0)\n  i = s32[] parameter(1)\n  one = f32[] constant(1)\n  ones = f32[8,4] broadcast(one), dimensions={}\n  zero = s32[] constant(0)\n")
	var results []string
	for i := 0; w.count < n; i++ {
		switch i % 4 {
		case 0:
			w.add("  a_%d = f32[8,4] add(p, ones)\n  r_%[1]d = f32[8,4] multiply(a_%[1]d, p)\n", i)
		case 1:
			w.add("  k_%d = f32[] constant(%[1]d)\n  b_%[1]d = f32[8,4] broadcast(k_%[1]d), dimensions={}\n  r_%[1]d = f32[8,4] maximum(p, b_%[1]d)\n", i)
		case 2:
			w.add("  s_%d = f32[1,4] slice(p), slice={[%d:%d], [0:4]}\n  r_%[1]d = f32[8,4] pad(s_%[1]d, one), padding=0_7x0_0\n", i, i/4%8, i/4%8+1)
		case 3:
			w.add("  d_%d = f32[1,4] dynamic-slice(p, i, zero), dynamic_slice_sizes={1,4}\n  t_%[1]d = f32[4] reshape(d_%[1]d)\n  r_%[1]d = f32[8,4] broadcast(t_%[1]d), dimensions={1}\n", i)
		}
		results = append(results, fmt.Sprint("r_", i))
	}
	w.add("  ROOT all = (%s) tuple(%s)\n", strings.Join(slices.Repeat([]string{"f32[8,4]"}, len(results)), ", "), strings.Join(results, ", "))
}

func (w *writer) calls(n int) {
	w.add("  p = f32[8,4] parameter(0)\n")
	prev := "p"
	for i := 0; w.count < n; i++ {
		w.also("f_%d {\n  x = f32[8,4] parameter(0)\n  k = f32[] constant(%d)\n  y = f32[8,4] broadcast(k), dimensions={}\n  ROOT z = f32[8,4] multiply(y, x)\n}\n", i, i/2)
		w.add("  c_%d = f32[8,4] call(%s), to_apply=f_%[1]d\n", i, prev)
		prev = fmt.Sprint("c_", i)
	}
	w.add("  ROOT root = f32[8,4] negate(%s)\n", prev)
}

func (w *writer) rounds(n int) {
	parts := n / 8
	state := "s32[]" + strings.Repeat(", f32[8,4]", parts)
	w.also("body {\n  p = (%s) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n", state)
	next := []string{"j"}
	for i := range parts {
		w.also("  x_%d = f32[8,4] get-tuple-element(p), index=%d\n", i, i+1)
		switch {
		case i%3 == 0: // carried on as it is
			next = append(next, fmt.Sprint("x_", i))
		case i%3 == 1:
			w.also("  y_%d = f32[8,4] sine(x_%[1]d)\n  z_%[1]d = f32[8,4] add(y_%[1]d, x_%d)\n", i, i-1)
			next = append(next, fmt.Sprint("z_", i))
		default:
			w.also("  e_%d = f32[8,4] exponential(x_%d)\n  y_%[1]d = f32[8,4] multiply(x_%[1]d, e_%[1]d)\n", i, i-2)
			next = append(next, fmt.Sprint("y_", i))
		}
	}
	w.also("  ROOT t = (%s) tuple(%s)\n}\n", state, strings.Join(next, ", "))
	w.also("cond {\n  p = (%s) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(9)\n  ROOT lt = pred[] compare(i, n), direction=LT\n}\n", state)
	w.add("  zero = s32[] constant(0)\n")
	init := []string{"zero"}
	for i := range parts {
		if i < 9 {
			w.add("  p_%d = f32[8,4] parameter(%[1]d)\n  n_%[1]d = f32[8,4] negate(p_%[1]d)\n", i)
		} else {
			w.add("  n_%d = f32[8,4] cosine(n_%d)\n", i, i-9)
		}
		init = append(init, fmt.Sprint("n_", i))
	}
	w.add("  t = (%s) tuple(%s)\n  w = (%[1]s) while(t), condition=cond, body=body\n", state, strings.Join(init, ", "))
	var results []string
	for i := 1; i < parts; i += 2 { // the others nobody reads
		w.add("  g_%d = f32[8,4] get-tuple-element(w), index=%d\n", i, i+1)
		results = append(results, fmt.Sprint("g_", i))
	}
	w.add("  ROOT all = (%s) tuple(%s)\n", strings.Join(slices.Repeat([]string{"f32[8,4]"}, len(results)), ", "), strings.Join(results, ", "))
}

func (w *writer) chains(n int) {
	w.add("  p = f32[8,4] parameter(0)\n  zero = f32[] constant(0)\n")
	prev := "p"
	for i := 0; w.count < n; i++ {
		switch i % 5 {
		case 0:
			w.add("  r_%d = f32[8,4] all-reduce(%s), replica_groups={}, to_apply=sum\n", i, prev)
		case 1:
			w.add("  s_%d = f32[8,4] all-reduce-start(%s), replica_groups={}, to_apply=sum\n  a_%[1]d = f32[8,4] sine(%[2]s)\n"+
				"  d_%[1]d = f32[8,4] all-reduce-done(s_%[1]d)\n  r_%[1]d = f32[8,4] add(a_%[1]d, d_%[1]d)\n", i, prev)
		case 2:
			w.add("  g_%d = f32[16,4] all-gather(%s), dimensions={0}, replica_groups={{0,1}}\n  r_%[1]d = f32[8,4] slice(g_%[1]d), slice={[0:8], [0:4]}\n", i, prev)
		case 3:
			w.add("  c_%d = f32[8,4] collective-permute(%s), source_target_pairs={{0,1},{1,0}}\n  r_%[1]d = f32[8,4] multiply(c_%[1]d, %[2]s)\n", i, prev)
		case 4:
			w.also("wrapped_%d {\n  x = f32[8,4] parameter(0)\n  ROOT y = f32[8,4] exponential(x)\n}\n", i)
			w.add("  s_%d = ((f32[8,4]), f32[8,4], u32[]) async-start(%s), calls=wrapped_%[1]d\n  n_%[1]d = f32[8,4] negate(%[2]s)\n"+
				"  d_%[1]d = f32[8,4] async-done(s_%[1]d)\n  r_%[1]d = f32[8,4] subtract(d_%[1]d, n_%[1]d)\n", i, prev)
		}
		prev = fmt.Sprint("r_", i)
	}
	w.add("  ROOT root = f32[8,4] negate(%s)\n", prev)
}
