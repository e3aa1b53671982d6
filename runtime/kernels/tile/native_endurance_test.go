package tile

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	nativeFor  = flag.Duration("native.for", 0, "how long TestNativeEndures runs; 0 tries a few programs")
	nativeFrom = flag.Uint64("native.from", 1, "the first program of TestNativeEndures")
)

// onceWrong are programs that failed: the first adds bf16 in memory to f32, where both are NaN.
var onceWrong = []uint64{68311}

// TestNativeEndures runs machine code by 32 goroutines at once, while the collector never rests, the profiler interrupts, stacks are taken and code that nobody
// needs any more is given back. Every run gives the bits of tiles. It is meant to run for long:
//
//	go test -run TestNativeEndures -native.for=30m -timeout=0 ./runtime/kernels/tile
func TestNativeEndures(t *testing.T) {
	if _, ok := function0(t).compile(); !ok {
		t.Skip("no machine code here")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		defer pprof.StopCPUProfile()
	}
	e := &endurance{t: t, until: time.Now().Add(*nativeFor)}
	e.next.Store(*nativeFrom)
	done := make(chan struct{})
	var disturbing, all sync.WaitGroup
	disturbing.Go(func() { disturb(done) })
	for _, seed := range onceWrong {
		e.program(seed)
	}
	for range 32 {
		all.Go(e.work)
	}
	all.Wait()
	close(done)
	disturbing.Wait()
	t.Logf("%d programs from %d, %d with code, %d runs", e.next.Load()-*nativeFrom, *nativeFrom, e.compiled.Load(), e.runs.Load())
}

func function0(t *testing.T) *Program {
	p, _ := function(t, "gelu", 1<<12)
	return p
}

// disturb interrupts whoever runs.
func disturb(done chan struct{}) {
	stacks := make([]byte, 1<<16)
	var garbage [][]byte
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
		runtime.Stack(stacks, true)
		garbage = append(garbage, make([]byte, 1<<16))
		if len(garbage) > 64 {
			garbage = nil
			runtime.GC()
		}
	}
}

type endurance struct {
	t                    *testing.T
	until                time.Time
	next, compiled, runs atomic.Uint64
}

// work takes one program after the other.
func (e *endurance) work() {
	const some = 64 // programs, where no time is given
	for !e.t.Failed() {
		seed := e.next.Add(1) - 1
		if *nativeFor == 0 && seed >= *nativeFrom+some || *nativeFor > 0 && time.Now().After(e.until) {
			return
		}
		e.program(seed)
	}
}

// program makes one program twice, and compares what the code of several goroutines computes, in ranges of any size, with the steps' results.
func (e *endurance) program(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 9))
	dims := [][]int64{{3000}, {40, 512}, {7, 5000}, {64, 3, 20}, {130, 77}, {2, 9, 300}}[r.IntN(6)]
	families := []string{"f32", "f32", "f64", "s16", "s8", "pred"}
	family, steps, folds := families[r.IntN(len(families))], 2+r.IntN(60), r.IntN(2) == 0
	if folds {
		family = families[r.IntN(3)]
	}
	build := randomChain
	if folds {
		build = foldedChain
	}
	judge, want := build(e.t, family, seed, dims, steps)
	if judge == nil {
		return
	}
	judge.native.once.Do(func() {})
	judge.native.code.Store(&nativeSteps{})
	rows := judge.Len() / int(dims[len(dims)-1])
	if folds {
		judge.RunRows(0, rows, want)
	} else {
		judge.Run(0, judge.Len(), want)
	}
	p, given := build(e.t, family, seed, dims, steps)
	p.native.work.Store(payingWork)
	var all sync.WaitGroup
	for k := range 2 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(k)))
			own := &raw{in: given.in}
			for i := range want.out {
				own.out = append(own.out, make([]byte, len(want.out[i])))
			}
			for range 20 {
				for i := range own.out {
					clear(own.out[i])
				}
				if folds {
					at := r.IntN(rows + 1)
					p.RunRows(at, rows, own)
					p.RunRows(0, at, own)
				} else {
					at := r.IntN(p.Len() + 1)
					p.Run(at, p.Len(), own)
					p.Run(0, at, own)
				}
				e.runs.Add(1)
				for i := range want.out {
					if !bytes.Equal(want.out[i], own.out[i]) {
						e.t.Errorf("%s, program %d: output %d is not that of tiles", family, seed, i)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if c := p.native.code.Load(); c != nil && c.Code != nil {
		e.compiled.Add(1)
	}
}
