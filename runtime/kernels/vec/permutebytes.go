package vec

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

const (
	chunk   = 16 // bytes that one instruction permutes
	sources = 4  // chunks that one is picked from at most, the first two of them from the first array if there are two
)

// HasPermutations reports whether there are permutations of elements of any width at the level in use.
func HasPermutations() bool { return Has(Of(hlo.OpGather, Sized(1))) }

// PermutedBytes is a number of bytes of which a round of elements of that width has to be a multiple.
func PermutedBytes(width int) int {
	if width == 1 {
		return chunk
	}
	return 64
}

// ofBytes completes a permutation of elements of width bytes as one of bytes, chunk by chunk.
func (p *Permutation) ofBytes(width int, picks []Pick) *Permutation {
	p.loop = find(InUse(), Of(hlo.OpGather, Sized(1))).loop
	if p.loop == nil || len(picks) == 0 || len(picks)*width%chunk != 0 {
		return nil
	}
	var bytes []Pick
	for _, x := range picks {
		for at := range width {
			bytes = append(bytes, Pick{x.Array, x.Offset + at})
		}
	}
	var chunks [][sources]int
	few := true // each from one place of each array, or two places of the only one
	for i := 0; i < len(bytes); i += chunk {
		at, n, ok := p.chunkPlaces(bytes[i : i+chunk])
		if !ok {
			return nil
		}
		chunks = append(chunks, at)
		few = few && n <= sources/2
	}
	used := []int{0, 1, 2, 3}
	if few {
		used = []int{0, 2}
	}
	p.words(len(chunks), p.advance[0], p.advance[1], len(used)/2-1)
	for i, at := range chunks {
		masks := [sources][chunk]byte{}
		for _, s := range used {
			for k := range chunk {
				masks[s][k] = 1 << 7
			}
			p.words(at[s])
			array := s * p.arrays / sources
			p.low[array], p.high[array] = min(p.low[array], at[s]), max(p.high[array], at[s]+chunk)
		}
		for k, x := range bytes[i*chunk:][:chunk] {
			for _, s := range used {
				if o := x.Offset - at[s]; s*p.arrays/sources == x.Array && 0 <= o && o < chunk {
					masks[s][k] = byte(o)
					break
				}
			}
		}
		for _, s := range used {
			p.table = append(p.table, masks[s][:]...)
		}
	}
	return p
}

// chunkPlaces is where the sources of a chunk begin, and in how many places of each array, or twice as many of the only one, its bytes are, rounded up to an even number.
func (p *Permutation) chunkPlaces(picks []Pick) (at [sources]int, n int, ok bool) {
	if p.arrays == 1 {
		return p.placesOfOne(picks)
	}
	const each = sources / 2
	for a := range p.arrays {
		low, high, used := 0, 0, false
		for _, x := range picks {
			if x.Array != a {
				continue
			}
			if !used {
				low, high, used = x.Offset, x.Offset+1, true
			}
			low, high = min(low, x.Offset), max(high, x.Offset+1)
		}
		span := high - low
		if span > each*chunk {
			return at, 0, false
		}
		if span < chunk && used && p.advance[a] < 0 { // what is read without need is then on the side where elements were
			low = high - chunk
		}
		for i := range each {
			at[a*each+i] = max(low, min(low+i*chunk, high-chunk))
		}
		if span > chunk {
			n = sources
		}
	}
	return at, n, true
}

// placesOfOne is chunkPlaces for one array. Its bytes may be anywhere in it, as those of several planes are.
func (p *Permutation) placesOfOne(picks []Pick) (at [sources]int, n int, ok bool) {
	offsets := make([]int, len(picks))
	for i, x := range picks {
		offsets[i] = x.Offset
	}
	slices.Sort(offsets)
	low, high := offsets[0], offsets[len(offsets)-1]+1
	var places []int
	for _, o := range offsets {
		if last := len(places) - 1; last < 0 || o >= places[last]+chunk {
			places = append(places, o)
		}
	}
	if len(places) > sources {
		return at, 0, false
	}
	switch last := len(places) - 1; {
	case last > 0: // nothing behind the last byte is read
		places[last] = min(places[last], high-chunk)
	case p.advance[0] < 0: // what is read without need is then on the side where elements were
		places[0] = min(low, high-chunk)
	}
	at = [sources]int{places[0], places[0], places[0], places[0]}
	if len(places) <= sources/2 { // the two that are used
		at[2] = places[len(places)-1]
		return at, sources / 2, true
	}
	copy(at[:], places)
	at[3] = places[len(places)-1]
	return at, sources, true
}
