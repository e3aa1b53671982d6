package hlo

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// C15: 64 computations of 2,000 instructions edited by W workers on W processors; the speed-up is over one worker on one processor, so
// that the collector works on both sides. "shapes" writes every instruction; "rewrite" is what a simplification does: it walks a
// computation in post-order and puts another instruction in the place of each eighth. serial-% is the share of the time in Fork, Join
// and Freeze, which one worker does alone.
func BenchmarkFork(b *testing.B) {
	const comps, n = 64, 2_000
	e := NewModule("m")
	ids := make([]CompID, comps)
	for i := range ids {
		cb := e.NewComputation("c")
		var last []InstrID
		for range n {
			last = []InstrID{cb.Append(InstrSpec{Opcode: OpAbs, Name: fmt.Sprintf("x%d", i), Shape: f32, Operands: last})}
		}
		ids[i] = cb.Finish(NoInstr)
	}
	m := e.Freeze()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, work := range []struct {
		name string
		edit func(CompEdit)
	}{{"shapes", reshapeAll}, {"rewrite", rewriteEighths}} {
		alone := 0.0
		for workers := 1; workers <= runtime.NumCPU(); workers *= 2 {
			b.Run(fmt.Sprintf("%s/workers=%d", work.name, workers), func(b *testing.B) {
				runtime.GOMAXPROCS(workers)
				b.ReportAllocs()
				var serial time.Duration
				for b.Loop() {
					began := time.Now()
					e := m.Edit()
					children := e.Fork(ids...)
					forked := time.Now()
					inParallel(workers, children, func(c *Editor) { work.edit(c.Computation(c.fork.lent)) })
					worked := time.Now()
					if err := e.Join(children...); err != nil {
						b.Fatal(err)
					}
					sink = e.Freeze().m
					serial += forked.Sub(began) + time.Since(worked)
				}
				took := b.Elapsed().Seconds() / float64(b.N)
				if workers == 1 {
					alone = took
				}
				b.ReportMetric(alone/took, "speed-up")
				b.ReportMetric(100*serial.Seconds()/b.Elapsed().Seconds(), "serial-%")
			})
		}
	}
}

func reshapeAll(c CompEdit) {
	for id := range c.View().IDLimit() {
		c.Instr(id).SetShape(shapes[0])
	}
}

func rewriteEighths(c CompEdit) {
	for in := range c.View().PostOrder() {
		if in.Opcode() != OpAbs || in.NumOperands() == 0 || in.ID()%8 != 3 {
			continue
		}
		x := c.InsertBefore(in.ID(), OpNegate, f32, in.Operand(0))
		c.ReplaceAllUses(in.ID(), x.ID())
		if err := c.Remove(in.ID()); err != nil {
			panic(err)
		}
	}
}
