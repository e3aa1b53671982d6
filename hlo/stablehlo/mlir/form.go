package mlir

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/hlo"
)

// A form is the syntax of an operation after its name, in a small language that is compiled once:
//
//	'dim'              this text
//	$                  an operand
//	$*                 operands with commas between them
//	iota_dimension:i64 an attribute of a kind: i64, i32, int, ints, bool, string, symbol, name, raw, attr, or the name of an enumeration
//	[ ... ]            all of this, or nothing, as its first text is there or not
//	{}                 a dictionary of further attributes
//	:type              a colon and the types: see typeForms
//
// Forms that the language cannot express are code: [form.code].
type form struct {
	name  string // of the operation, with its dialect
	steps []step
	room  int // for attributes
	code  func(r *reader, op *Op)
}

// room counts the attributes of a form.
func room(steps []step) (n int) {
	for i := range steps {
		if steps[i].kind == attribute {
			n++
		}
		n += room(steps[i].group)
	}
	return n
}

// step is one element of a form.
type step struct {
	kind  stepKind
	text  string                  // of a literal; the name of an attribute
	value func(r *reader) Attr    // reads an attribute
	types func(r *reader, op *Op) // reads the types
	group []step
}

type stepKind uint8

const (
	literal stepKind = iota
	operand
	operands
	attribute
	optional
	dictionary
	types
)

// formSyntax is the grammar of the language.
type formSyntax struct {
	Items []*formItem `parser:"@@*"`
}

type formItem struct {
	Literal string      `parser:"  @Literal"`
	Operand string      `parser:"| @Operand"`
	Group   *formSyntax `parser:"| '[' @@ ']'"`
	Dict    string      `parser:"| @Dict"`
	Types   string      `parser:"| ':' @Name"`
	Attr    string      `parser:"| @Name ':'"`
	Kind    string      `parser:"  @Name"`
}

var formParser = sync.OnceValue(func() *participle.Parser[formSyntax] {
	return participle.MustBuild[formSyntax](participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
		{Name: "Literal", Pattern: `'[^']*'`},
		{Name: "Operand", Pattern: `\$\*?`},
		{Name: "Dict", Pattern: `\{\}`},
		{Name: "Name", Pattern: `[a-zA-Z_]\w*`},
		{Name: "Punct", Pattern: `[\[\]:]`},
		{Name: "space", Pattern: `\s+`},
	})), participle.UseLookahead(2))
})

// compile makes a form of its text. The texts are constants of this package.
func compile(text string) form {
	syntax, err := formParser().ParseString("", text)
	if err != nil {
		panic(fmt.Sprintf("mlir: form %q: %v", text, err))
	}
	steps := syntax.steps()
	return form{steps: steps, room: room(steps)}
}

func (f *formSyntax) steps() []step {
	var steps []step
	for _, i := range f.Items {
		switch {
		case i.Literal != "":
			steps = append(steps, step{kind: literal, text: strings.Trim(i.Literal, "'")})
		case i.Operand == "$":
			steps = append(steps, step{kind: operand})
		case i.Operand != "":
			steps = append(steps, step{kind: operands})
		case i.Group != nil:
			steps = append(steps, step{kind: optional, group: i.Group.steps()})
		case i.Dict != "":
			steps = append(steps, step{kind: dictionary})
		case i.Types != "":
			steps = append(steps, step{kind: types, types: typeForm(i.Types)})
		default:
			steps = append(steps, step{kind: attribute, text: i.Attr, value: attrKind(i.Kind)})
		}
	}
	return steps
}

// read reads an operation whose name has been read.
func (f *form) read(r *reader, op *Op) {
	if f.code != nil {
		f.code(r, op)
		return
	}
	if f.room > 0 {
		op.Attrs = cutOf(&r.attrs, f.room)[:0]
	}
	r.steps(f.steps, op)
}

func (r *reader) steps(steps []step, op *Op) {
	for i := range steps {
		s := &steps[i]
		switch s.kind {
		case literal:
			r.expect(s.text)
		case operand:
			uses := cutOf(&r.uses, len(op.Operands)+1)
			copy(uses, op.Operands)
			uses[len(op.Operands)] = r.use()
			op.Operands = uses
		case operands:
			if list := r.useList(); op.Operands == nil {
				op.Operands = list
			} else {
				op.Operands = append(slices.Clip(op.Operands), list...)
			}
		case attribute:
			r.setAttr(op, s.text, s.value(r))
		case optional:
			if r.is(s.group[0].text) {
				save, n := r.pos, len(s.group)
				// A comma may be that of a later part.
				if r.accept(s.group[0].text); n > 1 && s.group[1].kind == literal && !r.is(s.group[1].text) {
					r.pos = save
					continue
				}
				r.pos = save
				r.steps(s.group, op)
			}
		case dictionary:
			r.attributes(op)
		case types:
			s.types(r, op)
		}
	}
}

// setAttr adds an attribute that the syntax of an operation has.
func (r *reader) setAttr(op *Op, name string, v Attr) {
	if op.Attrs.Has(name) {
		r.failAt(op.Pos, "'%s' has the attribute %s twice", op.Name, name)
	}
	op.Attrs = append(op.Attrs, NamedAttr{name, v})
}

