package hlo

import "unsafe"

// Sessions cut their nodes from slabs: one allocation for many nodes. A slab lives as long as one of its nodes does, so slabs begin
// small, double, and end where one fills a class of the allocator.
const (
	maxSlab     = 8192 / instrNodeBytes // while a computation is built, most of which lives and dies together
	maxEditSlab = 16                    // of scattered copies
)

// takeNode returns a zeroed node from a slab of at most limit nodes.
func (e *Editor) takeNode(limit int) *instrNode {
	if e.slabLeft == 0 {
		e.slabSize = uint8(min(max(1, 2*int(e.slabSize)), limit))
		e.slab, e.slabLeft = &make([]instrNode, e.slabSize)[0], e.slabSize
		if e.grown.made += int(e.slabSize); e.grown.made > e.grown.next && e.grown.next > 0 {
			e.checkGrowth()
		}
	}
	n := e.slab
	if e.slabLeft--; e.slabLeft > 0 {
		e.slab = (*instrNode)(unsafe.Add(unsafe.Pointer(n), unsafe.Sizeof(*n)))
	}
	return n
}
