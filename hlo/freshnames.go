package hlo

import (
	"hash/maphash"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// freshNames is how a table begins: as a set of whole names, all different and all plain, so that none of them is in the way of another.
// A module whose names are unique needs no more. Names that are not plain, or not new, get roots and numbers beside the set, as do those of every later session.
type freshNames struct {
	epoch uint64   // of the table that may add to it
	slots []uint64 // open addressing by the upper half of the hash: it << 32 | index of the name + 1; 0: free
	names [][]string
	size  int

	numbered rootFilter // roots of names with a number
	mixed    nameSet    // those that are roots in the table beside it, too

	lock sync.Mutex
	free map[string]int64 // by root, see firstFree
}

const (
	freshChunk = 512
	maxFresh   = 1<<32 - 2
)

var nameSeed = maphash.MakeSeed()

// HashName is what [InstrSpec.NameHash] wants: a hash of the name, never 0, that no text can foresee.
func HashName(name string) uint64 { return maphash.String(nameSeed, name) | 1 }

// freshHash is the hash of a name that a set of whole names can take; 0: it cannot. `x.0` takes what `x` takes: its hash is that of `x`, but
// even.
func freshHash(name string, hash uint64) uint64 {
	if n := len(name) - 2; n > 0 && name[n:] == ".0" && name[n-1]-'0' > 9 {
		if !isPlainName(name[:n]) {
			return 0
		}
		return HashName(name[:n]) &^ 1
	}
	switch {
	case name == "" || !isPlainName(name):
		return 0
	case hash == 0:
		return HashName(name)
	}
	return hash
}

// take takes a name if it is new; hash is its freshHash. The name is looked at only if another has the same hash.
func (s *freshNames) take(name string, hash uint64) bool {
	if hash == 0 || s.size >= maxFresh {
		return false
	}
	if hash&1 == 0 {
		name = name[:len(name)-len(".0")]
	}
	if s.size >= len(s.slots)/4*3 {
		s.slots = rehashed(s.slots, max(32, 2*len(s.slots)))
	}
	mask := uint64(len(s.slots) - 1)
	i := hash >> 32 & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if slot := s.slots[i]; slot>>32 == hash>>32 && s.name(uint32(slot)-1) == name {
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
	if c := name[len(name)-1]; c >= '0' && c <= '9' {
		if root, _, suffixed := splitName(name); suffixed {
			s.numbered.add(root)
		}
	}
	s.slots[i] = hash>>32<<32 | uint64(s.size)
	return true
}

func (s *freshNames) name(i uint32) string { return s.names[i/freshChunk][i%freshChunk] }

// reserve makes room for n names, as long as there is none.
func (s *freshNames) reserve(n int) {
	if s.slots == nil && n > 16 {
		s.slots = make([]uint64, 1<<bits.Len(uint(min(n, 1<<20)/3*4)))
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

// has reports whether a name is in the set, by its root and number. The set may be nil.
func (s *freshNames) has(root string, n int64) bool {
	if s == nil || n < 0 {
		return false
	}
	if n == 0 {
		_, ok := s.rootAt(root, HashName(root))
		return ok
	}
	if !s.numbered.mayHave(root) {
		return false
	}
	var buf [64]byte
	name := strconv.AppendInt(append(append(buf[:0], root...), '.'), n, 10)
	_, ok := s.find(maphash.Bytes(nameSeed, name)|1, unsafe.String(&name[0], len(name)))
	return ok
}

// rootAt is where in the set the root is as a name of its own. The set may be nil.
func (s *freshNames) rootAt(root string, hash uint64) (at uint32, ok bool) {
	if s == nil || s.size == 0 {
		return 0, false
	}
	if _, _, suffixed := splitName(root); suffixed { // that whole name has another root
		return 0, false
	}
	return s.find(hash, root)
}

// touch reads what find and take will look at first. The set may be nil.
func (s *freshNames) touch(hash uint64) uint64 {
	if s == nil || s.size == 0 {
		return 0
	}
	return s.slots[hash>>32&uint64(len(s.slots)-1)]
}

// seemsAt is where in the set a name of that hash seems to be. The set may be nil.
func (s *freshNames) seemsAt(hash uint64) (at uint32, ok bool) {
	if s == nil || s.size == 0 {
		return 0, false
	}
	slot := s.slots[hash>>32&uint64(len(s.slots)-1)]
	return uint32(slot) - 1, slot != 0 && slot>>32 == hash>>32
}

// touchTaken reads what uniqueRoot will look at next if the name is in the set, as seemsAt says: the name there, and the place of `name.1`, which copies get.
func (s *freshNames) touchTaken(at uint32, name string, hash uint64) (sum uint64) {
	if len(s.slots) < outOfCache || hash&1 == 0 {
		return 0
	}
	sum = uint64(len(s.name(at)))
	if !s.numbered.mayHave(name) {
		return sum
	}
	if c := name[len(name)-1]; c >= '0' && c <= '9' && strings.IndexByte(name, '.') >= 0 {
		return sum // its copies get other numbers
	}
	var buf [64]byte
	return sum + s.touch(maphash.Bytes(nameSeed, append(append(buf[:0], name...), ".1"...))|1)
}

// outOfCache is the size of a set from which on no cache near the processor holds its slots.
const outOfCache = 1 << 17

func (s *freshNames) find(hash uint64, name string) (at uint32, ok bool) {
	if s.size == 0 {
		return 0, false
	}
	mask := uint64(len(s.slots) - 1)
	for i := hash >> 32 & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if slot := s.slots[i]; slot>>32 == hash>>32 && s.name(uint32(slot)-1) == name {
			return uint32(slot) - 1, true
		}
	}
	return 0, false
}

// firstFree is a number up to which, and without it, all are in the set for a root that is a name of its own there. Many sessions begin with it and ask for the same,
// so it is remembered if it is not small. It may be called by any number of goroutines once nothing is added to the set.
func (s *freshNames) firstFree(root string) int64 {
	const small = 8
	n := int64(1)
	for n < small && s.has(root, n) {
		n++
	}
	if n < small {
		return n
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if known, ok := s.free[root]; ok {
		return known
	}
	for s.has(root, n) {
		n++
	}
	if s.free == nil {
		s.free = make(map[string]int64)
	}
	s.free[root] = n
	return n
}
