package schedule

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const peakDoc = `put every computation into an order that needs little memory at a time, and make it the schedule

list begins at the operands and takes what frees most, counting what it computes itself; dfs goes from the result to the operands with the most users and
bytes below them first; post-order is the order of the printer. auto, the default, takes the one whose peak is least. The statistics and remarks say the peak of each computation. A computation with chains keeps
its order: to move a done is the work of latency-hiding-scheduler.`

var peakParams = []pass.Param{{Name: "algorithm", Doc: "auto, list, dfs or post-order"}}

// orders are the algorithms of hlo-memory-scheduler, the preferred first.
var orders = []struct {
	name string
	make func(*analysis.Dependencies, *memory) []int
}{
	{"list", listOrder},
	{"dfs", depthOrder},
	{"post-order", func(d *analysis.Dependencies, _ *memory) []int { return postOrder(d) }},
}

// NewMemoryScheduler makes the pass hlo-memory-scheduler.
func NewMemoryScheduler(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(peakParams[0].Name); err != nil {
		return nil, err
	}
	algorithm := o.Text(peakParams[0].Name, "auto")
	if algorithm != "auto" && algorithm != "list" && algorithm != "dfs" && algorithm != "post-order" {
		return nil, fmt.Errorf("algorithm: got %q, want auto, list, dfs or post-order", algorithm)
	}
	return &pass.Pass{Name: "hlo-memory-scheduler", Doc: peakDoc, Options: o, Params: peakParams, Makes: []pass.Phase{pass.Scheduled},
		Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) { return scheduleForMemory(ctx, m, algorithm) }}, nil
}

