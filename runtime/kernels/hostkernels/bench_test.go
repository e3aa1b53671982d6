package hostkernels_test

import (
	"testing"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

const benchProgram = `
func.func @fib(%arg: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %cond = "tfrt.lessequal.i32"(%arg, %one) : (i32, i32) -> (i1)
  %res = tfrt.if %cond, %arg : (i32) -> i32 {
    tfrt.return %arg : i32
  } else {
    %min_one = tfrt.constant.i32 -1
    %n1 = tfrt.add.i32 %arg, %min_one
    %n2 = tfrt.add.i32 %n1, %min_one
    %f1 = tfrt.call @fib(%n1) : (i32) -> (i32)
    %f2 = tfrt.call @fib(%n2) : (i32) -> (i32)
    %sum = tfrt.add.i32 %f1, %f2
    tfrt.return %sum : i32
  }
  tfrt.return %res : i32
}
func.func @fib16() -> i32 {
  %n = tfrt.constant.i32 16
  %r = tfrt.call @fib(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @loop1000() -> i32 {
  %n = tfrt.constant.i32 1000
  %x = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %y = tfrt.add.i32 %x, %x
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
func.func @parallel1000() -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %n = tfrt.constant.i32 1000
  %one = tfrt.constant.i32 1
  %c = tfrt.parallel_for.i32 %zero to %n fixed %one {
    tfrt.return
  }
  tfrt.return %c : !tfrt.chain
}
`

func BenchmarkPrograms(b *testing.B) {
	for _, name := range []string{"fib16", "loop1000", "parallel1000"} {
		b.Run(name, func(b *testing.B) {
			v := load(b, benchProgram, mode{queue: "single", strict: true})
			fn := v.program.Function(name)
			req := runtime.NewRequest(b.Context(), v.program.Host(), runtime.RequestOptions{})
			defer req.Close()
			results := make([]*async.Value, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := fn.Execute(req.NewExecContext(), nil, results); err != nil {
					b.Fatal(err)
				}
				if err := v.program.Host().Queue().Await(b.Context(), results...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
