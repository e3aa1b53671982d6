package hlo

import (
	"hash/maphash"
	"sync"
)

// freshNames is how a table begins: as a set of whole names, all different and all plain, so that none of them is in the way of another.
// A module whose names are unique needs no more. The first name that is not plain, or not new, turns the set into roots and numbers, as
// does the first session on the module that gives a name.
type freshNames struct {
	once  sync.Once // of the expansion: frozen tables are shared
	slots []uint64  // open addressing: hash << 32 | index of the name + 1; 0: free
	names [][]string
	size  uint32
}

const freshChunk = 512

var freshSeed = maphash.MakeSeed()

// take takes a name if it is plain and new.
func (s *freshNames) take(name string) bool {
	// `x.0` takes what `x` takes.
	if n := len(name) - 2; n > 0 && name[n:] == ".0" && name[n-1]-'0' > 9 {
		name = name[:n]
	}
	if !isPlainName(name) || s.size >= 1<<31 {
		return false
	}
	if int(s.size)*2 >= len(s.slots) {
		s.grow()
	}
	hash := maphash.String(freshSeed, name) >> 32
	mask := uint64(len(s.slots) - 1)
	i := hash & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i]>>32 == hash && s.name(uint32(s.slots[i])-1) == name {
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
	s.slots[i] = hash<<32 | uint64(s.size)
	return true
}

func (s *freshNames) name(i uint32) string { return s.names[i/freshChunk][i%freshChunk] }

func (s *freshNames) grow() {
	old := s.slots
	s.slots = make([]uint64, max(32, 4*len(old)))
	mask := uint64(len(s.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := slot >> 32 & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = slot
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
