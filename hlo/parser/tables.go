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
	old       *hlo.StackFrames
	new       hlo.StackFrames
	ids       map[int32]int32 // of frames, old to new; 0: malformed
	files     map[string]int32
	functions map[string]int32
	locations map[hlo.FileLocation]int32
	frames    map[hlo.StackFrame]int32
}

// rebuildStackFrames renumbers stack frames by first use and rewrites the ids in metadata. An id without a frame becomes 0.
func (p *parser) rebuildStackFrames() {
	if !p.hasFrameIDs {
		return
	}
	b := &frameBuilder{
		old: p.frames, ids: make(map[int32]int32), files: make(map[string]int32), functions: make(map[string]int32),
		locations: make(map[hlo.FileLocation]int32), frames: make(map[hlo.StackFrame]int32),
	}
	done := make(map[*hlo.Metadata]bool)
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
	var chain []int32
	for at := id; at != 0; {
		if _, ok := b.ids[at]; ok {
			break
		}
		if b.old == nil || at < 0 || int(at) > len(b.old.Frames) || len(chain) > len(b.old.Frames) {
			chain = append(chain, at)
			return b.malformed(chain)
		}
		chain = append(chain, at)
		at = b.old.Frames[at-1].ParentFrameID
	}
	for _, at := range slices.Backward(chain) {
		f := b.old.Frames[at-1]
		if f.ParentFrameID != 0 {
			if f.ParentFrameID = b.ids[f.ParentFrameID]; f.ParentFrameID == 0 {
				return b.malformed(chain)
			}
		}
		if f.FileLocationID = b.location(f.FileLocationID); f.FileLocationID == 0 {
			return b.malformed(chain)
		}
		b.ids[at] = intern(b.frames, f, &b.new.Frames)
	}
	return b.ids[id]
}

func (b *frameBuilder) malformed(chain []int32) int32 {
	for _, id := range chain {
		if _, ok := b.ids[id]; !ok {
			b.ids[id] = 0
		}
	}
	return 0
}

func (b *frameBuilder) location(id int32) int32 {
	if id <= 0 || int(id) > len(b.old.Locations) {
		return 0
	}
	l := b.old.Locations[id-1]
	if l.FileNameID <= 0 || int(l.FileNameID) > len(b.old.FileNames) || l.FunctionNameID <= 0 || int(l.FunctionNameID) > len(b.old.FunctionNames) {
		return 0
	}
	l.FileNameID = intern(b.files, b.old.FileNames[l.FileNameID-1], &b.new.FileNames)
	l.FunctionNameID = intern(b.functions, b.old.FunctionNames[l.FunctionNameID-1], &b.new.FunctionNames)
	return intern(b.locations, l, &b.new.Locations)
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
