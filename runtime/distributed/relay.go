package distributed

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// Among n processes, a direct exchange takes each of them n − 1 messages. Where there are many processes, and little to send, processes pass on what
// they got from others, and it takes ⌈log₂ n⌉ rounds of one message.

// form is how the processes of a meeting exchange what members bring. It follows from the program alone, so that all choose the same.
type form int

const (
	direct   form = iota // a message to everyone who needs something
	everyone             // all get all: round k brings what 2ᵏ processes have, of the process that is 2ᵏ further on
	pairs                // each gets parts of its own: round k sends on what has to go 2ᵏ processes further
	tree                 // all get what one has: round k doubles those who have it
)

const (
	relayFrom  = 8        // processes from which on relaying pays
	relayLimit = 64 << 10 // bytes that a process gets, above which messages take longer than their number does
)

// form chooses one, and says how many bytes go from one member to another.
func (g *gathering) form() (form, int) {
	if len(g.ranks) < relayFrom {
		return direct, 0
	}
	perPair, size := false, int64(0)
	switch a := g.t.In.Attrs().(type) {
	case *hlo.CollectivePermuteAttrs:
		return direct, 0
	case *hlo.CollectiveBroadcastAttrs:
		if !a.HasDynamicRoot {
			return tree, 0
		}
	case *hlo.AllToAllAttrs, *hlo.ReduceScatterAttrs, *hlo.RaggedAllToAllAttrs:
		perPair = true
	}
	for i := range g.t.In.NumOperands() {
		s := g.t.In.OperandInstr(i).Shape()
		for _, leaf := range s.Leaves {
			n := leaf.BufferSize()
			if n > math.MaxInt64/2-size {
				return direct, 0
			}
			if !perPair {
				size += n
				continue
			}
			switch part := g.t.Need(0, 1, i); { // members 0 and 1 are as good as any others
			case part.IsWhole() && !g.t.Need(0, 0, i).IsNone():
				return direct, 0 // it cannot be cut
			case part.IsWhole():
				size += n
			case !part.IsNone():
				size += n / leaf.Dim(part.Axis) * part.Size
			}
		}
	}
	if size > relayLimit/int64(len(g.t.Group)) {
		return direct, 0
	}
	if perPair {
		return pairs, int(size)
	}
	return everyone, int(size)
}

// members is how many members process i of the ranks has.
func (g *gathering) members() []int {
	index := make(map[int]int, len(g.ranks))
	for i, p := range g.ranks {
		index[p] = i
	}
	n := make([]int, len(g.ranks))
	for _, d := range g.t.Group {
		n[index[g.plan.rank(d)]]++
	}
	return n
}

// inRounds exchanges what members bring by passing on.
func (g *gathering) inRounds(f form, size int) error {
	if f == tree {
		return g.spread()
	}
	members := g.members()
	r := &relay{g.ranks, g.me, g.to, g.task, func(b *batch) error {
		g.job.begin(b)
		return b.wait()
	}}
	var blocks [][]byte
	var err error
	if f == everyone {
		var mine parcel
		if err = g.outgoing(g.ranks[(g.me+1)%len(g.ranks)], g.needs, &mine); err == nil {
			blocks, err = r.gather(mine.bytes(), func(i int) int { return members[i] * size })
		}
	} else {
		mine := make([][]byte, len(g.ranks))
		for i, p := range g.ranks {
			var out parcel
			if i != g.me {
				err = g.outgoing(p, g.needs, &out)
			}
			if err != nil {
				return err
			}
			mine[i] = out.bytes()
		}
		blocks, err = r.swap(mine, func(i, k int) int {
			if i == k {
				return 0
			}
			return members[i] * members[k] * size
		})
	}
	if err != nil {
		return err
	}
	for i, p := range g.ranks {
		if i == g.me {
			continue
		}
		var in parcel
		arrivals, err := g.incoming(p, g.needs, &in)
		if err != nil {
			return err
		}
		in.fill(blocks[i])
		if err := g.deliver(arrivals); err != nil {
			return err
		}
	}
	return nil
}

