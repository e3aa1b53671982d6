// Command clock prints the processor time that passes take for an instruction, on programs of several sizes:
//
//	go run ./internal/growth/clock [--sizes=1000,10000,100000,1000000] [--shapes=blocks,wide,calls,rounds,chains] [NAME…]
//
// Names are passes, pipelines, or one of parse, print, verify, read, rewrite and index. Without names it measures those six, every pass of every named
// pipeline alone, and every named pipeline. A line has the name, the shape of the program, nanoseconds for an instruction of each size, the growth
// of the last against the first, and that growth divided by rewrite's: rewrite looks at the operands of every instruction and writes each, so its
// growth is what caches, address translation and the collector cost on this machine; index puts every instruction into a map, which has none of its
// entries in the cache once it is large. The last column is the largest heap in bytes for an
// instruction, which counts what the collector has not yet taken.
//
// With --within, each pass of the pipelines NAME… is measured where it stands, in one run of each: its lines end with the growth and the bytes that the pass allocates for an instruction.
//
// Each size is measured on so many modules that all have about as many instructions together, one after the other, each once: no module is in the
// cache because it has just been measured, and what modules remember of themselves does not help. Unlike internal/growth/count, this depends on the
// machine and on what else runs there; --fewest=N has each size measured on modules of N instructions together; with --rounds=N each size is measured N times, and its least time counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/budget"
	"github.com/gohalo/halo/internal/growth"
	"github.com/gohalo/halo/internal/pages"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

var (
	sizes  = flag.String("sizes", "1000,10000,100000,1000000", "instructions of the programs")
	shapes = flag.String("shapes", strings.Join(growth.Shapes, ","), "shapes of the programs")
	limit  = flag.Duration("limit", time.Minute, "the longest that one pass may take on one program")
	cpu    = flag.String("cpuprofile", "", "a file for the profile of the last measurement alone")
	fewest = flag.Int("fewest", 100_000, "instructions of all modules that one size is measured on")
	within = flag.Bool("within", false, "measure the passes of the pipelines NAME… each where it stands in them, in one run of each pipeline")
	rounds = flag.Int("rounds", 1, "how often each size is measured, the sizes in turn; the least time counts")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	debug.SetGCPercent(300) // as the command has it, and large pages, too
	pages.EnlargeHeapBy(min(heapOfInstruction*int64(slices.Max(lengths())), budget.Left()/4))
	names := flag.Args()
	if *within {
		for _, shape := range strings.Split(*shapes, ",") {
			for _, name := range names {
				if err := printWithin(name, shape); err != nil {
					log.Fatal(err)
				}
			}
		}
		return
	}
	if len(names) == 0 {
		names = everything()
	}
	for _, shape := range strings.Split(*shapes, ",") {
		measured("rewrite").row(shape) // the first measurement pays for the memory that the process asks for
		_, walk := measured("rewrite").row(shape)
		for _, name := range names {
			w := measured(name)
			row, g := w.row(shape)
			fmt.Printf("%s\t%s\t%s\t%.2f\t%.2f\t%.0f\n", name, shape, row, g, g/walk, w.heap)
		}
	}
}

// heapOfInstruction is what a pipeline may hold of an instruction, while it works on the largest program.
const heapOfInstruction = 3 << 10

// lengths are the sizes of the programs.
func lengths() (all []int) {
	for _, size := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// everything names what is measured without names: the plain walks, each pass of the named pipelines as it is in there, and the pipelines.
func everything() []string {
	names := []string{"parse", "print", "verify", "read", "rewrite", "index"}
	var all, pipelines []string
	for name := range passes.Pipelines {
		pipelines = append(pipelines, name)
		p, err := passes.Parse(name)
		if err != nil {
			log.Fatal(err)
		}
		for _, q := range p.Passes() {
			all = append(all, q.Name+q.Options.String())
		}
	}
	slices.Sort(all)
	slices.Sort(pipelines)
	return append(append(names, slices.Compact(all)...), pipelines...)
}

// work is something whose time is measured.
type work struct {
	do   func(ctx context.Context, text string, m hlo.Module) error
	heap float64 // bytes for an instruction, of the largest program
}

func measured(name string) *work {
	switch name {
	case "parse":
		return &work{do: func(_ context.Context, text string, _ hlo.Module) error {
			_, err := parser.Parse(name, text)
			return err
		}}
	case "print":
		return &work{do: func(_ context.Context, _ string, m hlo.Module) error {
			_, err := io.WriteString(io.Discard, printer.String(m))
			return err
		}}
	case "verify":
		return &work{do: func(_ context.Context, _ string, m hlo.Module) error {
			return verifier.Verify(m, verifier.Config{}).Err()
		}}
	case "read":
		return &work{do: func(_ context.Context, _ string, m hlo.Module) error { read(m); return nil }}
	case "index":
		return &work{do: func(_ context.Context, _ string, m hlo.Module) error { index(m); return nil }}
	case "rewrite":
		return &work{do: func(_ context.Context, _ string, m hlo.Module) error { rewrite(m); return nil }}
	}
	p, err := passes.Parse(name)
	if err != nil {
		log.Fatal(err)
	}
	return &work{do: func(ctx context.Context, _ string, m hlo.Module) error {
		_, err := (&pass.Runner{}).Run(ctx, p, m)
		return err
	}}
}

// read looks at every instruction and the shapes of its operands.
func read(m hlo.Module) (n int64) {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			for i := range in.NumOperands() {
				n += int64(in.OperandInstr(i).Shape().Rank())
			}
		}
	}
	return n
}

