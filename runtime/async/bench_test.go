package async

import "testing"

var (
	sinkRef   Ref[int64]
	sinkValue *Value
	sinkInt   int64
	sinkBool  bool
)

// BenchmarkP1MakeAvailable is P1.
func BenchmarkP1MakeAvailable(b *testing.B) {
	b.Run("int64", func(b *testing.B) {
		b.ReportAllocs()
		i := int64(1000)
		for b.Loop() {
			sinkRef = MakeAvailable(i)
			i++
		}
	})
	b.Run("small int64", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sinkRef = MakeAvailable[int64](7)
		}
	})
	b.Run("counted", func(b *testing.B) {
		b.ReportAllocs()
		buf := newBuffer(1)
		for b.Loop() {
			r := MakeAvailable(buf)
			sinkValue = r.Value()
		}
	})
	b.Run("string", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := MakeAvailable("text")
			sinkValue = r.Value()
		}
	})
}

func nothing() {}

func nothingMore(any) Ready { return Ready{} }

// BenchmarkP2AndThenEmplace is P2.
func BenchmarkP2AndThenEmplace(b *testing.B) {
	b.Run("closure", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := MakeUnconstructed[int64]()
			r.AndThen(nothing)
			r.Emplace(1)
		}
	})
	b.Run("intrusive", func(b *testing.B) {
		b.ReportAllocs()
		w := new(Waiter)
		for b.Loop() {
			r := MakeUnconstructed[int64]()
			r.Value().AndThenCall(w, nothingMore, w)
			r.Emplace(1)
		}
	})
	b.Run("no waiter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := MakeUnconstructed[int64]()
			r.Emplace(1)
			sinkValue = r.Value()
		}
	})
}

// BenchmarkP3AndThenAvailable is P3.
func BenchmarkP3AndThenAvailable(b *testing.B) {
	v := Int64(1)
	b.Run("closure", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v.AndThen(nothing)
		}
	})
	b.Run("intrusive", func(b *testing.B) {
		b.ReportAllocs()
		w := new(Waiter)
		for b.Loop() {
			v.AndThenCall(w, nothingMore, w)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	v := Int64(1000)
	in := MakeIndirect()
	in.ForwardTo(v)
	b.Run("concrete", func(b *testing.B) {
		for b.Loop() {
			sinkInt += Get[int64](v)
		}
	})
	b.Run("indirect", func(b *testing.B) {
		for b.Loop() {
			sinkInt += Get[int64](&in.Value)
		}
	})
	b.Run("IsAvailable", func(b *testing.B) {
		for b.Loop() {
			sinkBool = v.IsAvailable()
		}
	})
}

func BenchmarkAddRefDropRef(b *testing.B) {
	counted := MakeAvailable(newBuffer(1)).Value()
	uncounted := Int64(1000)
	b.Run("counted", func(b *testing.B) {
		for b.Loop() {
			counted.AddRef()
			counted.DropRef()
		}
	})
	b.Run("uncounted", func(b *testing.B) {
		for b.Loop() {
			uncounted.AddRef()
			uncounted.DropRef()
		}
	})
}

func BenchmarkMap(b *testing.B) {
	double := func(x int64) int64 { return 2 * x }
	b.Run("available", func(b *testing.B) {
		b.ReportAllocs()
		src := MakeAvailable[int64](1000)
		for b.Loop() {
			sinkRef = Map(src, double)
		}
	})
	b.Run("unavailable", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			src := MakeUnconstructed[int64]()
			sinkRef = Map(src, double)
			src.Emplace(1000)
		}
	})
}

func BenchmarkForwardTo(b *testing.B) {
	v := Int64(1000)
	b.Run("available", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			in := MakeIndirect()
			in.ForwardTo(v)
			sinkValue = &in.Value
		}
	})
	b.Run("unavailable", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := MakeUnconstructed[int64]()
			in := MakeIndirect()
			in.ForwardTo(r.Value())
			r.Emplace(1000)
		}
	})
}

func BenchmarkCountDown(b *testing.B) {
	for _, n := range []int{4, 32} {
		b.Run(map[int]string{4: "4", 32: "32"}[n], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := NewCountDown(MakeConstructed(Chain{}), n)
				for range n {
					c.CountDown(1, nil)
				}
			}
		})
	}
}

func BenchmarkRunWhenReady(b *testing.B) {
	b.ReportAllocs()
	vs := make([]*Value, 4)
	for b.Loop() {
		for i := range vs {
			vs[i] = MakeUnconstructed[int64]().Value()
		}
		RunWhenReady(vs, nothing)
		for _, v := range vs {
			Emplace[int64](v, 1)
		}
	}
}
