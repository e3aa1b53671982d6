package distributed

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// wants says what the members of a process need of an operand that a member brings.
type wants func(from, process, operand int) []devices.Part

// gather fills in what visitors need of what members of other processes bring. It returns the memory that may be used again when the meeting
// is complete.
func (x *Transport) gather(t *devices.Meeting, w *task, to exchange) (used [][]byte, err error) {
	g := &gathering{Transport: x, t: t, task: w, to: to, ranks: x.plan.ranks(t.Group)}
	g.me = slices.Index(g.ranks, x.job.rank)
	form, size := g.form()
	if form != direct {
		err = g.inRounds(form, size)
	} else {
		err = g.swap(g.needs)
	}
	if err == nil && t.HasRows() {
		err = g.swap(g.needsRows)
	}
	if err != nil {
		return nil, err // the library may still write to the memory
	}
	if anyVisitor(t).Complete == nil { // the visitors keep what was brought
		return nil, nil
	}
	return g.memory, nil
}

// gathering is one under way.
type gathering struct {
	*Transport
	t      *devices.Meeting
	task   *task
	to     exchange
	ranks  []int
	me     int      // this process among them
	memory [][]byte // of what has arrived
}

// swap sends each process what it needs, and receives that from each.
func (g *gathering) swap(needs wants) error {
	b := newBatch(g.task)
	var unpack []func()
	var arrivals []arrival
	for _, p := range g.ranks {
		if p == g.job.rank {
			continue
		}
		var out, in parcel
		if err := g.outgoing(p, needs, &out); err != nil {
			return err
		}
		come, err := g.incoming(p, needs, &in)
		if err != nil {
			return err
		}
		arrivals = append(arrivals, come...)
		unpack = append(unpack, in.receive(b, g.to.context, p, g.to.tag))
		out.send(b, g.to.context, p, g.to.tag)
	}
	g.job.begin(b)
	if err := b.wait(); err != nil {
		return err
	}
	for _, f := range unpack {
		f()
	}
	return g.deliver(arrivals)
}

func anyVisitor(t *devices.Meeting) *devices.Visitor {
	for _, v := range t.Visitors {
		if v != nil {
			return v
		}
	}
	return nil
}

// needs lists the different parts that the members of one process need of an operand, in rank order.
func (g *gathering) needs(from, process, operand int) (parts []devices.Part) {
	for to, d := range g.t.Group {
		if g.plan.rank(d) != process {
			continue
		}
		part := g.t.Need(from, to, operand)
		if part.IsWhole() {
			return []devices.Part{part}
		}
		if !part.IsNone() {
			parts = append(parts, part)
		}
	}
	return parts
}

// needsRows lists the rows that they need.
func (g *gathering) needsRows(from, process, operand int) (parts []devices.Part) {
	for to, d := range g.t.Group {
		if g.plan.rank(d) == process {
			parts = append(parts, g.t.NeedRows(from, to, operand)...)
		}
	}
	return parts
}

// outgoing adds what a process needs of what the visitors bring.
func (g *gathering) outgoing(process int, needs wants, p *parcel) error {
	for from, v := range g.t.Visitors {
		if v == nil {
			continue
		}
		for i, l := range v.Operands {
			for _, part := range needs(from, process, i) {
				leaves := l.Leaves()
				next := 0
				for _, s := range g.t.In.OperandInstr(i).Shape().Leaves {
					data, err := leaves[next].Buffer(s)
					if err != nil {
						return err
					}
					p.add(data, s, part)
					next++
				}
			}
		}
	}
	return nil
}

// arrival is an operand of a member of another process: the memory of its leaves.
type arrival struct {
	from, operand int
	leaves        [][]byte
}

// incoming makes memory for what the visitors need of what the members of a process bring, and adds it.
func (g *gathering) incoming(process int, needs wants, p *parcel) (all []arrival, err error) {
	for from, d := range g.t.Group {
		if g.plan.rank(d) != process {
			continue
		}
		for i := range g.t.In.NumOperands() {
			parts := needs(from, g.job.rank, i)
			if len(parts) == 0 {
				continue
			}
			a := arrival{from: from, operand: i}
			for _, leaf := range g.t.In.OperandInstr(i).Shape().Leaves {
				size := leaf.BufferSize()
				if size == math.MaxInt64 {
					return nil, fmt.Errorf("operand %d: the size of %v is not known to other processes", i, leaf)
				}
				data := g.plan.free.get(int(size))
				a.leaves = append(a.leaves, data)
				for _, part := range parts {
					p.add(data, leaf, part)
				}
			}
			all = append(all, a)
		}
	}
	return all, nil
}

// deliver makes what has arrived part of what members brought.
func (g *gathering) deliver(arrivals []arrival) error {
	t := g.t
	for _, a := range arrivals {
		g.memory = append(g.memory, a.leaves...)
		if t.Brought[a.from] == nil {
			t.Brought[a.from] = make([]*hlo.Literal, t.In.NumOperands())
		}
		s := t.In.OperandInstr(a.operand).Shape()
		var leaves []*hlo.Literal
		var err error
		for _, leaf := range s.Leaves {
			var l *hlo.Literal
			l, err = hlo.LiteralOfBuffer(leaf, a.leaves[len(leaves)])
			leaves = append(leaves, l)
			if err != nil {
				break
			}
		}
		if err != nil {
			return err
		}
		t.Brought[a.from][a.operand], _ = hlo.LiteralOfLeaves(s, leaves)
	}
	return nil
}

// pool is memory of exchanges that have ended, for those to come.
type pool struct {
	mu   sync.Mutex
	free map[int][][]byte // by size
}

// pooled is the size from which on memory is kept: clearing new memory takes as long as a message.
const pooled = 64 << 10

func (p *pool) get(size int) []byte {
	if size >= pooled {
		p.mu.Lock()
		defer p.mu.Unlock()
		if list := p.free[size]; len(list) > 0 {
			p.free[size] = list[:len(list)-1]
			return list[len(list)-1]
		}
	}
	return make([]byte, size)
}

func (p *pool) put(memory ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range memory {
		if len(b) < pooled {
			continue
		}
		if p.free == nil {
			p.free = make(map[int][][]byte)
		}
		p.free[len(b)] = append(p.free[len(b)], b)
	}
}
