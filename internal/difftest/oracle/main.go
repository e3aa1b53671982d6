// Command oracle compares random programs with XLA:CPU, as the jax package of a Python interpreter has it. It is no test: the project does
// not need Python. Every difference is of a class that the package's table lists, or a finding; findings make it fail.
//
//	go run ./internal/difftest/oracle --python python3 --count 20000
package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
)

//go:embed oracle.py
var script string

// errDied is an interpreter that is gone: XLA ends the process on some programs.
var errDied = errors.New("the interpreter ended")

// refusal is XLA's error for a program.
type refusal string

func (r refusal) Error() string { return "XLA: " + string(r) }

var verbose bool

func main() {
	python := flag.String("python", "python3", "an interpreter with the jax package")
	count := flag.Int("count", 1000, "how many programs")
	first := flag.Uint64("first", 1, "the first seed")
	show := flag.Int("show", 10, "findings to show")
	flag.BoolVar(&verbose, "v", false, "say why XLA refuses programs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // what has been compared by then is reported
	defer stop()
	findings, err := compareAll(ctx, *python, *first, *count, *show)
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	}
	if findings > 0 {
		os.Exit(1)
	}
}

func compareAll(ctx context.Context, python string, first uint64, count, show int) (findings int, err error) {
	x, err := start(python)
	if err != nil {
		return 0, err
	}
	classes := make(map[string]int)
	seed := first
	for ; seed < first+uint64(count) && ctx.Err() == nil; seed++ {
		m, err := generate(seed)
		if err != nil {
			classes["not generated"]++
			continue
		}
		o := difftest.Against(ctx, m, difftest.Config{Seed: seed}, func(leaves []*hlo.Literal) ([]*hlo.Literal, error) {
			return x.run(m, leaves)
		})
		if ctx.Err() != nil {
			break
		}
		class := string(o.Verdict)
		if !o.Verdict.OK() {
			class = classify(m, o)
		}
		classes[cmp.Or(class, "finding")]++
		if verbose && o.Verdict == difftest.RunFails {
			fmt.Printf("seed %d: %.200q\n", seed, o.Err)
		}
		if class == "" {
			if findings++; findings <= show {
				fmt.Printf("seed %d: %v\n%s\n", seed, o.Err, printer.String(m))
			}
		}
		if errors.Is(o.Err, errDied) {
			_ = x.process.Wait() // how it ended does not matter
			if x, err = start(python); err != nil {
				return findings, err
			}
		}
	}
	fmt.Printf("%d programs from seed %d\n", seed-first, first)
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		fmt.Printf("%8d %s\n", classes[class], class)
	}
	return findings, nil
}

// synchronous takes chains apart, which do not survive XLA's way from text to its compiler.
var synchronous = sync.OnceValues(func() (*pass.Pipeline, error) { return passes.Parse("async-unwrapper") })

// generate makes a synchronous module of one of the generators' kinds.
func generate(seed uint64) (m hlo.Module, err error) {
	switch seed % 3 {
	case 0:
		m, err = hlotest.Kernels(seed, 1+int(seed/3%3))
	case 1:
		m, err = hlotest.Random(seed, 12)
	default:
		m, err = hlotest.Wide(seed, 8)
	}
	if err != nil {
		return m, err
	}
	p, err := synchronous()
	if err != nil {
		return m, err
	}
	return (&pass.Runner{}).Run(context.Background(), p, m)
}

// xla is a Python process that runs programs.
type xla struct {
	process *exec.Cmd
	in      *bufio.Writer
	out     *bufio.Reader
}

func start(python string) (*xla, error) {
	c := exec.Command(python, "-c", script)
	c.Stderr = io.Discard // XLA reports what it compiles
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &xla{c, bufio.NewWriter(in), bufio.NewReader(out)}, c.Start()
}

// run computes the leaves of a module's result.
func (x *xla) run(m hlo.Module, args []*hlo.Literal) ([]*hlo.Literal, error) {
	x.block([]byte(printer.String(m)))
	x.number(len(args))
	for _, a := range args {
		x.block(a.Bytes())
	}
	if err := x.in.Flush(); err != nil {
		return nil, errDied
	}
	failed, err := x.readNumber()
	if err != nil {
		return nil, errDied
	}
	if failed != 0 {
		message, err := x.readBlock()
		if err != nil {
			return nil, errDied
		}
		return nil, refusal(message)
	}
	n, err := x.readNumber()
	if err != nil {
		return nil, errDied
	}
	var shapes []hlo.Shape
	for _, s := range m.Entry().Root().Shape().Leaves {
		shapes = append(shapes, s)
	}
	if n != len(shapes) {
		return nil, fmt.Errorf("XLA has %d results, want %d", n, len(shapes))
	}
	results := make([]*hlo.Literal, n)
	for i := range results {
		data, err := x.readBlock()
		if err != nil {
			return nil, errDied
		}
		if results[i], err = hlo.NewLiteral(shapes[i], data); err != nil {
			return nil, fmt.Errorf("result %d: %w", i, err)
		}
	}
	return results, nil
}

func (x *xla) number(n int) {
	_, _ = x.in.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) // Flush reports
}

func (x *xla) block(b []byte) {
	x.number(len(b))
	_, _ = x.in.Write(b) // Flush reports
}

func (x *xla) readNumber() (int, error) {
	var b [8]byte
	_, err := io.ReadFull(x.out, b[:])
	return int(binary.LittleEndian.Uint64(b[:])), err
}

func (x *xla) readBlock() ([]byte, error) {
	n, err := x.readNumber()
	if err != nil || n < 0 || n > 1<<30 {
		return nil, errDied
	}
	b := make([]byte, n)
	_, err = io.ReadFull(x.out, b)
	return b, err
}
