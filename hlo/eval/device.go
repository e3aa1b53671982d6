package eval

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// device is a place in the grid of replicas and partitions.
type device struct{ replica, partition int }

// world is the devices of a program that run together. Each runs on a goroutine of its own; they meet at collectives.
type world struct {
	replicas, partitions int

	fail func(error) // ends all devices

	mu       sync.Mutex
	meetings map[meetingKey]*meeting
	// Devices that run, and those of them that wait in a meeting. When all wait, nobody will come.
	running, waiting int
}

// meetingKey names one execution of a collective by one group: every device executes the same instructions in the same order, so how
// often an instruction has been executed tells the meetings of a loop apart.
type meetingKey struct {
	at    site
	first device // the first member of the group
	count int
}

// meeting collects what each member brings.
type meeting struct {
	brought [][]*hlo.Literal // by rank
	missing int
	left    int // members that have not taken the result yet
	ready   chan struct{}
}

// Devices evaluates a program on a grid of devices at once: device (r, p), replica r and partition p, has number r·partitions + p in
// args and in the results. The first error ends the others.
func Devices(ctx context.Context, m hlo.Module, args [][]*hlo.Literal, replicas, partitions int, o Options) ([]*hlo.Literal, error) {
	if replicas < 1 || partitions < 1 || len(args) != replicas*partitions {
		return nil, fmt.Errorf("arguments for %d devices, want %d replicas of %d partitions", len(args), replicas, partitions)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &world{
		replicas: replicas, partitions: partitions, fail: func(err error) { cancel(err) },
		meetings: make(map[meetingKey]*meeting), running: len(args),
	}
	results := make([]*hlo.Literal, len(args))
	var wait sync.WaitGroup
	for i, a := range args {
		if err := checkArguments(m.Entry(), a); err != nil {
			return nil, fmt.Errorf("device %d: %w", i, err)
		}
	}
	for i, a := range args {
		wait.Go(func() {
			own := o
			own.Replica, own.Partition = i/partitions, i%partitions
			e := newEvaluator(ctx, m, own)
			e.world = w
			defer w.finish()
			v, err := e.run(m.Entry(), a)
			if err != nil {
				cancel(fmt.Errorf("device %d: %w", i, err))
			}
			results[i] = v
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}

// exchange brings operands to the other members of a group and returns what each of them brought, by rank.
func (c *Call) exchange(group []device, operands []*hlo.Literal) ([][]*hlo.Literal, error) {
	if len(group) == 1 {
		return [][]*hlo.Literal{operands}, nil
	}
	e := c.e
	rank := slices.Index(group, e.here())
	if e.world == nil || rank < 0 {
		return nil, fmt.Errorf("a group of %d devices, of which one runs", len(group))
	}
	if e.executions == nil {
		e.executions = make(map[site]int)
	}
	at := siteOf(c.In)
	e.executions[at]++
	key := meetingKey{at, group[0], e.executions[at]}
	m := e.world.enter(key, len(group), rank, slices.Clone(operands))
	select {
	case <-m.ready:
	case <-e.ctx.Done():
		return nil, e.ctx.Err()
	}
	e.world.leave(key, m)
	return m.brought, nil
}

// enter brings operands to a meeting. The last to come lets all go.
func (w *world) enter(k meetingKey, members, rank int, operands []*hlo.Literal) *meeting {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.meetings[k]
	if m == nil {
		m = &meeting{brought: make([][]*hlo.Literal, members), missing: members, left: members, ready: make(chan struct{})}
		w.meetings[k] = m
	}
	m.brought[rank] = operands
	if m.missing--; m.missing > 0 {
		w.waiting++
		w.checkProgress()
		return m
	}
	w.waiting -= members - 1
	close(m.ready)
	return m
}

// finish takes a device out.
func (w *world) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	w.checkProgress()
}

// checkProgress ends a program in which every device waits for another.
func (w *world) checkProgress() {
	if w.waiting > 0 && w.waiting == w.running {
		w.fail(fmt.Errorf("deadlock: all devices that still run wait in collectives for others"))
	}
}

// leave forgets a meeting when its last member goes.
func (w *world) leave(k meetingKey, m *meeting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.left--; m.left == 0 {
		delete(w.meetings, k)
	}
}

// here is the device that is evaluated.
func (e *evaluator) here() device { return device{e.o.Replica, e.o.Partition} }

// grid is the numbers of replicas and partitions that run.
func (e *evaluator) grid() (replicas, partitions int) {
	if e.world == nil {
		return 1, 1
	}
	return e.world.replicas, e.world.partitions
}

// groupMode says what the ids in replica groups are.
type groupMode uint8

const (
	crossReplica groupMode = iota
	crossPartition
	crossReplicaAndPartition
	flattenedID
)

// group is the devices that the evaluated one takes part with, in rank order; nil when it is in no group.
func (e *evaluator) group(groups *hlo.ReplicaGroups, mode groupMode) ([]device, error) {
	replicas, partitions := e.grid()
	if e.world == nil {
		// Alone, a device is the whole program: whatever group it names has to be a group of one.
		if n := groupSize(groups); n > 1 {
			return nil, fmt.Errorf("a group of %d devices, of which one runs", n)
		}
		return []device{e.here()}, nil
	}
	ids, all := int64(e.o.Replica), replicas
	switch mode {
	case crossPartition:
		ids, all = int64(e.o.Partition), partitions
	case flattenedID:
		ids, all = int64(e.o.Replica*partitions+e.o.Partition), replicas*partitions
	}
	mine, found := []int64(nil), false
	lists := groups.Listed()
	if lists == nil || len(lists.Lists) == 0 {
		if lists != nil && (lists.Iota != nil || lists.Mesh != nil) {
			return nil, fmt.Errorf("replica groups %v cannot be listed", groups)
		}
		for i := range all {
			mine = append(mine, int64(i))
		}
		found = true
	} else {
		for _, l := range lists.Lists {
			if slices.Contains(l, ids) {
				mine, found = l, true
			}
		}
	}
	if !found {
		return nil, nil
	}
	var members []device
	for _, id := range mine {
		if id < 0 || id >= int64(all) {
			return nil, fmt.Errorf("device id %d of %d", id, all)
		}
		i := int(id)
		switch mode {
		case crossReplica:
			members = append(members, device{i, e.o.Partition})
		case crossPartition:
			members = append(members, device{e.o.Replica, i})
		case crossReplicaAndPartition:
			for p := range partitions {
				members = append(members, device{i, p})
			}
		default:
			members = append(members, device{i / partitions, i % partitions})
		}
	}
	return members, nil
}

// groupSize is the size of the first group, 0 for all devices.
func groupSize(g *hlo.ReplicaGroups) int {
	lists := g.Listed()
	switch {
	case lists == nil:
		return 0
	case len(lists.Lists) > 0:
		return len(lists.Lists[0])
	}
	return int(lists.GroupSize)
}

// modeOf is the mode of the reductions and gathers, which have a flag for global ids.
func modeOf(channel hlo.OptInt, global bool) groupMode {
	switch {
	case !channel.Set:
		return crossReplica
	case global:
		return flattenedID
	}
	return crossReplicaAndPartition
}

// channelMode is the mode of the other collectives.
func channelMode(channel hlo.OptInt) groupMode {
	if channel.Set {
		return crossPartition
	}
	return crossReplica
}
