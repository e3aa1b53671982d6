package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// loop is one goroutine at work on an execution. Ready kernels of the running stream are a stack; those of other streams
// wait in the order in which they became ready. When the stack is empty the first of them decides the next stream, and
// each other stream becomes a task of the queue.
type loop struct {
	exec    *execution
	ready   []int32
	waiting []int32
	stream  int32
	lane    int
	current int32     // kernel that runs, for the recovery from a panic
	walking bool      // in file order; results are stored without notifying users
	next    int32     // kernel to look at, while walking
	tries   *attempts // of a call that has not returned; nil until it gives streams away
	frame   Frame
	args    []*async.Value
	results []*async.Value
}

const noKernel = -1

func (l *loop) init(g *generalFunction) {
	if cap(l.args) < g.maxArgs {
		l.args = make([]*async.Value, g.maxArgs)
	}
	if cap(l.results) < g.maxRes {
		l.results = make([]*async.Value, g.maxRes)
	}
}

// loops are for continuations and tasks; the first loop of an execution is a part of it.
var loops = sync.Pool{New: func() any { return new(loop) }}

func borrowLoop(e *execution, stream int32) *loop {
	l := loops.Get().(*loop)
	l.init(e.g)
	l.begin(e, int(e.ctx.newLane()))
	l.stream = stream
	return l
}

func (l *loop) giveBack() {
	l.exec, l.tries, l.frame = nil, nil, Frame{}
	loops.Put(l)
}

func (l *loop) begin(e *execution, lane int) {
	l.exec, l.stream, l.lane, l.current = e, 0, lane, noKernel
	l.ready, l.waiting = l.ready[:0], l.waiting[:0]
	l.frame.ctx, l.frame.exec, l.frame.lane = &e.ctx, e, lane
	l.walking = false
}

// start makes the kernels without operands ready, and publishes the arguments, whose references it takes over.
func (l *loop) start(args []*async.Value) {
	e := l.exec
	for _, k := range e.g.triggers {
		l.push(k)
	}
	for i, v := range args {
		l.publish(int32(i), v, false)
	}
}

// push notes that a kernel is ready.
func (l *loop) push(k int32) {
	if l.exec.g.oneStream || l.exec.g.kernels[k].stream == l.stream {
		l.ready = append(l.ready, k)
	} else {
		l.waiting = append(l.waiting, k)
	}
}

// run works until nothing is ready for this goroutine.
func (l *loop) run() {
	for !l.guarded() {
	}
}

// guarded runs kernels until there is none, and reports true, or one panics. One recover stands around many kernels: the
// one that panicked gets its error, and the loop is entered again.
func (l *loop) guarded() (done bool) {
	defer func() {
		if done {
			return
		}
		if r := recover(); r != nil {
			if l.current == noKernel {
				panic(r) // not a kernel's: a promise inside this package is broken
			}
			l.frame.ReportError(panicStatus(r))
			l.finish(l.current)
		}
	}()
	if l.walking {
		l.walkOn()
	}
	for {
		for len(l.ready) > 0 {
			k := l.ready[len(l.ready)-1]
			l.ready = l.ready[:len(l.ready)-1]
			l.kernel(k)
		}
		if len(l.waiting) == 0 {
			return true
		}
		l.changeStream()
	}
}

// kernel runs a ready kernel, or skips it with an error.
func (l *loop) kernel(k int32) {
	e := l.exec
	p := &e.g.kernels[k]
	args := l.args[:len(p.args)]
	results := l.results[:len(p.results)] // all nil: finish takes them out
	failed := e.ctx.cancelled()
	skip := failed != nil
	for i, r := range p.args {
		var v *async.Value
		if p.contended {
			v = e.contended(r)
		} else {
			v = e.regs[r]
		}
		args[i] = v
		if v.IsError() {
			failed = v
			skip = skip || !p.nonStrict
		}
	}
	l.call(k, p, args, results, failed, skip)
}

// call runs a kernel whose arguments are collected, or makes failed its results.
func (l *loop) call(k int32, p *planKernel, args, results []*async.Value, failed *async.Value, skip bool) {
	l.frame.kernel, l.frame.args, l.frame.results = p, args, results
	l.current = k
	switch {
	case skip:
		failed.AddRefs(len(results))
		for i := range results {
			results[i] = failed
		}
	case l.exec.ctx.tracer != nil:
		l.traced(p)
	default:
		p.run(&l.frame)
	}
	l.finish(k)
}

func (l *loop) traced(p *planKernel) {
	t, name := l.exec.ctx.tracer, p.name()
	t.Begin(l.lane, TraceKernel, name)
	defer t.End(l.lane, TraceKernel, name)
	p.run(&l.frame)
}

