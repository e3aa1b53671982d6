package runtime_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/hostprog"
)

// A kernel, a program that uses it, and its execution.
func Example() {
	reg := runtime.NewRegistry()
	reg.Kernel("my.square", runtime.Pure1(func(x int32) int32 { return x * x }))

	text, err := hostprog.Parse("square.mlir", `
func.func @square_twice(%x: i32) -> i32 {
  %y = "my.square"(%x) : (i32) -> i32
  %z = "my.square"(%y) : (i32) -> i32
  tfrt.return %z : i32
}`)
	if err != nil {
		panic(err)
	}
	file, err := hostprog.Assemble(text, hostprog.AssembleOptions{})
	if err != nil {
		panic(err)
	}
	prog, err := runtime.Load(file, reg, runtime.LoadOptions{})
	if err != nil {
		panic(err)
	}
	req := runtime.NewRequest(context.Background(), prog.Host(), runtime.RequestOptions{})
	defer req.Close()
	results := make([]*async.Value, 1)
	err = prog.Function("square_twice").Execute(req.NewExecContext(), []*async.Value{async.Int32(3)}, results)
	fmt.Println(async.Get[int32](results[0]), err)
	// Output: 81 <nil>
}

// An asynchronous kernel says what it takes and gives by the types of its parameters.
func ExampleParams3() {
	k := runtime.Params3(func(ctx runtime.ExecContext, in runtime.Argument[int32], out runtime.Result[int32]) error {
		src, dst := in.Ref(), out.Allocate()
		ctx.Queue.AddTask(func() {
			dst.Emplace(src.Get() + 1)
			src.Drop()
			dst.Drop()
		})
		return nil
	})
	fmt.Println(k.Signature.Args, k.Signature.Results)
	// Output: 1 1
}