// TrivialScheduler makes the order of the printer the schedule.
var TrivialScheduler = &pass.Pass{
	Name:  "hlo-trivial-scheduler",
	Makes: []pass.Phase{pass.Scheduled},
	Doc: `use the printed order of a module as its schedule

Nothing is weighed: every instruction stands behind its operands and control predecessors. A schedule that is there stays.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		if m.Config().IsScheduled || !ctx.Spend("schedule") {
			return m, nil
		}
		return scheduleForMemory(ctx, m, "post-order")
	},
}

func scheduleForMemory(ctx *pass.Context, m hlo.Module, algorithm string) (hlo.Module, error) {
	executed := pass.Fact(ctx, m, analysis.FindExecuted)
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		d := analysis.FindDependencies(c)
		mem := newMemory(d)
		var best []int
		if c.IsScheduled() {
			best = inOrder(len(d.Order))
		} else {
			best = postOrder(d)
		}
		if executed.Has(c.ID()) && analysis.FindWindows(c) == nil {
			found := int64(-1)
			for _, o := range orders {
				if algorithm != "auto" && o.name != algorithm {
					continue
				}
				order := o.make(d, &mem)
				if peak := mem.peak(order); found < 0 || peak < found {
					best, found = order, peak
				}
			}
		}
		peak := mem.peak(best)
		ctx.Count("peak-bytes", peak)
		ctx.Remark(c.Root(), "the computation needs %d bytes at a time, beside parameters and constants", peak)
		if c.IsScheduled() && slices.IsSorted(best) || c.IsScheduled() && !ctx.Spend("schedule") {
			continue
		}
		ids := make([]hlo.InstrID, len(best))
		for i, p := range best {
			ids[i] = d.Order[p].ID()
		}
		if err := e.Computation(c.ID()).SetSchedule(ids); err != nil {
			return m, err
		}
	}
	return scheduled(e, m), nil
}

// scheduled ends the edit of a module whose computations have an order now.
func scheduled(e *hlo.Editor, m hlo.Module) hlo.Module {
	if !m.Config().IsScheduled {
		config := *m.Config()
		config.IsScheduled = true
		e.SetConfig(&config)
	}
	return e.Freeze()
}

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// postOrder is the positions in the order of the printer.
func postOrder(d *analysis.Dependencies) []int {
	order := make([]int, 0, len(d.Order))
	if len(d.Order) == 0 {
		return order
	}
	for in := range d.Order[0].Computation().PostOrder() {
		order = append(order, d.Position(in.ID()))
	}
	return order
}

// depthOrder goes from each instruction to its operands, those with the most users and bytes below them first.
func depthOrder(d *analysis.Dependencies, mem *memory) []int {
	const most = int64(1) << 50
	n := len(d.Order)
	users, bytes := make([]int64, n), make([]int64, n)
	for i := range n { // operands stand before
		if in := d.Order[i]; in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpConstant {
			users[i], bytes[i] = max(int64(len(d.After(i)))-1, 0), mem.bytes[i]
		}
		for _, o := range d.Before(i) {
			users[i], bytes[i] = min(users[i]+users[o], most), min(bytes[i]+bytes[o], most)
		}
	}
	order, state := make([]int, 0, n), make([]uint8, n) // 1: on the way, 2: placed
	visit := func(from int) {
		for stack := []int{from}; len(stack) > 0; {
			i := stack[len(stack)-1]
			if state[i] != 0 {
				stack = stack[:len(stack)-1]
				if state[i] == 1 {
					state[i] = 2
					order = append(order, i)
				}
				continue
			}
			state[i] = 1
			next := slices.Clone(d.Before(i))
			slices.SortStableFunc(next, func(a, b int) int { // the stack turns the order round
				if users[a] != users[b] {
					return int(min(max(users[a]-users[b], -1), 1))
				}
				return int(min(max(bytes[a]-bytes[b], -1), 1))
			})
			for _, o := range next {
				if state[o] == 0 {
					stack = append(stack, o)
				}
			}
		}
	}
	for i := range n {
		if d.Order[i].IsRoot() {
			visit(i)
		}
	}
	for i := range n { // what the result does not need
		visit(i)
	}
	return order
}

// freeing is the work of listOrder.
type freeing struct {
	mem     *memory
	left    []int   // readers of each value that are not placed
	sum     []int   // of their positions: of one reader its own
	live    []bool  // the result, that nothing frees
	entries []entry // a heap; an entry that is not the last of its instruction is stale
	last    []int64
	placed  []bool
}

type entry struct {
	at    int
	frees int64
}

func (f *freeing) Len() int      { return len(f.entries) }
func (f *freeing) Swap(i, j int) { f.entries[i], f.entries[j] = f.entries[j], f.entries[i] }
func (f *freeing) Push(x any)    { f.entries = append(f.entries, x.(entry)) }
func (f *freeing) Pop() any {
	x := f.entries[len(f.entries)-1]
	f.entries = f.entries[:len(f.entries)-1]
	return x
}

func (f *freeing) Less(i, j int) bool {
	a, b := f.entries[i], f.entries[j]
	if a.frees != b.frees {
		return a.frees > b.frees
	}
	return a.at < b.at
}

// frees is how many bytes placing i gives back, less those that it takes.
func (f *freeing) frees(i int) int64 {
	n := -f.mem.bytes[i]
	for _, v := range f.mem.reads[i] {
		if f.left[v] == 1 && !f.live[v] {
			n += f.mem.bytes[v]
		}
	}
	return n
}

func (f *freeing) offer(i int) {
	f.last[i] = f.frees(i)
	heap.Push(f, entry{i, f.last[i]})
}

// listOrder takes, of what is ready, what frees most.
func listOrder(d *analysis.Dependencies, mem *memory) []int {
	n := len(d.Order)
	f := &freeing{mem: mem, left: make([]int, n), sum: make([]int, n), live: make([]bool, n), last: make([]int64, n), placed: make([]bool, n)}
	for i := range n {
		for _, v := range mem.reads[i] {
			f.left[v]++
			f.sum[v] += i
		}
	}
	for _, v := range mem.root {
		f.live[v] = true
	}
	waits, ready := make([]int, n), make([]bool, n)
	for i := range n {
		if waits[i] = len(d.Before(i)); waits[i] == 0 {
			ready[i] = true
			f.offer(i)
		}
	}
	var order []int
	for f.Len() > 0 {
		e := heap.Pop(f).(entry)
		if f.placed[e.at] || e.frees != f.last[e.at] {
			continue
		}
		f.placed[e.at] = true
		order = append(order, e.at)
		for _, v := range mem.reads[e.at] {
			f.left[v]--
			f.sum[v] -= e.at
			if f.left[v] == 1 && ready[f.sum[v]] && !f.placed[f.sum[v]] {
				f.offer(f.sum[v]) // now it would free v
			}
		}
		for _, u := range d.After(e.at) {
			if waits[u]--; waits[u] == 0 {
				ready[u] = true
				f.offer(u)
			}
		}
	}
	return order
}
