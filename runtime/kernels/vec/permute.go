package vec

import (
	endian "encoding/binary"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// Permutation writes elements that it picks from one array or two, round by round: each round picks in the same way, a fixed distance
// further on.
type Permutation struct {
	// Round is how many elements a round writes.
	Round   int
	loop    Loop
	table   []byte
	arrays  int
	advance [2]int
	// The bytes that a round reads of each array, from its place there.
	low, high [2]int
}

// Pick is an element: the array, 0 or 1, and the bytes to it from a round's place.
type Pick struct{ Array, Offset int }

// NewPermutation is for elements of width bytes, of which a round writes those in picks; their offsets are multiples of the width. It is
// nil if there is no loop for them at the level in use: the elements of each vector have to be close together, or those of 16 bytes in few places.
func NewPermutation(width int, picks []Pick, advance [2]int) *Permutation {
	p := &Permutation{Round: len(picks), arrays: 1, advance: advance}
	for _, x := range picks {
		p.arrays = max(p.arrays, x.Array+1)
	}
	if p.arrays == 1 {
		p.advance[1] = advance[0]
	}
	if width > 4 { // in parts
		var parts []Pick
		for _, x := range picks {
			for at := 0; at < width; at += 4 {
				parts = append(parts, Pick{x.Array, x.Offset + at})
			}
		}
		width, picks = 4, parts
	}
	if of := *p; width > 1 && of.ofVectors(width, picks) {
		return &of
	}
	if width > 2 {
		return nil
	}
	return p.ofBytes(width, picks)
}

// ofVectors completes a permutation vector by vector. It fails where the elements of one are too far apart.
func (p *Permutation) ofVectors(width int, picks []Pick) bool {
	p.loop = find(InUse(), Of(hlo.OpGather, Sized(width))).loop
	size := map[Level]int{AVX2: 32, AVX512: 64}[InUse()]
	if p.loop == nil || len(picks) == 0 || len(picks)*width%size != 0 {
		return false
	}
	lanes := size / width
	p.words(len(picks)/lanes, p.advance[0], p.advance[1])
	for ; len(picks) > 0; picks = picks[lanes:] {
		if !p.vector(picks[:lanes], width, size) {
			return false
		}
	}
	return true
}

func (p *Permutation) words(v ...int) {
	for _, x := range v {
		p.table = endian.NativeEndian.AppendUint64(p.table, uint64(x))
	}
}

// vector appends the entry for one vector to the table.
func (p *Permutation) vector(picks []Pick, width, size int) bool {
	at, ok := p.places(picks, width, size)
	if !ok {
		return false
	}
	p.words(at[0], at[1])
	var masks []byte
	for _, x := range picks {
		source := x.Array
		if p.arrays == 1 && x.Offset-at[0] >= size {
			source = 1
		}
		index := (x.Offset-at[source])/width + source*size/width
		if width == 2 {
			p.table = endian.NativeEndian.AppendUint16(p.table, uint16(index))
		} else {
			p.table = endian.NativeEndian.AppendUint32(p.table, uint32(index))
		}
		masks = endian.NativeEndian.AppendUint32(masks, uint32(-source))
	}
	if InUse() == AVX2 {
		p.table = append(p.table, masks...)
	}
	for a := range at {
		from := min(a, p.arrays-1)
		p.low[from], p.high[from] = min(p.low[from], at[a]), max(p.high[from], at[a]+size)
	}
	return true
}

// places is where the two vectors begin that one is picked from: one in each array, or both in the only one.
func (p *Permutation) places(picks []Pick, width, size int) (at [2]int, ok bool) {
	var low, high [2]int
	var used [2]bool
	for _, x := range picks {
		a := x.Array
		if !used[a] {
			low[a], high[a], used[a] = x.Offset, x.Offset+width, true
		}
		low[a], high[a] = min(low[a], x.Offset), max(high[a], x.Offset+width)
	}
	for a := range p.arrays {
		at[a] = low[a]
		if p.advance[a] < 0 && used[a] { // what is read without need is then on the side where elements were
			at[a] = high[a] - size
		}
	}
	if p.arrays == 2 {
		return at, high[0]-low[0] <= size && high[1]-low[1] <= size
	}
	at[1] = at[0]
	if high[0]-low[0] > size {
		at = [2]int{low[0], high[0] - size}
	}
	return at, high[0]-low[0] <= 2*size
}

// Span is the bytes of the first array between the first and the last that a round reads.
func (p *Permutation) Span() int { return p.high[0] - p.low[0] }

// Rounds is how many of so many rounds read nothing outside of array a, which is n bytes long, if the first round's place is at.
func (p *Permutation) Rounds(rounds, a, at, n int) int {
	low, high, step := at+p.low[a], at+p.high[a], p.advance[a]
	switch {
	case rounds <= 0 || low < 0 || high > n:
		return 0
	case step > 0:
		return min(rounds, (n-high)/step+1)
	case step < 0:
		return min(rounds, low/-step+1)
	}
	return rounds
}

// Run executes rounds, at least one. a and b are the places of the first in the arrays; with one array there is no b.
func (p *Permutation) Run(rounds int, d, a, b unsafe.Pointer) {
	if p.arrays == 1 {
		b = a
	}
	p.loop(rounds, d, a, unsafe.Pointer(&p.table[0]), b)
}
