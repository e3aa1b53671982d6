package async_test

import (
	"errors"
	"fmt"

	"github.com/gohalo/halo/runtime/async"
)

func Example() {
	width := async.MakeUnconstructed[int]()
	area := async.TryMap(width, func(w int) (int, error) {
		if w < 0 {
			return 0, errors.New("negative width")
		}
		return w * w, nil
	})
	area.AndThen(func() { fmt.Println(area.Result()) })

	fmt.Println("nothing yet:", area.State())
	width.Emplace(12)
	// Output:
	// nothing yet: unconstructed
	// 144 <nil>
}

func ExampleIndirect_ForwardTo() {
	result := async.MakeIndirect() // of a function that is still running
	result.AndThen(func() { fmt.Println("result is", async.Get[string](&result.Value)) })

	produced := async.MakeUnconstructed[string]()
	result.ForwardTo(produced.Value())
	produced.Emplace("here")
	// Output: result is here
}

func ExampleNewCountDown() {
	done := async.MakeConstructed(async.Chain{})
	count := async.NewCountDown(done.CopyRef(), 3)
	done.AndThen(func() { fmt.Println("all three:", done.Err()) })
	count.CountDown(1, nil)
	count.CountDown(1, errors.New("the second failed"))
	fmt.Println("one to go")
	count.CountDown(1, nil)
	// Output:
	// one to go
	// all three: the second failed
}
