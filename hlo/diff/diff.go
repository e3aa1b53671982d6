// Package diff says how two modules differ: first in sum, then pair by pair, with what each difference costs, where it comes from, and whether it only
// follows from another one. It reports on the pairs that internal/moddiff finds.
package diff

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/internal/moddiff"
)

// Report is how module B differs from module A.
type Report struct {
	A       string   `json:"a"` // names of the modules
	B       string   `json:"b"`
	Equal   bool     `json:"equal"` // but for names
	Summary Summary  `json:"summary"`
	Why     []Reason `json:"why"`   // a compiler that keeps programs by what they are would compile B anew
	Lines   []Line   `json:"lines"` // of the user's program whose cost differs, the greatest difference first
	Changes []Change `json:"changes"`
	// OnlyA and OnlyB are computations without a partner; their instructions are not among the changes.
	OnlyA []string `json:"only_a"`
	OnlyB []string `json:"only_b"`
	// Pairs are instructions of A and B that are the same, but for names, by name: only those whose names differ.
	Renamed map[string]string `json:"renamed"`

	onlyA, onlyB []hlo.Computation
}

// Summary counts instructions.
type Summary struct {
	Same    int `json:"same"`    // pairs that say the same
	Renamed int `json:"renamed"` // of these: under another name
	Moved   int `json:"moved"`   // of these: in another order relative to the rest
	Changed int `json:"changed"` // pairs that differ
	// Follows are pairs that differ only because they read something that differs; they are not counted as changed.
	Follows int            `json:"follows"`
	OnlyA   int            `json:"only_a"`
	OnlyB   int            `json:"only_b"`
	Kinds   map[string]int `json:"kinds"` // of what differs in changed pairs: shape, layout, attributes, operands, callees
	FlopsA  int64          `json:"flops_a"`
	FlopsB  int64          `json:"flops_b"`
	BytesA  int64          `json:"bytes_a"`
	BytesB  int64          `json:"bytes_b"`
}

// Change is a difference: a pair, or an instruction that only one of the modules has.
type Change struct {
	A       *origin.Origin `json:"a,omitempty"`
	B       *origin.Origin `json:"b,omitempty"`
	What    []string       `json:"what,omitempty"`    // shape, layout, attributes, operands, callees
	Details []Detail       `json:"details,omitempty"` // of the attributes
	// Follows says that the only difference is an operand that differs itself.
	Follows bool `json:"follows,omitempty"`

	Old, New hlo.Instruction `json:"-"`
}

