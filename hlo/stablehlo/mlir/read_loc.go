package mlir

import "strings"

// trailingLocation reads `loc(...)`.
func (r *reader) trailingLocation() *Location {
	if strings.HasPrefix(r.text[r.pos:], "loc(") { // nearly always
		r.pos += len("loc(")
	} else {
		r.expect("loc")
		r.expect("(")
	}
	l := r.location()
	r.expect(")")
	return l
}

// place makes a location, from a slab.
func (r *reader) place() *Location { return &cutOf(&r.places, 1)[0] }

// location reads what is in the parentheses of loc.
func (r *reader) location() *Location {
	r.enter()
	defer r.leave()
	switch r.peek() {
	case '#':
		return r.locationAlias()
	case '"':
		return r.namedLocation()
	}
	at := r.pos
	switch w := r.ident(); w {
	case "unknown":
		return nil
	case "callsite":
		r.expect("(")
		l := r.place()
		l.Child = r.location()
		r.expect("at")
		l.Caller = r.location()
		r.expect(")")
		return l
	case "fused":
		if r.is("<") {
			r.balanced()
		}
		r.expect("[")
		l := &Location{}
		for !r.accept("]") {
			if len(l.Fused) > 0 {
				r.expect(",")
			}
			l.Fused = append(l.Fused, r.location())
		}
		if l.Fused == nil {
			return nil
		}
		return l
	case "loc": // within an alias: loc(...)
		r.expect("(")
		l := r.location()
		r.expect(")")
		return l
	}
	r.failAt(at, "expected a location, got %s", r.next())
	return nil
}

// namedLocation reads a name, with a child perhaps, or a place in a file.
func (r *reader) namedLocation() *Location {
	name := r.quoted()
	if r.accept("(") {
		l := r.place()
		l.Name, l.Child = name, r.location()
		r.expect(")")
		return l
	}
	if !r.accept(":") {
		l := r.place()
		l.Name = name
		return l
	}
	l := r.place()
	l.File, l.Line = name, r.lineNumber()
	r.expect(":")
	l.Col = r.lineNumber()
	if name == "" {
		l.File = "-"
	}
	if r.accept("to") {
		l.EndLine = l.Line
		if r.peek() != ':' {
			l.EndLine = r.lineNumber()
		}
		r.expect(":")
		l.EndCol = r.lineNumber()
	}
	return l
}

func (r *reader) lineNumber() int32 {
	r.space()
	return int32(min(r.natural(), 1<<31-1))
}
