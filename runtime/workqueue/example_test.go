package workqueue_test

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

func Example() {
	q, err := workqueue.New("multi:2")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()

	squares := make([]int, 1000)
	total := async.MakeAsync(q, func() (int, error) {
		q.ParallelFor(len(squares), 100, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				squares[i] = i * i
			}
		})
		sum := 0
		for _, s := range squares {
			sum += s
		}
		return sum, nil
	})
	if err := q.Await(context.Background(), total.Value()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(total.Result())
	// Output: 332833500 <nil>
}

func ExampleNewSingle() {
	q := workqueue.NewSingle()
	for i := range 3 {
		q.AddTask(func() { fmt.Println("task", i) })
	}
	fmt.Println("nothing runs before somebody waits")
	q.Quiesce()
	// Output:
	// nothing runs before somebody waits
	// task 0
	// task 1
	// task 2
}
