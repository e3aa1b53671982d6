//go:build unix

package halo_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/asyncprog"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/printer"
	halort "github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/workqueue"
)

var (
	soakFor  = flag.Duration("soak.for", 0, "processor time that TestSoak takes; 0 tries a few programs")
	soakFrom = flag.Uint64("soak.from", 1, "the first program of TestSoak")
)

// soaked is the processor time that this process has taken.
func soaked(t *testing.T) time.Duration {
	var u unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestSoak compiles programs by several goroutines at once, which run them, cancel runs, run them on many devices, save and load them, and close
// them while others run, on 1 to 8 processors and with a collector that never rests. Every run that is not cancelled gives the bits of the
// first one; nothing stays behind. It is meant for the race detector:
//
//	go test -race -run TestSoak -soak.for=3h -timeout=0 .
func TestSoak(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	some := uint64(24)
	if testing.Short() {
		some = 8
	}
	goroutines, began, n, counts := runtime.NumGoroutine(), soaked(t), uint64(0), &soakCounts{}
	shared := workqueue.NewMulti(workqueue.Config{Workers: 3})
	report := func() {
		t.Logf("%d programs from %d, %v of processor time: %+v", n, *soakFrom, (soaked(t) - began).Round(time.Second), counts.get())
	}
	defer report()
	for last := soaked(t); ; n++ {
		if used := soaked(t) - began; *soakFor == 0 && n >= some || *soakFor > 0 && used > *soakFor {
			break
		}
		if *soakFor > 0 && soaked(t)-last > time.Minute {
			report()
			last = soaked(t)
		}
		runtime.GOMAXPROCS(1 + int(n%8))
		s := newSoak(t, *soakFrom+n, shared, counts)
		if s == nil {
			continue
		}
		s.round()
		if t.Failed() {
			t.Fatalf("program %d\n%s", *soakFrom+n, printer.String(s.module))
		}
	}
	shared.Close()
	for patience := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(patience) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left of\n%s", runtime.NumGoroutine()-goroutines, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// soakCounts are what has been done.
type soakCounts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *soakCounts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]int)
	}
	c.n[what]++
}

func (c *soakCounts) get() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	clone := make(map[string]int, len(c.n))
	for k, v := range c.n {
		clone[k] = v
	}
	return clone
}

// soak is one program under test.
type soak struct {
	t      *testing.T
	seed   uint64
	queue  workqueue.Queue
	counts *soakCounts

	module  hlo.Module
	text    string
	devices int
	fails   bool
	args    [][]*hlo.Literal // for each device

	once sync.Once
	want [][]*hlo.Literal
}

// soakText is the program of a seed, for some number of devices, and whether it fails on purpose.
func soakText(seed uint64) (text string, devices int, fails bool, err error) {
	var m hlo.Module
	switch seed % 5 {
	case 0, 1:
		p := asyncprog.New(seed, asyncprog.Options{Size: 8 + int(seed%12), Sleep: int(seed%3) * 150, Fail: seed%4 == 0})
		return p.Text, 1, p.Fails, nil
	case 2:
		m, err = hlotest.Kernels(seed, 1+int(seed/5%2))
	case 3:
		m, err = hlotest.Wide(seed, 10)
	case 4:
		devices = 2 + int(seed/5%7)
		return devicesProgram(seed, devices, false), devices, false, nil
	}
	if err != nil {
		return "", 0, false, err
	}
	return printer.String(m), 1, false, nil
}

func newSoak(t *testing.T, seed uint64, queue workqueue.Queue, counts *soakCounts) *soak {
	s := &soak{t: t, seed: seed, queue: queue, counts: counts}
	var err error
	if s.text, s.devices, s.fails, err = soakText(seed); err != nil {
		return nil // generators do not succeed on every seed
	}
	s.module, err = parser.Parse("soak.hlo", s.text)
	require.NoError(t, err, s.text)
	p, err := s.compile(s.module, 0)
	require.NoError(t, err, s.text)
	defer p.Close()
	for d := range s.devices {
		var args []*hlo.Literal
		for i, v := range p.Signature().Parameters {
			l, err := arrays.Fill("random", seed+uint64(d), i, v.Shape)
			if err != nil {
				return nil
			}
			args = append(args, l)
		}
		s.args = append(s.args, args)
	}
	return s
}

