package hostprog

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Form chooses how ops are written.
type Form uint8

const (
	CustomForm  Form = iota // in their own form, those that have one
	GenericForm             // "name"(operands) {attributes} : type
)

// Fprint writes a program as canonical text. The text reads back as the
// same program, and prints as the same text.
func Fprint(w io.Writer, p *Program, form Form) error {
	out := bufio.NewWriter(w)
	pr := printer{w: out, generic: form == GenericForm || p.generic, exact: p.exact, names: make(map[*Value]string)}
	pr.program(p)
	return out.Flush()
}

// Sprint is Fprint to a string.
func Sprint(p *Program, form Form) string {
	var b strings.Builder
	Fprint(&b, p, form)
	return b.String()
}

type printer struct {
	w       *bufio.Writer
	last    byte // last character written
	indent  int
	generic bool
	exact   bool

	names   map[*Value]string
	next    int // number of the next result
	nextArg int
}

func (p *printer) write(s string) {
	if s != "" {
		p.w.WriteString(s)
		p.last = s[len(s)-1]
	}
}

// word writes text after a blank, unless one is there or none is wanted.
func (p *printer) word(s string) {
	if p.last != ' ' && p.last != '(' && p.last != '\n' {
		p.write(" ")
	}
	p.write(s)
}

func (p *printer) newline() {
	p.write("\n")
	p.write(strings.Repeat(" ", p.indent))
}

// inside writes the lines of a block, two blanks deeper.
func (p *printer) inside(body func()) {
	p.indent += 2
	body()
	p.indent -= 2
}

func (p *printer) program(pr *Program) {
	m := pr.Module
	if p.generic || len(m.Attrs) > 0 {
		p.module(m)
		p.write("\n")
		return
	}
	p.topLevel(m.Body(), "")
}

// topLevel writes ops one below the other, functions and modules with an empty
// line between them.
func (p *printer) topLevel(r *Region, first string) {
	for i, op := range r.Ops {
		if i > 0 && (isBlock(op) || isBlock(r.Ops[i-1])) {
			p.write("\n")
		}
		if first != "" {
			p.write(strings.Repeat(" ", p.indent))
		}
		p.next, p.nextArg = 0, 0
		p.op(op)
		p.write("\n")
	}
}

func isBlock(op *Op) bool { return op.IsFunc() || op.IsModule() }

func (p *printer) module(m *Op) {
	if m.Text != "" {
		p.write(m.Text)
		return
	}
	if p.generic {
		p.genericOp(m)
		return
	}
	p.write("module")
	if name := m.SymName(); name != "" {
		p.word(symbolName(name))
	}
	p.attributes(" attributes", m.Attrs, func(n string) bool { return n == attrSymName })
	p.write(" {\n")
	p.inside(func() { p.topLevel(m.Body(), " ") })
	p.write(strings.Repeat(" ", p.indent))
	p.write("}")
}

func symbolName(s string) string {
	if isBareID(s) {
		return "@" + s
	}
	return "@" + quote(s)
}

// attributes writes those that are not hidden, after a keyword, if any are left.
func (p *printer) attributes(keyword string, d Dict, hidden func(string) bool) {
	var shown Dict
	for _, e := range d {
		if !hidden(e.Name) {
			shown = append(shown, e)
		}
	}
	if len(shown) > 0 {
		p.write(keyword)
		p.word("")
		p.write(dictText(shown))
	}
}

func (p *printer) op(op *Op) {
	p.plainOp(op)
	if p.exact && op.Loc != nil {
		p.write(" loc(" + locationText(*op.Loc) + ")")
	}
}

// plainOp writes an op without where it comes from.
func (p *printer) plainOp(op *Op) {
	switch {
	case op.IsModule():
		p.module(op)
		return
	case op.IsFunc() && !p.generic:
		p.function(op)
		return
	}
	p.results(op)
	if d := p.customForm(op); d != nil {
		p.custom(op, d)
		return
	}
	p.genericOp(op)
}

