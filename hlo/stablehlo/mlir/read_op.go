package mlir

import (
	"fmt"
	"slices"
	"strings"
)

// resultNames is the left side of an operation: names with how many results each has.
type resultNames struct {
	name  string
	count int
	at    int
}

// op reads an operation.
func (r *reader) op() *Op {
	r.enter()
	defer r.leave()
	var few [4]resultNames
	names := few[:0]
	if r.peek() == '%' {
		names = r.resultNames(names)
	}
	r.space()
	op := r.newOp(r.pos)
	if r.peek() == '"' {
		op.Name = r.quoted()
		r.generic(op)
	} else {
		r.custom(op)
	}
	if r.is("loc") {
		op.Loc = r.trailingLocation()
	}
	r.bind(op, names)
	return op
}

func (r *reader) resultNames(names []resultNames) []resultNames {
	for {
		if r.peek() != '%' {
			r.failExpected("%")
		}
		at := r.pos
		r.pos++
		n := resultNames{r.suffix("value"), 1, at}
		if r.accept(":") {
			r.space()
			n.count = int(min(r.natural(), 1<<30))
		}
		names = append(names, n)
		if !r.accept(",") {
			break
		}
	}
	r.expect("=")
	return names
}

// bind gives the results of an operation their names.
func (r *reader) bind(op *Op, names []resultNames) {
	if len(names) == 0 {
		return // results that nothing uses need no names
	}
	total := 0
	for _, n := range names {
		total += n.count
	}
	if total != len(op.Results) {
		r.failAt(names[0].at, "'%s' has %d results, %d are named", op.Name, len(op.Results), total)
	}
	at := 0
	for _, n := range names {
		r.define(n.name, op.Results[at:at+n.count], n.at)
		at += n.count
	}
}

// results makes the results of an operation.
func (r *reader) results(op *Op, types []*Type) {
	op.Results = cutOf(&r.values, len(types))
	for i, t := range types {
		op.Results[i] = Value{Type: t, Def: op, N: i}
	}
}

// result makes the only result of an operation.
func (r *reader) result(op *Op, t *Type) {
	op.Results = cutOf(&r.values, 1)
	op.Results[0] = Value{Type: t, Def: op}
}

// custom reads an operation in its own syntax.
func (r *reader) custom(op *Op) {
	at := r.pos
	name := r.word("an operation")
	f := r.form(name)
	if f == nil {
		r.unknownOp(at, name)
	}
	op.Name = f.name
	f.read(r, op)
}

// form is the form of an operation, nil without one. A text has few operations, so a small table before the map finds most of them.
func (r *reader) form(name string) *form {
	n := len(name)
	recent := &r.recent[(9*uint(n)+2*uint(name[n-1])+uint(name[n/2])+7*uint(name[n*3/4]))%uint(len(r.recent))]
	if *recent == nil || (*recent).name != name {
		f := r.forms[name]
		if f == nil {
			return nil
		}
		*recent = f
	}
	return *recent
}

// Dialects are those that are read.
const Dialects = "stablehlo, chlo, mhlo, sdy, shape and func"

// unknownOp says why an operation is not read.
func (r *reader) unknownOp(at int, name string) {
	dialect, rest, _ := strings.Cut(name, ".")
	switch {
	case dialect == "cf":
		r.failAt(at, "'%s': unstructured control flow is not StableHLO", name)
	case rest == "":
		r.failAt(at, "expected an operation, got '%s'", name)
	case isRead(dialect):
		if near := nearestForm(name); near != "" {
			r.failHint(at, "did you mean '"+near+"'?", "'%s' is no operation, or has no form but the generic one", name)
		}
		r.failAt(at, "'%s' is no operation, or has no form but the generic one", name)
	}
	r.failHint(at, "read are the dialects "+Dialects, "'%s' is of the dialect %s, which is not read", name, dialect)
}

func isRead(dialect string) bool {
	switch dialect {
	case "stablehlo", "chlo", "mhlo", "sdy", "func", "builtin", "vhlo", "arith", "shape", "tensor":
		return true
	}
	return false
}

// generic reads what follows the name of an operation in the generic form.
func (r *reader) generic(op *Op) {
	r.expect("(")
	op.Operands = r.useList()
	r.expect(")")
	if r.accept("[") {
		if r.peek() == '^' {
			r.failAt(op.Pos, "'%s' names successor blocks: unstructured control flow is not StableHLO", op.Name)
		}
		r.expect("]")
	}
	if r.accept("<") {
		if !r.is("{") {
			r.failExpected("{")
		}
		r.attributes(op)
		r.expect(">")
	}
	if r.is("(") {
		r.regions(op)
	}
	r.attributes(op)
	r.expect(":")
	r.signature(op, r.functionType())
}

