package native

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/internal/amd64"
)

// A line of memory that is stored to is brought near first, to be written over, and written back when something else takes its place. Where results are so large that they are gone from the
// nearer caches before anything reads them, stores can go straight to memory, whole vectors at a time.

// farCode is where the code is that stores so, behind the code that does not.
type farCode struct {
	at     int // in the memory of both, or 0 if there is none
	stores []int
}

// Far says that results are larger than what caches keep of them.
func (b *Builder) Far() { b.far = true }

// mostFar is the number of instructions for 64 bytes of elements up to which a loop waits for memory. One that computes for longer gains nothing, and what reads its results loses.
const mostFar = 16

// appendFar puts the code that stores past the caches behind that of m, if it is wanted. It differs in nothing else.
func (b *Builder) appendFar(m *machineCode, inverts, gently bool) (f farCode) {
	if !b.far || len(b.folds) > 0 || m.instructions*slotBytes > mostFar*m.lanes*m.lane {
		return farCode{}
	}
	b.pastCaches = true
	far := b.machineCode(inverts, gently)
	b.pastCaches = false
	if far == nil || far.spills != m.spills {
		return farCode{}
	}
	for i := range b.stores {
		f.stores = append(f.stores, b.stores[i].slot)
	}
	f.at = (len(m.bytes) + slotBytes - 1) / slotBytes * slotBytes
	m.bytes = append(slices.Grow(m.bytes, f.at-len(m.bytes)+len(far.bytes))[:f.at], far.bytes...)
	return f
}

// passesCaches reports whether an instruction becomes a store past the caches: of a vector, which is where one can be.
func (a *assigner) passesCaches(i *instr) bool {
	return a.pastCaches && !a.near && i.stores && i.from.kind == inSlot && i.k == 0 && i.op.Moves() && (i.bits == a.bits() || i.bits == 256)
}

// isNear reports whether instruction i needs the memory that it names near.
func (a *assigner) isNear(i int) bool {
	return !a.passesCaches(&a.code[i]) && !(a.pastCaches && a.half != nil && a.half.roles[i] == storesBoth)
}

// takesFar reports whether a call may use the code that stores past the caches: every vector of a result lies at a
// multiple of its size, and no result is where an operand is, which is near then.
func (c *Code) takesFar(bundles, rows int, slots []unsafe.Pointer, strides []int64) bool {
	if c.far.at == 0 {
		return false
	}
	for _, s := range c.far.stores {
		at := uintptr(slots[s])
		if rows > 1 || bundles > 1 {
			at |= uintptr(strides[s])
		}
		if bundles > 1 {
			at |= uintptr(strides[c.slots+s])
		}
		if at%slotBytes != 0 {
			return false
		}
		for other, p := range slots[:c.slots] {
			if other != s && p == slots[s] {
				return false
			}
		}
	}
	return true
}

// settle waits until stores past the caches can be seen by all.
func (a *assigner) settle() {
	if a.pastCaches {
		a.c.StoreFence()
	}
}

// storeOp is what stores a vector past the caches.
const storeOp = amd64.VMOVNTPS
