package runtime

import (
	"sync"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/workqueue"
)

// executionThread runs tasks one after the other in the order of arrival, on whatever worker the queue below has. It is
// what a name in async_execution_thread stands for: a task that suspends frees the thread for the next one.
type executionThread struct {
	queue workqueue.Queue
	drain func() // t.run, bound once

	mu      sync.Mutex
	pending []func()
	spare   []func() // the batch that ran last, to be filled again
	running bool
}

// mainThread is the execution thread whose tasks need no order: they go to the compute queue.
const mainThread = "main"

// thread returns where tasks of that execution thread go.
func (h *Host) thread(name string, queue workqueue.Queue) async.Executor {
	if name == "" || name == mainThread {
		return queue
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.threads[name]
	if t == nil || t.queue != queue {
		t = &executionThread{queue: queue}
		t.drain = t.run
		if h.threads == nil {
			h.threads = make(map[string]*executionThread)
		}
		h.threads[name] = t
	}
	return t
}

// AddTask queues a task. It never runs it before it returns unless the queue below does so.
func (t *executionThread) AddTask(task func()) {
	t.mu.Lock()
	t.pending = append(t.pending, task)
	start := !t.running
	t.running = true
	t.mu.Unlock()
	if start {
		t.queue.AddTask(t.drain)
	}
}

func (t *executionThread) run() {
	for {
		t.mu.Lock()
		batch := t.pending
		if len(batch) == 0 {
			t.running = false
			t.mu.Unlock()
			return
		}
		t.pending = t.spare[:0]
		t.spare = nil
		t.mu.Unlock()
		for i, task := range batch {
			batch[i] = nil
			task()
		}
		t.mu.Lock()
		t.spare = batch
		t.mu.Unlock()
	}
}
