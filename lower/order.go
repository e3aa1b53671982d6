package lower

import (
	"container/heap"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// executionOrder is the order in which a computation's instructions become kernels: its schedule if it has one; otherwise its post-order,
// with asynchronous work begun as early as its operands allow and ended as late as its users allow, so that what lies between
// overlaps with it.
func (l *lowering) executionOrder(c hlo.Computation) []hlo.Instruction {
	var order []hlo.Instruction
	async := false
	if c.IsScheduled() {
		for _, id := range c.Schedule() {
			in, _ := c.At(id)
			order = append(order, in)
		}
		return order
	}
	for in := range c.PostOrder() {
		order = append(order, in)
		async = async || l.begun(in) != 0
	}
	late := l.lateness(c)
	if async || late != nil {
		return l.overlap(order, late)
	}
	return order
}

// lateness says for each instruction of a computation which of the operands that updates bring it has to wait for: the number of the last one, counted
// from 1, or 0. It is nil if no start leaves operands out.
func (l *lowering) lateness(c hlo.Computation) map[hlo.InstrID]int {
	bound := c.NumParameters()
	for comp, id := range l.m.Callers(c.ID()) {
		if in := l.m.MustComputation(comp).MustAt(id); in.Opcode() == hlo.OpAsyncStart {
			bound = min(bound, in.NumOperands())
		}
	}
	if bound == c.NumParameters() {
		return nil
	}
	late := make(map[hlo.InstrID]int)
	for in := range c.PostOrder() {
		n := 0
		if in.Opcode() == hlo.OpParameter {
			n = max(0, int(hlo.AttrsOf[hlo.ParameterAttrs](in).Number)-bound+1)
		}
		for o := range in.Operands() {
			n = max(n, late[o.ID()])
		}
		for id := range in.ControlPredecessors() {
			n = max(n, late[id])
		}
		if n > 0 {
			late[in.ID()] = n
		}
	}
	return late
}

// begun is how many chains in begins more than it ends: the steps of a chain say it themselves, and calls and conditionals may begin chains
// that they return, and end those that they are given.
func (l *lowering) begun(in hlo.Instruction) int {
	switch traits := hlo.Info(in.Opcode()).Traits; {
	case traits.Has(hlo.TraitAsyncStart):
		return 1
	case traits.Has(hlo.TraitAsyncDone):
		return -1
	case in.Opcode() != hlo.OpCall && in.Opcode() != hlo.OpConditional:
		return 0
	}
	for i := range in.NumCallees() {
		if n := l.begunIn(in.Callee(i)); n != 0 {
			return n // the other branches have the same events before and after
		}
	}
	return 0
}

// begunIn is the sum of begun over a computation.
func (l *lowering) begunIn(id hlo.CompID) int {
	n, known := l.chains[id]
	if !known {
		for in := range l.m.MustComputation(id).Instructions() {
			n += l.begun(in)
		}
		l.chains[id] = n
	}
	return n
}

// overlap is a topological sort by priority: what begins chains first, then everything else in the given order, what ends them last; and what
// needs a late operand, see lateness, behind all that does not.
func (l *lowering) overlap(order []hlo.Instruction, late map[hlo.InstrID]int) []hlo.Instruction {
	at := make(map[hlo.InstrID]int, len(order))
	for i, in := range order {
		at[in.ID()] = i
	}
	waits := make([]int, len(order))
	users := make([][]int, len(order))
	for i, in := range order {
		need := func(id hlo.InstrID) {
			if j, ok := at[id]; ok {
				waits[i]++
				users[j] = append(users[j], i)
			}
		}
		for k := range in.NumOperands() {
			need(in.Operand(k))
		}
		for id := range in.ControlPredecessors() {
			need(id)
		}
	}
	// Instructions that a start needs come before the others, except waits for other chains.
	urgent := make([]bool, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		for _, u := range users[i] {
			urgent[i] = urgent[i] || urgent[u] || analysis.IsStart(order[u]) || l.begun(order[u]) > 0
		}
	}
	q := &readyQueue{class: make([]int, len(order))}
	for i, in := range order {
		q.class[i] = -4 * l.begun(in)
		if analysis.IsStart(in) {
			q.class[i] = -4
			if l.onlyWaits(in) {
				q.class[i] = -5
			}
		}
		if urgent[i] {
			q.class[i] -= 2
		}
		if late != nil {
			q.class[i] += perOperand * late[in.ID()]
		}
	}
	for i := range order {
		if waits[i] == 0 {
			heap.Push(q, i)
		}
	}
	sorted := make([]hlo.Instruction, 0, len(order))
	for q.Len() > 0 {
		i := heap.Pop(q).(int)
		sorted = append(sorted, order[i])
		for _, u := range users[i] {
			if waits[u]--; waits[u] == 0 {
				heap.Push(q, u)
			}
		}
	}
	return sorted
}

// perOperand is more than classes differ otherwise.
const perOperand = 1 << 20

// onlyWaits reports whether what a start begins holds no thread. Such work goes first: what computes after it on the same execution thread can
// run beside it, the other way around it would have to wait.
func (l *lowering) onlyWaits(start hlo.Instruction) bool { return !l.costs().Of(start).HoldsThread() }

// readyQueue holds positions in the given order whose operands are done.
type readyQueue struct {
	class []int // by position; the least goes first
	ready []int
}

func (q *readyQueue) Len() int { return len(q.ready) }
func (q *readyQueue) Less(i, j int) bool {
	a, b := q.ready[i], q.ready[j]
	if ca, cb := q.class[a], q.class[b]; ca != cb {
		return ca < cb
	}
	return a < b
}
func (q *readyQueue) Swap(i, j int) { q.ready[i], q.ready[j] = q.ready[j], q.ready[i] }
func (q *readyQueue) Push(x any)    { q.ready = append(q.ready, x.(int)) }
func (q *readyQueue) Pop() any {
	last := q.ready[len(q.ready)-1]
	q.ready = q.ready[:len(q.ready)-1]
	return last
}

// updatesLast moves the computations of small parts of a loop's next state behind everything that may read the present ones: a counter is
// the last to change. Each can then be computed in its place; otherwise it is copied there at the end of every round.
func updatesLast(body hlo.Computation, order []hlo.Instruction) []hlo.Instruction {
	root := body.Root()
	if root.Opcode() != hlo.OpTuple {
		return order
	}
	var updates, rest []hlo.Instruction
	for _, in := range order {
		if len(updates) < maxUpdates && isSmallUpdate(in, root) {
			updates = append(updates, in)
		} else {
			rest = append(rest, in)
		}
	}
	if len(updates) == 0 || rest[len(rest)-1].ID() != root.ID() {
		return order
	}
	rest = rest[:len(rest)-1]
	for len(updates) > 0 {
		k := 0
		for i, in := range updates {
			if !overwritesOperand(in, root, updates) {
				k = i
				break
			}
		}
		rest = append(rest, updates[k])
		updates = append(updates[:k], updates[k+1:]...)
	}
	return append(rest, root)
}

// maxUpdates bounds the updates that are put in order, and smallUpdate the bytes of their operands and results.
const (
	maxUpdates  = 32
	smallUpdate = 64
)

// isSmallUpdate reports whether in computes something small from something small, for the next state only.
func isSmallUpdate(in, root hlo.Instruction) bool {
	small := func(s hlo.Shape) bool { return s.IsArray() && s.IsStatic() && s.ByteSize() <= smallUpdate }
	if in.Opcode() != hlo.OpFusion && !in.IsElementwise() || in.NumOperands() == 0 || !small(in.Shape()) {
		return false
	}
	for user := range in.Users() {
		if user.ID() != root.ID() {
			return false
		}
	}
	for range in.ControlSuccessors() {
		return false
	}
	for o := range in.Operands() {
		if !small(o.Shape()) {
			return false
		}
	}
	return !in.IsRoot()
}

// overwritesOperand reports whether the part of the state that in computes is read, as it was, by another of the updates.
func overwritesOperand(in, root hlo.Instruction, updates []hlo.Instruction) bool {
	for _, other := range updates {
		if other.ID() == in.ID() {
			continue
		}
		for o := range other.Operands() {
			if o.Opcode() != hlo.OpGetTupleElement || o.OperandInstr(0).Opcode() != hlo.OpParameter {
				continue
			}
			k := int(hlo.AttrsOf[hlo.TupleElementAttrs](o).Index)
			if k < root.NumOperands() && root.Operand(k) == in.ID() {
				return true
			}
		}
	}
	return false
}
