package analysis

// sets are sets of the numbers below some limit. What is asked about are sets of what comes before an instruction, and most of that is everything up to some
// number: so a set is that number, and a tree of what is missing below. A long chain, each step of which comes after one more done than the step before,
// misses nothing, and none of its sets takes memory.
//
// Equal trees are one: a tree is the number of a node, and so are its halves, down to 64 numbers, which are the bits of a word. Sets that differ by
// little share almost all of their nodes, and what is shared is neither joined nor compared again. The empty tree is 0, as large as it may be.
type sets struct {
	height int // of the root: a leaf has 0
	nodes  []setNode
	number map[setNode]int32
}

// numberSet is a set: the numbers below one that are not in a tree. That below which they are is one past the greatest, so equal sets are ==.
type numberSet struct{ below, missing int32 }

// setNode is two halves, or 64 numbers; of a leaf, the first half is isLeaf.
type setNode struct {
	low, high int32
	word      uint64
}

const isLeaf = -1

func newSets(limit int) *sets {
	s := &sets{nodes: []setNode{{}}, number: map[setNode]int32{}}
	for limit > 64<<s.height {
		s.height++
	}
	return s
}

func (s *sets) intern(n setNode) int32 {
	if n.word == 0 && n.low <= 0 && n.high == 0 {
		return 0
	}
	k, known := s.number[n]
	if !known {
		k = int32(len(s.nodes))
		s.nodes = append(s.nodes, n)
		s.number[n] = k
	}
	return k
}

func (s *sets) leaf(word uint64) int32 { return s.intern(setNode{low: isLeaf, word: word}) }

// with is set a and number i.
func (s *sets) with(a numberSet, i int) numberSet {
	if i < int(a.below) {
		return numberSet{a.below, s.put(a.missing, i, i+1, s.height, false)}
	}
	return numberSet{int32(i) + 1, s.put(a.missing, int(a.below), i, s.height, true)}
}

// put is tree a with the numbers from low to high, high not included, in it or not.
func (s *sets) put(a int32, low, high, height int, in bool) int32 {
	low, high = max(low, 0), min(high, 64<<height)
	if low >= high || a == 0 && !in {
		return a
	}
	n := s.nodes[a]
	if height == 0 {
		mask := upTo(high) &^ upTo(low)
		if in {
			return s.leaf(n.word | mask)
		}
		return s.leaf(n.word &^ mask)
	}
	half := 32 << height
	n.low = s.put(n.low, low, high, height-1, in)
	n.high = s.put(n.high, low-half, high-half, height-1, in)
	return s.intern(n)
}

// upTo is the lowest n bits, all of them from 64 on, none below 1.
func upTo(n int) uint64 { return 1<<max(n, 0) - 1 }

// union is what is in one of two sets.
func (s *sets) union(a, b numberSet) numberSet {
	if a.below > b.below {
		a, b = b, a
	}
	if a == b || a.below == 0 {
		return b
	}
	return numberSet{b.below, s.common(b.missing, a.missing, int(a.below), s.height)}
}

// common is what is in tree a, and in tree b as far as that is below a limit.
func (s *sets) common(a, b int32, limit, height int) int32 {
	if a == 0 || a == b || limit <= 0 {
		return a
	}
	if b == 0 && limit >= 64<<height {
		return 0
	}
	x, y := s.nodes[a], s.nodes[b]
	if height == 0 {
		return s.leaf(x.word & (y.word | ^upTo(limit)))
	}
	low := s.common(x.low, y.low, limit, height-1)
	return s.intern(setNode{low: low, high: s.common(x.high, y.high, limit-32<<height, height-1)})
}

// has reports whether number i is in set a.
func (s *sets) has(set numberSet, i int) bool {
	if i >= int(set.below) {
		return false
	}
	a := set.missing
	for height := s.height; height > 0 && a != 0; height-- {
		if n := s.nodes[a]; i>>(5+height)&1 == 0 {
			a = n.low
		} else {
			a = n.high
		}
	}
	return s.nodes[a].word>>(i%64)&1 == 0
}

// subset reports whether set a lies in set b.
func (s *sets) subset(a, b numberSet) bool {
	return a.below <= b.below && s.within(b.missing, a.missing, int(a.below), s.height)
}

// within reports whether what is in tree a, as far as it is below a limit, is in tree b.
func (s *sets) within(a, b int32, limit, height int) bool {
	if a == 0 || a == b || limit <= 0 {
		return true
	}
	x, y := s.nodes[a], s.nodes[b]
	if height == 0 {
		return x.word&upTo(limit)&^y.word == 0
	}
	return s.within(x.low, y.low, limit, height-1) && s.within(x.high, y.high, limit-32<<height, height-1)
}