// Detail is an attribute, or a part of one that is JSON, that differs.
type Detail struct {
	Name string `json:"name"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

// Line is a line of the user's program and what its instructions cost in both modules.
type Line struct {
	Source string `json:"source"`
	FlopsA int64  `json:"flops_a"`
	FlopsB int64  `json:"flops_b"`
	BytesA int64  `json:"bytes_a"`
	BytesB int64  `json:"bytes_b"`
	OnlyA  int    `json:"only_a"` // instructions
	OnlyB  int    `json:"only_b"`
}

// Find compares two modules.
func Find(a, b hlo.Module) *Report {
	d := moddiff.Find(normalise(a), normalise(b))
	r := &Report{A: a.Name(), B: b.Name(), Equal: d.Equal(), Why: []Reason{}, Lines: []Line{}, Changes: []Change{}, OnlyA: []string{}, OnlyB: []string{}, Renamed: map[string]string{},
		onlyA: d.OnlyOld, onlyB: d.OnlyNew}
	r.Summary.Kinds = map[string]int{}
	f := finder{r: r, a: a, b: b, fa: origin.NewFinder(a, hlo.Module{}), fb: origin.NewFinder(b, hlo.Module{}), differs: map[place]bool{}}
	f.changes(d)
	f.same(d)
	f.costs()
	for _, c := range d.OnlyOld {
		r.OnlyA = append(r.OnlyA, c.Name())
		r.Summary.OnlyA += c.NumInstructions()
	}
	for _, c := range d.OnlyNew {
		r.OnlyB = append(r.OnlyB, c.Name())
		r.Summary.OnlyB += c.NumInstructions()
	}
	r.Why = reasons(a, b, r)
	return r
}

type place struct {
	comp hlo.CompID
	id   hlo.InstrID
}

func placeOf(in hlo.Instruction) place { return place{in.Computation().ID(), in.ID()} }

type finder struct {
	r       *Report
	a, b    hlo.Module
	fa, fb  *origin.Finder
	differs map[place]bool // instructions of b that differ, or are new
}

// changes describes the changes, in their order.
func (f *finder) changes(d *moddiff.Difference) {
	for i := range d.Changes {
		if n := d.Changes[i].New; !n.IsZero() {
			f.differs[placeOf(n)] = true
		}
	}
	for i := range d.Changes {
		ch := &d.Changes[i]
		c := Change{Old: in(f.a, ch.Old), New: in(f.b, ch.New), What: ch.What}
		switch {
		case ch.New.IsZero():
			o := f.fa.Of(c.Old)
			c.A = &o
			f.r.Summary.OnlyA++
		case ch.Old.IsZero():
			o := f.fb.Of(c.New)
			c.B = &o
			f.r.Summary.OnlyB++
		default:
			oa, ob := f.fa.Of(c.Old), f.fb.Of(c.New)
			c.A, c.B = &oa, &ob
			f.pair(&c)
		}
		f.r.Changes = append(f.r.Changes, c)
	}
}

// in is an instruction of a normalised module in the module that it was made of.
func in(m hlo.Module, x hlo.Instruction) hlo.Instruction {
	if x.IsZero() {
		return x
	}
	return m.MustComputation(x.Computation().ID()).MustAt(x.ID())
}

// pair says in what a pair differs.
func (f *finder) pair(c *Change) {
	for i, what := range c.What {
		if what == "shape" && c.Old.Shape().WithoutLayout().Equal(c.New.Shape().WithoutLayout()) {
			c.What[i] = "layout"
		}
	}
	if slices.Contains(c.What, "attributes") {
		c.Details = f.details(c.Old, c.New)
	}
	c.Follows = len(c.What) == 1 && c.What[0] == "operands" && f.readsDifference(c.New)
	if c.Follows {
		f.r.Summary.Follows++
		return
	}
	f.r.Summary.Changed++
	for _, what := range c.What {
		f.r.Summary.Kinds[what]++
	}
}

func (f *finder) readsDifference(x hlo.Instruction) bool {
	for o := range x.Operands() {
		if f.differs[placeOf(o)] {
			return true
		}
	}
	return false
}

// same counts the pairs that say the same.
func (f *finder) same(d *moddiff.Difference) {
	f.r.Summary.Same = d.Same
	for _, pairs := range d.Pairs {
		rank := map[hlo.InstrID]int{}
		n := 0
		for x := range f.a.MustComputation(pairs.Old).Instructions() {
			rank[x.ID()] = n
			n++
		}
		var order []int
		for x := range f.b.MustComputation(pairs.New).Instructions() {
			from, ok := pairs.Same[x.ID()]
			if !ok {
				continue
			}
			order = append(order, rank[from])
			if was := f.a.MustComputation(pairs.Old).MustAt(from).Name(); was != x.Name() {
				f.r.Summary.Renamed++
				f.r.Renamed[was] = x.Name()
			}
		}
		f.r.Summary.Moved += len(order) - longestAscending(order)
	}
}

// longestAscending is the length of a longest ascending subsequence.
func longestAscending(list []int) int {
	var ends []int
	for _, x := range list {
		i, _ := slices.BinarySearch(ends, x)
		if i == len(ends) {
			ends = append(ends, x)
		} else {
			ends[i] = x
		}
	}
	return len(ends)
}

// costs sums up what both modules cost, and by line.
func (f *finder) costs() {
	lines := map[string]*Line{}
	at := func(o *origin.Origin) *Line {
		key := o.Where()
		if o.Source == "" && o.OpName == "" {
			key = "(no source)"
		}
		if lines[key] == nil {
			lines[key] = &Line{Source: key}
		}
		return lines[key]
	}
	s := &f.r.Summary
	for _, side := range []struct {
		m      hlo.Module
		finder *origin.Finder
		first  bool
	}{{f.a, f.fa, true}, {f.b, f.fb, false}} {
		eachCost(side.m, func(x hlo.Instruction, c analysis.Cost) {
			o := side.finder.Of(x)
			l := at(&o)
			if side.first {
				l.FlopsA, l.BytesA, s.FlopsA, s.BytesA = l.FlopsA+c.Flops, l.BytesA+c.Bytes, s.FlopsA+c.Flops, s.BytesA+c.Bytes
			} else {
				l.FlopsB, l.BytesB, s.FlopsB, s.BytesB = l.FlopsB+c.Flops, l.BytesB+c.Bytes, s.FlopsB+c.Flops, s.BytesB+c.Bytes
			}
		})
	}
	for i := range f.r.Changes {
		switch c := &f.r.Changes[i]; {
		case c.B == nil:
			at(c.A).OnlyA++
		case c.A == nil:
			at(c.B).OnlyB++
		}
	}
	for _, l := range lines {
		if l.FlopsA != l.FlopsB || l.BytesA != l.BytesB || l.OnlyA != l.OnlyB {
			f.r.Lines = append(f.r.Lines, *l)
		}
	}
	weight := func(l *Line) int64 {
		return max(l.FlopsA-l.FlopsB, l.FlopsB-l.FlopsA) + max(l.BytesA-l.BytesB, l.BytesB-l.BytesA)
	}
	slices.SortFunc(f.r.Lines, func(x, y Line) int {
		return cmp.Or(cmp.Compare(weight(&y), weight(&x)), cmp.Compare(x.Source, y.Source))
	})
}

// eachCost visits what a module executes, with the cost of an execution: rounds of loops count.
func eachCost(m hlo.Module, visit func(hlo.Instruction, analysis.Cost)) {
	costs := analysis.FindCosts(m)
	for c, rounds := range analysis.Executions(m) {
		for x := range c.Instructions() {
			if x.Opcode() != hlo.OpFusion && hlo.Info(x.Opcode()).Traits.Has(hlo.TraitControl) {
				continue
			}
			k := costs.Of(x)
			k.Flops, k.Bytes = k.Flops*rounds, k.Bytes*rounds
			visit(x, k)
		}
	}
}
