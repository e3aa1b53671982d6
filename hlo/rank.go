package hlo

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/internal/idmap"
)

// Program order is ascending rank. Ranks are handed out with gaps of rankGap; an insertion takes a rank inside the gap before its
// neighbour, and when the gap is used up, a window of neighbours is spread out again.
const (
	rankGap  = 1 << 20
	rankStep = 1 << 10 // from its predecessor to an inserted instruction, so that insertions in a row do not halve the gap each time
)

// orderOverlay lets a session find predecessors in program order without walking it. It starts from the order of some earlier state;
// what was placed later has its predecessor in pred, and so has everything it was placed before. The earlier order is one of
//
//   - ascending ids, when both began and ids are nil;
//   - that of a frozen version, began, followed by the ids from limit on;
//   - ids, of a state within the session, found by pos.
type orderOverlay struct {
	began *frozenOrder
	limit InstrID
	ids   []InstrID
	pos   []uint32 // by id: its place in ids

	pred idmap.Map[InstrID, InstrID]
	last InstrID // last in program order; may have been removed since
}

func (st *compState) newOrderOverlay() *orderOverlay {
	c := st.node
	limit := InstrID(c.instrs.n)
	o := &orderOverlay{last: limit - 1} // NoInstr when empty
	if c.idOrder {
		return o
	}
	if c.epoch < st.e.firstEpoch() {
		st.began = c
	}
	if b := st.began; b != nil {
		o.began, o.limit = newFrozenOrder(b), InstrID(b.instrs.n)
		if limit == o.limit {
			o.last = o.began.before(b.maxRank + 1)
		}
		return o
	}
	o.ids = make([]InstrID, 0, c.count)
	o.pos = make([]uint32, limit)
	for i, n := range c.computeOrder() {
		o.ids = append(o.ids, n.id)
		o.pos[n.id] = uint32(i)
		o.last = n.id
	}
	return o
}

// before is the predecessor of id, dead or alive; NoInstr at the start.
func (o *orderOverlay) before(id InstrID) InstrID {
	if p, ok := o.pred.Lookup(id); ok {
		return p
	}
	switch {
	case o.began != nil && id < o.limit:
		return o.began.before(o.began.c.instrs.get(uint32(id)).rank)
	case o.began != nil && id == o.limit:
		return o.began.before(o.began.c.maxRank + 1)
	case o.ids != nil:
		if i := o.pos[id]; i > 0 {
			return o.ids[i-1]
		}
		return NoInstr
	}
	return id - 1 // NoInstr for 0
}

// placed records that id now stands just before at.
func (o *orderOverlay) placed(id, at InstrID) {
	o.pred.Set(id, o.before(at))
	o.pred.Set(at, id)
}

// livePred is the live instruction before id in the current state, nil at the start. Those removed since are stepped over once.
func (st *compState) livePred(id InstrID) *instrNode {
	o := st.order
	p := o.before(id)
	if p == NoInstr {
		return nil
	}
	n := st.node.instrs.get(uint32(p))
	if n != nil {
		return n
	}
	for n == nil && p != NoInstr {
		if p = o.before(p); p != NoInstr {
			n = st.node.instrs.get(uint32(p))
		}
	}
	o.pred.Set(id, p)
	return n
}

// rankBefore makes room before at and returns the rank to insert there.
func (st *compState) rankBefore(at InstrID) uint64 {
	if st.order == nil {
		st.more().order = st.newOrderOverlay()
	}
	for {
		high, low := st.instr(at).rank, uint64(0)
		if p := st.livePred(at); p != nil {
			low = p.rank
		}
		if gap := high - low; gap >= 2 {
			return low + min(gap/2, rankStep)
		}
		st.spread(at)
	}
}

// spread opens gaps before at: it takes ever more predecessors until the room up to the one before them allows four gaps of rankStep
// each. They get half of the room, dealt out evenly, and the gap before at the other half: twice as many instructions as were
// moved can be inserted there before this is done again. At the start of the computation without such room, all ranks are dealt
// anew, with room before at for as many instructions as there are.
func (st *compState) spread(at InstrID) {
	high := st.instr(at).rank
	var window []InstrID // backwards from at
	for id := at; ; {
		p := st.livePred(id)
		low := uint64(0)
		if p != nil {
			low = p.rank
		}
		if room := (high - low) / 2; room/uint64(len(window)+1) >= 2*rankStep {
			step := room / uint64(len(window)+1)
			for i, id := range window {
				st.setRank(id, low+uint64(len(window)-i)*step)
			}
			return
		}
		if p == nil {
			break
		}
		id = p.id
		window = append(window, id)
	}
	order := st.node.computeOrder()
	room := uint64(0)
	for i, n := range order {
		if n.id == at { // there will be more: as much as there is now, before this is done again
			room = uint64(len(order)) * rankGap
		}
		st.node.maxRank = uint64(i+1)*rankGap + room
		st.setRank(n.id, st.node.maxRank)
	}
}

func (st *compState) setRank(id InstrID, rank uint64) {
	if st.instr(id).rank != rank {
		st.ownInstr(id).rank = rank
	}
}

// frozenOrder finds neighbours by rank in a frozen version: in its order if that is known, else in the order it was derived from and, apart
// from that, the later ids, as long as these are few.
type frozenOrder struct {
	c     *compNode
	nodes []*instrNode // the whole order; or nil, and
	fresh []*instrNode // what is not in c.base
}

func newFrozenOrder(c *compNode) *frozenOrder {
	if c.cache().order.Load() != nil || c.instrs.n-uint32(c.base.limit) > uint32(c.count)/8+64 {
		return &frozenOrder{c: c, nodes: c.order()}
	}
	o := &frozenOrder{c: c}
	for _, n := range c.fresh(nil) {
		o.fresh = append(o.fresh, n.instrNode)
	}
	return o
}

// before is the instruction of the greatest rank below the given one.
func (o *frozenOrder) before(rank uint64) InstrID {
	list := o.nodes
	if list == nil {
		list = o.fresh
	}
	var best *instrNode
	if i, _ := slices.BinarySearchFunc(list, rank, func(n *instrNode, r uint64) int { return cmp.Compare(n.rank, r) }); i > 0 {
		best = list[i-1]
	}
	if o.nodes == nil {
		if n := o.c.baseBefore(rank); n != nil && (best == nil || n.rank > best.rank) {
			best = n
		}
	}
	if best == nil {
		return NoInstr
	}
	return best.id
}

// baseBefore is before among the instructions in c.base, by bisection that steps over those removed.
func (c *compNode) baseBefore(rank uint64) *instrNode {
	var best *instrNode
	for low, high := 0, c.base.len(); low < high; {
		mid := int(uint(low+high) / 2)
		k := mid
		n := c.instrs.get(uint32(c.base.id(k)))
		for n == nil && k > low {
			k--
			n = c.instrs.get(uint32(c.base.id(k)))
		}
		switch {
		case n == nil:
			low = mid + 1
		case n.rank < rank:
			best, low = n, mid+1
		default:
			high = k
		}
	}
	return best
}
