package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./gen

// vectorKernel sets g to the kernel in assembly for this processor, if there is one.
func vectorKernel[T Number](g *Kernel[T]) {
	wide := cpu.X86.HasAVX512F
	if !wide && !(cpu.X86.HasAVX2 && cpu.X86.HasFMA) {
		return
	}
	switch g := any(g).(type) {
	case *Kernel[float32]:
		if wide {
			*g = decoding(newKernel(14, 32, f32AVX512, f32AVX512Packing, f32AVX512OnRows), f32AVX512Decoding)
		} else {
			*g = decoding(placed(newKernel(6, 16, f32AVX2, f32AVX2Packing, f32AVX2OnRows), f32AVX2InPlace), f32AVX2Decoding)
		}
	case *Kernel[float64]:
		if wide {
			*g = newKernel(14, 16, f64AVX512, f64AVX512Packing, f64AVX512OnRows)
		} else {
			*g = placed(newKernel(6, 8, f64AVX2, f64AVX2Packing, f64AVX2OnRows), f64AVX2InPlace)
		}
	case *Kernel[int32]:
		if wide {
			*g = newKernel(12, 32, i32AVX512, i32AVX512Packing, i32AVX512OnRows)
		} else {
			*g = newKernel(6, 16, i32AVX2, i32AVX2Packing, i32AVX2OnRows)
		}
	}
}

// smallerKernels are kernels with smaller panels than that of vectorKernel.
func smallerKernels[T Number]() (smaller []Kernel[T]) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return nil
	}
	switch to := any(&smaller).(type) {
	case *[]Kernel[float32]:
		if cpu.X86.HasAVX512F {
			*to = append(*to, decoding(anywhere(broad(placed(newKernel(8, 32, f32AVX512Few, f32AVX512FewPacking, f32AVX512FewOnRows), f32AVX512InPlace), f32AVX512FewOnBroad, f32AVX512FewOnHalf), narrow32), f32AVX512FewDecoding))
		}
		*to = append(*to, decoding(placed(newKernel(6, 16, f32AVX2, f32AVX2Packing, f32AVX2OnRows), f32AVX2InPlace), f32AVX2Decoding),
			decoding(newKernel(4, 16, f32AVX2Few, f32AVX2FewPacking, f32AVX2FewOnRows), f32AVX2FewDecoding))
	case *[]Kernel[float64]:
		if cpu.X86.HasAVX512F {
			*to = append(*to, anywhere(broad(placed(newKernel(8, 16, f64AVX512Few, f64AVX512FewPacking, f64AVX512FewOnRows), f64AVX512InPlace), f64AVX512FewOnBroad, f64AVX512FewOnHalf), narrow64))
		}
		*to = append(*to, placed(newKernel(6, 8, f64AVX2, f64AVX2Packing, f64AVX2OnRows), f64AVX2InPlace), newKernel(4, 8, f64AVX2Few, f64AVX2FewPacking, f64AVX2FewOnRows))
	}
	return smaller
}

// vectorPairs sets g to the kernel of pairs in assembly for this processor, if there is one.
func vectorPairs(g *Kernel[int32]) {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW:
		*g = newKernel(12, 32, pairsAVX512, pairsAVX512Packing, pairsAVX512OnRows)
	case cpu.X86.HasAVX2:
		*g = newKernel(6, 16, pairsAVX2, pairsAVX2Packing, pairsAVX2OnRows)
	}
}

// The forms of kernels in assembly.
type (
	microLoop[T float32 | float64 | int32]   func(panels, k int, a, b, c *T, ldc int, add bool, next *T, step int)
	packingLoop[T float32 | float64 | int32] func(k int, a, b *T, ldb int, c *T, ldc int, add bool, panel *T)
	onRowsLoop[T float32 | float64 | int32]  func(k int, a, b *T, ldb int, c *T, ldc int, add bool)
	inPlaceLoop[T float32 | float64 | int32] func(panels, k int, a *T, rows, ks *int, b, c *T, ldc int, add bool)
	anywhereLoop[T float32 | float64]        func(panels, k int, a *T, rows, ks *int, b *T, ldb int, c *T, ldc int, add bool, last uint16)
)

// placed gives a kernel the loop of [Kernel.BlockInPlace], which checks what it reads.
func placed[T float32 | float64 | int32](k Kernel[T], run inPlaceLoop[T]) Kernel[T] {
	k.inPlace = func(panels int, a []T, rows, ks []int, b []T, _ int, c []T, ldc int, add bool, _ int) {
		run(panels, len(ks), unsafe.SliceData(a), &rows[0], &ks[0], &b[0], &c[0], ldc, add)
	}
	return k
}

