package memplan

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// reordered gives the entry computation the schedule with the smallest frame among a few: operands that need most memory first, and at each step what
// frees most.
func reordered(ctx context.Context, m hlo.Module) (best hlo.Module, err error) {
	entry := m.Entry()
	smallest := int64(-1)
	for _, order := range [][]hlo.InstrID{heaviestFirst(entry), greedy(m, entry)} {
		changed, err := scheduled(m, order)
		if err != nil {
			continue
		}
		if frame, err := frameOf(ctx, changed); err == nil && (smallest < 0 || frame < smallest) {
			best, smallest = changed, frame
		}
	}
	if smallest < 0 {
		return m, errors.New("no other order was found")
	}
	return best, nil
}

// scheduled is m with a schedule of the entry, and of the others as they stand.
func scheduled(m hlo.Module, order []hlo.InstrID) (hlo.Module, error) {
	e := m.Edit()
	for c := range m.Computations() {
		ids := order
		if c.ID() != m.Entry().ID() {
			ids = nil
			for in := range c.PostOrder() {
				ids = append(ids, in.ID())
			}
		}
		if err := e.Computation(c.ID()).SetSchedule(ids); err != nil {
			return m, err
		}
	}
	cfg := *m.Config()
	cfg.IsScheduled = true
	e.SetConfig(&cfg)
	return e.Freeze(), nil
}

// own is what an instruction's result takes in the frame.
func own(in hlo.Instruction) (n int64) {
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitForwards) || in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpConstant || in.Opcode() == hlo.OpTuple {
		return 0
	}
	for _, s := range in.Shape().Leaves {
		if s.IsArray() && s.IsStatic() {
			n += align(s.ByteSize())
		}
	}
	return n
}

// heaviestFirst is the order in which, of the operands of an instruction, that is computed first whose computing needs the most memory beyond what it
// leaves behind.
func heaviestFirst(c hlo.Computation) []hlo.InstrID {
	need := make(map[hlo.InstrID]int64, c.NumInstructions())
	sorted := make(map[hlo.InstrID][]hlo.InstrID, c.NumInstructions())
	for in := range c.PostOrder() {
		operands := slices.Collect(in.OperandIDs())
		operands = append(operands, slices.Collect(in.ControlPredecessors())...)
		slices.SortStableFunc(operands, func(a, b hlo.InstrID) int {
			return cmp.Compare(need[b]-own(c.MustAt(b)), need[a]-own(c.MustAt(a)))
		})
		sorted[in.ID()] = operands
		held, most := int64(0), int64(0)
		for _, o := range operands {
			most = max(most, held+need[o])
			held += own(c.MustAt(o))
		}
		need[in.ID()] = max(most, held+own(in))
	}
	var order []hlo.InstrID
	done := map[hlo.InstrID]bool{}
	visit := func(id hlo.InstrID) {
		type frame struct {
			id   hlo.InstrID
			next int
		}
		stack := []frame{{id, 0}} // programs are deeper than stacks
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if done[f.id] {
				stack = stack[:len(stack)-1]
				continue
			}
			if f.next < len(sorted[f.id]) {
				f.next++
				if o := sorted[f.id][f.next-1]; !done[o] {
					stack = append(stack, frame{o, 0})
				}
				continue
			}
			done[f.id] = true
			order = append(order, f.id)
			stack = stack[:len(stack)-1]
		}
	}
	for _, p := range c.Parameters() {
		visit(p)
	}
	visit(c.Root().ID())
	for in := range c.PostOrder() {
		visit(in.ID())
	}
	return order
}

// greedyLimit bounds the instructions of an order that looks at all that is ready at each step.
const greedyLimit = 4096

// greedy is the order that takes, of what is ready, what frees most, or takes least.
func greedy(m hlo.Module, c hlo.Computation) []hlo.InstrID {
	if c.NumInstructions() > greedyLimit {
		return nil
	}
	waits, readers := map[hlo.InstrID]int{}, map[hlo.InstrID]int{}
	var ready, order []hlo.InstrID
	for in := range c.PostOrder() {
		waits[in.ID()] = in.NumOperands() + in.NumControlPredecessors()
		if waits[in.ID()] == 0 {
			ready = append(ready, in.ID())
		}
		for user := range in.Users() {
			if user.ID() != in.ID() {
				readers[in.ID()]++
			}
		}
	}
	share := map[hlo.InstrID]bool{}
	for in := range c.PostOrder() {
		share[in.ID()] = len(analysis.Shareable(m, in)) > 0
	}
	for len(ready) > 0 {
		best, most := 0, int64(0)
		for i, id := range ready {
			in := c.MustAt(id)
			gain := -own(in)
			seen := map[hlo.InstrID]bool{}
			for o := range in.OperandIDs() {
				if !seen[o] && readers[o] == 1 {
					gain += own(c.MustAt(o))
				}
				seen[o] = true
			}
			if i == 0 || gain > most {
				best, most = i, gain
			}
		}
		id := ready[best]
		ready = slices.Delete(ready, best, best+1)
		order = append(order, id)
		in := c.MustAt(id)
		seen := map[hlo.InstrID]bool{}
		for o := range in.OperandIDs() {
			if !seen[o] {
				readers[o]--
				seen[o] = true
			}
		}
		release := func(user hlo.InstrID) {
			if waits[user]--; waits[user] == 0 {
				ready = append(ready, user)
			}
		}
		for user := range in.Users() {
			for o := range user.OperandIDs() {
				if o == id {
					release(user.ID())
				}
			}
		}
		for next := range in.ControlSuccessors() {
			release(next)
		}
	}
	return order
}