// finish releases the arguments of a kernel and publishes its results, in this order: what dies dies before anybody else
// runs.
func (l *loop) finish(k int32) {
	p := l.frame.kernel
	l.current = noKernel
	for _, v := range l.frame.args {
		if v.IsCounted() {
			v.DropRef()
		}
	}
	for i, r := range p.results {
		v := l.frame.results[i]
		l.frame.results[i] = nil
		if v == nil {
			v = async.MakeError(l.frame.Reporter().Report(async.Errorf(async.Internal, "kernel did not set result %d", i)))
		}
		l.publish(r, v, p.foreign)
	}
}

// publish stores a value and notifies the register's users, now or when it is available.
func (l *loop) publish(r int32, v *async.Value, foreign bool) {
	e := l.exec
	v = e.store(r, v)
	if v == nil {
		return
	}
	users := e.g.regs[r].users
	if len(users) == 0 || l.walking {
		return
	}
	if v.IsAvailable() {
		l.notify(users)
		return
	}
	e.share()
	l.await(r, v, foreign)
}

// await leaves a continuation on v for the users of a register. The execution is concurrent.
func (l *loop) await(r int32, v *async.Value, foreign bool) {
	e := l.exec
	e.holders.Add(1)
	c := &e.conts[r]
	c.exec, c.reg, c.stream, c.thread = e, r, l.stream, foreign
	v.AndThenCall(&c.waiter, continueExecution, c)
}

// notify counts an argument of each user as available.
func (l *loop) notify(users []int32) {
	e := l.exec
	if !e.concurrent {
		for _, k := range users {
			e.count[k]--
			if e.count[k] == 0 {
				l.push(k)
			}
		}
		return
	}
	for _, k := range users {
		c := &e.count[k]
		// The last producer need not write: the counter is not read again. A non-strict kernel is ready at the first
		// argument and told about the others too, so its counter must pass zero.
		last := atomic.LoadInt32(c) == 1 && !e.g.kernels[k].nonStrict
		if last || atomic.AddInt32(c, -1) == 0 {
			l.push(k)
		}
	}
}

// continueExecution is the waiter of a continuation.
func continueExecution(arg any) async.Ready {
	c := arg.(*continuation)
	if c.thread {
		c.exec.ctx.Queue.AddTask(c.run)
	} else {
		c.run()
	}
	return async.Ready{}
}

func (c *continuation) run() {
	e := c.exec
	l := borrowLoop(e, c.stream)
	l.notify(e.g.regs[c.reg].users)
	l.run()
	l.giveBack()
	e.release()
}

// changeStream makes the stream of the first waiting kernel the running one, with all its waiting kernels, and hands the
// others to the queue. The order within is part of the contract (host programs are tested on it): the kernels of the chosen
// stream are gathered at the end by swapping from both sides, then the rest is sorted by stream.
func (l *loop) changeStream() {
	e := l.exec
	kernels := e.g.kernels
	w := l.waiting
	l.stream = kernels[w[0]].stream
	i, j := 0, len(w)
	for {
		for i < j && kernels[w[i]].stream != l.stream {
			i++
		}
		for i < j && kernels[w[j-1]].stream == l.stream {
			j--
		}
		if i >= j {
			break
		}
		w[i], w[j-1] = w[j-1], w[i]
	}
	l.ready = append(l.ready, w[i:]...)
	rest := w[:i]
	l.waiting = l.waiting[:0]
	if len(rest) == 0 {
		return
	}
	slices.SortStableFunc(rest, func(a, b int32) int { return int(kernels[a].stream) - int(kernels[b].stream) })
	rest = slices.Clone(rest) // the list is used again, and tasks keep their parts of it
	var tasks []streamTask
	for first := 0; first < len(rest); {
		next := first + 1
		for next < len(rest) && kernels[rest[next]].stream == kernels[rest[first]].stream {
			next++
		}
		tasks = append(tasks, streamTask{exec: e, kernels: rest[first:next]})
		first = next
	}
	e.share()
	e.holders.Add(int32(len(tasks)))
	if l == &e.first && l.tries == nil && e.g.attemptsAll && !workqueue.IsSingle(e.ctx.Queue) {
		l.tries = newAttempts()
	}
	for i := range tasks {
		if tasks[i].tries = l.tries; l.tries != nil {
			l.tries.add(&tasks[i])
		}
		e.ctx.Queue.AddTask(tasks[i].run)
	}
}

// streamTask runs ready kernels of one stream elsewhere.
type streamTask struct {
	exec    *execution
	kernels []int32
	tries   *attempts // of the call that has to see its end, or nil
	begun   bool      // under tries.mu
}

func (t *streamTask) run() {
	if t.tries != nil && !t.tries.begin(t) {
		return // the call took it back
	}
	e := t.exec
	l := borrowLoop(e, e.g.kernels[t.kernels[0]].stream)
	l.tries = t.tries
	l.ready = append(l.ready, t.kernels...)
	l.run()
	l.giveBack()
	if t.tries != nil {
		t.tries.end()
	}
	e.release()
}
