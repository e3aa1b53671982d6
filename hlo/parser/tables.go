package parser

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// tableTitles are the debug tables in their order (hlo-text section 2.8).
var tableTitles = []string{"FileNames", "FunctionNames", "FileLocations", "StackFrames"}

var (
	locationKeys = []string{"file_name_id", "function_name_id", "line", "end_line", "column", "end_column"}
	frameKeys    = []string{"file_location_id", "parent_frame_id"}
)

// tables reads the debug tables: all four or none.
func (p *parser) tables(tokens []tableSyntax) {
	if len(tokens) == 0 {
		return
	}
	f := new(hlo.StackFrames)
	for i, title := range tableTitles {
		if i >= len(tokens) {
			end := tokens[len(tokens)-1].Token
			p.failAt(end.Pos.Offset+len(end.Value), "expects '%s'", title)
		}
		p.at(tokens[i].Token)
		if at := p.pos; p.word() != title {
			p.failAt(at, "expects '%s'", title)
		}
		for !p.atEnd() {
			p.int()
			switch i {
			case 0:
				f.FileNames = append(f.FileNames, p.string())
			case 1:
				f.FunctionNames = append(f.FunctionNames, p.string())
			case 2:
				v := p.tableRow(locationKeys)
				f.Locations = append(f.Locations, hlo.FileLocation{
					FileNameID: v[0], FunctionNameID: v[1], Line: v[2], EndLine: v[3], Column: v[4], EndColumn: v[5],
				})
			case 3:
				v := p.tableRow(frameKeys)
				// Text writes the parent's id plus one.
				f.Frames = append(f.Frames, hlo.StackFrame{FileLocationID: v[0], ParentFrameID: v[1] - 1})
			}
		}
	}
	if len(tokens) > len(tableTitles) {
		p.failAt(tokens[len(tableTitles)].Token.Pos.Offset, "a module has one set of debug tables")
	}
	p.src = p.text
	p.frames = f
}

// tableRow takes `{key=int ...}` with every key.
func (p *parser) tableRow(keys []string) [6]int32 {
	var v [6]int32
	p.space()
	at := p.pos
	seen := p.subAttributes(keys, func(i int) { v[i] = p.int32() })
	for i, k := range keys {
		if seen&(1<<i) == 0 {
			p.failAt(at, "sub-attribute %s is expected but not seen", k)
		}
	}
	return v
}

// frameBuilder makes the tables anew, numbered by first use.
type frameBuilder struct {
	old *hlo.StackFrames
	new hlo.StackFrames

	// By the old number, the new one: 0 where it is not known yet, and -1 for malformed frames.
	files, functions, locations, frames []int32
	// By content, as tables may list it twice.
	names [2]map[string]int32 // of files and functions
	at    map[hlo.FileLocation]int32
	equal map[hlo.StackFrame]int32

	chain []int32 // room for ancestors
}

func newFrameBuilder(old *hlo.StackFrames) *frameBuilder {
	if old == nil {
		old = &hlo.StackFrames{}
	}
	return &frameBuilder{
		old: old, files: make([]int32, len(old.FileNames)+1), functions: make([]int32, len(old.FunctionNames)+1), locations: make([]int32, len(old.Locations)+1),
		frames: make([]int32, len(old.Frames)+1), names: [2]map[string]int32{{}, {}},
		at: make(map[hlo.FileLocation]int32, len(old.Locations)), equal: make(map[hlo.StackFrame]int32, len(old.Frames)),
	}
}

// rebuildStackFrames renumbers stack frames by first use and rewrites the ids in metadata. An id without a frame becomes 0.
func (p *parser) rebuildStackFrames() {
	if !p.hasFrameIDs {
		return
	}
	b := newFrameBuilder(p.frames)
	done := make(map[*hlo.Metadata]bool, len(b.old.Frames))
	for id := range p.ed.Computations() {
		for in := range p.ed.View(id).Instructions() {
			c := in.Common()
			if c == nil || c.Metadata == nil || c.Metadata.StackFrameID == 0 || done[c.Metadata] {
				continue
			}
			// The module is not shared yet, so its metadata may still be written.
			done[c.Metadata] = true
			//halo:allow attrwrite the module is nobody's yet
			c.Metadata.StackFrameID = b.frame(c.Metadata.StackFrameID)
		}
	}
	if len(b.new.Frames) > 0 {
		p.config.StackFrames = &b.new
	}
}

// frame is the new id of an old frame. Ancestors come first.
func (b *frameBuilder) frame(id int32) int32 {
	chain := b.chain[:0]
	for at := id; at != 0; {
		if at < 0 || int(at) >= len(b.frames) || len(chain) > len(b.old.Frames) {
			return b.malformed(chain)
		}
		if b.frames[at] != 0 {
			break
		}
		chain = append(chain, at)
		at = b.old.Frames[at-1].ParentFrameID
	}
	b.chain = chain
	for _, at := range slices.Backward(chain) {
		f := b.old.Frames[at-1]
		if f.ParentFrameID != 0 {
			if f.ParentFrameID = b.frames[f.ParentFrameID]; f.ParentFrameID < 0 {
				return b.malformed(chain)
			}
		}
		if f.FileLocationID = b.location(f.FileLocationID); f.FileLocationID == 0 {
			return b.malformed(chain)
		}
		b.frames[at] = intern(b.equal, f, &b.new.Frames)
	}
	return max(b.frames[id], 0)
}

func (b *frameBuilder) malformed(chain []int32) int32 {
	for _, id := range chain {
		if b.frames[id] == 0 {
			b.frames[id] = -1
		}
	}
	return 0
}

func (b *frameBuilder) location(id int32) int32 {
	if id <= 0 || int(id) >= len(b.locations) {
		return 0
	}
	if known := b.locations[id]; known != 0 {
		return known
	}
	l := b.old.Locations[id-1]
	if l.FileNameID <= 0 || int(l.FileNameID) >= len(b.files) || l.FunctionNameID <= 0 || int(l.FunctionNameID) >= len(b.functions) {
		return 0
	}
	name := func(known []int32, ids map[string]int32, old []string, id int32, list *[]string) int32 {
		if known[id] == 0 {
			known[id] = intern(ids, old[id-1], list)
		}
		return known[id]
	}
	l.FileNameID = name(b.files, b.names[0], b.old.FileNames, l.FileNameID, &b.new.FileNames)
	l.FunctionNameID = name(b.functions, b.names[1], b.old.FunctionNames, l.FunctionNameID, &b.new.FunctionNames)
	b.locations[id] = intern(b.at, l, &b.new.Locations)
	return b.locations[id]
}

// intern is the number of v in list, counted from 1; v is added when it is new.
func intern[T comparable](ids map[T]int32, v T, list *[]T) int32 {
	id, ok := ids[v]
	if !ok {
		*list = append(*list, v)
		id = int32(len(*list))
		ids[v] = id
	}
	return id
}
