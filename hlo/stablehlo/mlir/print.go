package mlir

import (
	"strconv"
)

// Append appends a program as text: modules and functions in their own form, all else in the generic one. Locations are left out.
func Append(b []byte, m *Module) []byte {
	p := &printer{b: b}
	p.str("module ")
	if m.Name != "" {
		p.b = append(appendSymbol(p.b, m.Name), ' ')
	}
	if len(m.Attrs) > 0 {
		p.str("attributes ")
		p.b = append(AppendDict(p.b, m.Attrs.Without("sym_name")), ' ')
	}
	p.str("{\n")
	for _, op := range m.Ops {
		p.function(op)
	}
	p.str("}\n")
	return p.b
}

// printer prints one function at a time; values are numbered in each.
type printer struct {
	b      []byte
	names  map[*Value]string
	next   int
	indent int
}

func (p *printer) str(s string) { p.b = append(p.b, s...) }

func (p *printer) line() {
	for range p.indent {
		p.str("  ")
	}
}

func (p *printer) function(op *Op) {
	if op.Name != "func.func" || len(op.Regions) != 1 || op.Regions[0].Block() == nil {
		p.indent = 1
		p.op(op)
		return
	}
	p.names, p.next, p.indent = make(map[*Value]string), 0, 1
	p.str("  func.func ")
	if v, ok := op.Attrs.Get("sym_visibility").(String); ok {
		p.str(string(v) + " ")
	}
	name, _ := op.Attrs.Get("sym_name").(String)
	p.b = appendSymbol(p.b, string(name))
	block := op.Regions[0].Block()
	p.str("(")
	for i := range block.Args {
		if i > 0 {
			p.str(", ")
		}
		p.names[&block.Args[i]] = "%arg" + strconv.Itoa(i)
		p.str("%arg" + strconv.Itoa(i) + ": " + block.Args[i].Type.Text)
		p.dictOf(op, "arg_attrs", i)
	}
	p.str(") -> (")
	if t, ok := op.Attrs.Get("function_type").(TypeAttr); ok {
		for i, r := range t.Type.Out {
			if i > 0 {
				p.str(", ")
			}
			p.str(r.Text)
			p.dictOf(op, "res_attrs", i)
		}
	}
	p.str(") {\n")
	p.indent = 2
	for _, inner := range block.Ops {
		p.op(inner)
	}
	p.str("  }\n")
}

// dictOf prints the attributes of argument or result i, if it has any.
func (p *printer) dictOf(op *Op, name string, i int) {
	list, _ := op.Attrs.Get(name).(Array)
	if i < len(list) {
		if d, ok := list[i].(Dict); ok && len(d) > 0 {
			p.b = AppendDict(append(p.b, ' '), Attrs(d))
		}
	}
}

func (p *printer) op(op *Op) {
	p.line()
	if len(op.Results) > 0 {
		name := "%" + strconv.Itoa(p.next)
		p.next++
		p.str(name)
		if n := len(op.Results); n > 1 {
			p.str(":" + strconv.Itoa(n))
		}
		p.str(" = ")
		for i := range op.Results {
			if len(op.Results) > 1 {
				p.names[&op.Results[i]] = name + "#" + strconv.Itoa(i)
			} else {
				p.names[&op.Results[i]] = name
			}
		}
	}
	p.b = AppendQuoted(p.b, op.Name)
	p.str("(")
	for i, v := range op.Operands {
		if i > 0 {
			p.str(", ")
		}
		p.str(p.names[v])
	}
	p.str(")")
	if len(op.Regions) > 0 {
		p.str(" (")
		for i := range op.Regions {
			if i > 0 {
				p.str(", ")
			}
			p.region(op.Regions[i].Block())
		}
		p.str(")")
	}
	if len(op.Attrs) > 0 {
		p.b = AppendDict(append(p.b, ' '), op.Attrs)
	}
	p.str(" : (")
	for i, v := range op.Operands {
		if i > 0 {
			p.str(", ")
		}
		p.str(v.Type.Text)
	}
	p.str(") -> ")
	if len(op.Results) == 1 {
		p.str(op.Results[0].Type.Text)
	} else {
		p.str("(")
		for i := range op.Results {
			if i > 0 {
				p.str(", ")
			}
			p.str(op.Results[i].Type.Text)
		}
		p.str(")")
	}
	p.str("\n")
}

func (p *printer) region(b *Block) {
	p.str("{\n")
	if len(b.Args) > 0 {
		p.line()
		p.str("^bb0(")
		for i := range b.Args {
			if i > 0 {
				p.str(", ")
			}
			name := "%arg_" + strconv.Itoa(p.next)
			p.next++
			p.names[&b.Args[i]] = name
			p.str(name + ": " + b.Args[i].Type.Text)
		}
		p.str("):\n")
	}
	p.indent++
	for _, op := range b.Ops {
		p.op(op)
	}
	p.indent--
	p.line()
	p.str("}")
}
