package hlo

import (
	"fmt"
	"runtime"
	"testing"
)

var (
	sizes  = []int{8, 32, 1_000, 100_000, 1_000_000}
	shapes = [2]Shape{MakeShape(F32, 5), MakeShape(F32, 6)}
	sink   any
)

// scattered is the k-th of a sequence of ids that hops about.
func scattered(k, n int) InstrID { return InstrID(uint64(k) * 0x9E3779B97F4A7C15 >> 20 % uint64(n)) }

func forSizes(b *testing.B, f func(b *testing.B, m Module, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			m := topkModule(b, n)
			b.ReportAllocs()
			f(b, m, n)
		})
	}
}

// A session of one edit: C1, C4, C9.
func BenchmarkEditOne(b *testing.B) {
	forSizes(b, func(b *testing.B, m Module, n int) {
		k := 0
		for b.Loop() {
			e := m.Edit()
			e.Computation(0).Instr(scattered(k, n)).SetShape(shapes[0])
			sink = e.Freeze().m
			k++
		}
	})
}

func BenchmarkEditOneAttr(b *testing.B) {
	forSizes(b, func(b *testing.B, m Module, n int) {
		k := 0
		for b.Loop() {
			e := m.Edit()
			e.Computation(0).Instr(1+scattered(k, n-1)).SetAttr("k", int64(7))
			sink = e.Freeze().m
			k++
		}
	})
}

// Sessions of many scattered edits; the time per edit is reported: C2, C3.
func BenchmarkEditMany(b *testing.B) {
	const n = 100_000
	for _, edits := range []int{10, 100, 1_000, 10_000, n} {
		b.Run(fmt.Sprintf("k=%d", edits), func(b *testing.B) {
			m := topkModule(b, n)
			b.ReportAllocs()
			for b.Loop() {
				e := m.Edit()
				c := e.Computation(0)
				for k := range edits {
					id := InstrID(k)
					if edits < n {
						id = scattered(k, n)
					}
					c.Instr(id).SetShape(shapes[0])
				}
				sink = e.Freeze().m
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edits), "ns/edit")
		})
	}
}

// One edit in each of many small computations, in one session: C9 without what opening a session costs.
func BenchmarkEditSmall(b *testing.B) {
	const comps = 1_000
	for _, n := range []int{8, 32} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			e := NewModule("m")
			for range comps {
				cb := e.NewComputation("c")
				for range n {
					cb.Append(InstrSpec{Opcode: OpPartitionId, Shape: f32})
				}
				cb.Finish(NoInstr)
			}
			m := e.Freeze()
			b.ReportAllocs()
			for b.Loop() {
				e := m.Edit()
				for id := range CompID(comps) {
					e.Computation(id).Instr(3).SetShape(shapes[0])
				}
				sink = e.Freeze().m
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/comps, "ns/edit")
		})
	}
}

// Sessions that each add, or insert, one instruction, each on what the one before published.
func BenchmarkAddOne(b *testing.B) {
	for name, insert := range map[string]bool{"add": false, "insert": true} {
		b.Run(name, func(b *testing.B) {
			m := topkModule(b, 100_000)
			b.ReportAllocs()
			for b.Loop() {
				e := m.Edit()
				if insert {
					e.Computation(0).InsertBefore(50_000, OpAbs, f32, 0)
				} else {
					e.Computation(0).Add(OpAbs, f32, 0)
				}
				m = e.Freeze()
			}
		})
	}
}

// A chain of writes to one instruction, past the first: C5.
func BenchmarkEditSame(b *testing.B) {
	m := topkModule(b, 100_000)
	e := m.Edit()
	in := e.Computation(0).Instr(777).SetShape(shapes[0])
	b.Run("shape", func(b *testing.B) {
		b.ReportAllocs()
		k := 0
		for b.Loop() {
			k++
			in.SetShape(shapes[k&1])
		}
	})
	b.Run("attr", func(b *testing.B) {
		b.ReportAllocs()
		k := int64(0)
		for b.Loop() {
			k++
			in.SetAttr("k", k&1)
		}
	})
	b.Run("attrs", func(b *testing.B) {
		b.ReportAllocs()
		sets := [2]OpAttrs{&TopKAttrs{K: 1}, &TopKAttrs{K: 2}}
		k := 0
		for b.Loop() {
			k++
			in.SetAttrs(sets[k&1])
		}
	})
	b.Run("note", func(b *testing.B) {
		b.ReportAllocs()
		keys := [4]AttrKey{"a", "b", "c", "d"}
		values := [2]Attr{int64(1), int64(2)}
		k := 0
		for b.Loop() {
			k++
			e.SetNote(keys[k&3], values[k>>2&1])
		}
	})
}