// index finds the first of the instructions that are equal by their own hash, as passes do that merge them.
func index(m hlo.Module) map[uint64]hlo.InstrID {
	first := map[uint64]hlo.InstrID{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			h := in.LocalHash() ^ uint64(c.ID())<<32 ^ uint64(in.ID())
			if _, ok := first[h]; !ok {
				first[h] = in.ID()
			}
		}
	}
	return first
}

// rewrite reads, too, and writes to every instruction.
func rewrite(m hlo.Module) hlo.Module {
	e := m.Edit()
	for c := range m.Computations() {
		edit := e.Computation(c.ID())
		for in := range c.Instructions() {
			rank := 0
			for i := range in.NumOperands() {
				rank += in.OperandInstr(i).Shape().Rank()
			}
			edit.Edit(in).SetPosition(hlo.Position{Line: uint32(rank) + 1, Col: 1})
		}
	}
	return e.Freeze()
}

// row measures w on programs of every size: the cells, and the growth from the first to the last.
func (w *work) row(shape string) (cells string, grown float64) {
	var least []float64
	var failed string
	for range *rounds {
		for i, n := range lengths() {
			ns, err := w.one(shape, n)
			if err != nil {
				failed, _, _ = strings.Cut(err.Error(), "\n")
				break
			}
			if i == len(least) {
				least = append(least, ns)
			}
			least[i] = min(least[i], ns)
		}
	}
	var texts []string
	for _, ns := range least {
		texts = append(texts, fmt.Sprintf("%.0f", ns))
	}
	if failed != "" {
		texts = append(texts, failed)
	}
	if len(least) > 0 {
		grown = least[len(least)-1] / least[0]
	}
	return strings.Join(texts, "\t"), grown
}

// one is the time for an instruction of programs of n instructions, in nanoseconds.
func (w *work) one(shape string, n int) (float64, error) {
	text := program(shape, n)
	modules, total, err := parsed(shape, n)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	peak := watchHeap()
	defer profile()()
	began := processorTime()
	for _, m := range modules {
		if err := w.do(ctx, text, m); err != nil {
			peak()
			return 0, err
		}
	}
	took := processorTime() - began
	w.heap = float64(peak()) / float64(total)
	runtime.KeepAlive(modules)
	return float64(took.Nanoseconds()) / float64(total), nil
}

// parsed is the modules that a size is measured on, and how many instructions they have.
func parsed(shape string, n int) (modules []hlo.Module, total int, err error) {
	text := program(shape, n)
	modules = make([]hlo.Module, max(1, *fewest/n))
	for i := range modules {
		if modules[i], err = parser.Parse(shape, text); err != nil {
			return nil, 0, err
		}
		total += modules[i].NumInstructions()
	}
	runtime.GC()
	return modules, total, nil
}

var texts = map[string]string{}

// program is the text of a program, made once.
func program(shape string, n int) string {
	key := fmt.Sprint(shape, " ", n)
	if texts[key] == "" {
		texts[key] = growth.Program(shape, n)
	}
	return texts[key]
}

// profile begins a profile, if one is wanted, in place of the one before; the function that it returns ends it.
func profile() (end func()) {
	if *cpu == "" {
		return func() {}
	}
	f, err := os.Create(*cpu)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		log.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}
}

// watchHeap looks at the size of the heap every few milliseconds; the function that it returns ends that and says the largest.
func watchHeap() (largest func() uint64) {
	var most atomic.Uint64
	done, ended := make(chan struct{}), make(chan struct{})
	look := func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		most.Store(max(most.Load(), sample[0].Value.Uint64()))
	}
	look()
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				look()
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-ended
		look()
		return most.Load()
	}
}
