package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/internal/graph"
	"github.com/gohalo/halo/printer"
)

// Program is a module as the page reads it. What there is of each instruction is a column; instructions are numbered through all computations,
// each computation's in program order. Strings that recur are numbers into tables.
type Program struct {
	Name         string        `json:"name"`
	File         string        `json:"file"`
	Kinds        []Kind        `json:"kinds"`
	Computations []Computation `json:"computations"`
	Entry        int           `json:"entry"`

	Ops     []string `json:"ops"` // tables
	Shapes  []string `json:"shapes"`
	Scopes  []string `json:"scopes"` // op_name in metadata; the first is ""
	Sources []string `json:"sources"`

	Names       []string      `json:"names"` // columns
	Op          []int         `json:"op"`
	Kind        []int         `json:"kind"`
	Shape       []int         `json:"shape"`
	Scope       []int         `json:"scope"`
	Source      []int         `json:"source"`
	Line        []uint32      `json:"line"`
	Text        []string      `json:"text"`
	Operands    []int         `json:"operands"`    // of all instructions, one after the other
	OperandEnds []int         `json:"operandEnds"` // where in Operands those of an instruction end
	Callees     map[int][]int `json:"callees"`     // by instruction: computations
	Control     map[int][]int `json:"control"`     // by instruction: what must run before
	Figures

	Overlays []*Overlay `json:"overlays"`

	index map[string]int // of an instruction, by name
}

// Kind is a kind of instruction and its colour.
type Kind struct {
	Name   string `json:"name"`
	Colour string `json:"colour"`
}

// Computation is a range of instructions.
type Computation struct {
	Name      string `json:"name"`
	First     int    `json:"first"`
	Count     int    `json:"count"`
	Root      int    `json:"root"`
	Scheduled bool   `json:"scheduled,omitempty"`
	Thread    string `json:"thread,omitempty"`
}

// New makes the columns of a module, with the cost model's figures on a machine of these rates.
func New(file string, m hlo.Module, rates analysis.Rates) (*Program, error) {
	n := m.NumInstructions()
	p := &Program{Name: m.Name(), File: file, Callees: map[int][]int{}, Control: map[int][]int{}, Overlays: []*Overlay{}, index: make(map[string]int, n)}
	for _, k := range graph.Kinds {
		p.Kinds = append(p.Kinds, Kind{k.Name, k.Colour})
	}
	number := map[hlo.CompID]int{}
	first := map[hlo.CompID]int{}
	at := 0
	for c := range m.Computations() {
		number[c.ID()], first[c.ID()] = len(number), at
		at += c.NumInstructions()
	}
	ops, shapes, scopes, sources := newTable(), newTable(), newTable(), newTable()
	scopes.of("")
	sources.of("")
	origins := origin.NewFinder(m, hlo.Module{})
	lines := printer.NewLines(m, printer.Config{})
	var text []byte
	for c := range m.Computations() {
		at := make([]int, c.IDLimit())
		next := first[c.ID()]
		for in := range c.Instructions() {
			at[in.ID()] = next
			next++
		}
		for in := range c.Instructions() {
			i := at[in.ID()]
			var err error
			if text, err = lines.Append(text[:0], in); err != nil {
				return nil, fmt.Errorf("%s: error: %w", file, err)
			}
			p.index[in.Name()] = i
			p.Names = append(p.Names, in.Name())
			p.Op = append(p.Op, ops.of(in.Opcode().String()))
			p.Kind = append(p.Kind, graph.KindOf(in))
			p.Shape = append(p.Shape, shapes.of(in.Shape().WithoutLayout().String()))
			from := origins.Of(in)
			p.Scope, p.Source = append(p.Scope, scopes.of(from.OpName)), append(p.Source, sources.of(cmp.Or(source(m, in), from.Source)))
			p.Line = append(p.Line, in.Position().Line)
			p.Text = append(p.Text, bounded(text))
			for id := range in.OperandIDs() {
				p.Operands = append(p.Operands, at[id])
			}
			p.OperandEnds = append(p.OperandEnds, len(p.Operands))
			for id := range in.Callees() {
				p.Callees[i] = append(p.Callees[i], number[id])
			}
			for id := range in.ControlPredecessors() {
				p.Control[i] = append(p.Control[i], at[id])
			}
		}
		p.Computations = append(p.Computations, Computation{c.Name(), first[c.ID()], c.NumInstructions(), at[c.Root().ID()], c.IsScheduled(), thread(c)})
	}
	p.Entry = number[m.Entry().ID()]
	p.Ops, p.Shapes, p.Scopes, p.Sources = ops.names, shapes.names, scopes.names, sources.names
	p.Figures = figuresOf(m, rates)
	p.Overlays = append(p.Overlays, known(m, p, rates)...)
	return p, nil
}

// Index is the number of an instruction, by its name; a leading % is passed over.
func (p *Program) Index(name string) (int, bool) {
	i, ok := p.index[strings.TrimPrefix(name, "%")]
	return i, ok
}

// source is an instruction's line of source with the whole path, which an editor can open; "" where the instruction itself does not say.
func source(m hlo.Module, in hlo.Instruction) string {
	c := in.Common()
	if c == nil || c.Metadata == nil {
		return ""
	}
	file, line := c.Metadata.SourceFile, c.Metadata.SourceLine
	if file == "" {
		var l hlo.FileLocation
		file, l, _ = m.Config().StackFrames.Location(c.Metadata.StackFrameID)
		line = l.Line
	}
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// thread is the thread of a computation, "" for the main one.
func thread(c hlo.Computation) string {
	if t := c.ExecutionThread(); t != hlo.MainThread {
		return t
	}
	return ""
}

// bounded is the text of an instruction as far as a page shows it: a constant may have megabytes.
func bounded(text []byte) string {
	const longest = 4000
	if len(text) <= longest {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:longest]), "") + "…"
}

// table numbers strings.
type table struct {
	names  []string
	number map[string]int
}

func newTable() *table { return &table{[]string{}, map[string]int{}} }

func (t *table) of(name string) int {
	i, ok := t.number[name]
	if !ok {
		i = len(t.names)
		t.number[name] = i
		t.names = append(t.names, name)
	}
	return i
}