// Publishing and going back: C6.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{32, 100_000} {
		m := topkModule(b, n)
		b.Run(fmt.Sprintf("Snapshot/n=%d", n), func(b *testing.B) {
			e := m.Edit()
			e.SetName("x")
			b.ReportAllocs()
			for b.Loop() {
				e.root.epoch = e.epoch // as if edited
				sink = e.Snapshot().m
			}
		})
		b.Run(fmt.Sprintf("Rollback/n=%d", n), func(b *testing.B) {
			e := m.Edit()
			b.ReportAllocs()
			for b.Loop() {
				e.Rollback(m)
			}
		})
		b.Run(fmt.Sprintf("EditFreeze/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = m.Edit().Freeze().m
			}
		})
	}
}

// C10.
func BenchmarkHash(b *testing.B) {
	const n = 100_000
	for name, m := range map[string]Module{"chain": chainModule(b, n), "topk": topkModule(b, n)} {
		b.Run("first/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c := m.uncached()
				b.StartTimer()
				sink = c.Hash()
			}
			perInstr(b, n)
		})
		b.Run("again/"+name, func(b *testing.B) {
			var h Hash
			for b.Loop() {
				h = m.Hash()
			}
			sink = h
		})
	}
}

// editScattered returns a version of m with k scattered edits.
func editScattered(m Module, k, n int) Module {
	e := m.Edit()
	for i := range k {
		e.Computation(0).Instr(scattered(i, n)).SetShape(shapes[0])
	}
	return e.Freeze()
}

// C11.
func BenchmarkDiff(b *testing.B) {
	const n = 100_000
	m := topkModule(b, n)
	m2 := editScattered(m, 10, n)
	b.ReportAllocs()
	for b.Loop() {
		k := 0
		for range m2.Diff(m) {
			k++
		}
		if k != 10 {
			b.Fatal(k)
		}
	}
}

// C12.
func BenchmarkDigest(b *testing.B) {
	const n = 100_000
	m := topkModule(b, n)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			c := m.uncached()
			b.StartTimer()
			sink = c.Digest()
		}
		perInstr(b, n)
	})
	m.Digest()
	b.Run("after10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			m2 := editScattered(m, 10, n)
			b.StartTimer()
			sink = m2.Digest()
		}
	})
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}

// C13: what 100 kept snapshots of 10 edits each hold on to; C19: memory per instruction at rest.
func BenchmarkMemory(b *testing.B) {
	const n = 100_000
	for name, make := range map[string]func(testing.TB, int) Module{"negate": chainModule, "topk": topkModule} {
		b.Run("atRest/"+name, func(b *testing.B) {
			for b.Loop() {
				sink = nil
				before := heap()
				m := make(b, n)
				b.ReportMetric(float64(heap()-before)/n, "B/instr")
				sink = m
			}
		})
	}
	b.Run("snapshots", func(b *testing.B) {
		for b.Loop() {
			m := topkModule(b, n)
			e := m.Edit()
			before := heap()
			kept := make([]Module, 100)
			for s := range kept {
				for k := range 10 {
					e.Computation(0).Instr(scattered(s*10+k, n)).SetShape(shapes[s&1])
				}
				kept[s] = e.Snapshot()
			}
			b.ReportMetric(float64(heap()-before)/1e6, "MB")
			runtime.KeepAlive(kept)
			runtime.KeepAlive(m)
		}
	})
}

// C14: a pass that looks at everything and finds nothing to do.
func BenchmarkIdlePass(b *testing.B) {
	m := chainModule(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		e := m.Edit()
		c := e.Computation(0)
		for in := range m.Entry().PostOrder() {
			if c.UserCount(in.ID()) == 0 && !in.IsRoot() {
				if err := c.Remove(in.ID()); err != nil {
					b.Fatal(err)
				}
			}
		}
		if e.Freeze() != m {
			b.Fatal("changed")
		}
	}
}

// The bulk way in: no target of its own, but 500 ns per instruction is what the whole reader has.
func BenchmarkBuild(b *testing.B) {
	const n = 100_000
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("fusion.%d", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		e := NewModule("m")
		cb := e.NewComputation("main")
		ops := []InstrID{0}
		attrs := &TopKAttrs{}
		for i := range n {
			cb.Append(InstrSpec{Opcode: OpTopk, Name: names[i], Shape: f32, Operands: ops[:min(i, 1)], Attrs: attrs})
		}
		cb.Finish(NoInstr)
		sink = e.Freeze().m
	}
	perInstr(b, n)
}
