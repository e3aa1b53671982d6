package hlo

// nodePool hands out zeroed nodes of one session, cut from slabs: one allocation for many nodes. A slab lives as long as one of its
// nodes does, so slabs begin small, double, and end where one fills a class of the allocator.
type nodePool struct {
	instrs []instrNode // what is left of the last slab
	size   uint8       // of the last slab
}

const (
	maxSlab     = 8192 / instrNodeBytes // while a computation is built, most of which lives and dies together
	maxEditSlab = 16                    // of scattered copies
)

// take returns a node from a slab of at most limit nodes.
func (p *nodePool) take(limit int) *instrNode {
	if len(p.instrs) == 0 {
		p.size = uint8(min(max(1, 2*int(p.size)), limit))
		p.instrs = make([]instrNode, p.size)
	}
	n := &p.instrs[0]
	p.instrs = p.instrs[1:]
	return n
}
