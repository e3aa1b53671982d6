package analysis

// sets are sets of the numbers below some limit. Equal sets are one: a set is the number of a node of a tree, and so are its halves, down to 64 numbers, which are
// the bits of a word. Sets that differ by little share almost all of their nodes, so a long chain, each step of which comes after one more done than the
// step before, takes memory in proportion to its length; and what is shared is neither joined nor compared again. The empty set is 0, as large as it may be.
type sets struct {
	height int // of the root: a leaf has 0
	nodes  []setNode
	number map[setNode]int32
}

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

// with is set a and number i.
func (s *sets) with(a int32, i int) int32 { return s.withAt(a, i, s.height) }

func (s *sets) withAt(a int32, i, height int) int32 {
	n := s.nodes[a]
	if height == 0 {
		return s.intern(setNode{low: isLeaf, word: n.word | 1<<(i%64)})
	}
	if i>>(5+height)&1 == 0 {
		n.low = s.withAt(n.low, i, height-1)
	} else {
		n.high = s.withAt(n.high, i, height-1)
	}
	return s.intern(n)
}

// union is what is in one of two sets.
func (s *sets) union(a, b int32) int32 {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	x, y := s.nodes[a], s.nodes[b]
	if x.low == isLeaf {
		return s.intern(setNode{low: isLeaf, word: x.word | y.word})
	}
	low := s.union(x.low, y.low)
	return s.intern(setNode{low: low, high: s.union(x.high, y.high)})
}

// has reports whether number i is in set a.
func (s *sets) has(a int32, i int) bool {
	for height := s.height; height > 0 && a != 0; height-- {
		if n := s.nodes[a]; i>>(5+height)&1 == 0 {
			a = n.low
		} else {
			a = n.high
		}
	}
	return s.nodes[a].word>>(i%64)&1 != 0
}

// subset reports whether set a lies in set b.
func (s *sets) subset(a, b int32) bool {
	if a == b || a == 0 {
		return true
	}
	if b == 0 {
		return false
	}
	x, y := s.nodes[a], s.nodes[b]
	if x.low == isLeaf {
		return x.word&^y.word == 0
	}
	return s.subset(x.low, y.low) && s.subset(x.high, y.high)
}
