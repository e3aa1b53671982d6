// Package moddiff compares two modules instruction by instruction, whatever their names and ids: what two dumps of one program, by two compilers or
// two versions of one, do not have in common.
//
//	d := moddiff.Find(before, after)
//	for _, c := range d.Changes { … }
//
// Instructions are paired in both modules' computations, beginning with the entry:
//
//  1. Values that are computed in the same way, down to the parameters, are the same.
//  2. What says the same by itself and has paired operands is a pair; then what is used at the same place of a pair, if the opcode is
//     the same; then what has the same name and opcode. This is repeated until nothing is found.
//  3. The rest is in one of the two only. A pair that differs in something is a change, one whose operands are pairs is none.
//
// Computations are paired by the instructions that call them.
package moddiff

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Change is a difference. Old or New is zero when there is nothing on that side.
type Change struct {
	Old, New hlo.Instruction
	// The differences of a pair: opcode, shape, attributes, operands, callees.
	What []string
}

// Difference is what two modules do not have in common.
type Difference struct {
	Same    int // pairs without a difference
	Pairs   []Pairs
	Changes []Change
	// Header lists what differs in the headers.
	Header []string
	// OnlyOld and OnlyNew are computations without a partner; their instructions are not listed.
	OnlyOld, OnlyNew []hlo.Computation
}

// Pairs are the instructions of two computations that do not differ.
type Pairs struct {
	Old, New hlo.CompID
	Same     map[hlo.InstrID]hlo.InstrID // of the new one → of the old one
}

// Equal reports whether nothing differs but names.
func (d *Difference) Equal() bool {
	return len(d.Changes)+len(d.Header)+len(d.OnlyOld)+len(d.OnlyNew) == 0
}

// Find compares two modules.
func Find(a, b hlo.Module) *Difference {
	f := &finder{a: a, b: b, comps: map[hlo.CompID]hlo.CompID{}, d: &Difference{}}
	f.header()
	f.pair(a.Entry().ID(), b.Entry().ID())
	for len(f.work) > 0 {
		id := f.work[0]
		f.work = f.work[1:]
		f.compare(a.MustComputation(id), b.MustComputation(f.comps[id]))
	}
	partnered := map[hlo.CompID]bool{}
	for _, id := range f.comps {
		partnered[id] = true
	}
	for c := range a.Computations() {
		if _, ok := f.comps[c.ID()]; !ok {
			f.d.OnlyOld = append(f.d.OnlyOld, c)
		}
	}
	for c := range b.Computations() {
		if !partnered[c.ID()] {
			f.d.OnlyNew = append(f.d.OnlyNew, c)
		}
	}
	return f.d
}

type finder struct {
	a, b  hlo.Module
	comps map[hlo.CompID]hlo.CompID // of a → of b
	taken map[hlo.CompID]bool       // of b
	work  []hlo.CompID
	d     *Difference
}

func (f *finder) header() {
	x, y := f.a.Config(), f.b.Config()
	for _, part := range []struct {
		name string
		same bool
	}{
		{"is_scheduled", x.IsScheduled == y.IsScheduled},
		{"entry_computation_layout", x.EntryLayout == nil && y.EntryLayout == nil || hlo.EqualAttr(x.EntryLayout, y.EntryLayout)},
		{"input_output_alias", hlo.EqualAttr(x.InputOutputAlias, y.InputOutputAlias)},
		{"buffer_donor", hlo.EqualAttr(x.BufferDonors, y.BufferDonors)},
		{"num_partitions", x.NumPartitions == y.NumPartitions},
		{"replica_count", x.ReplicaCount == y.ReplicaCount},
	} {
		if !part.same {
			f.d.Header = append(f.d.Header, part.name)
		}
	}
}

// pair makes two computations partners, if both are free.
func (f *finder) pair(a, b hlo.CompID) bool {
	if have, ok := f.comps[a]; ok {
		return have == b
	}
	if f.taken == nil {
		f.taken = map[hlo.CompID]bool{}
	}
	if f.taken[b] {
		return false
	}
	f.comps[a], f.taken[b] = b, true
	f.work = append(f.work, a)
	return true
}

// compare lists the differences of two partners, in the program order of the new one with what is gone where it was.
func (f *finder) compare(a, b hlo.Computation) {
	p := newPairing(f, a, b)
	p.same()
	p.spread()
	p.byName()
	p.spread()
	for in := range a.Instructions() {
		if to := p.ab[in.ID()]; to != hlo.NoInstr {
			f.pairCallees(in, b.MustAt(to))
		}
	}
	order := slices.Collect(a.Instructions())
	rank := make([]int, a.IDLimit())
	for i, in := range order {
		rank[in.ID()] = i
	}
	at := 0
	flush := func(until int) { // what is only in a, before this place
		for ; at < until; at++ {
			if p.ab[order[at].ID()] == hlo.NoInstr {
				f.d.Changes = append(f.d.Changes, Change{Old: order[at]})
			}
		}
	}
	same := map[hlo.InstrID]hlo.InstrID{}
	f.d.Pairs = append(f.d.Pairs, Pairs{a.ID(), b.ID(), same})
	for in := range b.Instructions() {
		from := p.ba[in.ID()]
		if from == hlo.NoInstr {
			f.d.Changes = append(f.d.Changes, Change{New: in})
			continue
		}
		flush(rank[from])
		if what := p.differ(a.MustAt(from), in); what != nil {
			f.d.Changes = append(f.d.Changes, Change{Old: a.MustAt(from), New: in, What: what})
		} else {
			f.d.Same++
			same[in.ID()] = from
		}
	}
	flush(len(order))
}

func (f *finder) pairCallees(x, y hlo.Instruction) {
	if x.NumCallees() != y.NumCallees() {
		return
	}
	for i := range x.NumCallees() {
		f.pair(x.Callee(i), y.Callee(i))
	}
}