// regions reads `({...}, {...})`.
func (r *reader) regions(op *Op) {
	r.expect("(")
	for {
		op.Regions = append(op.Regions, r.region(nil))
		if !r.accept(",") {
			break
		}
	}
	r.expect(")")
}

// signature gives an operation its results and checks its operands.
func (r *reader) signature(op *Op, t *Type) {
	if len(t.Parts) != len(op.Operands) {
		r.failAt(op.Pos, "'%s' has %d operands, its type has %d", op.Name, len(op.Operands), len(t.Parts))
	}
	for i, v := range op.Operands {
		r.sameType(op, i, v, t.Parts[i])
	}
	r.results(op, t.Out)
}

func (r *reader) sameType(op *Op, i int, v *Value, want *Type) {
	if v.Type != want {
		r.failAt(op.Pos, "operand %d of '%s' is a value of type %v, used as %v", i, op.Name, v.Type, want)
	}
}

// region reads `{ ... }`. args are defined already, if there are any.
func (r *reader) region(args []Value) Region {
	r.enter()
	defer r.leave()
	mark := r.scope.mark()
	at := r.pos
	r.expect("{")
	region := r.body(Block{Args: args, Pos: r.pos})[0]
	block := region.Blocks[0]
	first := len(r.stack)
	labelled := false
	for !r.accept("}") {
		if r.peek() == '^' {
			if labelled || len(r.stack) > first {
				r.failAt(r.pos, "a second block: unstructured control flow is not StableHLO")
			}
			labelled = true
			r.blockLabel(block)
			continue
		}
		if r.peek() == 0 {
			r.failHint(at, fmt.Sprintf("the text ends in line %d: it may be cut off", r.src.Position(r.pos).Line), "the region is never closed")
		}
		op := r.op()
		r.stack = append(r.stack, op)
	}
	block.Ops = slices.Clone(r.stack[first:])
	clear(r.stack[first:])
	r.stack = r.stack[:first]
	r.scope.forget(mark)
	return region
}

// blockLabel reads `^bb0(%x: type loc(...), ...):`.
func (r *reader) blockLabel(b *Block) {
	r.expect("^")
	r.suffix("block")
	if r.accept("(") {
		r.arguments(b, nil)
	}
	r.expect(":")
}

// argument is an argument of a block as it is written.
type argument struct {
	name string
	at   int
	typ  *Type
	loc  *Location
}

// arguments reads the arguments of a block up to the closing parenthesis. each is called after the type of each of them, for attributes.
func (r *reader) arguments(b *Block, each func(i int)) { r.defineArguments(b, r.argumentList(each)) }

func (r *reader) argumentList(each func(i int)) []argument {
	list := make([]argument, 0, 2)
	for !r.accept(")") {
		if len(list) > 0 {
			r.expect(",")
		}
		r.space()
		a := argument{at: r.pos}
		r.expect("%")
		a.name = r.suffix("value")
		r.expect(":")
		a.typ = r.typ()
		if each != nil {
			each(len(list))
		}
		if r.is("loc") {
			a.loc = r.trailingLocation()
		}
		list = append(list, a)
	}
	return list
}

func (r *reader) defineArguments(b *Block, list []argument) {
	b.Args = cutOf(&r.values, len(list))
	b.ArgLocs = cutOf(&r.locs, len(list))
	for i, a := range list {
		b.Args[i] = Value{Type: a.typ, N: i}
		b.ArgLocs[i] = a.loc
		r.define(a.name, b.Args[i:i+1:i+1], a.at)
	}
}

// dictionary reads `{a = 1, b}` and adds it to attrs.
func (r *reader) dictionary(attrs Attrs) Attrs {
	r.enter()
	defer r.leave()
	r.expect("{")
	for first := true; !r.accept("}"); first = false {
		if !first {
			r.expect(",")
		}
		r.space()
		at := r.pos
		var name string
		if r.peek() == '"' {
			name = r.quoted()
		} else {
			name = r.word("the name of an attribute")
		}
		if attrs.Has(name) {
			r.failAt(at, "the attribute %s is there twice", name)
		}
		var value Attr = Unit{}
		if r.accept("=") {
			value = r.attr()
		}
		attrs = append(attrs, NamedAttr{name, value})
	}
	return slices.Clip(attrs)
}
