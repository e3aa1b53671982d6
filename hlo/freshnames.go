package hlo

import (
	"hash/maphash"
	"math/bits"
	"sync"
)

// freshNames is how a table begins: as a set of whole names, all different and all plain, so that none of them is in the way of another.
// A module whose names are unique needs no more. The first name that is not plain, or not new, turns the set into roots and numbers, as
// does the first session on the module that gives a name.
type freshNames struct {
	once  sync.Once // of the expansion: frozen tables are shared
	slots []uint32  // open addressing: a few bits of the hash << freshIndexBits | index of the name + 1; 0: free
	names [][]string
	size  int
}

const (
	freshChunk     = 512
	freshIndexBits = 26
	maxFresh       = 1<<freshIndexBits - 2
)

var freshSeed = maphash.MakeSeed()

// freshSlot is where a name would be and what its slot would hold beside its index.
func freshSlot(name string) (at, tag uint32) {
	hash := maphash.String(freshSeed, name)
	return uint32(hash), uint32(hash>>32) &^ (1<<freshIndexBits - 1)
}

// take takes a name if it is plain and new.
func (s *freshNames) take(name string) bool {
	// `x.0` takes what `x` takes.
	if n := len(name) - 2; n > 0 && name[n:] == ".0" && name[n-1]-'0' > 9 {
		name = name[:n]
	}
	if !isPlainName(name) || s.size >= maxFresh {
		return false
	}
	if s.size >= len(s.slots)/8*5 {
		s.resize(max(32, 2*len(s.slots)))
	}
	at, tag := freshSlot(name)
	mask := uint32(len(s.slots) - 1)
	i := at & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if slot := s.slots[i]; slot&^(1<<freshIndexBits-1) == tag && s.name(slot&(1<<freshIndexBits-1)-1) == name {
			return false
		}
	}
	if s.size%freshChunk == 0 {
		n := freshChunk
		if s.size == 0 {
			n = 16 // most modules that are not read are small
		}
		s.names = append(s.names, make([]string, 0, n))
	}
	last := &s.names[len(s.names)-1]
	*last = append(*last, name)
	s.size++
	s.slots[i] = tag | uint32(s.size)
	return true
}

func (s *freshNames) name(i uint32) string { return s.names[i/freshChunk][i%freshChunk] }

// resize makes a table of n slots, a power of two.
func (s *freshNames) resize(n int) {
	s.slots = make([]uint32, n)
	mask := uint32(n - 1)
	index := uint32(0)
	for _, chunk := range s.names {
		for _, name := range chunk {
			i, tag := freshSlot(name)
			i &= mask
			for s.slots[i] != 0 {
				i = (i + 1) & mask
			}
			index++
			s.slots[i] = tag | index
		}
	}
}

// reserve makes room for n names, as long as there is none.
func (s *freshNames) reserve(n int) {
	if s.slots == nil && n > 16 {
		s.resize(1 << bits.Len(uint(min(n, 1<<20)/5*8)))
	}
}

// isPlainName reports whether name is the only way to write its root and number: there is no number, or one without sign and without
// leading zero.
func isPlainName(name string) bool {
	i := len(name)
	for i > 0 && name[i-1]-'0' <= 9 {
		i--
	}
	digits := len(name) - i
	if digits == 0 || i < 2 {
		return true
	}
	switch name[i-1] {
	case '.':
		return name[i] != '0' && digits <= 18
	case '+', '-':
		return i < 3 || name[i-2] != '.'
	}
	return true
}

// expand turns the set into roots and numbers. It may be called by any number of goroutines.
func (t *nameTable) expand() {
	if t.fresh == nil {
		return
	}
	t.fresh.once.Do(func() {
		s := t.fresh
		for _, chunk := range s.names {
			for _, name := range chunk {
				t.uniqueRoot(name)
			}
		}
		s.slots, s.names = nil, nil
	})
}
