package hlo

import "slices"

// nameRoot is what a layer knows of names with one root: the numbers taken, and where to look for the next free one. Most roots have
// one name, or a few with small numbers, and need nothing but this struct.
type nameRoot struct {
	root  string
	under *nameRoot // of a layer below
	one   int64     // a number that is not among the others, if not 0
	numbers
}

// rootTable holds the roots of a layer by name, in the order in which they came: names that are taken one after the other lie together, and one
// word tells where, or that there is none. The zero table is empty.
type rootTable struct {
	slots []uint64 // open addressing: half of the hash << 32 | index of the root + 1; 0: free
	lists [][]nameRoot
	size  int
}

const (
	rootChunk = 64
	maxRoots  = 1<<32 - 2
)

func (t *rootTable) at(i int) *nameRoot { return &t.lists[i/rootChunk][i%rootChunk] }

// find is the root of that name, nil if there is none; hash is its [HashName].
func (t *rootTable) find(root string, hash uint64) *nameRoot {
	if t.size == 0 {
		return nil
	}
	half := hash >> 32
	mask := uint64(len(t.slots) - 1)
	for i := half & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if slot := t.slots[i]; slot>>32 == half {
			if r := t.at(int(uint32(slot)) - 1); r.root == root {
				return r
			}
		}
	}
	return nil
}

// add adds a root that is not in the table. What it returns holds until the next root is added to it.
func (t *rootTable) add(r nameRoot, hash uint64) *nameRoot {
	if t.size >= maxRoots {
		panic("hlo: too many names")
	}
	if t.size >= len(t.slots)/4*3 {
		t.slots = rehashed(t.slots, max(8, 2*len(t.slots)))
	}
	if t.size%rootChunk == 0 {
		n := rootChunk
		if t.size == 0 {
			n = 8 // most layers have few
		}
		t.lists = append(t.lists, make([]nameRoot, 0, n))
	}
	last := &t.lists[len(t.lists)-1]
	*last = append(*last, r)
	t.size++
	half := hash >> 32
	mask := uint64(len(t.slots) - 1)
	i := half & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = half<<32 | uint64(t.size)
	return &(*last)[len(*last)-1]
}

// touch reads what find will look at first.
func (t *rootTable) touch(hash uint64) uint64 {
	if t.size == 0 {
		return 0
	}
	return t.slots[hash>>32&uint64(len(t.slots)-1)]
}

// clone is a copy that may be written, with room for as many roots more. The room matters: a table that takes the roots of another in the order of their
// hashes is full in front long before it has as many as make it grow.
func (t *rootTable) clone(more int) rootTable {
	n := max(8, len(t.slots))
	for t.size+more > n/4*3 {
		n *= 2
	}
	slots := slices.Clone(t.slots)
	if n > len(slots) {
		slots = rehashed(t.slots, n)
	}
	c := rootTable{slots: slots, lists: make([][]nameRoot, len(t.lists)), size: t.size}
	for i, l := range t.lists {
		c.lists[i] = append(make([]nameRoot, 0, rootChunk), l...)
	}
	return c
}

// each yields the roots with their hashes, of which the upper half is known.
func (t *rootTable) each(f func(r *nameRoot, hash uint64)) {
	for _, slot := range t.slots {
		if slot != 0 {
			f(t.at(int(uint32(slot))-1), slot>>32<<32)
		}
	}
}

// rehashed is a table of n slots, a power of two, with what is in slots. The half of the hash that a slot holds is all that its place depends on.
func rehashed(slots []uint64, n int) []uint64 {
	to := make([]uint64, n)
	mask := uint64(n - 1)
	for _, slot := range slots {
		if slot == 0 {
			continue
		}
		i := slot >> 32 & mask
		for to[i] != 0 {
			i = (i + 1) & mask
		}
		to[i] = slot
	}
	return to
}
