// Package graph draws modules for people: as text in the language DOT, which graphviz lays out, and as a page that a browser shows by itself.
//
//	graph.Dot(w, m, graph.Config{})                             every computation in a box of its own
//	graph.HTML(w, m, graph.Config{Around: "dot.3", Distance: 2})   what is near one instruction
//
// Nodes are instructions, arrows go from operands to users, dotted ones are control dependencies, and dashed ones lead from a caller to the root of what
// it calls. Of a computation that is too large for a picture only what is nearest to its root, or to the instruction that was named, is drawn;
// a node with a dashed border has neighbours outside.
package graph

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/printer"
)

// Config says what to draw. The zero value draws everything, up to a size.
type Config struct {
	// Around is the name of an instruction: what lies within Distance arrows of it is drawn, whichever way they point.
	Around   string
	Distance int
	// MaxNodes bounds the nodes of one computation; 0 means 400.
	MaxNodes int
}

const defaultMaxNodes = 400

// section is what is drawn of a computation: operands before users.
type section struct {
	comp  hlo.Computation
	nodes []hlo.Instruction
	drawn map[hlo.InstrID]bool
}

// pick chooses what to draw, the entry first and callees behind their callers.
func pick(m hlo.Module, cfg Config) ([]section, error) {
	most := cfg.MaxNodes
	if most <= 0 {
		most = defaultMaxNodes
	}
	var all []section
	name := strings.TrimPrefix(cfg.Around, "%")
	comps := slices.Collect(m.PostOrder())
	for _, c := range slices.Backward(comps) {
		switch {
		case name == "" && c.NumInstructions() <= most:
			all = append(all, newSection(c, map[hlo.InstrID]bool{}, true))
		case name == "":
			all = append(all, newSection(c, near(c, c.Root(), c.NumInstructions(), most), false))
		default:
			if in, ok := c.ByName(name); ok {
				all = append(all, newSection(c, near(c, in, cfg.Distance, most), false))
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no instruction %%%s", name)
	}
	return all, nil
}

func newSection(c hlo.Computation, drawn map[hlo.InstrID]bool, whole bool) section {
	s := section{comp: c, drawn: drawn}
	for in := range c.PostOrder() {
		if whole {
			drawn[in.ID()] = true // dead instructions are no neighbours
		}
		if drawn[in.ID()] {
			s.nodes = append(s.nodes, in)
		}
	}
	return s
}

// near is what lies within so many arrows of an instruction, the nearest first, until there are enough.
func near(c hlo.Computation, from hlo.Instruction, distance, most int) map[hlo.InstrID]bool {
	found := map[hlo.InstrID]bool{from.ID(): true}
	for ring := []hlo.InstrID{from.ID()}; len(ring) > 0 && distance > 0; distance-- {
		var next []hlo.InstrID
		for _, id := range ring {
			for _, n := range neighbours(c.MustAt(id)) {
				if !found[n] && len(found) < most {
					found[n] = true
					next = append(next, n)
				}
			}
		}
		ring = next
	}
	return found
}

func neighbours(in hlo.Instruction) []hlo.InstrID {
	ids := slices.Collect(in.OperandIDs())
	for user := range in.Users() {
		ids = append(ids, user.ID())
	}
	ids = slices.AppendSeq(ids, in.ControlPredecessors())
	return slices.AppendSeq(ids, in.Computation().ControlSuccessors(in.ID()))
}

// title is the heading of a section.
func (s section) title(m hlo.Module) string {
	t := s.comp.Name()
	if s.comp.ID() == m.Entry().ID() {
		t = "ENTRY " + t
	}
	if n := s.comp.NumInstructions(); len(s.nodes) < n {
		t += fmt.Sprintf(" (%d of %d instructions)", len(s.nodes), n)
	}
	return t
}

// isCut reports whether a node has neighbours that are not drawn.
func (s section) isCut(in hlo.Instruction) bool {
	return slices.ContainsFunc(neighbours(in), func(id hlo.InstrID) bool { return !s.drawn[id] })
}

// arrow leads from one node of a section to another.
type arrow struct {
	from, to hlo.InstrID
	operand  int // of to; -1 for a control dependency
}

func (s section) arrows() (all []arrow) {
	for _, in := range s.nodes {
		i := 0
		for id := range in.OperandIDs() {
			if s.drawn[id] {
				all = append(all, arrow{id, in.ID(), i})
			}
			i++
		}
		for id := range in.ControlPredecessors() {
			if s.drawn[id] {
				all = append(all, arrow{id, in.ID(), -1})
			}
		}
	}
	return all
}

// label is what a node says: two lines.
func label(in hlo.Instruction) (name, what string) {
	what = in.Opcode().String() + " " + in.Shape().WithoutLayout().String()
	if in.Opcode() == hlo.OpConstant && in.Literal() != nil && !in.Literal().IsElided() && in.Shape().IsArray() && in.Shape().NumElements() <= 4 {
		what = string(in.Literal().AppendText(nil)) + " " + in.Shape().WithoutLayout().String()
	}
	if in.Opcode() == hlo.OpGetTupleElement {
		what = fmt.Sprintf("#%d %s", hlo.AttrsOf[hlo.TupleElementAttrs](in).Index, in.Shape().WithoutLayout())
	}
	const longest = 48
	if r := []rune(what); len(r) > longest {
		what = string(r[:longest-1]) + "…"
	}
	return "%" + in.Name(), what
}

// texts prints the instructions of a module whole.
type texts struct{ lines *printer.Lines }

func newTexts(m hlo.Module) texts { return texts{printer.NewLines(m, printer.Config{})} }

func (t texts) of(in hlo.Instruction) string {
	b, err := t.lines.Append(nil, in)
	if err != nil {
		return "%" + in.Name()
	}
	const longest = 1000
	return string(b[:min(len(b), longest)])
}

// layers puts every node below what it reads. What reads one value at most, as parameters and constants do, stands just above its users.
func (s section) layers() [][]hlo.Instruction {
	above, below := map[hlo.InstrID][]hlo.InstrID{}, map[hlo.InstrID][]hlo.InstrID{}
	depth := map[hlo.InstrID]int{}
	deepest := 0
	for _, in := range s.nodes {
		id := in.ID()
		for reads := range concat(in.OperandIDs(), in.ControlPredecessors()) {
			if s.drawn[reads] {
				above[id], below[reads] = append(above[id], reads), append(below[reads], id)
				depth[id] = max(depth[id], depth[reads]+1)
			}
		}
		deepest = max(deepest, depth[id])
	}
	for _, in := range slices.Backward(s.nodes) {
		if users := below[in.ID()]; len(above[in.ID()]) <= 1 && len(users) > 0 {
			nearest := deepest
			for _, user := range users {
				nearest = min(nearest, depth[user])
			}
			depth[in.ID()] = nearest - 1
		}
	}
	layers := make([][]hlo.Instruction, deepest+1)
	for _, in := range s.nodes {
		layers[depth[in.ID()]] = append(layers[depth[in.ID()]], in)
	}
	place := map[hlo.InstrID]float64{}
	for range sweeps {
		for _, layer := range layers {
			arrange(layer, place, above)
		}
		for _, layer := range slices.Backward(layers) {
			arrange(layer, place, below)
		}
	}
	return layers
}

// sweeps is how often layers are arranged, down and up again.
const sweeps = 3

// arrange orders a layer by where the neighbours of its nodes stand, so that arrows cross less, and notes where its nodes are then.
func arrange(layer []hlo.Instruction, place map[hlo.InstrID]float64, neighbours map[hlo.InstrID][]hlo.InstrID) {
	mean := map[hlo.InstrID]float64{}
	for i, in := range layer {
		ids := neighbours[in.ID()]
		mean[in.ID()] = float64(i) - float64(len(layer))/2
		if len(ids) > 0 {
			sum := 0.0
			for _, id := range ids {
				sum += place[id]
			}
			mean[in.ID()] = sum / float64(len(ids))
		}
	}
	slices.SortStableFunc(layer, func(a, b hlo.Instruction) int { return cmp.Compare(mean[a.ID()], mean[b.ID()]) })
	for i, in := range layer {
		place[in.ID()] = float64(i) - float64(len(layer))/2
	}
}

// concat yields the ids of both.
func concat(a, b iter.Seq[hlo.InstrID]) iter.Seq[hlo.InstrID] {
	return func(yield func(hlo.InstrID) bool) {
		for id := range a {
			if !yield(id) {
				return
			}
		}
		for id := range b {
			if !yield(id) {
				return
			}
		}
	}
}
