// Package origin says where an instruction comes from: its place in the text, the name that the frontend gave the operation, the lines of the
// user's program. Reports about programs show it beside their numbers, in the form that is written as JSON here.
package origin

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Origin is an instruction and where it comes from.
type Origin struct {
	Name        string `json:"name"`
	Computation string `json:"computation"`
	Opcode      string `json:"opcode"`
	Shape       string `json:"shape"`
	// Line is that of the text that the module was read from, 0 if it is not known.
	Line int `json:"line,omitempty"`
	// OpName is the frontend's name of the operation: jit(step)/dot_general.
	OpName string `json:"op_name,omitempty"`
	// Source is the line of the user's program, as file:line.
	Source string `json:"source,omitempty"`
	// Frames are the calls that led to the line, the innermost first, as function file:line.
	Frames []string `json:"frames,omitempty"`
	// Of lists the instructions of the text that a fusion, or another instruction that passes made, stands for, the last one first. It is empty for
	// one that is in the text.
	Of []string `json:"of,omitempty"`
	// As is the name that passes gave the instruction, where Name is one of the text: see [Origin.InText].
	As string `json:"as,omitempty"`
}

// Finder finds origins of the instructions of a module.
type Finder struct {
	m      hlo.Module
	frames *hlo.StackFrames
	text   map[hlo.Position]string // names of the instructions that the text has, by position
}

// NewFinder returns a finder for m. The module that the text was read as, before passes, tells which names are in the text; it may be zero, and then all are.
func NewFinder(m, text hlo.Module) *Finder {
	f := &Finder{m: m, frames: m.Config().StackFrames}
	if !text.IsZero() {
		f.text = map[hlo.Position]string{}
		for c := range text.Computations() {
			for in := range c.Instructions() {
				if in.Position().IsKnown() {
					f.text[in.Position()] = in.Name()
				}
			}
		}
	}
	return f
}

// Of returns the origin of an instruction.
func (f *Finder) Of(in hlo.Instruction) Origin {
	o := Origin{Name: in.Name(), Computation: in.Computation().Name(), Opcode: in.Opcode().String(), Shape: in.Shape().WithoutLayout().String(),
		Line: int(in.Position().Line)}
	best := f.metadata(in)
	members := f.members(in)
	for _, x := range members { // of a fusion without metadata of its own, what is computed last
		if best == nil {
			best = f.metadata(x)
		}
	}
	if best != nil {
		o.OpName, o.Source = best.OpName, f.source(best)
		o.Frames = f.stack(best.StackFrameID)
	}
	o.Of = f.inText(in, members)
	if o.Line == 0 {
		for _, x := range members {
			o.Line = max(o.Line, int(x.Position().Line))
		}
	}
	return o
}

// InText is the origin under the name that the text has for it: that of what a fusion computes last.
func (o Origin) InText() Origin {
	if len(o.Of) > 0 && o.As == "" {
		o.Name, o.As = o.Of[0], o.Name
	}
	return o
}

func (f *Finder) metadata(in hlo.Instruction) *hlo.Metadata {
	if c := in.Common(); c != nil && c.Metadata.IsWritten() {
		return c.Metadata
	}
	return nil
}

// members are the instructions within a fusion, the last first.
func (f *Finder) members(in hlo.Instruction) (list []hlo.Instruction) {
	if in.Opcode() != hlo.OpFusion {
		return nil
	}
	for id := range in.Callees() {
		c, _ := f.m.Computation(id)
		list = append(list, slices.Collect(c.Instructions())...)
	}
	slices.Reverse(list)
	return slices.DeleteFunc(list, func(x hlo.Instruction) bool { return x.Opcode() == hlo.OpParameter })
}

// inText lists the names that an instruction has in the text, unless it is the one that it has now.
func (f *Finder) inText(in hlo.Instruction, members []hlo.Instruction) (names []string) {
	if f.text == nil {
		return nil
	}
	if f.text[in.Position()] == in.Name() && len(members) == 0 {
		return nil
	}
	for _, x := range append([]hlo.Instruction{in}, members...) {
		if name, ok := f.text[x.Position()]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 1 && names[0] == in.Name() {
		return nil
	}
	if len(names) == 0 {
		return f.nearest(in)
	}
	return names
}

// farAway is how many steps an instruction that passes made is followed to one of the text.
const farAway = 8

// nearest names the instruction of the text whose value an instruction without a place in the text hands on: passes add tuples and their elements.
func (f *Finder) nearest(in hlo.Instruction) []string {
	for range farAway {
		if in.NumOperands() == 0 {
			break
		}
		in = in.OperandInstr(0)
		for _, x := range append([]hlo.Instruction{in}, f.members(in)...) {
			if name, ok := f.text[x.Position()]; ok {
				return []string{name}
			}
		}
	}
	return nil
}

// source is the line that metadata names itself, or else the innermost frame.
func (f *Finder) source(m *hlo.Metadata) string {
	if m.SourceFile != "" {
		return fmt.Sprintf("%s:%d", path.Base(m.SourceFile), m.SourceLine)
	}
	if l, ok := f.location(m.StackFrameID); ok {
		return fmt.Sprintf("%s:%d", path.Base(f.name(l.FileNameID)), l.Line)
	}
	return ""
}

const maxFrames = 64

// stack lists the frames from one outwards.
func (f *Finder) stack(id int32) (list []string) {
	for range maxFrames {
		l, ok := f.location(id)
		if !ok {
			break
		}
		function := ""
		if n := int(l.FunctionNameID); n >= 1 && n <= len(f.frames.FunctionNames) {
			function = f.frames.FunctionNames[n-1] + " "
		}
		list = append(list, fmt.Sprintf("%s%s:%d", function, path.Base(f.name(l.FileNameID)), l.Line))
		id = f.frames.Frames[id-1].ParentFrameID
	}
	return list
}

func (f *Finder) location(frame int32) (l hlo.FileLocation, ok bool) {
	if f.frames == nil || frame < 1 || int(frame) > len(f.frames.Frames) {
		return l, false
	}
	at := f.frames.Frames[frame-1].FileLocationID
	if at < 1 || int(at) > len(f.frames.Locations) {
		return l, false
	}
	return f.frames.Locations[at-1], true
}

func (f *Finder) name(file int32) string {
	if file < 1 || int(file) > len(f.frames.FileNames) {
		return "?"
	}
	return f.frames.FileNames[file-1]
}

// Where is how tables name the place of an instruction: the source line, else the operation's name, else the line of the text.
func (o *Origin) Where() string {
	switch {
	case o.Source != "":
		return o.Source
	case o.OpName != "":
		return o.OpName
	case o.Line > 0:
		return fmt.Sprintf("line %d", o.Line)
	}
	return ""
}

// SplitFrame takes a frame of [Origin.Frames], or a [Origin.Source], apart. A source has no function.
func SplitFrame(text string) (function, file string, line int) {
	if i := strings.LastIndexByte(text, ' '); i >= 0 {
		function, text = text[:i], text[i+1:]
	}
	file = text
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		if n, err := strconv.Atoi(text[i+1:]); err == nil {
			file, line = text[:i], n
		}
	}
	return function, file, line
}