// results names an op's results, as one pack if there are several.
func (p *printer) results(op *Op) {
	if len(op.Results) == 0 {
		return
	}
	name := "%" + strconv.Itoa(p.next)
	p.next++
	p.write(name)
	if len(op.Results) == 1 {
		p.names[op.Results[0]] = name
	} else {
		for i, v := range op.Results {
			p.names[v] = name + "#" + strconv.Itoa(i)
		}
		p.write(":" + strconv.Itoa(len(op.Results)))
	}
	p.write(" = ")
}

// isProperty reports whether a function's own syntax shows an attribute.
func isProperty(name string) bool {
	return name == attrSymName || name == attrVisibility || name == attrFuncType || name == attrArgAttrs
}

func (p *printer) genericOp(op *Op) {
	p.write(quote(op.Name) + "(")
	p.operands(op.Operands)
	p.write(")")
	// Functions and modules have properties of their own, which go first.
	own := func(name string) bool { return isBlock(op) && isProperty(name) }
	var props Dict
	for _, e := range op.Attrs {
		if own(e.Name) {
			props = append(props, e)
		}
	}
	if len(props) > 0 {
		p.write(" <" + dictText(props) + ">")
	}
	regions := op.Regions
	if op.IsFunc() && len(regions) == 0 {
		regions = []*Region{{}}
	}
	if len(regions) > 0 {
		p.write(" (")
		for i, r := range regions {
			if i > 0 {
				p.write(", ")
			}
			p.genericRegion(op, r)
		}
		p.write(")")
	}
	p.attributes("", op.Attrs, own)
	p.write(" : " + string(functionType(typesOf(op.Operands), typesOf(op.Results))))
}

func (p *printer) operands(values []*Value) {
	for i, v := range values {
		if i > 0 {
			p.write(", ")
		}
		p.write(p.name(v))
	}
}

// name is that under which a value was written. One that was not written is a
// fault of who made the program; the text then does not read back.
func (p *printer) name(v *Value) string {
	if n, ok := p.names[v]; ok {
		return n
	}
	return "%<<unknown>>"
}

// genericRegion writes a region with a label for its arguments.
func (p *printer) genericRegion(op *Op, r *Region) {
	next, nextArg := p.next, p.nextArg
	p.write("{")
	if len(r.Args) > 0 {
		p.newline()
		p.write("^bb0(")
		for i, v := range r.Args {
			if i > 0 {
				p.write(", ")
			}
			p.names[v] = p.newArg()
			p.write(p.names[v] + ": " + string(v.Type))
		}
		p.write("):")
	}
	p.lines(r)
	p.newline()
	p.write("}")
	if !isBlock(op) {
		p.next, p.nextArg = next, nextArg
	}
}

func (p *printer) newArg() string {
	p.nextArg++
	return "%arg" + strconv.Itoa(p.nextArg-1)
}

// lines writes the ops of a region, each on its own line.
func (p *printer) lines(r *Region) {
	p.inside(func() {
		for _, op := range r.Ops {
			if isBlock(op) {
				p.next, p.nextArg = 0, 0
			}
			p.newline()
			p.op(op)
		}
	})
}

func (p *printer) function(op *Op) {
	p.write("func.func")
	if v := op.Attrs.Text(attrVisibility); v != "" {
		p.word(v)
	}
	p.word(symbolName(op.SymName()))
	p.write("(")
	in, out := op.Signature()
	argAttrs, _ := op.Attrs.Get(attrArgAttrs)
	for i, t := range in {
		if i > 0 {
			p.write(", ")
		}
		if body := op.Body(); body != nil {
			p.names[body.Args[i]] = p.newArg()
			p.write(p.names[body.Args[i]] + ": ")
		}
		p.write(string(t))
		if i < len(argAttrs.Elems) && len(argAttrs.Elems[i].Entries) > 0 {
			p.write(" " + dictText(argAttrs.Elems[i].Entries))
		}
	}
	p.write(")")
	if len(out) > 0 {
		p.write(" -> " + resultTypes(out))
	}
	p.attributes(" attributes", op.Attrs, isProperty)
	if body := op.Body(); body != nil {
		p.write(" {")
		p.lines(body)
		p.newline()
		p.write("}")
	}
}
