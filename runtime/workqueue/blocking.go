package workqueue

import (
	"sync"
	"sync/atomic"
)

// blockingPool runs tasks that may block, each on a goroutine, up to a limit.
// Go gives the processor of a blocked goroutine to another, so the pool is
// about limiting how much is open at once, not about threads.
type blockingPool struct {
	limit    int // tasks running under the limit
	maxQueue int
	onIdle   func() // called when the last task has ended

	mu      sync.Mutex
	running int
	queue   []func()
	closed  bool

	added    atomic.Int64 // tasks taken since the start
	inflight atomic.Int64 // tasks queued or running
}

func (p *blockingPool) init(cfg Config, onIdle func()) {
	p.limit, p.maxQueue, p.onIdle = cfg.Blocking, cfg.BlockingQueue, onIdle
	if p.limit <= 0 {
		p.limit = 256
	}
	if p.maxQueue <= 0 {
		p.maxQueue = 1024
	}
}

func (p *blockingPool) add(task func(), admission Admission) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return false
	case p.running < p.limit:
		p.running++
		p.note()
		go p.run(task, true)
	case admission == MustStart:
		p.note()
		go p.run(task, false)
	case len(p.queue) < p.maxQueue:
		p.note()
		p.queue = append(p.queue, task)
	default:
		return false
	}
	return true
}

// note counts a task that was taken. It is in flight before it has been added:
// multi.isQuiet relies on the order.
func (p *blockingPool) note() {
	p.inflight.Add(1)
	p.added.Add(1)
}

// run runs task and, in a slot under the limit, those that queue behind it.
func (p *blockingPool) run(task func(), inSlot bool) {
	defer func() {
		// Only a task that ends its goroutine leaves a task behind here.
		if task != nil {
			p.done()
			if next := p.next(inSlot); next != nil {
				go p.run(next, true)
			}
		}
	}()
	for task != nil {
		task()
		p.done()
		task = p.next(inSlot)
	}
}

// next returns the task that waits longest, or gives up the slot.
func (p *blockingPool) next(inSlot bool) func() {
	if !inSlot {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.running--
		return nil
	}
	task := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	return task
}

func (p *blockingPool) done() {
	if p.inflight.Add(-1) == 0 {
		p.onIdle()
	}
}

func (p *blockingPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
