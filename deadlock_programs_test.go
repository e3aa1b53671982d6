package halo_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/deadlock"
	"github.com/gohalo/halo/runtime/devices"
)

var deadlockPrograms = flag.Int("deadlockprograms", 60, "programs for several devices to look for deadlocks in")

// devicesProgram is a program for n devices that meet in a few steps; with a planted cycle, some devices take them in another order, or every
// device receives before it sends.
func devicesProgram(seed uint64, n int, planted bool) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	fmt.Fprintf(&b, "HloModule meet_%d, num_partitions=%d\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n", seed, n)
	groups := func() string { // always more than one device together
		if n%2 == 0 && n > 2 && r.IntN(3) == 0 {
			var g []string
			for i := 0; i < n; i += 2 {
				g = append(g, fmt.Sprintf("{%d,%d}", i, i+1))
			}
			return "{" + strings.Join(g, ",") + "}"
		}
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint(i))
		}
		return "{{" + strings.Join(ids, ",") + "}}"
	}
	steps := 2 + r.IntN(4)
	for i := range steps {
		fmt.Fprintf(&b, "step%d {\n  x = f32[4] parameter(0)\n", i)
		g := groups()
		if planted {
			g = "{{0,1}}"
			for d := 2; d < n; d++ {
				g = strings.TrimSuffix(g, "}}") + fmt.Sprintf(",%d}}", d)
			}
		}
		fmt.Fprintf(&b, "  ROOT r = f32[4] all-reduce(x), channel_id=%d, use_global_device_ids=true, replica_groups=%s, to_apply=sum\n}\n\n", i+1, g)
	}
	order := func(name string, list []int) {
		fmt.Fprintf(&b, "%s {\n  v0 = f32[4] parameter(0)\n", name)
		for k, i := range list {
			fmt.Fprintf(&b, "  v%d = f32[4] call(v%d), to_apply=step%d\n", k+1, k, i)
		}
		fmt.Fprintf(&b, "  ROOT o = f32[4] negate(v%d)\n}\n\n", len(list))
	}
	list := make([]int, steps)
	for i := range list {
		list[i] = i
	}
	ring := r.IntN(2) == 0
	order("first", list)
	if planted && !ring {
		i := r.IntN(steps - 1)
		list[i], list[i+1] = list[i+1], list[i]
	}
	order("second", list)
	fmt.Fprintf(&b, `ENTRY main {
  x = f32[4] parameter(0)
  p = u32[] partition-id()
  k = u32[] constant(%d)
  low = pred[] compare(p, k), direction=LT
  y = f32[4] conditional(low, x, x), true_computation=first, false_computation=second
`, 1+r.IntN(n-1))
	if !ring {
		b.WriteString("  ROOT out = f32[4] negate(y)\n}\n")
		return b.String()
	}
	var pairs []string
	for d := range n {
		pairs = append(pairs, fmt.Sprintf("{%d,%d}", d, (d+1)%n))
	}
	about := fmt.Sprintf(`channel_id=99, frontend_attributes={_xla_send_recv_source_target_pairs="{%s}"}`, strings.Join(pairs, ","))
	sent := "y"
	if planted {
		sent = "got"
	}
	fmt.Fprintf(&b, `  t = token[] after-all()
  r = (f32[4], u32[], token[]) recv(t), %[1]s
  d = (f32[4], token[]) recv-done(r), %[1]s
  got = f32[4] get-tuple-element(d), index=0
  s = (f32[4], u32[], token[]) send(%[2]s, t), %[1]s
  e = token[] send-done(s), %[1]s
  ROOT out = f32[4] add(got, y)
}
`, about, sent)
	if !planted { // what is sent does not wait for what is received: the send goes first
		text := b.String()
		send := fmt.Sprintf("  s = (f32[4], u32[], token[]) send(y, t), %s\n", about)
		text = strings.Replace(text, send, "", 1)
		text = strings.Replace(text, "  d = (f32[4], token[]) recv-done(r)", send+"  d = (f32[4], token[]) recv-done(r)", 1)
		return strings.Replace(text, fmt.Sprintf("recv-done(r), %s", about), fmt.Sprintf("recv-done(r), control-predecessors={s}, %s", about), 1)
	}
	return b.String()
}

// TestDeadlocksAreFound: every planted cycle is found and printed, and none where a program runs through, which it then does.
func TestDeadlocksAreFound(t *testing.T) {
	for seed := range uint64(*deadlockPrograms) {
		n, planted := 2+int(seed%7), seed%2 == 0
		text := devicesProgram(seed, n, planted)
		m, err := parser.Parse("devices.hlo", text)
		require.NoError(t, err, text)
		cycle, err := deadlock.Find(m, devices.Grid{Replicas: 1, Partitions: n})
		require.NoError(t, err, text)
		if planted {
			require.NotNil(t, cycle, text)
			assert.Contains(t, cycle.String(), " waits at %")
			assert.NotEmpty(t, cycle.Waits)
			continue
		}
		require.Nil(t, cycle, "%v\n%s", cycle, text)
		if seed > 60 {
			continue
		}
		p, err := halo.Compile(t.Context(), m, halo.Options{Passes: "O0", Threads: 2})
		require.NoError(t, err, text)
		args := make([][]*hlo.Literal, n)
		for d := range args {
			x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 4), float32(1), float32(2), float32(3), float32(d))
			require.NoError(t, err)
			args[d] = []*hlo.Literal{x}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err = p.RunDevices(ctx, 1, n, args)
		cancel()
		require.NoError(t, err, text)
		p.Close()
	}
}
