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

func fresh() *runtime.Frame { return new(runtime.Frame) }

var kept *runtime.Frame

type state struct{ f *runtime.Frame }

func stores(f *runtime.Frame, s *state, all []*runtime.Frame, c chan *runtime.Frame) {
	kept = f   // want `a frame is stored away`
	s.f = f    // want `a frame is stored away`
	all[0] = f // want `a frame is stored away`
	c <- f     // want `a frame is sent away`
	s.f = fresh()
	var local state
	local.f = f
	g := f
	g.Arg(1)
}

func names(f *runtime.Frame, q runtime.Queue) {
	task := func() { println(f.Arg(0)) } // want `frame f is captured by a function that runs later, by AddTask`
	q.AddTask(task)
	now := func() { println(f.Arg(0)) }
	now()
	q.AddTask(f.Done) // want `a method of a frame runs later, by AddTask`
	defer f.Done()
	defer func() { println(f.Arg(0)) }()
}

func branches(f *runtime.Frame, q runtime.Queue, c bool) {
	for i := range 3 {
		x := f.Arg(i)
		if c {
			q.AddTask(func() { println(x) })
		} else {
			q.AddTask(func() {
				func() { println(f.Arg(i)) }() // want `frame f is captured by a function that runs later`
			})
		}
	}
	go func(f *runtime.Frame) { f.Arg(0) }(f) // want `a frame is handed to a goroutine`
}

func allowed(f *runtime.Frame) {
	//halo:allow framecapture the caller waits for it
	go work(f)
}

func inner(func(*runtime.Frame)) {}

func work(f *runtime.Frame) {}
