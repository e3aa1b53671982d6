package parser

import (
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// Session reads the versions of a text one after the other, as an editor has them. What instructions say by themselves is kept from version to
// version and read anew only around the edit; each version resolves names and makes its module from that. So a session finds in every version
// what [Config.Parse] finds, modules and faults alike, in a fraction of the time.
//
// A Session is used by one goroutine at a time.
type Session struct {
	cfg  Config
	file string

	text    string
	version int // of the text, from 1
	placed  []placed
	next    int                         // the first of placed that the parser has not passed
	own     map[*hlo.Common]*hlo.Common // copies for the module being read

	// Of the last version that was called sound; 0: there is none with the same header.
	sound int
	front int // where the first computation begins in the text
}

// placed is a reading and where it begins in the present text.
type placed struct {
	start uint32
	index uint32 // in the chunk
	chunk *chunk
}

func (p *placed) reading() *reading { return &p.chunk.readings[p.index] }

// lookahead is how many bytes behind an instruction its reading may depend on: that of the next one begins there, and no more is looked at.
const lookahead = 16

// NewSession opens a session on a text that begins empty. file is its name in messages.
func (c Config) NewSession(file string) *Session { return &Session{cfg: c, file: file} }

// Parse reads the next version. touched says which instructions may differ from those of the last sound version.
func (s *Session) Parse(text string) (m hlo.Module, touched *Touched, err error) {
	p := newParser(s.cfg, s.file, text)
	if len(text) > maxText || p.isSingleInstruction() {
		s.text, s.placed, s.sound = "", nil, 0
		m, err = s.cfg.Parse(s.file, text)
		return m, nil, err
	}
	s.update(text)
	s.next, s.own = 0, nil
	p.session = s
	if s.sound > 0 {
		p.touched = new(Touched)
	}
	m, err = p.whole(false)
	return m, p.touched, err
}

// Sound says that nothing was found wrong with the version read last: what later versions leave as it is needs no second look.
func (s *Session) Sound() { s.sound = s.version }

// Touched is the instructions that an edit has touched: those whose text was read anew, and those whose shape follows from one of them.
type Touched struct {
	in   [][]hlo.InstrID // ascending, by CompID; nil: all
	here []hlo.InstrID   // of the computation being read
}

// Has reports whether an instruction is among them. Everything is in a nil Touched.
func (t *Touched) Has(in hlo.Instruction) bool {
	if t == nil {
		return true
	}
	c := in.Computation().ID()
	if int(c) >= len(t.in) || t.in[c] == nil {
		return true
	}
	_, ok := slices.BinarySearch(t.in[c], in.ID())
	return ok
}

// add notes the instructions from one id up to another.
func (t *Touched) add(from, to int) {
	for id := from; id < to; id++ {
		t.here = append(t.here, hlo.InstrID(id))
	}
}

// close ends the computation being read, which has become one of the module.
func (t *Touched) close(id hlo.CompID) {
	if n := int(id) + 1 - len(t.in); n > 0 {
		t.in = append(t.in, make([][]hlo.InstrID, n)...)
	}
	t.in[id] = t.here
}

// adopted notes an instruction that was read in this version or one before. Where its shape follows from others, what they have become counts.
func (t *Touched) adopted(id hlo.InstrID, d *draft, isNew bool) {
	follows := !d.stated || checks[d.spec.Opcode] != nil
	if isNew || follows && (len(d.callees) > 0 || slices.ContainsFunc(d.spec.Operands, t.hasHere)) {
		t.here = append(t.here, id)
	}
}

func (t *Touched) hasHere(id hlo.InstrID) bool {
	_, ok := slices.BinarySearch(t.here, id)
	return ok
}

// update makes text the present one: readings away from where it differs are kept.
func (s *Session) update(text string) {
	s.version++
	from := commonPrefix(s.text, text)
	same := commonSuffix(s.text[from:], text[from:])
	end := len(s.text) - same // of what differs, in the old text
	shift := len(text) - len(s.text)
	if from <= s.front+lookahead {
		s.sound = 0
	}
	first := sort.Search(len(s.placed), func(i int) bool { return int(s.placed[i].start)+lookahead > from })
	for first > 0 && int(s.placed[first-1].start)+4*chunkSize > from && s.reaches(first-1, from) {
		first--
	}
	last := first + sort.Search(len(s.placed)-first, func(i int) bool { return int(s.placed[first+i].start) >= end })
	gap := part{from: s.lineBefore(text, from), to: len(text)}
	if first < len(s.placed) {
		gap.from = min(gap.from, int(s.placed[first].start))
	}
	for i := last; i < len(s.placed); i++ {
		s.placed[i].start = uint32(int(s.placed[i].start) + shift)
	}
	if last < len(s.placed) {
		gap.to = int(s.placed[last].start)
	}
	s.text = text
	s.placed = slices.Replace(s.placed, first, last, s.readGap(gap)...)
}

// reaches reports whether the reading of an instruction depends on what is at an offset or behind it. Where readings overlap one that does
// not may stand between others that do, which is why those in front are looked at.
func (s *Session) reaches(i, offset int) bool {
	for ; i >= 0 && int(s.placed[i].start)+4*chunkSize > offset; i-- {
		r := s.placed[i].reading()
		if int(s.placed[i].start)+int(r.end-r.start)+lookahead > offset {
			return true
		}
	}
	return false
}

// lineBefore is where the line of an offset begins.
func (s *Session) lineBefore(text string, offset int) int {
	return strings.LastIndexByte(text[:offset], '\n') + 1
}

// part is a part of a text.
type part struct{ from, to int }

// readGap reads a part of the text.
func (s *Session) readGap(gap part) []placed {
	if gap.to-gap.from < minAhead*chunkSize || runtime.GOMAXPROCS(0) < 2 {
		return s.readPart(gap)
	}
	middle := max(gap.from, s.lineBefore(s.text, (gap.from+gap.to)/2))
	var second []placed
	var both sync.WaitGroup
	both.Go(func() { second = s.readPart(part{middle, gap.to}) })
	first := s.readPart(part{gap.from, middle})
	both.Wait()
	return append(first, second...)
}

// readPart reads a part of the text. Readings share memory with what was read: a copy, unless that is most of the text, so that versions of
// long ago do not stay.
func (s *Session) readPart(in part) (all []placed) {
	end := min(len(s.text), in.to+2*chunkSize) // instructions that begin in the part end here
	text := s.text[in.from:end]
	if len(text) < len(s.text)/8 {
		text = strings.Clone(text)
	}
	p := newParser(s.cfg, s.file, text)
	for from := 0; from < in.to-in.from; from += chunkSize {
		c := &chunk{version: s.version}
		p.readChunk(c, from, min(from+chunkSize, in.to-in.from))
		c.compact()
		for i := range c.readings {
			all = append(all, placed{uint32(in.from) + c.readings[i].start, uint32(i), c})
		}
	}
	return all
}

// compact gives back what a chunk has too much.
func (c *chunk) compact() {
	c.drop()
	c.readings, c.refs, c.called, c.names = slices.Clip(c.readings), slices.Clip(c.refs), slices.Clip(c.called), slices.Clip(c.names)
}

// find is the reading of the instruction at an offset. Offsets ascend.
func (s *Session) find(pos int) (*chunk, *reading) {
	for ; s.next < len(s.placed); s.next++ {
		if at := &s.placed[s.next]; int(at.start) >= pos {
			if int(at.start) == pos {
				return at.chunk, at.reading()
			}
			break
		}
	}
	return nil, nil
}

// unshared is a copy of attributes of which a module has its own, since it numbers stack frames anew: one for all that shared them.
func (s *Session) unshared(c *hlo.Common) *hlo.Common {
	own, ok := s.own[c]
	if !ok {
		metadata := *c.Metadata
		copied := *c
		copied.Metadata = &metadata
		own = &copied
		if s.own == nil {
			s.own = make(map[*hlo.Common]*hlo.Common)
		}
		s.own[c] = own
	}
	return own
}

// commonPrefix is how many bytes two texts begin with in common.
func commonPrefix(a, b string) int {
	const block = 4096 // texts are compared by the block first, which is many times faster
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[i:i+block] == b[i:i+block] {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix is how many bytes two texts end with in common.
func commonSuffix(a, b string) int {
	const block = 4096
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[len(a)-i-block:len(a)-i] == b[len(b)-i-block:len(b)-i] {
		i += block
	}
	for i < n && a[len(a)-i-1] == b[len(b)-i-1] {
		i++
	}
	return i
}
