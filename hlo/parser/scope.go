package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// scope is one computation being read: names seen so far, and the builder.
type scope struct {
	b     *hlo.ComputationBuilder
	name  string
	names symbols
	root  hlo.InstrID
	// bad computations have faults and are never finished; poisoned holds the names of instructions that could not be read.
	bad      bool
	poisoned map[string]bool
	params   []bool // parameter numbers seen
	elements map[elementKey]hlo.InstrID
	// generated has the nested instructions by the names that were made for them.
	generated map[string]hlo.InstrID
	wrapped   []*wrappedComputation
	starts    map[hlo.InstrID]*wrappedComputation // by start
	ends      map[hlo.InstrID]chainEnd            // of the asynchronous values that were followed
	origins   map[hlo.InstrID]hlo.InstrID         // of values that are handed on, as far as they were followed
	// open scopes make parameters of operands that are not defined: the outermost level of a single instruction.
	open bool
}

// elementKey is a get-tuple-element made for `x#i`.
type elementKey struct {
	tuple hlo.InstrID
	index int64
}

// openScope begins a computation.
func (p *parser) openScope(name string) *scope {
	var f *scope
	if n := len(p.spare); n > 0 {
		f = p.spare[n-1]
		p.spare = p.spare[:n-1]
		*f = scope{b: f.b, names: f.names, params: f.params[:0]}
		f.names.reset()
		f.b.Next(hlo.LegalName(name))
	} else {
		f = &scope{b: p.ed.NewComputation(hlo.LegalName(name))}
	}
	f.name, f.root = name, hlo.NoInstr
	f.b.SetScheduled(p.config.IsScheduled)
	return f
}

// closeScope finishes the computation, after those that asynchronous ops in it wrap. at is the place of its closing brace.
func (p *parser) closeScope(f *scope, at int) hlo.CompID {
	if f.b.NumInstructions() == 0 {
		p.failAt(at, "expects name")
	}
	if i := slices.Index(f.params, false); i >= 0 {
		p.failGap(f, i, at)
	}
	p.finishWrapped(f)
	id := p.finish(f.b, f.name, f.root)
	p.spare = append(p.spare, f)
	return id
}

// failGap says that no parameter has a number, at the first one of a higher number. at is where to say it if that one has no place.
func (p *parser) failGap(f *scope, missing, at int) {
	for id := range hlo.InstrID(f.b.NumInstructions()) {
		a, ok := f.b.Attrs(id).(*hlo.ParameterAttrs)
		if !ok || a.Number <= int64(missing) {
			continue
		}
		if pos := f.b.Position(id); pos.IsKnown() {
			at = p.offset(pos)
		}
		p.failHintRule("FUS-09", at, "parameters are numbered from 0, without gaps", "computation %s has no parameter %d, but has parameter %d", f.name, missing, a.Number)
	}
}

// finish ends a builder.
func (p *parser) finish(b *hlo.ComputationBuilder, name string, root hlo.InstrID) hlo.CompID {
	if p.given == nil {
		return b.Finish(root)
	}
	names := p.note(name, b)
	id := b.Finish(root)
	p.given[id] = names
	return id
}

// rootID is the root: the instruction marked so, else the last one.
func (f *scope) rootID() hlo.InstrID {
	if f.root != hlo.NoInstr {
		return f.root
	}
	return hlo.InstrID(f.b.NumInstructions() - 1)
}

// poison remembers the name that a statement with a fault would have defined.
func (f *scope) poison(statement string) {
	f.bad = true
	i := skipSpace(statement, 0)
	end := skipWord(statement, i)
	if statement[i:end] == "ROOT" {
		i = skipSpace(statement, end)
	}
	if i < len(statement) && statement[i] == '%' {
		i++
	}
	f.poisonName(strings.TrimSuffix(statement[i:skipWord(statement, i)], ":"))
}

func (f *scope) poisonName(name string) {
	f.bad = true
	if f.poisoned == nil {
		f.poisoned = make(map[string]bool)
	}
	f.poisoned[name] = true
}

// isLegalName reports whether an instruction may be called so. The name is a token of identifier characters.
func isLegalName(name string) bool {
	if name == "" || class[name[0]]&classLetter == 0 {
		return false
	}
	if name[0] == '_' && strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "__xla_") {
		return false
	}
	if !mayBeReserved(name) {
		return true
	}
	_, isType := typeByName(name)
	return !isType
}