// failing adds the custom call that fails.
func failing(r *halort.Registry) {
	r.CustomCall(asyncprog.Fails, func(*halort.Binding) (halort.Bound, error) {
		return halort.Bound{Run: func(*halort.TensorFrame) error { return errAsked }}, nil
	})
}

// compile compiles the program with threads of its own or with those of others. The passes are the same for all ways, so that results have the
// same bits.
func (s *soak) compile(m hlo.Module, way int) (*halo.Program, error) {
	o := halo.Options{Passes: []string{"cpu", "O0", "cpu-async", "O2,cpu"}[s.seed/5%4], Threads: 1 + way, Register: failing}
	if s.devices > 1 {
		o.Passes = "O0"
	}
	if way%2 == 1 {
		o.Threads, o.Queue = 0, s.queue
	}
	return halo.Compile(s.t.Context(), m, o)
}

// round lets several goroutines use the program, each compiled by itself and all of one module.
func (s *soak) round() {
	var wg sync.WaitGroup
	for way := range 3 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(s.seed, uint64(way)))
			m := s.module
			if r.IntN(3) == 0 {
				var err error
				if m, err = parser.Parse("again.hlo", s.text); err != nil {
					s.t.Errorf("parsed again: %v", err)
					return
				}
			}
			p, err := s.compile(m, way)
			if err != nil {
				s.t.Errorf("compiled again: %v", err)
				return
			}
			if r.IntN(4) == 0 {
				p = s.reload(p)
			}
			if p != nil {
				s.use(p, r)
			}
		})
	}
	wg.Wait()
}

// reload saves a program, closes it and loads it again.
func (s *soak) reload(p *halo.Program) *halo.Program {
	s.counts.add("loads")
	var file bytes.Buffer
	err := p.Save(&file)
	p.Close()
	if err != nil {
		s.t.Errorf("saved: %v", err)
		return nil
	}
	p, err = halo.LoadProgramBytes("saved", file.Bytes(), halo.Options{Threads: 2, Register: failing})
	if err != nil {
		s.t.Errorf("loaded: %v", err)
		return nil
	}
	return p
}

// use runs a program several times at once; some runs are cancelled, and sometimes the program is closed meanwhile.
func (s *soak) use(p *halo.Program, r *rand.Rand) {
	defer p.Close()
	closes := r.IntN(3) == 0
	var wg sync.WaitGroup
	for range 4 {
		var after time.Duration
		if r.IntN(3) == 0 {
			after = time.Duration(1 + r.IntN(2000)*r.IntN(4))
			after *= time.Microsecond
		}
		wg.Go(func() { s.run(p, after, closes) })
	}
	if closes {
		if wait := r.IntN(1000); wait > 300 {
			time.Sleep(time.Duration(wait) * time.Microsecond)
		}
		p.Close()
		s.counts.add("closes")
	}
	wg.Wait()
}

// run runs a program once; after a while, if that is not 0, it is cancelled.
func (s *soak) run(p *halo.Program, after time.Duration, closes bool) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	if after > 0 {
		time.AfterFunc(after, cancel)
	}
	args := make([][]*hlo.Literal, len(s.args))
	for d := range args {
		for _, l := range s.args[d] {
			own, err := hlo.NewLiteral(l.Shape(), bytes.Clone(l.Bytes()))
			if err != nil {
				s.t.Error(err)
				return
			}
			args[d] = append(args[d], own)
		}
	}
	x := halo.Execution{Replicas: 1, Partitions: s.devices, Args: args}
	got, err := p.Execute(ctx, x)
	switch {
	case err == nil:
		s.counts.add("runs")
		s.same(got)
	case errors.Is(err, halo.ErrClosed) && closes:
		s.counts.add("runs of what is closed")
	case errors.Is(err, context.Canceled) && after > 0:
		s.counts.add("cancelled runs")
	case s.fails && errors.Is(err, errAsked):
		s.counts.add("failing runs")
	default:
		s.t.Errorf("run: %v", err)
	}
}

// same compares results with those of the first run.
func (s *soak) same(got [][]*hlo.Literal) {
	s.once.Do(func() { s.want = got })
	for d := range got {
		for i, l := range got[d] {
			if !bytes.Equal(l.Bytes(), s.want[d][i].Bytes()) {
				s.t.Errorf("device %d, result %d: another run gives other bits", d, i)
			}
		}
	}
}
