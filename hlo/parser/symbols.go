package parser

import (
	"hash/maphash"

	"github.com/gohalo/halo/hlo"
)

// symbols maps the names of one computation to instructions: a table with open addressing that is emptied by counting up a
// generation, since it is used again for every computation of a text. A name is kept as the place of its definition.
type symbols struct {
	slots []symbol
	count int
	gen   uint32
}

type symbol struct {
	hash uint32
	gen  uint32 // the slot is free when this is not the table's
	at   uint32 // offset of the name in the text, behind a '%'
	id   hlo.InstrID
}

// nameSeed makes the order of slots unpredictable, so that no text can make all names collide.
var nameSeed = maphash.MakeSeed()

func hashName(name string) uint32 { return uint32(maphash.String(nameSeed, name)) }

func (t *symbols) reset() {
	t.gen++
	t.count = 0
}

// get is the instruction called name.
func (t *symbols) get(text, name string) (*symbol, bool) {
	return t.getHashed(text, name, hashName(name))
}

func (t *symbols) getHashed(text, name string, hash uint32) (*symbol, bool) {
	if len(t.slots) == 0 {
		return nil, false
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.gen != t.gen {
			return nil, false
		}
		if s.hash == hash && isNameAt(text, int(s.at), name) {
			return s, true
		}
	}
}

// isNameAt reports whether the word at i of text is name.
func isNameAt(text string, i int, name string) bool {
	end := i + len(name)
	return end <= len(text) && text[i:end] == name && (end == len(text) || class[text[end]]&classIdent == 0)
}

// put defines a name that is not in the table, and stands at offset at of the text.
func (t *symbols) put(hash uint32, id hlo.InstrID, at int) {
	if t.count*2 >= len(t.slots) {
		t.grow()
	}
	t.add(symbol{hash, t.gen, uint32(at), id})
	t.count++
}

func (t *symbols) add(s symbol) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].gen == t.gen {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *symbols) grow() {
	if t.slots == nil {
		t.gen = 1
	}
	old := t.slots
	t.slots = make([]symbol, max(64, 4*len(old)))
	for _, s := range old {
		if s.gen == t.gen {
			t.add(s)
		}
	}
}

// each calls yield for every name.
func (t *symbols) each(text string, yield func(name string)) {
	for _, s := range t.slots {
		if s.gen == t.gen {
			yield(text[s.at:skipWord(text, int(s.at))])
		}
	}
}
