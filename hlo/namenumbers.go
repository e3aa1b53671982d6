package hlo

// numbers is which names a root has: the numbers taken, and where to look for the next free one.
type numbers struct {
	next int64
	low  uint64 // bit set of the numbers 0 to 63
	more *numberSet
}

func (r *numbers) taken(n int64) bool {
	if n >= 0 && n < 64 {
		return r.low>>n&1 != 0
	}
	return r.more.has(n)
}

func (r *numbers) take(n int64) {
	if n >= 0 && n < 64 {
		r.low |= 1 << n
		return
	}
	if r.more == nil {
		r.more = new(numberSet)
	}
	r.more.add(n)
}

// numberPage holds the numbers of names that lie together in a set of whole names, and are roots of others now: copies of instructions are called after these, and who copies many
// goes through them in order. No hash is in order.
type numberPage struct {
	epoch uint64
	at    [namesOfPage]numbers
}

const namesOfPage = 16

// numbersOf is the numbers of a root that is name i of the set of whole names, writable. They are a tree of versions: what layers below have noted is in there.
func (t *nameTable) numbersOf(i uint32) *numbers {
	p := t.numbers.slot(t.epoch, new(CopyStats), i/namesOfPage)
	switch page := *p; {
	case page == nil:
		*p = &numberPage{epoch: t.epoch}
	case page.epoch != t.epoch:
		c := *page
		c.epoch = t.epoch
		for k := range c.at {
			c.at[k].more = c.at[k].more.clone()
		}
		*p = &c
	}
	return &(*p).at[i%namesOfPage]
}

// rootFilter says for most roots of which a set of whole names has none with a number that there is none. The zero filter has none at all.
type rootFilter struct{ bits []uint64 }

const (
	filterLog  = 12
	filterBits = 1 << filterLog
)

func (f *rootFilter) bit(root string) (word int, mask uint64) {
	h := uint64(len(root))
	for _, c := range []byte(root[max(0, len(root)-8):]) {
		h = h<<8 ^ h>>56 ^ uint64(c)
	}
	h *= 0x9E3779B97F4A7C15
	h >>= 64 - filterLog
	return int(h >> 6), 1 << (h & 63)
}

func (f *rootFilter) add(root string) {
	if f.bits == nil {
		f.bits = make([]uint64, filterBits/64)
	}
	word, mask := f.bit(root)
	f.bits[word] |= mask
}

func (f *rootFilter) mayHave(root string) bool {
	if f.bits == nil {
		return false
	}
	word, mask := f.bit(root)
	return f.bits[word]&mask != 0
}

// nameSet is a set of places in a set of whole names.
type nameSet struct{ words []uint64 }

func (s *nameSet) add(at uint32) {
	for int(at>>6) >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[at>>6] |= 1 << (at & 63)
}

func (s *nameSet) has(at uint32) bool {
	return int(at>>6) < len(s.words) && s.words[at>>6]>>(at&63)&1 != 0
}