// spread gives all processes what the first member brings, along a binomial tree whose root is its process.
func (g *gathering) spread() error {
	n, root := len(g.ranks), 0
	for i, p := range g.ranks {
		if p == g.plan.rank(g.t.Group[0]) {
			root = i
		}
	}
	at := (g.me - root + n) % n // its place, counted from the root
	all := func(int, int, int) []devices.Part { return []devices.Part{devices.Whole} }
	wants := func(from, _, operand int) []devices.Part {
		if from != 0 {
			return nil
		}
		return all(from, 0, operand)
	}
	var held parcel
	above := 1 // the first round in which it passes on
	if at == 0 {
		if err := g.outgoing(g.job.rank, wants, &held); err != nil {
			return err
		}
	} else {
		for above <= at {
			above *= 2
		}
		arrivals, err := g.incoming(g.ranks[root], wants, &held)
		if err != nil {
			return err
		}
		b := newBatch(g.task)
		unpack := held.receive(b, g.to.context, g.ranks[(at-above/2+root)%n], g.to.tag)
		g.job.begin(b)
		if err := b.wait(); err != nil {
			return err
		}
		unpack()
		if err := g.deliver(arrivals); err != nil {
			return err
		}
	}
	b := newBatch(g.task)
	for ; at+above < n; above *= 2 {
		held.send(b, g.to.context, g.ranks[(at+above+root)%n], g.to.tag)
	}
	g.job.begin(b)
	return b.wait()
}

// relay passes blocks on among processes.
type relay struct {
	ranks []int
	me    int
	to    exchange
	task  *task
	run   func(*batch) error
}

// exchange sends to the process that is some steps further on, and receives from another.
func (r *relay) exchange(to, from int, out, in []byte) error {
	n := len(r.ranks)
	b := newBatch(r.task)
	b.receive(r.to.context, r.ranks[(from+n)%n], r.to.tag, in)
	b.send(r.to.context, r.ranks[(to+n)%n], r.to.tag, out)
	return r.run(b)
}

// gather gives every process the blocks of all; that of process i has size(i) bytes.
func (r *relay) gather(mine []byte, size func(i int) int) ([][]byte, error) {
	n := len(r.ranks)
	if len(mine) != size(r.me) {
		return nil, fmt.Errorf("%v brings %d bytes, and %d are expected", r.task, len(mine), size(r.me))
	}
	at := make([]int, n+1) // where the block of process me+i begins
	for i := range n {
		at[i+1] = at[i] + size((r.me+i)%n)
	}
	all := make([]byte, at[n])
	copy(all, mine)
	for step := 1; step < n; step *= 2 {
		count := min(step, n-step)
		if err := r.exchange(r.me-step, r.me+step, all[:at[count]], all[at[step]:at[step+count]]); err != nil {
			return nil, err
		}
	}
	blocks := make([][]byte, n)
	for i := range n {
		blocks[(r.me+i)%n] = all[at[i]:at[i+1]]
	}
	return blocks, nil
}

// swap gives process k the k-th block of each; that of process i for it has size(i, k) bytes.
func (r *relay) swap(mine [][]byte, size func(i, k int) int) ([][]byte, error) {
	n := len(r.ranks)
	slots := make([][]byte, n) // slot d has to go d processes further on from where it began
	for d := range n {
		k := (r.me + d) % n
		if slots[d] = mine[k]; len(mine[k]) != size(r.me, k) {
			return nil, fmt.Errorf("%v brings %d bytes, and %d are expected", r.task, len(mine[k]), size(r.me, k))
		}
	}
	for step := 1; step < n; step *= 2 {
		var out []byte
		lengths := make([]int, n)
		total := 0
		for d := range n {
			if d&step != 0 {
				out = append(out, slots[d]...)
				began := ((r.me-step-d&(step-1))%n + n) % n
				lengths[d] = size(began, (began+d)%n)
				total += lengths[d]
			}
		}
		in := make([]byte, total)
		if err := r.exchange(r.me+step, r.me-step, out, in); err != nil {
			return nil, err
		}
		for d := range n {
			if d&step != 0 {
				slots[d], in = in[:lengths[d]], in[lengths[d]:]
			}
		}
	}
	blocks := make([][]byte, n)
	for d := range n {
		blocks[((r.me-d)%n+n)%n] = slots[d]
	}
	return blocks, nil
}
