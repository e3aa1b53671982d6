package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/internal/moddiff"
	"github.com/gohalo/halo/passes/schedule"
)

// Overlay is something that is known of instructions besides the program: it colours them. An overlay with classes names a class of each
// instruction, one without has a number.
type Overlay struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	About   string   `json:"about"`          // a sentence
	Unit    string   `json:"unit,omitempty"` // of the numbers: s, B, or ""
	Classes []Class  `json:"classes,omitempty"`
	Values  []Value  `json:"values"`
	Links   [][2]int `json:"links,omitempty"` // pairs of instructions that belong together
}

// Class is a class of instructions and its colour.
type Class struct {
	Name   string `json:"name"`
	Colour string `json:"colour"`
}

// Value is what an overlay says of an instruction.
type Value struct {
	Instr  int     `json:"i"`
	Number float64 `json:"v"` // of the class, where there are classes
	Label  string  `json:"label,omitempty"`
}

// known is the overlays of what a module says by itself.
func known(m hlo.Module, p *Program, rates analysis.Rates) []*Overlay {
	var all []*Overlay
	for _, o := range []*Overlay{memory(m, p), shardings(m, p), chains(m, p, rates)} {
		if len(o.Values) > 0 {
			all = append(all, o)
		}
	}
	return all
}

// memory is the size of every result.
func memory(m hlo.Module, p *Program) *Overlay {
	o := &Overlay{ID: "bytes", Title: "Result size", About: "Bytes of each result.", Unit: "B"}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if info := hlo.Info(in.Opcode()); info.Work == hlo.WorkNone && in.Opcode() != hlo.OpParameter {
				continue
			}
			bytes := 0.0
			for _, leaf := range in.Shape().Leaves {
				if leaf.IsArray() {
					bytes += float64(leaf.ByteSize())
				}
			}
			if bytes > 0 {
				o.Values = append(o.Values, Value{Instr: p.index[in.Name()], Number: bytes})
			}
		}
	}
	return o
}

// palette is colours that are told apart; there are as many classes as colours at most.
var palette = []string{"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#edc948", "#ff9da7", "#9c755f", "#86bcb6", "#d37295", "#bab0ac"}

const shardingID = "sharding"

// shardings gives each sharding a class, the most frequent first come; what is beyond the colours shares the last.
func shardings(m hlo.Module, p *Program) *Overlay {
	o := &Overlay{ID: shardingID, Title: "Sharding", About: "How values are split over devices."}
	classes := newTable()
	for c := range m.Computations() {
		for in := range c.Instructions() {
			k := in.Common()
			if k == nil || k.Sharding == nil {
				continue
			}
			text := string(k.Sharding.AppendText(nil, false))
			class := min(classes.of(text), len(palette)-1)
			o.Values = append(o.Values, Value{p.index[in.Name()], float64(class), text})
		}
	}
	for i, name := range classes.names {
		if i == len(palette)-1 && len(classes.names) > len(palette) {
			name = fmt.Sprintf("%d others", len(classes.names)-i)
		}
		if i < len(palette) {
			o.Classes = append(o.Classes, Class{name, palette[i]})
		}
	}
	return o
}

// ExplainShardings adds to the overlay of shardings why instructions have theirs, and a class of those that have none for a reason.
func (p *Program) ExplainShardings(why map[string][]string) {
	for _, o := range p.Overlays {
		if o.ID != shardingID {
			continue
		}
		known := make(map[int]bool, len(o.Values))
		for i := range o.Values {
			v := &o.Values[i]
			known[v.Instr] = true
			if texts := why[p.Names[v.Instr]]; len(texts) > 0 {
				v.Label = strings.Join(texts, "; ")
			}
		}
		none := float64(len(o.Classes))
		for name, texts := range why {
			if i, ok := p.index[name]; ok && !known[i] {
				o.Values = append(o.Values, Value{i, none, strings.Join(texts, "; ")})
			}
		}
		if len(o.Values) > len(known) {
			o.Classes = append(o.Classes, Class{"none", "#e0e0e0"})
			slices.SortFunc(o.Values, func(a, b Value) int { return a.Instr - b.Instr })
		}
	}
}

// chains is when each instruction of the executed computations with asynchronous work begins in the simulation of the executor, and how much
// of each chain other work hides.
func chains(m hlo.Module, p *Program, rates analysis.Rates) *Overlay {
	o := &Overlay{ID: "chains", Title: "Asynchronous chains", About: "What is asynchronous, and how much of its time other work hides, in a simulation with two workers.",
		Classes: []Class{{"hidden", "#59a14f"}, {"partly exposed", "#f28e2b"}, {"exposed", "#e15759"}, {"other work", "#d6dce5"}}}
	costs := analysis.FindCosts(m)
	for c := range analysis.FindExecuted(m).In(m) {
		if !hasChains(c) {
			continue
		}
		s := schedule.Simulate(m, c, costs, schedule.Machine{Rates: rates, Workers: 2})
		for _, x := range s.Spans {
			if !x.Async {
				o.Values = append(o.Values, Value{p.index[x.Instr.Name()], 3, fmt.Sprintf("begins at %.4g ms", x.Begin*1e3)})
			}
		}
		for _, h := range s.Chains {
			class := 0.0
			switch {
			case h.Hidden <= 0 && h.Exposed > 0:
				class = 2
			case h.Exposed > (h.Hidden+h.Exposed)/100:
				class = 1
			}
			label := fmt.Sprintf("%.4g ms, of which %.0f %% hidden", (h.End-h.Begin)*1e3, 100*h.Hidden/max(h.Hidden+h.Exposed, 1e-30))
			if h.Why != "" {
				label += ": " + h.Why
			}
			start, done := p.index[h.Start.Name()], p.index[h.Done.Name()]
			o.Values = append(o.Values, Value{start, class, label}, Value{done, class, label})
			o.Links = append(o.Links, [2]int{start, done})
		}
	}
	if len(o.Links) == 0 {
		o.Values = nil
	}
	return o
}

func hasChains(c hlo.Computation) bool {
	for in := range c.Instructions() {
		if analysis.IsStart(in) {
			return true
		}
	}
	return false
}

// Difference is what of p's module is new or changed beside an older one.
func Difference(old, m hlo.Module, oldName string, p *Program) *Overlay {
	d := moddiff.Find(old, m)
	o := &Overlay{ID: "difference", Title: "Changed since " + oldName, Classes: []Class{{"new", "#59a14f"}, {"changed", "#f28e2b"}}}
	gone := 0
	for _, c := range d.Changes {
		switch {
		case c.New.IsZero():
			gone++
		case c.Old.IsZero():
			o.Values = append(o.Values, Value{p.index[c.New.Name()], 0, "new"})
		default:
			label := strings.Join(c.What, ", ")
			if c.Old.Name() != c.New.Name() {
				label += "; it was %" + c.Old.Name()
			}
			o.Values = append(o.Values, Value{p.index[c.New.Name()], 1, label})
		}
	}
	for _, c := range d.OnlyNew {
		for in := range c.Instructions() {
			o.Values = append(o.Values, Value{p.index[in.Name()], 0, "new, with its computation"})
		}
	}
	for _, c := range d.OnlyOld {
		gone += c.NumInstructions()
	}
	o.About = fmt.Sprintf("%d instructions are the same, %d are new or changed here, %d of the older program are gone.", d.Same, len(o.Values), gone)
	return o
}
