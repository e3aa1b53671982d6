package lsp

import (
	"cmp"
	"slices"
)

// symbol is something that has a name.
type symbol struct {
	name   string // without its sign
	kind   int    // of the protocol
	detail string
	def    span // the name where it is defined
	whole  span // all that belongs to it
	within int  // the symbol that it is part of; -1
}

// occurrence is a place where a symbol is named.
type occurrence struct {
	span
	symbol int
}

// index is the names of a text.
type index struct {
	symbols     []symbol
	occurrences []occurrence // by place
	folds       []span       // from an opening bracket to its closing one
}

// at is the occurrence at an offset, or just before it.
func (x *index) at(offset int) (occurrence, bool) {
	i, _ := slices.BinarySearchFunc(x.occurrences, offset, func(o occurrence, at int) int { return cmp.Compare(o.to, at) })
	if i < len(x.occurrences) && x.occurrences[i].from <= offset {
		return x.occurrences[i], true
	}
	return occurrence{}, false
}

// of lists the occurrences of a symbol, by place.
func (x *index) of(symbol int) (all []occurrence) {
	for _, o := range x.occurrences {
		if o.symbol == symbol {
			all = append(all, o)
		}
	}
	return all
}

func (x *index) define(s symbol) int {
	x.symbols = append(x.symbols, s)
	x.occurrences = append(x.occurrences, occurrence{s.def, len(x.symbols) - 1})
	return len(x.symbols) - 1
}

func (x *index) use(s span, symbol int) { x.occurrences = append(x.occurrences, occurrence{s, symbol}) }

// finish puts the occurrences in order: those that were resolved late stand behind others.
func (x *index) finish() *index {
	slices.SortStableFunc(x.occurrences, func(a, b occurrence) int { return cmp.Compare(a.from, b.from) })
	return x
}
