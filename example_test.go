package halo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// The whole journey: text, verified, compiled, run.
func Example() {
	ctx := context.Background()
	m, err := halo.Load("testdata/run/saxpy.hlo")
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(ctx, m, halo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	a, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32), float32(10))
	x, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), float32(1), 2, 3)
	y, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), float32(0.5), 0.5, 0.5)
	out, err := p.Run(ctx, a, x, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hlo.Values[float32](out[0]))
	// Output: [10.5 20.5 30.5]
}

// Load reports what is wrong with a program, and where.
func ExampleLoad() {
	_, err := halo.Load("testdata/run/broken.hlo")
	fmt.Println(err)
	// Output:
	// testdata/run/broken.hlo:4:14: error: instruction does not exist: y
	//   s = add(x, y)
	//              ^
}

// Compile takes a module from anywhere: here it is built in Go, with shapes inferred.
func ExampleCompile() {
	b := hlo.NewBuilder("square")
	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 2))
	m, err := b.Build(b.Multiply(x, x))
	if err != nil {
		log.Fatal(err)
	}
	text, _ := printer.Append(nil, m, printer.Short)
	fmt.Print(string(text))
	p, err := halo.Compile(context.Background(), m, halo.Options{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	in, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2), float32(3), 4)
	out, _ := p.Run(context.Background(), in)
	fmt.Println(hlo.Values[float32](out[0]))
	// Output:
	// HloModule square, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
	//
	// ENTRY square {
	//   x = f32[2]{0} parameter(0)
	//   ROOT multiply = f32[2]{0} multiply(x, x)
	// }
	//
	// [9 16]
}

// Run takes one literal for each leaf of the parameters, and stops when its context is cancelled.
func ExampleProgram_Run() {
	m, err := halo.Load("testdata/run/saxpy.hlo")
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32), float32(1))
	x, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), float32(1), 2, 3)
	_, err = p.Run(ctx, a, x, x)
	fmt.Println(err)
	_, err = p.Run(context.Background(), a)
	fmt.Println(err)
	// Output:
	// Cancelled
	// halo: got 1 arguments, want 3: a f32[], x f32[3], y f32[3]
}

// Programs for several devices run in one process; here each of two replicas gets the sum of what both have.
func ExampleProgram_RunDevices() {
	m, err := parser.Parse("sum.hlo", `HloModule sum, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT sum = f32[] add(a, b) }
ENTRY main { x = f32[2] parameter(0)  ROOT all = f32[2] all-reduce(x), to_apply=add }`)
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	x, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2), float32(1), 2)
	y, _ := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2), float32(10), 20)
	out, err := p.RunDevices(context.Background(), 2, 1, [][]*hlo.Literal{{x}, {y}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hlo.Values[float32](out[0][0]), hlo.Values[float32](out[1][0]))
	// Output: [11 22] [11 22]
}