// attrKind is how an attribute is read whose kind the form knows.
func attrKind(kind string) func(r *reader) Attr {
	switch kind {
	case "i64", "i32":
		e, _ := ElementByName(kind)
		return func(r *reader) Attr { return Int{r.integer(), r.types.Scalar(e)} }
	case "ints":
		return (*reader).ints
	case "bool":
		return func(r *reader) Attr {
			switch {
			case r.accept("true"):
				return Bool(true)
			case r.accept("false"):
				return Bool(false)
			}
			r.fail("expected true or false, got %s", r.next())
			return nil
		}
	case "string":
		return func(r *reader) Attr { return String(r.quoted()) }
	case "symbol":
		return func(r *reader) Attr { return r.symbol() }
	case "name": // a symbol that is kept as a string
		return func(r *reader) Attr { return String(r.symbol()) }
	case "raw":
		return func(r *reader) Attr { return Text(r.balanced()) }
	case "attr":
		return (*reader).attr
	case "word":
		return func(r *reader) Attr { return String(r.word("a word")) }
	}
	words := enums[kind]
	values := make([]Attr, len(words))
	for i, w := range words {
		values[i] = Enum{kind, w}
	}
	return func(r *reader) Attr { return values[slices.Index(words, r.enumValue(kind, words).Value)] }
}

// intList reads `[1, 2]`.
func (r *reader) intList() DenseArray {
	var room [16]int64
	list := room[:0]
	r.expect("[")
	for !r.accept("]") {
		if len(list) > 0 {
			r.expect(",")
		}
		list = append(list, r.integer())
	}
	// No room is left at the end: the list may be shared.
	return DenseArray{r.types.Scalar(hlo.S64), append(make([]int64, 0, len(list)), list...)}
}

// typeForm is how types are read that a form calls name.
func typeForm(name string) func(r *reader, op *Op) {
	if f := shapeTypes[name]; f != nil {
		return f
	}
	return typeForms[name]
}

// typeForms are the ways in which types stand at the end of an operation.
var typeForms map[string]func(r *reader, op *Op)

func init() {
	typeForms = map[string]func(r *reader, op *Op){
		"type":    (*reader).sameTypes,
		"fn":      (*reader).sameTypes,
		"complex": (*reader).complexTypes,
		"select":  (*reader).selectTypes,
		"each":    (*reader).eachType,
		"return":  (*reader).returnTypes,
		"tuple":   (*reader).tupleTypes,
		"arrow":   (*reader).arrowTypes,
	}
}

// sameTypes: one type for all operands and the result, or a function type.
func (r *reader) sameTypes(op *Op) {
	r.expect(":")
	t := r.typ()
	if t.Kind == Func {
		r.signature(op, t)
		return
	}
	for i, v := range op.Operands {
		r.sameType(op, i, v, t)
	}
	r.result(op, t)
}

// complexTypes: the type of the result; the operands have its real type.
func (r *reader) complexTypes(op *Op) {
	r.expect(":")
	t := r.typ()
	if t.Kind == Func {
		r.signature(op, t)
		return
	}
	if t.Kind != Tensor || !t.Elem.IsComplex() {
		r.failAt(op.Pos, "'%s' makes complex numbers, not %v", op.Name, t)
	}
	part := r.types.WithElem(t, t.Elem.ComponentType())
	for i, v := range op.Operands {
		r.sameType(op, i, v, part)
	}
	r.result(op, t)
}

// selectTypes: the type of the predicate and that of the rest.
func (r *reader) selectTypes(op *Op) {
	r.expect(":")
	t := r.typ()
	if t.Kind == Func {
		r.signature(op, t)
		return
	}
	r.expect(",")
	r.firstAndRest(op, t, r.typ())
}

// firstAndRest gives the first operand one type, the others and the result another.
func (r *reader) firstAndRest(op *Op, first, rest *Type) {
	for i, v := range op.Operands {
		want := rest
		if i == 0 {
			want = first
		}
		r.sameType(op, i, v, want)
	}
	r.result(op, rest)
}

// eachType: a type for each operand; the results have the same. Without operands there are none.
func (r *reader) eachType(op *Op) {
	if len(op.Operands) == 0 {
		r.expect("(")
		r.expect(")")
		return
	}
	r.results(op, r.operandTypes(op))
}

// returnTypes: a type for each operand, and no results.
func (r *reader) returnTypes(op *Op) {
	if len(op.Operands) > 0 {
		r.operandTypes(op)
	}
}

// operandTypes reads a colon and a type for each operand.
func (r *reader) operandTypes(op *Op) []*Type {
	r.expect(":")
	list := make([]*Type, 0, len(op.Operands))
	for {
		list = append(list, r.typ())
		if !r.accept(",") {
			break
		}
	}
	if len(list) != len(op.Operands) {
		r.failAt(op.Pos, "'%s' has %d operands and %d types", op.Name, len(op.Operands), len(list))
	}
	for i, v := range op.Operands {
		r.sameType(op, i, v, list[i])
	}
	return list
}

// tupleTypes: the tuple of the operands' types.
func (r *reader) tupleTypes(op *Op) {
	r.expect(":")
	t := r.typ()
	if t.Kind == Func {
		r.signature(op, t)
		return
	}
	if t.Kind != Tuple || len(t.Parts) != len(op.Operands) {
		r.failAt(op.Pos, "'%s' of %d operands has the type %v", op.Name, len(op.Operands), t)
	}
	for i, v := range op.Operands {
		r.sameType(op, i, v, t.Parts[i])
	}
	r.result(op, t)
}

// arrowTypes: the types of the operands, an arrow, those of the results; parentheses around the operands are not needed.
func (r *reader) arrowTypes(op *Op) {
	r.expect(":")
	var in []*Type
	if r.accept("(") {
		in = r.typesUntil(")")
	} else {
		for {
			in = append(in, r.typ())
			if !r.accept(",") {
				break
			}
		}
	}
	var out []*Type
	if r.accept("->") {
		out = r.resultTypes()
	} else if len(in) == 1 { // all of one type
		out = in
		for len(in) < len(op.Operands) {
			in = append(slices.Clip(in), in[0])
		}
	} else {
		r.expect("->")
	}
	r.signature(op, r.types.Func(in, out))
}
