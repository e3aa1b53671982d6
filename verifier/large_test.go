package verifier_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// Modules that are large in one respect, made so that anything worse than linear shows: in the benchmark, where the time for twice the size
// is about twice as long, and in the test, which would not come back.

type largeCase struct {
	name string
	n    int    // the benchmark takes this size and half of it, the test a quarter
	rule string // what it breaks; "" when it is legal
	cfg  verifier.Config
	text func(n int) string
}

// lines writes a line for each of 0 to n-1.
func lines(n int, format string, args func(i int) []any) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, args(i)...)
	}
	return b.String()
}

func one(i int) []any { return []any{i} }

// follow gives i+1 and i, for lines that use the one before them.
func follow(i int) []any { return []any{i + 1, i} }

// repeat joins n times what text gives for i.
func repeat(n int, text func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = text(i)
	}
	return strings.Join(parts, ", ")
}

const asyncShape = "((f32[]), f32[], u32[])"

const asyncBodyText = "f {\n  a = f32[] parameter(0)\n  ROOT r = f32[] negate(a)\n}\n\n"

func pairsOf(i int) string {
	return fmt.Sprintf(`frontend_attributes={_xla_send_recv_source_target_pairs="{{%d,%d}}"}`, i, i+1)
}

var xla = verifier.Config{Profile: verifier.XLA}

var deadlocks = verifier.Config{Profile: verifier.XLA, NoCollectiveDeadlocks: true}

