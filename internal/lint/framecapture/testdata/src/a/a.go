package a

import "halo/runtime"

func kernel(f *runtime.Frame, q runtime.Queue) {
	x := f.Arg(0)
	q.AddTask(func() { println(x) })
	q.AddTask(func() { println(f.Arg(0)) }) // want `frame f is captured by a function that runs later, by AddTask`
	go func() { println(f.Arg(1)) }()       // want `frame f is captured by a function that runs in a goroutine`
	go work(f)                              // want `a frame is handed to a goroutine`
	q.ParallelFor(func() { println(f.Arg(2)) })
	q.AddTask(func() { inner(func(f *runtime.Frame) { f.Arg(0) }) })
}

func inner(func(*runtime.Frame)) {}

func work(f *runtime.Frame) {}
