package hlo

import (
	"testing"
)

// C7; "opcode" also reads the instruction, which lies anywhere in memory.
func BenchmarkAt(b *testing.B) {
	const n = 100_000
	c := topkModule(b, n).Entry()
	next := func(k uint32) (uint32, InstrID) {
		k = k*1664525 + 1013904223
		return k, InstrID(uint64(k) * n >> 32)
	}
	b.Run("bare", func(b *testing.B) {
		k, id := uint32(1), InstrID(0)
		for b.Loop() {
			k, id = next(k)
			if _, ok := c.At(id); !ok {
				b.Fatal(id)
			}
		}
	})
	b.Run("opcode", func(b *testing.B) {
		k, id := uint32(1), InstrID(0)
		s := 0
		for b.Loop() {
			k, id = next(k)
			in, _ := c.At(id)
			s += int(in.Opcode())
		}
		sink = s
	})
}

// C8; "merged" is an order other than that of ids.
func BenchmarkIterate(b *testing.B) {
	const n = 100_000
	m := topkModule(b, n)
	e := m.Edit()
	e.Computation(0).InsertBefore(5, OpAbs, f32)
	for name, m := range map[string]Module{"ids": m, "merged": e.Freeze()} {
		c := m.Entry()
		b.Run(name+"/bare", func(b *testing.B) {
			for b.Loop() {
				for in := range c.Instructions() {
					if in.IsZero() {
						b.Fatal("no instruction")
					}
				}
			}
			perInstr(b, n)
		})
		b.Run(name+"/opcode", func(b *testing.B) {
			s := 0
			for b.Loop() {
				for in := range c.Instructions() {
					s += int(in.Opcode())
				}
			}
			sink = s
			perInstr(b, n)
		})
	}
}

func perInstr(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/instr")
}

func BenchmarkUsers(b *testing.B) {
	const n = 100_000
	m := chainModule(b, n)
	for b.Loop() {
		sink = buildUserIndex(m.Entry().c)
	}
	perInstr(b, n)
}

func BenchmarkPostOrder(b *testing.B) {
	const n = 100_000
	m := chainModule(b, n)
	m.Entry().UserCount(0)
	for b.Loop() {
		m.Entry().c.cache().post.Store(nil)
		sink = m.Entry().c.postOrder()
	}
	perInstr(b, n)
}