var largeCases = []largeCase{
	{"a chain of ops", 200_000, "", xla, func(n int) string {
		return "HloModule m\n\nENTRY e {\n  x0 = f32[] parameter(0)\n" + lines(n, "  x%d = f32[] negate(x%d)\n", follow) + fmt.Sprintf("  ROOT r = f32[] copy(x%d)\n}\n", n)
	}},
	{"a wide tuple taken apart", 100_000, "", xla, func(n int) string {
		return "HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n  t = (" + repeat(n, func(int) string { return "f32[]" }) + ") tuple(" +
			repeat(n, func(int) string { return "x" }) + ")\n" + lines(n, "  g%[1]d = f32[] get-tuple-element(t), index=%[1]d\n", one) +
			"  ROOT r = (" + repeat(n, func(int) string { return "f32[]" }) + ") tuple(" + repeat(n, func(i int) string { return fmt.Sprintf("g%d", i) }) + ")\n}\n"
	}},
	{"barriers of a wide tuple", 3_000, "", xla, func(n int) string {
		s := "(" + repeat(n, func(int) string { return "f32[]" }) + ")"
		return "HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n  b0 = " + s + " tuple(" + repeat(n, func(int) string { return "x" }) + ")\n" +
			lines(n, "  b%d = "+s+" opt-barrier(b%d)\n", follow) + fmt.Sprintf("  ROOT r = f32[] get-tuple-element(b%d), index=0\n}\n", n)
	}},
	{"computations that call each other in a row", 50_000, "", xla, func(n int) string {
		return "HloModule m\n\nfn0 {\n  ROOT a0 = f32[] parameter(0)\n}\n\n" + lines(n, "fn%[1]d {\n  a%[1]d = f32[] parameter(0)\n  ROOT r%[1]d = f32[] call(a%[1]d), to_apply=fn%[2]d\n}\n\n", follow) +
			fmt.Sprintf("ENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=fn%d\n}\n", n)
	}},
	{"computations called twice each, transfers in the innermost", 60, "", deadlocks, func(n int) string {
		return "HloModule m, is_scheduled=true\n\nfn0 {\n  a0 = f32[] parameter(0)\n  t = token[] after-all()\n  s = (f32[], u32[], token[]) send(a0, t), channel_id=1, " + pairsOf(0) +
			"\n  sd = token[] send-done(s), channel_id=1\n  v = (f32[], u32[], token[]) recv(t), channel_id=1, " + pairsOf(0) +
			"\n  ROOT vd = (f32[], token[]) recv-done(v), channel_id=1\n}\n\nfn00 {\n  a00 = f32[] parameter(0)\n  c00 = (f32[], token[]) call(a00), to_apply=fn0\n  ROOT g00 = f32[] get-tuple-element(c00), index=0\n}\n\n" +
			lines(n, "fn%[1]d {\n  a%[1]d = f32[] parameter(0)\n  b%[1]d = f32[] call(a%[1]d), to_apply=fn%[2]s\n  ROOT c%[1]d = f32[] call(b%[1]d), to_apply=fn%[2]s\n}\n\n", func(i int) []any {
				callee := fmt.Sprint(i)
				if i == 0 {
					callee = "00"
				}
				return []any{i + 1, callee}
			}) + fmt.Sprintf("ENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=fn%d\n}\n", n)
	}},
	{"sends that wait, then their recvs", 20_000, "", deadlocks, func(n int) string {
		return "HloModule m, is_scheduled=true\n\nENTRY e {\n  x = f32[] parameter(0)\n  t = token[] after-all()\n" +
			lines(n, "  q%[1]d = (f32[], u32[], token[]) send(x, t), channel_id=%[2]d, %[3]s\n  sd%[1]d = token[] send-done(q%[1]d), channel_id=%[2]d\n", func(i int) []any { return []any{i, i + 1, pairsOf(i)} }) +
			lines(n, "  v%[1]d = (f32[], u32[], token[]) recv(t), channel_id=%[2]d, %[3]s\n  vd%[1]d = (f32[], token[]) recv-done(v%[1]d), channel_id=%[2]d\n", func(i int) []any {
				return []any{i, n - i, pairsOf(n - 1 - i)}
			}) + "  ROOT r = f32[] copy(x)\n}\n"
	}},
	{"updates in a row", 50_000, "", verifier.Config{}, func(n int) string {
		return "HloModule m\n\n" + asyncBodyText + "ENTRY e {\n  x = f32[] parameter(0)\n  v0 = " + asyncShape + " async-start(x), calls=f\n" +
			lines(n, "  v%d = "+asyncShape+" async-update(v%d)\n", follow) + fmt.Sprintf("  ROOT d = f32[] async-done(v%d)\n}\n", n)
	}},
	{"updates in a row without a done", 50_000, "ASYNC-27", verifier.Config{}, func(n int) string {
		return "HloModule m\n\n" + asyncBodyText + "ENTRY e {\n  x = f32[] parameter(0)\n  v0 = " + asyncShape + " async-start(x), calls=f\n" +
			lines(n, "  v%d = "+asyncShape+" async-update(v%d)\n", follow) + "  ROOT r = f32[] copy(x)\n}\n"
	}},
	{"dones of copies of a start", 20_000, "ASYNC-25", xla, func(n int) string {
		return "HloModule m\n\n" + asyncBodyText + "ENTRY e {\n  x = f32[] parameter(0)\n  v0 = " + asyncShape + " async-start(x), calls=f\n" +
			lines(n, "  v%d = "+asyncShape+" opt-barrier(v%d)\n", follow) + lines(n, "  d%[1]d = f32[] async-done(v%[1]d)\n", one) + "  ROOT r = f32[] copy(x)\n}\n"
	}},
	{"many starts", 30_000, "", verifier.Config{}, func(n int) string {
		return "HloModule m\n\n" + asyncBodyText + "ENTRY e {\n  x = f32[] parameter(0)\n" +
			lines(n, "  q%[1]d = "+asyncShape+" async-start(x), calls=f\n  d%[1]d = f32[] async-done(q%[1]d)\n", one) + "  ROOT r = f32[] copy(x)\n}\n"
	}},
	{"many starts with a tuple each", 20_000, "ASYNC-S1", verifier.Config{}, func(n int) string {
		return "HloModule m\n\n" + asyncBodyText + "ENTRY e {\n  x = f32[] parameter(0)\n" +
			lines(n, "  q%[1]d = "+asyncShape+" async-start(x), calls=f\n  d%[1]d = f32[] async-done(q%[1]d)\n", one) +
			"  t = (" + repeat(n, func(int) string { return asyncShape }) + ") tuple(" + repeat(n, func(i int) string { return fmt.Sprintf("q%d", i) }) + ")\n  ROOT r = f32[] copy(x)\n}\n"
	}},
	{"an update that takes starts", 20_000, "ASYNC-20", xla, func(n int) string {
		return "HloModule m\n\n" + asyncBodyText + "ENTRY e {\n  x = f32[] parameter(0)\n" + lines(n, "  q%d = "+asyncShape+" async-start(x), calls=f\n", one) +
			"  u = ((f32[], " + repeat(n-1, func(int) string { return asyncShape }) + "), f32[], u32[]) async-update(" + repeat(n, func(i int) string { return fmt.Sprintf("q%d", i) }) + ")\n  ROOT d = f32[] async-done(u)\n}\n"
	}},
	{"starts carried around a loop", 5_000, "", xla, func(n int) string {
		s := "(pred[], " + repeat(n, func(int) string { return asyncShape }) + ")"
		return "HloModule m\n\n" + asyncBodyText + "step {\n  p = " + s + " parameter(0)\n  c = pred[] get-tuple-element(p), index=0\n" +
			lines(n, "  g%[1]d = "+asyncShape+" get-tuple-element(p), index=%[2]d\n  h%[1]d = "+asyncShape+" async-update(g%[1]d)\n", func(i int) []any { return []any{i, i + 1} }) +
			"  ROOT t = " + s + " tuple(c, " + repeat(n, func(i int) string { return fmt.Sprintf("h%d", i) }) + ")\n}\n\nmore {\n  p.1 = " + s + " parameter(0)\n  ROOT c.1 = pred[] get-tuple-element(p.1), index=0\n}\n\nENTRY e {\n  x = f32[] parameter(0)\n  b = pred[] parameter(1)\n" +
			lines(n, "  q%d = "+asyncShape+" async-start(x), calls=f\n", one) + "  t.1 = " + s + " tuple(b, " + repeat(n, func(i int) string { return fmt.Sprintf("q%d", i) }) + ")\n  w = " + s + " while(t.1), condition=more, body=step\n" +
			lines(n, "  k%[1]d = "+asyncShape+" get-tuple-element(w), index=%[2]d\n  d%[1]d = f32[] async-done(k%[1]d)\n", func(i int) []any { return []any{i, i + 1} }) + "  ROOT r = f32[] copy(x)\n}\n"
	}},
	{"loops in loops around a start", 3_000, "", xla, func(n int) string {
		s := "(pred[], " + asyncShape + ")"
		return "HloModule m\n\n" + asyncBodyText + "more {\n  p = " + s + " parameter(0)\n  ROOT c = pred[] get-tuple-element(p), index=0\n}\n\nw0 {\n  ROOT p0 = " + s + " parameter(0)\n}\n\n" +
			lines(n, "w%[1]d {\n  p%[1]d = "+s+" parameter(0)\n  ROOT q%[1]d = "+s+" while(p%[1]d), condition=more, body=w%[2]d\n}\n\n", follow) +
			"ENTRY e {\n  x = f32[] parameter(0)\n  b = pred[] parameter(1)\n  s = " + asyncShape + " async-start(x), calls=f\n  t = " + s + " tuple(b, s)\n" +
			fmt.Sprintf("  w = "+s+" while(t), condition=more, body=w%d\n", n) + "  g = " + asyncShape + " get-tuple-element(w), index=1\n  ROOT d = f32[] async-done(g)\n}\n"
	}},
	{"collectives of large groups", 5_000, "", xla, func(n int) string {
		return "HloModule m\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\nENTRY e {\n  x0 = f32[] parameter(0)\n" +
			lines(n, "  x%d = f32[] all-reduce(x%d), replica_groups={{"+strings.ReplaceAll(repeat(n, func(i int) string { return fmt.Sprint(i) }), " ", "")+"}}, to_apply=sum\n", follow) + fmt.Sprintf("  ROOT r = f32[] copy(x%d)\n}\n", n)
	}},
	{"shardings over many devices", 5_000, "", xla, func(n int) string {
		devices := strings.ReplaceAll(repeat(n, func(i int) string { return fmt.Sprint(i) }), " ", "")
		return "HloModule m\n\nENTRY e {\n  x0 = f32[8] parameter(0)\n" + lines(n, "  x%d = f32[8] negate(x%d), sharding={devices=["+fmt.Sprint(n)+"]"+devices+"}\n", follow) + fmt.Sprintf("  ROOT r = f32[8] copy(x%d)\n}\n", n)
	}},
	{"buffers in a wide tuple", 20_000, "", xla, func(n int) string {
		s := "(" + repeat(n, func(int) string { return "b(f32[])" }) + ")"
		return "HloModule m\n\nENTRY e {\n" + lines(n, "  b%d = b(f32[]) custom-call(), custom_call_target=\"CreateBuffer\"\n", one) +
			"  t = " + s + " tuple(" + repeat(n, func(i int) string { return fmt.Sprintf("b%d", i) }) + ")\n" +
			"  c = " + s + " custom-call(t), custom_call_target=\"write\", output_to_operand_aliasing={" + repeat(n, func(i int) string { return fmt.Sprintf("{%d}: (0, {%d})", i, i) }) + "}\n" +
			lines(n, "  g%[1]d = b(f32[]) get-tuple-element(c), index=%[1]d\n  o%[1]d = f32[] custom-call(g%[1]d), custom_call_target=\"Unpin\", output_to_operand_aliasing={{}: (0, {})}\n", one) +
			"  ROOT r = f32[] copy(o0)\n}\n"
	}},
	{"fusions", 20_000, "", xla, func(n int) string {
		return "HloModule m\n\n" + lines(n, "fn%[1]d {\n  a%[1]d = f32[] parameter(0)\n  ROOT b%[1]d = f32[] negate(a%[1]d)\n}\n\n", one) + "ENTRY e {\n  x0 = f32[] parameter(0)\n" +
			lines(n, "  x%d = f32[] fusion(x%[2]d), kind=kLoop, calls=fn%[2]d\n", follow) + fmt.Sprintf("  ROOT r = f32[] copy(x%d)\n}\n", n)
	}},
	{"control edges to all before", 1_500, "", xla, func(n int) string {
		return "HloModule m\n\nENTRY e {\n  x0 = f32[] parameter(0)\n" + lines(n, "  x%d = f32[] negate(x0), control-predecessors={%s}\n", func(i int) []any {
			return []any{i + 1, repeat(i+1, func(k int) string { return fmt.Sprintf("x%d", k) })}
		}) + "  ROOT r = f32[] copy(x0)\n}\n"
	}},
	{"errors everywhere", 50_000, "GEN-06", xla, func(n int) string {
		return "HloModule m\n\nENTRY e {\n  x = f32[] parameter(0)\n" + lines(n, "  y%d = f32[2] negate(x)\n", one) + "  ROOT r = f32[] copy(x)\n}\n"
	}},
}

func TestLarge(t *testing.T) {
	for _, c := range largeCases {
		t.Run(c.name, func(t *testing.T) {
			n := c.n / 4
			if testing.Short() {
				n = max(n/10, 10)
			}
			m, err := parser.Parse("", c.text(n))
			require.NoError(t, err)
			found := verifier.Verify(m, c.cfg)
			if c.rule == "" {
				assert.Empty(t, found[:min(len(found), 3)])
				return
			}
			assert.Contains(t, rulesOf(found), c.rule, "%v", found[:min(len(found), 3)])
		})
	}
}

func BenchmarkLarge(b *testing.B) {
	for _, c := range largeCases {
		for _, n := range []int{c.n / 2, c.n} {
			m, err := parser.Parse("", c.text(n))
			require.NoError(b, err)
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(c.name, " ", "-"), n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					verifier.Verify(m, c.cfg)
				}
			})
		}
	}
}
