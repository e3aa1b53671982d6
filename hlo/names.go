package hlo

import (
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// nameTable makes names unique as XLA does (hlo-text section 10.2). Names that are removed stay taken, as in XLA.
//
// Tables are versioned like everything else: a session writes into a layer of its own over the layers of the versions before, so that
// two sessions from one module hand out the same names whatever the other does. Layers are merged when the upper is no longer small
// against the lower, which keeps the number of layers logarithmic.
type nameTable struct {
	epoch uint64
	under *nameTable
	roots rootTable
	whole *freshNames // names of the lowest table that are in no roots; it alone adds to them, while it is written
	size  int         // names taken in this layer's roots
	// numbers are those of roots that are whole names themselves, in a table that adds no whole names. Such roots are in no rootTable, but for those that are mixed.
	numbers tree[numberPage]
	text    NameRoom
}

// numberSet holds any numbers from 64, and negative ones.
type numberSet struct {
	dense  []uint64 // bit set of numbers from 64
	sparse map[int64]struct{}
	size   int64
}

// layer returns a table over t that a session may write.
func (t *nameTable) layer(epoch uint64) *nameTable {
	if t == nil {
		return &nameTable{epoch: epoch, whole: &freshNames{epoch: epoch}}
	}
	l := &nameTable{epoch: epoch, whole: t.whole, numbers: t.numbers}
	for t.under != nil && t.size*2 >= t.under.size {
		t = mergeNames(t, t.under)
	}
	if l.under = t; t.size == 0 && t.under != nil {
		l.under = t.under // it has numbers alone
	}
	return l
}

func mergeNames(upper, lower *nameTable) *nameTable {
	m := &nameTable{under: lower.under, roots: lower.roots.clone(upper.roots.size), whole: upper.whole, size: upper.size + lower.size}
	upper.roots.each(func(u *nameRoot, hash uint64) {
		r := m.roots.find(u.root, hash)
		if r == nil {
			m.roots.add(*u, hash)
			return
		}
		// u.under is the root of lower: nothing between the two layers knows it.
		r.next, r.low, r.more = u.next, r.low|u.low, r.more.clone()
		if u.one != 0 {
			r.take(u.one)
		}
		u.more.each(r.take)
	})
	return m
}

// taken is [numbers.taken] here and in the layers below.
func (r *nameRoot) taken(n int64) bool {
	for ; r != nil; r = r.under {
		if n != 0 && r.one == n || r.numbers.taken(n) {
			return true
		}
	}
	return false
}

func (r *nameRoot) take(n int64) {
	if n < 0 || n >= 64 {
		if r.one == 0 || r.one == n {
			r.one = n
			return
		}
	}
	r.numbers.take(n)
}

func (s *numberSet) has(n int64) bool {
	if s == nil {
		return false
	}
	if w := n>>6 - 1; w >= 0 && w < int64(len(s.dense)) && s.dense[w]>>(n&63)&1 != 0 {
		return true
	}
	_, ok := s.sparse[n]
	return ok
}

// add puts n into the bit set as long as that stays small against what it holds, else into the map: a huge number costs one entry.
func (s *numberSet) add(n int64) {
	s.size++
	w := n>>6 - 1
	if w < 0 || w > 2*int64(len(s.dense))+s.size {
		if s.sparse == nil {
			s.sparse = make(map[int64]struct{})
		}
		s.sparse[n] = struct{}{}
		return
	}
	for w >= int64(len(s.dense)) {
		s.dense = append(s.dense, 0)
	}
	s.dense[w] |= 1 << (n & 63)
}

func (s *numberSet) each(f func(int64)) {
	if s == nil {
		return
	}
	for i, word := range s.dense {
		for ; word != 0; word &= word - 1 {
			f(int64(i+1)<<6 + int64(bits.TrailingZeros64(word)))
		}
	}
	for n := range s.sparse {
		f(n)
	}
}

func (s *numberSet) clone() *numberSet {
	if s == nil {
		return nil
	}
	return &numberSet{slices.Clone(s.dense), maps.Clone(s.sparse), s.size}
}

func (t *nameTable) find(root string, hash uint64) *nameRoot {
	for ; t != nil; t = t.under {
		if r := t.roots.find(root, hash); r != nil {
			return r
		}
	}
	return nil
}

// unique takes name, or the first free name derived from it, and returns what it took.
func (t *nameTable) unique(name string) string { return t.uniqueHashed(name, freshHash(name, 0)) }

// uniqueHashed is unique of a name whose freshHash is known.
func (t *nameTable) uniqueHashed(name string, hash uint64) string {
	if t.addsWhole() {
		if taken, isRoot := t.inRoots(name, hash); !taken && t.whole.take(name, hash) {
			if isRoot {
				t.whole.mixed.add(uint32(t.whole.size) - 1)
			}
			return name
		}
	}
	return t.uniqueRoot(name, hash)
}

// touch reads what uniqueHashed will look at first. Whoever names many instructions touches all before: the memory that no cache has comes at once then, and
// not for one name after the other.
func (t *nameTable) touch(hash uint64) uint64 { return t.whole.touch(hash) }

// touchNext reads what it will look at next. What touch reads must be at hand.
func (t *nameTable) touchNext(name string, hash uint64) (sum uint64) {
	if at, ok := t.whole.seemsAt(hash); ok {
		sum = t.whole.touchTaken(at, name, hash)
		if !t.whole.mixed.has(at) {
			return sum
		}
	}
	for ; t != nil; t = t.under {
		sum += t.roots.touch(hash)
	}
	return sum
}

// addsWhole reports whether the table may add to its whole names.
func (t *nameTable) addsWhole() bool {
	return t.under == nil && t.whole != nil && t.whole.epoch == t.epoch
}

// inRoots reports whether a name is taken in the roots of a table that has none under it, and whether it is the name of one of them itself.
func (t *nameTable) inRoots(name string, hash uint64) (taken, isRoot bool) {
	if t.roots.size == 0 {
		return false, false
	}
	root, n, suffixed := splitName(name)
	r := t.roots.find(root, rootHash(root, suffixed, hash))
	return r.taken(n), r != nil && n == 0
}

// rootHash is the [HashName] of a root that was split from a name with that freshHash.
func rootHash(root string, suffixed bool, hash uint64) uint64 {
	if suffixed || hash == 0 {
		return HashName(root)
	}
	return hash
}

// uniqueRoot is unique by roots and numbers, of a name with that freshHash.
func (t *nameTable) uniqueRoot(name string, hash uint64) string {
	root, n, suffixed := splitName(name)
	ofRoot := rootHash(root, suffixed, hash)
	at, isWhole := t.whole.rootAt(root, ofRoot)
	var own *numbers
	var r *nameRoot // nil: own is all
	switch {
	case isWhole && t.addsWhole():
		t.whole.mixed.add(at)
		fallthrough
	case !isWhole || t.whole.mixed.has(at):
		r = t.ownRoot(root, ofRoot)
		own = &r.numbers
		t.size++
	default:
		own = t.numbersOf(at)
	}
	taken := func(n int64) bool {
		if r != nil {
			return r.taken(n)
		}
		return own.taken(n)
	}
	inWhole := func(n int64) bool {
		if n == 0 {
			return isWhole
		}
		return t.whole.has(root, n)
	}
	free := !taken(n) && !inWhole(n)
	if !free {
		known := own.next == 0
		if known && isWhole {
			own.next = t.whole.firstFree(root)
		}
		for taken(own.next) || !known && inWhole(own.next) {
			own.next++
			known = false
		}
		n = own.next
		own.next++
	}
	if r != nil {
		r.take(n)
	} else {
		own.take(n)
	}
	switch {
	case n != 0:
		if free && suffixed && isCanonical(name[len(root)+1:], n) {
			return name
		}
		var buf [24]byte
		return t.text.Join(root, string(strconv.AppendInt(append(buf[:0], '.'), n, 10)))
	case suffixed:
		return root + ".0"
	}
	return root
}

// ownRoot finds or makes what the layer knows of a root.
func (t *nameTable) ownRoot(root string, hash uint64) *nameRoot {
	if r := t.roots.find(root, hash); r != nil {
		return r
	}
	made := nameRoot{root: root, under: t.under.find(root, hash)}
	if made.under != nil {
		made.next = made.under.next
	}
	return t.roots.add(made, hash)
}

// splitName splits name at its last '.', when what follows is a number of 64 bits.
func splitName(name string) (root string, n int64, suffixed bool) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return name, 0, false
	}
	if c := name[len(name)-1]; c < '0' || c > '9' {
		return name, 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 64)
	if err != nil {
		return name, 0, false
	}
	return name[:i], n, true
}

// isCanonical reports whether digits is how n is written: no '+', no leading zero. It saves building the same string again.
func isCanonical(digits string, n int64) bool {
	return n > 0 && digits[0] != '+' && digits[0] != '0'
}
