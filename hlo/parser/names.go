package parser

import (
	"math"
	"unsafe"
)

// nameStore keeps copies of names, and of texts that are compared with later ones, close together. Looking a name up, and printing it
// later, then touches a fifth of the memory that the text would take, and what has been read of a large text need not stay in memory.
type nameStore struct {
	pieces [][]byte // names, each with a zero byte behind it
}

// pieceBytes is the size of a piece, but for those of names that do not fit.
const (
	pieceBits  = 15
	pieceBytes = 1 << pieceBits
)

// add copies a name. at is its place, for is and word; ok is false when there are too many. room bounds all names to come.
func (s *nameStore) add(name string, room int) (kept string, at uint32, ok bool) {
	n := len(s.pieces) - 1
	if n < 0 || len(s.pieces[n])+len(name) >= cap(s.pieces[n]) {
		if n++; n > math.MaxUint32>>pieceBits {
			return "", 0, false
		}
		s.pieces = append(s.pieces, make([]byte, 0, max(min(pieceBytes, room), len(name)+1)))
	}
	piece := s.pieces[n]
	i := len(piece)
	piece = append(append(piece, name...), 0)
	s.pieces[n] = piece
	return unsafe.String(unsafe.SliceData(piece[i:]), len(name)), uint32(n)<<pieceBits | uint32(i), true
}

// is reports whether the name at a place is name.
func (s *nameStore) is(at uint32, name string) bool {
	piece := s.pieces[at>>pieceBits]
	i := int(at & (pieceBytes - 1))
	end := i + len(name)
	return end < len(piece) && string(piece[i:end]) == name && piece[end] == 0
}

// word is the name at a place.
func (s *nameStore) word(at uint32) string {
	piece := s.pieces[at>>pieceBits]
	i := int(at & (pieceBytes - 1))
	end := i
	for piece[end] != 0 {
		end++
	}
	return string(piece[i:end])
}

// keepText copies something that later texts are compared with.
func (p *parser) keepText(text string) string {
	if kept, _, ok := p.texts.add(text, len(p.text)+1); ok {
		return kept
	}
	return text
}

// keep copies a name out of the text.
func (p *parser) keep(name string) (kept string, at uint32) {
	kept, at, ok := p.stored.add(name, len(p.text)+1)
	if !ok {
		p.fail("names take too much memory")
	}
	return kept, at
}
