package bef

import (
	"fmt"
	"strings"
)

// LocationKind is the form of a location.
type LocationKind uint8

const (
	NoLocation       LocationKind = iota // nothing is recorded
	UnknownLocation                      // recorded as unknown
	FileLocation                         // File, Line, Column
	NamedLocation                        // Name, and in Parts perhaps a child
	CallSiteLocation                     // Parts: callee, caller
	FusedLocation                        // Parts
)

// Tags of records.
const (
	locUnknown = iota
	locFile
	locName
	locCallSite
	locFused
)

// Location says where a function or kernel comes from.
type Location struct {
	Kind         LocationKind
	File         string
	Line, Column uint32
	Name         string
	Parts        []Location
}

// At is a position in a file; lines and columns count from 1.
func At(file string, line, column int) Location {
	return Location{Kind: FileLocation, File: file, Line: uint32(line), Column: uint32(column)}
}

// Named is a location known by a name, such as that of the operation it was lowered from.
func Named(name string) Location { return Location{Kind: NamedLocation, Name: name} }

// String is one line for people: file:line:column, or an opaque text.
func (l Location) String() string {
	switch l.Kind {
	case FileLocation:
		return fmt.Sprintf("%s:%d:%d", l.File, l.Line, l.Column)
	case NamedLocation:
		if len(l.Parts) > 0 && l.Parts[0].Kind > UnknownLocation {
			return fmt.Sprintf("%q(%v)", l.Name, l.Parts[0])
		}
		return fmt.Sprintf("%q", l.Name)
	case CallSiteLocation:
		if len(l.Parts) == 2 {
			return l.Parts[0].String() + "<-" + l.Parts[1].String()
		}
	case FusedLocation:
		parts := make([]string, len(l.Parts))
		for i, p := range l.Parts {
			parts[i] = p.String()
		}
		return "fused[" + strings.Join(parts, ", ") + "]"
	}
	return "unknown"
}

// DebugInfo is the name under which the location's operation is known, or "":
// a name, the names in a fused location one after the other, or the callee's.
func (l Location) DebugInfo() string {
	switch l.Kind {
	case NamedLocation:
		return l.Name
	case FusedLocation:
		var b strings.Builder
		for _, p := range l.Parts {
			if p.Kind == NamedLocation {
				b.WriteString(p.Name)
			}
		}
		return b.String()
	case CallSiteLocation:
		if len(l.Parts) > 0 {
			return l.Parts[0].DebugInfo()
		}
	}
	return ""
}

// Position is the first place in a file that the location names, for
// diagnostics; callee before caller.
func (l Location) Position() (file string, line, column uint32, ok bool) {
	if l.Kind == FileLocation {
		return l.File, l.Line, l.Column, true
	}
	for _, p := range l.Parts {
		if file, line, column, ok = p.Position(); ok {
			return
		}
	}
	return "", 0, 0, false
}

// Locations is the table of location records, in file form.
type Locations struct {
	Records []byte
	Strings []byte
	names   stringTable
}

// Limits on what one lookup may decode.
const (
	maxLocDepth = 64
	maxLocNodes = 4096
)

// At decodes a record. An id outside of the table, which is how a writer says
// that there is none, and a broken record give the zero Location.
func (t *Locations) At(id LocID) Location {
	if uint64(id) >= uint64(len(t.Records)) {
		return Location{}
	}
	r := locReader{c: cursor{b: t.Records, i: int(id), sec: LocationsSection}, names: t.names}
	l := r.record(0)
	if r.c.err != nil {
		return Location{}
	}
	return l
}

// check walks all records from the first to the last.
func (t *Locations) check(base int64) *FormatError {
	r := locReader{c: cursor{b: t.Records, sec: LocationsSection, base: base, strict: true}, names: t.names}
	for r.c.err == nil && r.c.left() > 0 {
		r.nodes = 0
		r.record(0)
	}
	return r.c.err
}

type locReader struct {
	c     cursor
	names stringTable
	nodes int
}

func (r *locReader) record(depth int) Location {
	if r.nodes++; depth > maxLocDepth || r.nodes > maxLocNodes {
		r.c.fail(uint64(r.nodes), "location nested too deep or too large")
		return Location{}
	}
	switch tag := r.c.byte("location tag"); tag {
	case locUnknown:
		return Location{Kind: UnknownLocation}
	case locFile:
		file := r.name("file name")
		return Location{Kind: FileLocation, File: file, Line: r.c.vbr32("line"), Column: r.c.vbr32("column")}
	case locName:
		name := r.name("location name")
		return Location{Kind: NamedLocation, Name: name, Parts: []Location{r.record(depth + 1)}}
	case locCallSite:
		callee := r.record(depth + 1)
		return Location{Kind: CallSiteLocation, Parts: []Location{callee, r.record(depth + 1)}}
	case locFused:
		n := min(r.c.count("fused locations", 1), maxLocNodes+1)
		parts := make([]Location, 0, min(n, 16))
		for i := 0; i < n && r.c.err == nil; i++ {
			parts = append(parts, r.record(depth+1))
		}
		return Location{Kind: FusedLocation, Parts: parts}
	default:
		r.c.fail(uint64(tag), "unknown location tag %d", tag)
		return Location{}
	}
}

func (r *locReader) name(what string) string {
	off := r.c.vbr(what)
	s, ok := r.names.at(off)
	if !ok {
		r.c.fail(off, "%s at %d is not in the location strings", what, off)
	}
	return s
}

// locationWriter makes the table. Records are never shared: the offset of a
// record identifies the operation that it belongs to.
type locationWriter struct {
	records, strings []byte
	offsets          map[string]int
	virtual          LocID
}

// grow makes room for so many records of the usual size.
func (w *locationWriter) grow(n int) {
	const record, name = 8, 12 // bytes
	w.records, w.strings, w.offsets = make([]byte, 0, n*record), make([]byte, 0, n*name), make(map[string]int, n)
}

// add writes a record, or takes the next virtual offset if there is nothing to write.
func (w *locationWriter) add(l Location) LocID {
	if l.Kind == NoLocation {
		w.virtual--
		return w.virtual
	}
	id := LocID(len(w.records))
	w.record(l)
	return id
}

func (w *locationWriter) record(l Location) {
	switch l.Kind {
	case FileLocation:
		w.records = appendVBR(append(w.records, locFile), w.name(l.File))
		w.records = appendVBR(w.records, uint64(l.Line))
		w.records = appendVBR(w.records, uint64(l.Column))
	case NamedLocation:
		w.records = appendVBR(append(w.records, locName), w.name(l.Name))
		w.record(part(l, 0))
	case CallSiteLocation:
		w.records = append(w.records, locCallSite)
		w.record(part(l, 0))
		w.record(part(l, 1))
	case FusedLocation:
		w.records = appendVBR(append(w.records, locFused), uint64(len(l.Parts)))
		for _, p := range l.Parts {
			w.record(p)
		}
	default:
		w.records = append(w.records, locUnknown)
	}
}

// part is a child, or the unknown location if there is none.
func part(l Location, i int) Location {
	if i < len(l.Parts) {
		return l.Parts[i]
	}
	return Location{Kind: UnknownLocation}
}

func (w *locationWriter) name(s string) uint64 {
	if off, ok := w.offsets[s]; ok {
		return uint64(off)
	}
	off := len(w.strings)
	w.offsets[s] = off
	w.strings = append(append(w.strings, s...), 0)
	return uint64(off)
}

func (w *locationWriter) table() Locations {
	return Locations{Records: w.records, Strings: w.strings, names: newStringTable(w.strings)}
}
