package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// symbols maps the names of one computation to instructions: a table with open addressing, used again for every computation of a text.
// Tags lie together, a byte each, so that most names that are new are known to be so from one line of the cache. A small computation uses
// the beginning of what a large one left.
type symbols struct {
	tags  []uint8 // of a name's hash; 0: the slot is free
	slots []symbol
	size  uint32 // slots in use, a power of two
	count uint32 // names
}

// symbol is a name, as the place where its copy is kept.
type symbol struct {
	at uint32
	id hlo.InstrID
}

// smallSymbols is the size that tables begin with.
const smallSymbols = 64

// nameHash is hlo.HashName of a name: it says where the name is looked for, and its tag, which is not 0.
type nameHash uint64

func hashName(name string) nameHash { return nameHash(hlo.HashName(name)) }

func (h nameHash) at() uint32 { return uint32(h >> 8) }

func (h nameHash) tag() uint8 { return uint8(h) }

// reset empties the table.
func (t *symbols) reset() {
	t.size, t.count = min(smallSymbols, uint32(len(t.slots))), 0
	clear(t.tags[:t.size])
}

// get is the instruction called name.
func (t *symbols) get(names *nameStore, name string) (symbol, bool) {
	return t.getHashed(names, name, hashName(name))
}

func (t *symbols) getHashed(names *nameStore, name string, hash nameHash) (symbol, bool) {
	if t.size == 0 {
		return symbol{}, false
	}
	mask := t.size - 1
	for i := hash.at() & mask; ; i = (i + 1) & mask {
		tag := t.tags[i]
		if tag == 0 {
			return symbol{}, false
		}
		if tag == hash.tag() && names.is(t.slots[i].at, name) {
			return t.slots[i], true
		}
	}
}

// put defines a name that is not in the table, and is kept at a place.
func (t *symbols) put(names *nameStore, hash nameHash, id hlo.InstrID, at uint32) {
	if t.count*2 >= t.size {
		t.grow(names)
	}
	t.add(hash, symbol{at, id})
	t.count++
}

func (t *symbols) add(hash nameHash, s symbol) {
	mask := t.size - 1
	i := hash.at() & mask
	for t.tags[i] != 0 {
		i = (i + 1) & mask
	}
	t.tags[i], t.slots[i] = hash.tag(), s
}

// grow makes the table four times as large.
func (t *symbols) grow(names *nameStore) {
	tags, slots, size := t.tags, t.slots, t.size
	t.size = max(smallSymbols, 4*size)
	if int(t.size) > len(slots) {
		t.tags, t.slots = make([]uint8, t.size), make([]symbol, t.size)
	} else { // room that a computation before has used
		tags, slots = slices.Clone(tags[:size]), slices.Clone(slots[:size])
		clear(t.tags[:t.size])
	}
	for i, tag := range tags[:size] {
		if tag != 0 {
			t.add(hashName(names.word(slots[i].at)), slots[i])
		}
	}
}

// each calls yield for every name.
func (t *symbols) each(names *nameStore, yield func(name string)) {
	for i, tag := range t.tags[:t.size] {
		if tag != 0 {
			yield(names.word(t.slots[i].at))
		}
	}
}
