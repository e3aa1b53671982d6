package printer

import "github.com/gohalo/halo/hlo"

// maxCompactOperands is how many operands the compact form shows.
const maxCompactOperands = 4

// instruction writes `%name = shape opcode(operands), attributes`. indent is that of its line, for bodies below it.
func (p *printer) instruction(in hlo.Instruction, indent int) {
	switch {
	case p.names != nil:
		p.str("tmp_")
		p.int(p.names.of(in.ID()))
		p.str(" = ")
	case !p.CanonicalNames:
		p.name(in.Name())
		p.str(" = ")
	}
	if !p.OmitResult {
		p.b = append(in.Shape().AppendText(p.b, !p.OmitLayouts), ' ')
	}
	op := in.Opcode()
	wrapped, sugar := p.wrapped(in)
	if sugar {
		word, _ := hlo.AsyncMnemonic(op, wrapped.Opcode())
		p.str(word)
	} else if unknown, ok := in.UnknownOpcode(); ok {
		p.str(unknown)
	} else {
		p.str(op.String())
	}
	p.str("(")
	switch op {
	case hlo.OpParameter:
		if n, ok := in.ParameterNumber(); ok && !p.OmitParameter {
			p.int(n)
		}
	case hlo.OpConstant:
		if l := in.Literal(); l != nil {
			p.constant(l)
		}
	default:
		p.operands(in)
	}
	p.str(")")
	p.attributes(in, wrapped, sugar, indent)
}

func (p *printer) operands(in hlo.Instruction) {
	n := in.NumOperands()
	shown := n
	if p.CompactOperands && n > maxCompactOperands {
		shown = maxCompactOperands
	}
	for i := range shown {
		if i > 0 {
			p.str(", ")
			if p.every > 0 && i%p.every == 0 {
				p.indexMark(i)
			}
		}
		p.operand(in.OperandInstr(i))
	}
	if shown < n {
		p.str(", ...(+")
		p.int(int64(n - shown))
		p.str(")")
	}
}

func (p *printer) operand(o hlo.Instruction) {
	if p.OperandShapes {
		p.b = o.Shape().AppendText(p.b, !p.OmitLayouts)
	}
	if p.CanonicalNames && p.names == nil || !p.CanonicalNames && p.OmitOperands {
		return
	}
	if p.OperandShapes {
		p.str(" ")
	}
	if p.CompactTuples && p.isCompact(o) {
		p.tupleElement(o)
		return
	}
	p.reference(o)
}

// reference writes the name of an instruction where it is used.
func (p *printer) reference(o hlo.Instruction) {
	if p.names != nil {
		p.str("tmp_")
		p.int(p.names.of(o.ID()))
		return
	}
	p.name(o.Name())
}

// isCompact reports whether an instruction may be written as `%x#i` where it is used. One with control dependencies could then not be
// named by them, and a root is written anyway.
func (p *printer) isCompact(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpGetTupleElement || in.IsRoot() || in.NumOperands() != 1 {
		return false
	}
	if p.OmitControl {
		return true
	}
	for range in.ControlSuccessors() {
		return false
	}
	return in.NumControlPredecessors() == 0
}

// tupleElement writes `%x#1#0` for element 0 of element 1 of x.
func (p *printer) tupleElement(in hlo.Instruction) {
	var path []int64
	for p.isCompact(in) {
		path = append(path, hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		in = in.OperandInstr(0)
	}
	p.reference(in)
	for i := len(path) - 1; i >= 0; i-- {
		p.str("#")
		p.int(path[i])
	}
}
