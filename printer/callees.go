package printer

import "github.com/gohalo/halo/hlo"

const compositeKey = "is_composite"

// callees writes the called computations of an instruction under the names of their roles.
func (p *printer) callees(in hlo.Instruction, indent int) {
	if in.NumCallees() > 0 && p.Bodies != BodyNone {
		if p.fullBodies(in.Opcode()) {
			p.calleeBodies(in, indent)
		} else {
			p.calleeNames(in)
		}
	}
	if a, ok := in.Attrs().(*hlo.CallAttrs); ok && a.IsComposite && !p.OmitAttributes {
		p.key(compositeKey)
		p.str("true")
	}
}

func (p *printer) fullBodies(op hlo.Opcode) bool {
	switch p.Bodies {
	case BodyFull:
		return true
	case BodyNonSequential:
		return op != hlo.OpCall && op != hlo.OpConditional && op != hlo.OpWhile
	}
	return false
}

// role is one callee attribute of an instruction: its name, and which of the callees belong to it.
type role struct {
	name     string
	from, to int
	list     bool
}

// roles calls f for each callee attribute of in, in print order. Updates and ends of asynchronous operations name no callee, since
// they have it from their start.
func roles(in hlo.Instruction, f func(role)) {
	op, n := in.Opcode(), in.NumCallees()
	table := hlo.Info(op).Callees
	switch {
	case op == hlo.OpConditional && n == 2 && in.NumOperands() > 0 && in.OperandInstr(0).Shape().Type() == hlo.PRED:
		f(role{"true_computation", 0, 1, false})
		f(role{"false_computation", 1, 2, false})
	case len(table) == 1 && (table[0].List || n == 1):
		f(role{table[0].Name, 0, n, table[0].List})
	default:
		for at := range table {
			for i, r := range table {
				if r.Print == at && i < n && (len(table) > 1 || i == 0) {
					f(role{r.Name, i, i + 1, false})
				}
			}
		}
	}
}

func (p *printer) calleeNames(in hlo.Instruction) {
	roles(in, func(r role) {
		p.key(r.name)
		if r.list {
			p.str("{")
		}
		for i := r.from; i < r.to; i++ {
			if i > r.from {
				p.str(", ")
			}
			p.name(p.m.MustComputation(in.Callee(i)).Name())
		}
		if r.list {
			p.str("}")
		}
	})
}

// calleeBodies writes each callee as a body on lines of its own. The closing brace of a list stands in the first column.
func (p *printer) calleeBodies(in hlo.Instruction, indent int) {
	if p.nesting >= maxNesting {
		if p.err == nil {
			p.err = &LimitError{"nested computations", maxNesting}
		}
		return
	}
	p.nesting++
	lone := p.lone
	p.lone = false
	roles(in, func(r role) {
		for _, a := range hlo.Info(in.Opcode()).Aliases {
			if a.Full && a.Index == r.from {
				r.name = a.Name
			}
		}
		p.key(r.name)
		if r.list {
			p.str("{")
		}
		for i := r.from; i < r.to; i++ {
			if i > r.from {
				p.str(",")
			}
			if !p.line() {
				return
			}
			p.computation(p.m.MustComputation(in.Callee(i)), indent, false, true)
		}
		if r.list {
			p.line()
			p.str("}")
		}
	})
	p.lone = lone
	p.nesting--
}
