package rules

import (
	"strings"
)

// operator is how an op is written between its operands, or in front of one.
type operator struct {
	sign       string
	precedence int
}

// The binding strength of operators: those of comparisons bind least.
const (
	loosest = iota
	comparison
	logical
	sum
	prefix
	product
	tightest
)

var operators = map[string]operator{
	"add": {" + ", sum}, "subtract": {" - ", sum}, "multiply": {"·", product}, "divide": {" / ", product}, "remainder": {" % ", product},
	"and": {" & ", logical}, "or": {" | ", logical}, "xor": {" ^ ", logical}, "negate": {"-", prefix}, "not": {"¬", prefix},
}

var relations = map[string]string{"LT": " < ", "GT": " > ", "LE": " ≤ ", "GE": " ≥ ", "EQ": " = ", "NE": " ≠ "}

// docOf is a rule as formulas: x - c → x + (-c), if ….
func docOf(t *ruleText) string {
	var b strings.Builder
	t.Left.infix(&b, loosest)
	b.WriteString(" → ")
	t.Right.infix(&b, loosest)
	for i, k := range t.If {
		b.WriteString([]string{", if ", ", "}[min(i, 1)])
		if k.Not {
			b.WriteString("not ")
		}
		args := make([]string, len(k.Args))
		for j, a := range k.Args {
			args[j] = a.Word
		}
		b.WriteString(k.Name + "(" + strings.Join(args, ", ") + ")")
	}
	return b.String()
}

// infix writes a term that stands beside an operator of some strength.
func (t *term) infix(b *strings.Builder, outer int) {
	if t.Call == nil {
		switch {
		case t.Number != "" && t.Name != "":
			b.WriteString(t.Name + ":" + t.Number)
		case t.Number != "":
			b.WriteString(t.Number)
		case t.Word == "const" && t.Name != "":
			b.WriteString(t.Name)
		default:
			b.WriteString(t.Word)
		}
		return
	}
	t.Call.infix(b, outer)
}

func (k *call) infix(b *strings.Builder, outer int) {
	op, args := k.Op, k.Args
	if (op == "fold" || op == "eval") && len(args) > 0 {
		if len(args) == 1 {
			args[0].infix(b, outer)
			return
		}
		op, args = args[0].Word, args[1:]
	}
	if k.Of != nil {
		op = strings.Join(k.Of, "|")
	}
	if k.Or != nil {
		op += "|" + strings.Join(k.Or, "|")
	}
	o, known := operators[op]
	if op == "compare" && k.Attr != nil && k.Attr.Call != nil && len(k.Attr.Or) == 0 {
		if sign := relations[k.Attr.Call.Name]; sign != "" {
			o, known = operator{sign, comparison}, true
		}
	}
	switch {
	case op == "abs" && len(args) == 1:
		b.WriteString("|")
		args[0].infix(b, loosest)
		b.WriteString("|")
		return
	case !known || len(args) > 2:
		b.WriteString(op)
		if a := k.Attr; a != nil {
			b.WriteString(a.String())
		}
		b.WriteString("(")
		for i, a := range args {
			b.WriteString([]string{"", ", "}[min(i, 1)])
			a.infix(b, loosest)
		}
		b.WriteString(")")
		return
	}
	if o.precedence <= outer {
		b.WriteString("(")
		defer b.WriteString(")")
	}
	if len(args) == 1 {
		b.WriteString(o.sign)
		args[0].infix(b, o.precedence)
		return
	}
	args[0].infix(b, o.precedence-1)
	b.WriteString(o.sign)
	args[1].infix(b, o.precedence)
}

// String is an attribute in its brackets.
func (a *attr) String() string {
	var b strings.Builder
	b.WriteString("[" + strings.Join(a.Axes, ","))
	if a.None {
		b.WriteString("-")
	}
	if a.Call != nil {
		b.WriteString(a.Call.String())
	}
	for _, w := range a.Or {
		b.WriteString("|" + w)
	}
	return b.String() + "]"
}
