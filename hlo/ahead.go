package hlo

import "sync/atomic"

// Of a large computation no cache has anything any more when a pass comes to it. Memory gives several places at once as fast as one, but whoever goes from one instruction to the next
// asks for one at a time, since what a pass does with each is more than a processor looks ahead. So a few are read before their turn.

// NodesAhead is how many are read at once: who calls Ahead gives it lists of about so many.
const NodesAhead = 16

const largeFrom = 1 << 13 // instructions: fewer stay in the cache from one pass to the next

// isLarge reports whether reading ahead pays.
func (c *compNode) isLarge() bool { return c.count >= largeFrom }

// readAhead reads both ends of nodes, which may be nil. What it returns is of no use, and it is not inlined, so that no compiler leaves it out.
//
//go:noinline
func readAhead(nodes []*instrNode) (sum uint64) {
	for _, n := range nodes {
		if n != nil {
			sum += atomic.LoadUint64(&n.stamp) + uint64(n.op)
		}
	}
	return sum
}

// ahead reads instructions by their ids, if the computation is large. Some may be gone.
func (c *compNode) ahead(ids []InstrID) {
	if !c.isLarge() {
		return
	}
	var nodes [NodesAhead]*instrNode
	for len(ids) > 0 {
		n := min(len(ids), NodesAhead)
		for i, id := range ids[:n] {
			nodes[i] = c.instrs.get(uint32(id))
		}
		readAhead(nodes[:n])
		ids = ids[n:]
	}
}

// Ahead says which instructions will be looked at next: the next [NodesAhead] or so of a list are found sooner one after the other then. It changes nothing, and ids that are gone do no harm.
func (c Computation) Ahead(ids []InstrID) { c.node().ahead(ids) }

// Ahead is [Computation.Ahead] for the instructions as they are now.
func (c CompEdit) Ahead(ids []InstrID) { c.live().node.ahead(ids) }