// decodingLoop is packingLoop for b of bf16.
type decodingLoop func(k int, a *float32, b *uint16, ldb int, c *float32, ldc int, add bool, panel *float32)

// decoding gives a kernel the loop of [Kernel.BlockOnBF16], which checks what it reads and writes.
func decoding(g Kernel[float32], run decodingLoop) Kernel[float32] {
	mr, nr := g.MR, g.NR
	g.runOnBF16 = func(k int, a []float32, b []uint16, ldb int, c []float32, ldc int, add bool, panel []float32) {
		if k == 0 || len(a) < k*mr || len(b) < (k-1)*ldb+nr || len(c) < (mr-1)*ldc+nr || len(panel) < k*nr {
			panic("gemm: panels are too short")
		}
		run(k, &a[0], &b[0], ldb, &c[0], ldc, add, &panel[0])
	}
	return g
}

// broad gives a kernel loops for three vectors of columns, and for four and half of its rows, which check what they read and write.
func broad[T float32 | float64](k Kernel[T], whole, half onRowsLoop[T]) Kernel[T] {
	rows, columns := k.MR, k.NR/2*3
	k.onBroad = func(n int, a, b []T, ldb int, c []T, ldc int, add bool) {
		checkPanels(1, n, rows, columns, a, b, ldb, c, ldc)
		whole(n, &a[0], &b[0], ldb, &c[0], ldc, add)
	}
	halfOfRows, twice := k.MR/2, 2*k.NR
	k.onHalf = func(n int, a, b []T, ldb int, c []T, ldc int, add bool) {
		checkPanels(1, n, halfOfRows, twice, a[:n*rows], b, ldb, c, ldc)
		half(n, &a[0], &b[0], ldb, &c[0], ldc, add)
	}
	return k
}

// checkPanels panics if memory is too short for panels of mr rows and nr columns.
func checkPanels[T float32 | float64 | int32](panels, k, mr, nr int, a, b []T, ldb int, c []T, ldc int) {
	if panels == 0 || k == 0 || len(a) < panels*k*mr || len(b) < (k-1)*ldb+nr || len(c) < (panels*mr-1)*ldc+nr {
		panic("gemm: panels are too short")
	}
}

// narrowLoops are for as many columns as one vector has, for fewer, and for those of two vectors at most.
type narrowLoops[T float32 | float64] struct{ whole, part, wide anywhereLoop[T] }

var (
	narrow32 = narrowLoops[float32]{f32AVX512Narrow, f32AVX512NarrowPart, f32AVX512WidePart}
	narrow64 = narrowLoops[float64]{f64AVX512Narrow, f64AVX512NarrowPart, f64AVX512WidePart}
)

// anywhere gives a placed kernel loops for less than NR columns, and for rows of b that are not those of a panel.
func anywhere[T float32 | float64](k Kernel[T], loops narrowLoops[T]) Kernel[T] {
	panels, lanes := k.inPlace, k.NR/2
	k.anywhere = true
	k.inPlace = func(count int, a []T, rows, ks []int, b []T, ldb int, c []T, ldc int, add bool, n int) {
		loop, last := loops.wide, n-lanes
		switch {
		case n == k.NR && ldb == k.NR:
			panels(count, a, rows, ks, b, ldb, c, ldc, add, n)
			return
		case n == lanes:
			loop = loops.whole
		case n < lanes:
			loop, last = loops.part, n
		}
		loop(count, len(ks), unsafe.SliceData(a), &rows[0], &ks[0], &b[0], ldb, &c[0], ldc, add, uint16(1<<last-1))
	}
	return k
}

// newKernel checks what assembly reads and writes before it does. There may be no loops on rows.
func newKernel[T float32 | float64 | int32](mr, nr int, run microLoop[T], packing packingLoop[T], onRows onRowsLoop[T]) Kernel[T] {
	check := func(panels, k int, a, b []T, ldb int, c []T, ldc int) {
		checkPanels(panels, k, mr, nr, a, b, ldb, c, ldc)
	}
	g := Kernel[T]{MR: mr, NR: nr, Run: func(panels, k int, a, b, c []T, ldc int, add bool, next Ahead[T]) {
		check(panels, k, a, b, nr, c, ldc)
		run(panels, k, &a[0], &b[0], &c[0], ldc, add, unsafe.SliceData(next.From), next.Step)
	}}
	if onRows == nil {
		return g
	}
	g.RunOnRows = func(k int, a, b []T, ldb int, c []T, ldc int, add bool, panel []T) {
		check(1, k, a, b, ldb, c, ldc)
		if panel == nil {
			onRows(k, &a[0], &b[0], ldb, &c[0], ldc, add)
			return
		}
		packing(k, &a[0], &b[0], ldb, &c[0], ldc, add, &panel[:k*nr][0])
	}
	return g
}
