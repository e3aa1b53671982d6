package stablehlo

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// stackFrames are the frames that locations of calls stand for, each once.
type stackFrames struct {
	files, functions map[string]int32
	locations        map[hlo.FileLocation]int32
	frames           map[hlo.StackFrame]int32
	known            map[*mlir.Location]int32
	table            hlo.StackFrames
}

// of is the frame of a location, 0 when it has no place in a file.
func (s *stackFrames) of(l *mlir.Location) int32 {
	if l == nil {
		return 0
	}
	if id, ok := s.known[l]; ok {
		return id
	}
	call := l
	for range 100 {
		if call == nil || call.Caller != nil || call.File != "" {
			break
		}
		if call.Fused != nil {
			call = call.Fused[0]
		} else {
			call = call.Child
		}
	}
	var id int32
	if call != nil {
		id = s.chain(call, 0)
	}
	if s.known == nil {
		s.known = make(map[*mlir.Location]int32)
	}
	s.known[l] = id
	return id
}

// chain is the innermost frame of a call and of those around it.
func (s *stackFrames) chain(call *mlir.Location, depth int) int32 {
	if depth > 200 {
		return 0
	}
	if call == nil {
		return 0
	}
	if call.Caller == nil {
		return s.frame(call, 0)
	}
	parent := s.chain(call.Caller, depth+1)
	return s.frame(call.Child, parent)
}

// frame is one frame: a place in a file, with the name of the function around it.
func (s *stackFrames) frame(l *mlir.Location, parent int32) int32 {
	place := l.Place()
	if place == nil {
		return parent
	}
	if s.files == nil {
		s.files, s.functions = make(map[string]int32), make(map[string]int32)
		s.locations, s.frames = make(map[hlo.FileLocation]int32), make(map[hlo.StackFrame]int32)
	}
	at := hlo.FileLocation{
		FileNameID:     number(s.files, place.File, &s.table.FileNames),
		FunctionNameID: number(s.functions, l.OpName(), &s.table.FunctionNames),
		Line:           place.Line, Column: place.Col, EndLine: place.EndLine, EndColumn: place.EndCol,
	}
	f := hlo.StackFrame{FileLocationID: number(s.locations, at, &s.table.Locations), ParentFrameID: parent}
	return number(s.frames, f, &s.table.Frames)
}

// number is the number of a thing in a table, from 1.
func number[T comparable](ids map[T]int32, v T, table *[]T) int32 {
	id, ok := ids[v]
	if !ok {
		*table = append(*table, v)
		id = int32(len(*table))
		ids[v] = id
	}
	return id
}
