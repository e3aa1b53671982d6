package distributed

import (
	"fmt"
	"math"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// gather fills in what visitors need of what members of other processes bring. It returns the memory that may be used again when the meeting
// is complete.
func (x *Transport) gather(t *devices.Meeting, w *task, to exchange) (used [][]byte, err error) {
	ranks := x.plan.ranks(t.Group)
	b := newBatch(w)
	var unpack []func()
	var arrivals []arrival
	for _, p := range ranks {
		if p == x.job.rank {
			continue
		}
		var out, in parcel
		for from, d := range t.Group {
			switch x.plan.rank(d) {
			case x.job.rank:
				if err := x.outgoing(t, from, p, &out); err != nil {
					return nil, err
				}
			case p:
				come, err := x.incoming(t, from, &in)
				if err != nil {
					return nil, err
				}
				arrivals = append(arrivals, come...)
			}
		}
		unpack = append(unpack, in.receive(b, to.context, p, to.tag))
		out.send(b, to.context, p, to.tag)
	}
	x.job.begin(b)
	if err := b.wait(); err != nil {
		return nil, err // the library may still write to the memory
	}
	for _, f := range unpack {
		f()
	}
	if anyVisitor(t).Complete != nil { // else the visitors keep what was brought
		for _, a := range arrivals {
			used = append(used, a.leaves...)
		}
	}
	return used, deliver(t, arrivals)
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
func (x *Transport) needs(t *devices.Meeting, from, process, operand int) (parts []devices.Part) {
	for to, d := range t.Group {
		if x.plan.rank(d) != process {
			continue
		}
		part := t.Need(from, to, operand)
		if part.IsWhole() {
			return []devices.Part{part}
		}
		if !part.IsNone() {
			parts = append(parts, part)
		}
	}
	return parts
}

// outgoing adds what a process needs of a visitor's operands.
func (x *Transport) outgoing(t *devices.Meeting, from, process int, p *parcel) error {
	for i, l := range t.Visitors[from].Operands {
		for _, part := range x.needs(t, from, process, i) {
			leaves := l.Leaves()
			next := 0
			var err error
			for _, s := range t.In.OperandInstr(i).Shape().Leaves {
				var data []byte
				if data, err = leaves[next].Buffer(s); err == nil {
					p.add(data, s, part)
				}
				next++
				if err != nil {
					break
				}
			}
			if err != nil {
				return err
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

// incoming makes memory for the operands of a member of another process that visitors need, and adds them.
func (x *Transport) incoming(t *devices.Meeting, from int, p *parcel) (all []arrival, err error) {
	for i := range t.In.NumOperands() {
		needs := x.needs(t, from, x.job.rank, i)
		if len(needs) == 0 {
			continue
		}
		a := arrival{from: from, operand: i}
		for _, leaf := range t.In.OperandInstr(i).Shape().Leaves {
			size := leaf.BufferSize()
			if size == math.MaxInt64 {
				err = fmt.Errorf("operand %d: the size of %v is not known to other processes", i, leaf)
				break
			}
			data := x.plan.free.get(int(size))
			a.leaves = append(a.leaves, data)
			for _, part := range needs {
				p.add(data, leaf, part)
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// deliver makes what has arrived part of what members brought.
func deliver(t *devices.Meeting, arrivals []arrival) error {
	for _, a := range arrivals {
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
