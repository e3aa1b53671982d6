package printer

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// closingNameAfter is the number of instructions from which on a computation has its name after its closing brace.
const closingNameAfter = 5

// computation writes one computation without a newline at the end.
func (p *printer) computation(c hlo.Computation, indent int, entry, nested bool) {
	p.opening(c, indent, entry, nested)
	if !p.line() {
		return
	}
	outer := p.names
	if p.CanonicalNames {
		p.names = newCanonicalNames(c)
	}
	p.instructions(c, nested, func(in hlo.Instruction) bool { return p.instructionLine(in, indent+1) })
	if p.err != nil {
		return
	}
	p.names = outer
	p.closing(c, indent)
}

// opening writes what is before the instructions, without a newline at the end.
func (p *printer) opening(c hlo.Computation, indent int, entry, nested bool) {
	p.indent(indent)
	if !nested {
		if entry {
			p.str("ENTRY ")
		}
		switch {
		case !p.OmitIDs:
			p.name(c.Name())
			p.str(" ")
		case !p.OmitPercent:
			p.str("%") // of the name that is left out, as XLA writes it
		}
		if !p.OmitSignature {
			p.signature(c)
			p.str(" ")
		}
	}
	p.str("{")
}

// instructions calls f for each instruction until it returns false: in schedule order, or in post-order when there is no schedule or the
// computation is written inside an instruction.
func (p *printer) instructions(c hlo.Computation, nested bool, f func(hlo.Instruction) bool) {
	if !nested && c.IsScheduled() {
		c.Instructions()(f)
		return
	}
	c.PostOrder()(f)
}

// instructionLine writes the line of an instruction, if it has one, and reports whether to go on.
func (p *printer) instructionLine(in hlo.Instruction, indent int) bool {
	root := in.IsRoot()
	if p.CompactTuples && !root && p.isCompact(in) {
		return true
	}
	p.indent(indent)
	if root {
		p.str("ROOT ")
	}
	p.instruction(in, indent)
	return p.line()
}

// closing writes what is behind the instructions, without a newline at the end.
func (p *printer) closing(c hlo.Computation, indent int) {
	p.indent(indent)
	p.str("}")
	if thread := c.ExecutionThread(); !p.OmitIDs && thread != hlo.MainThread {
		p.b = hlo.AppendQuoted(append(p.b, ", execution_thread="...), thread)
	}
	if p.NameAfterBody && c.NumInstructions() > closingNameAfter {
		p.str(" // ")
		p.str(c.Name())
	}
}

// signature writes `(a: f32[2], b: s32[]) -> f32[2]`, shapes without layouts.
func (p *printer) signature(c hlo.Computation) {
	p.str("(")
	for i := range c.NumParameters() {
		p.sep(i)
		param := c.Parameter(i)
		p.str(p.cut(param.Name()))
		p.str(": ")
		p.b = param.Shape().AppendText(p.b, false)
	}
	p.str(") -> ")
	if root := c.Root(); !root.IsZero() {
		p.b = root.Shape().AppendText(p.b, false)
	}
}

// name writes the name of a computation or an instruction. One that is a word of the language keeps its '%' in forms meant to be read
// back: XLA leaves it out, and cannot read what it wrote.
func (p *printer) name(s string) {
	if !p.OmitPercent || !p.CanonicalNames && isReserved(s) {
		p.b = append(p.b, '%')
	}
	p.b = append(p.b, p.cut(s)...)
}

// cut leaves out of a name what makes it unique, when ids are off.
func (p *printer) cut(s string) string {
	if p.OmitIDs {
		s, _, _ = strings.Cut(s, ".")
	}
	return s
}

// canonicalNames numbers the instructions of a computation in the order they are written or first mentioned.
type canonicalNames struct {
	number []int32 // by id, plus one; 0: none yet
	last   int32
}

func newCanonicalNames(c hlo.Computation) *canonicalNames {
	return &canonicalNames{number: make([]int32, c.IDLimit())}
}

func (n *canonicalNames) of(id hlo.InstrID) int64 {
	if n.number[id] == 0 {
		n.last++
		n.number[id] = n.last
	}
	return int64(n.number[id] - 1)
}

// isReserved reports whether s is a word that is no name without '%' (hlo-text section 1.7). Names of types are no names at all.
func isReserved(s string) bool {
	switch s {
	case "HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames", "FileLocations", "StackFrames", "true", "false", "inf", "nan", "maximal",
		"replicated", "manual", "unknown", "unreduced", "last_tile_dim_replicate", "shard_as", "shard_like":
		return true
	}
	const longest = len("f8e4m3b11fnuz")
	if len(s) > longest || s == "tuple" || s == "buffer" {
		return false
	}
	_, isType := hlo.PrimitiveTypeByName(s)
	return isType
}
