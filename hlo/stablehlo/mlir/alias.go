package mlir

import "strings"

// alias is a definition at the top of a file, `#loc1 = loc("a")`, that is read when something uses it.
type alias struct {
	at    int // of the definition
	value int // of what stands after the equals sign
	state uint8
	end   int // once it has been read
	attr  Attr
	typ   *Type
	loc   *Location
	size  int // of its text, with that of the aliases in it
}

// The states of an alias.
const (
	unread = iota
	reading
	resolved
)

// findAliases finds the lines that define aliases, which may be used before, and counts the lines.
func (r *reader) findAliases() (lines int) {
	s := r.text
	for at := 0; ; lines++ {
		for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
			at++
		}
		if at < len(s) && (s[at] == '#' || s[at] == '!') {
			r.noteAlias(at)
		}
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			return lines + 1
		}
		at += n + 1
	}
}

// noteAlias records the definition at an offset, if it is one.
func (r *reader) noteAlias(at int) {
	s := r.text
	i := at + 1
	for i < len(s) && class[s[i]]&suffixNext != 0 {
		i++
	}
	name := s[at:i]
	for i < len(s) && class[s[i]]&blank != 0 {
		i++
	}
	if len(name) < 2 || i >= len(s) || s[i] != '=' || strings.HasPrefix(s[i:], "==") {
		return
	}
	if r.aliases[name] == nil {
		a := &cutOf(&r.notes, 1)[0]
		a.at, a.value = at, i+1
		r.aliases[name] = a
		if n := locationNumber(name[1:]); s[at] == '#' && n >= 0 && n < len(s)/8 { // not more than a text can define
			if n >= len(r.locations) {
				r.locations = append(r.locations, make([]*alias, max(64, 2*n)-len(r.locations))...)
			}
			r.locations[n] = a
		}
	}
}

// aliasDefinition reads, or passes by, a definition at the top of the file.
func (r *reader) aliasDefinition() {
	at := r.pos
	r.pos++
	r.suffix("alias")
	name := r.text[at:r.pos]
	a := r.aliases[name]
	if a == nil { // not the first on its line
		r.noteAlias(at)
		if a = r.aliases[name]; a == nil {
			r.fail("expected '=' after %s, got %s", name, r.next())
		}
	}
	if a.at != at {
		r.failAt(at, "the alias %s is defined twice", name)
	}
	r.resolve(a)
	r.pos = a.end
}

// resolve reads the value of an alias, wherever it stands.
func (r *reader) resolve(a *alias) {
	if a.state == resolved {
		return
	}
	if a.state == reading {
		r.failAt(a.at, "the alias is defined by itself")
	}
	a.state = reading
	save, size := r.pos, r.expanded
	r.pos = a.value
	switch {
	case r.text[a.at] == '!':
		a.typ = r.typ()
	case r.is("loc"):
		a.loc = r.trailingLocation()
		a.attr = Unit{}
	default:
		a.attr = r.attr()
	}
	a.size = r.pos - a.value + r.expanded - size
	a.end, r.pos, a.state = r.pos, save, resolved
}

func (r *reader) aliasAttr(a *alias) Attr {
	r.enter()
	defer r.leave()
	r.resolve(a)
	r.expand(a)
	return a.attr
}

// maxExpanded is how often as large as its text, and how large at least, a text may be with its aliases written out. What is printed of
// attributes has them written out.
const (
	maxExpansion = 64
	mayExpand    = 1 << 26
)

// expand counts the text of an alias that is used.
func (r *reader) expand(a *alias) {
	if r.expanded += a.size; r.expanded > max(mayExpand, maxExpansion*len(r.text)) {
		r.failAt(a.at, "the aliases stand for more than %d bytes", r.expanded)
	}
}

func (r *reader) aliasType(a *alias) *Type {
	r.enter()
	defer r.leave()
	r.resolve(a)
	r.expand(a)
	return a.typ
}

// locationAlias reads `#loc5`.
func (r *reader) locationAlias() *Location {
	at := r.pos
	r.pos++
	name := r.suffix("location")
	var a *alias
	if n := locationNumber(name); n >= 0 && n < len(r.locations) {
		a = r.locations[n]
	}
	if a == nil {
		a = r.aliases[r.text[at:r.pos]] // with its sigil
	}
	if a == nil {
		r.failAt(at, "the alias #%s is not defined", name)
	}
	r.resolve(a)
	return a.loc
}

// locationNumber is the place of a name among #loc, #loc0, #loc1; -1 for others.
func locationNumber(name string) int {
	if word, n := split(name); word == "loc" {
		return n
	}
	return -1
}
