package halo_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"testing/fstest"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/runtime"
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
	x, _ := halo.Array([]float32{1, 2, 3})
	y, _ := halo.Array([]float32{10, 10, 10})
	out, err := p.Run(ctx, halo.Scalar(float32(2)), x, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hlo.Values[float32](out[0]))
	// Output: [12 14 16]
}

// A service keeps a compiled program, and memory for its results.
func ExampleProgram_RunInto() {
	p, err := halo.LoadProgramFS(compiled(), "saxpy.bef", halo.Options{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for _, v := range p.Signature().Parameters {
		fmt.Println(v.Name, v.Shape.WithoutLayout())
	}
	answer := make([]float32, 3)
	result, _ := halo.Array(answer)
	x, _ := halo.Array([]float32{1, 2, 3})
	for _, a := range []float32{1, 10} {
		if _, err := p.RunInto(context.Background(), []*hlo.Literal{result}, halo.Scalar(a), x, x); err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
	_, err = p.Run(context.Background(), halo.Scalar(float32(1)), x, halo.Scalar(float32(2)))
	fmt.Println(err)
	// Output:
	// a f32[]
	// x f32[3]
	// y f32[3]
	// [2 4 6]
	// [11 22 33]
	// halo: parameter 2, y: got f32[], want f32[3]
}

// compiled is a file system with a program that was compiled before; a service embeds it.
func compiled() fs.FS {
	m, err := halo.Load("testdata/run/saxpy.hlo")
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	var file bytes.Buffer
	if err := p.Save(&file); err != nil {
		log.Fatal(err)
	}
	return fstest.MapFS{"saxpy.bef": {Data: file.Bytes()}}
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
	// halo: arguments: got 1, want 3: a f32[], x f32[3], y f32[3]
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

// A pass of one's own runs before those of the processor, and a kernel of one's own while the program does something else.
func ExampleOptions_pipeline() {
	m, err := halo.LoadBytes("two.hlo", []byte(`HloModule two
ENTRY main {
  x = f32[2] parameter(0)
  start = ((f32[2]), f32[2], u32[]) custom-call-start(x), custom_call_target="acme.answer"
  twice = f32[2] add(x, x)
  answer = f32[2] custom-call-done(start)
  ROOT all = f32[2] subtract(answer, twice)
}`))
	if err != nil {
		log.Fatal(err)
	}
	toAdd := &pass.Pass{
		Name: "subtract-to-add",
		Doc:  "a - b → a + b, which is another program",
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e := ctx.Edit(m)
			for in := range m.Entry().Instructions() {
				if in.Opcode() == hlo.OpSubtract {
					c := e.Computation(m.Entry().ID())
					sum := c.InsertBefore(in.ID(), hlo.OpAdd, in.Shape(), in.Operand(0), in.Operand(1))
					if err := c.ReplaceInstruction(in.ID(), sum.ID()); err != nil {
						return m, err
					}
				}
			}
			return e.Freeze(), nil
		},
	}
	cpu, err := passes.Parse("cpu") // what Options without passes run
	if err != nil {
		log.Fatal(err)
	}
	p, err := halo.Compile(context.Background(), m, halo.Options{
		Pipeline: pass.Of("mine", toAdd).Then(cpu),
		Register: func(reg *runtime.Registry) {
			reg.CustomCall("acme.answer", func(*runtime.Binding) (runtime.Bound, error) {
				return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
					answer, _ := halo.Array([]float32{42, 42})
					copy(f.Out(0).Data, answer.Bytes())
					return nil
				}}, nil
			})
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	x, _ := halo.Array([]float32{1, 2})
	out, err := p.Run(context.Background(), x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hlo.Values[float32](out[0]))
	// Output: [44 46]
}
