package hostprog

import (
	"fmt"
	"slices"
	"strings"
)

// Config says how a text is read. The zero value knows the standard ops.
type Config struct {
	// Ops are the ops that are checked; nil means Standard.
	Ops *OpTable
}

func (c Config) ops() *OpTable {
	if c.Ops == nil {
		return standard()
	}
	return c.Ops
}

// verifier checks ops inner first and stops at the first finding of each function.
type verifier struct {
	table *OpTable
	errs  ErrorList
}

// Verify checks a program: operands, results and attributes against the rows
// of the ops, functions against their returns, calls against their callees.
// The error is an [ErrorList] with at most one finding for each function.
func Verify(p *Program, c Config) error {
	v := verifier{table: c.ops()}
	v.module(p.Module)
	return v.errs.located(p.src)
}

func (v *verifier) module(m *Op) {
	if d := catch(func() { v.ops(m.Body()) }); d != nil {
		v.errs = append(v.errs, d)
	}
}

// ops checks a region; functions and modules in it report on their own.
func (v *verifier) ops(r *Region) {
	if r == nil {
		return
	}
	for _, op := range r.Ops {
		switch {
		case op.IsModule():
			v.module(op)
		case op.IsFunc():
			if d := catch(func() { v.ops(op.Body()) }); d != nil {
				v.errs = append(v.errs, d)
			}
		default:
			for _, inner := range op.Regions {
				v.ops(inner)
			}
			v.op(op)
		}
	}
}

func (v *verifier) op(op *Op) {
	d := v.table.Lookup(op.Name)
	if d == nil {
		return
	}
	if msg := d.mismatch(op); msg != "" {
		fail(op.Pos, "'%s' op %s", op.Name, msg)
	}
	if op.Name == returnOp {
		verifyReturn(op)
	}
	if d.Verify == nil {
		return
	}
	if at, msg := d.Verify(op); msg != "" {
		if at == nil {
			at = op
		}
		if bare, ok := strings.CutPrefix(msg, " "); ok {
			fail(at.Pos, "%s", bare)
		}
		fail(at.Pos, "'%s' op %s", at.Name, msg)
	}
}

// operandCount is what to say of n operands, or "".
func (d *OpDef) operandCount(n int) string {
	want := len(d.Operands)
	least := max(want-d.Optional, d.AtLeast)
	switch {
	case d.Variadic && n < least:
		return fmt.Sprintf("expected %d or more operands, but found %d", least, n)
	case d.Variadic || n >= want-d.Optional && n <= want:
		return ""
	case want == 0:
		return "requires zero operands"
	case want == 1:
		return "requires a single operand"
	}
	return fmt.Sprintf("expected %d operands, but found %d", want, n)
}

// mismatch compares an op with its row.
func (d *OpDef) mismatch(op *Op) string {
	if msg := d.operandCount(len(op.Operands)); msg != "" {
		return msg
	}
	if !d.AnyResults && !d.Carried && len(op.Results) != len(d.Results) {
		switch n := len(d.Results); n {
		case 0:
			return "requires zero results"
		case 1:
			return "requires one result"
		default:
			return fmt.Sprintf("expected %d results", n)
		}
	}
	if len(op.Regions) != d.regions {
		return fmt.Sprintf("requires %d regions", d.regions)
	}
	for i, t := range d.Operands {
		if i < len(op.Operands) && t != AnyType && op.Operands[i].Type != t {
			return fmt.Sprintf("operand #%d must be %s, but got '%s'", i, describe(t), op.Operands[i].Type)
		}
	}
	for i, t := range d.Results {
		if !d.AnyResults && t != AnyType && op.Results[i].Type != t {
			return fmt.Sprintf("result #%d must be %s, but got '%s'", i, describe(t), op.Results[i].Type)
		}
	}
	for _, a := range d.Attrs {
		got, ok := op.Attrs.Get(a.Name)
		if !ok {
			return fmt.Sprintf("requires attribute '%s'", a.Name)
		}
		if !a.Is(got) {
			return fmt.Sprintf("attribute '%s' failed to satisfy constraint: %s", a.Name, a.Want)
		}
	}
	return ""
}

// verifyReturn compares a function's return with its signature.
func verifyReturn(op *Op) {
	f := op.parent.parent
	if f == nil || !f.IsFunc() {
		return
	}
	_, want := f.Signature()
	if len(op.Operands) != len(want) {
		fail(op.Pos, "'tfrt.return' op has %d operands, but enclosing function returns %d", len(op.Operands), len(want))
	}
	for i, v := range op.Operands {
		if v.Type != want[i] {
			fail(op.Pos, "type of return operand %d ('%s') doesn't match function result type ('%s')", i, v.Type, want[i])
		}
	}
}

func typesOf(values []*Value) []Type {
	t := make([]Type, len(values))
	for i, v := range values {
		t[i] = v.Type
	}
	return t
}

// bodyReturn checks that a region ends in a return of these types; nil allows any.
func bodyReturn(op *Op, r *Region, want []Type) (*Op, string) {
	ret := r.terminator()
	if ret == nil || ret.Name != returnOp {
		return op, "expected tfrt.return in body"
	}
	if want != nil && !slices.Equal(typesOf(ret.Operands), want) {
		return ret, "operand types don't match '" + op.Name + "' result"
	}
	return nil, ""
}

func verifyIf(op *Op) (*Op, string) {
	want := typesOf(op.Operands[1:])
	for i, r := range op.Regions {
		got := typesOf(r.Args)
		if len(got) != len(want) {
			return op, "incorrect number of arguments to '" + [2]string{"then", "else"}[i] + "' block"
		}
		if !slices.Equal(got, want) {
			return op, "operand/argument type mismatch"
		}
		if at, msg := bodyReturn(op, r, typesOf(op.Results)); msg != "" {
			return at, msg
		}
	}
	return nil, ""
}

// callee finds the function that an attribute names.
func callee(op *Op, a Attr) (*Op, string) {
	name, ok := a.flatSymbol()
	if ok {
		if f := op.symbol(name); f != nil && f.IsFunc() {
			return f, ""
		}
	}
	return nil, "'" + strings.Join(a.Symbol, "::@") + "' does not reference a valid function"
}

// calls compares a callee's signature with what it is given and gives.
func calls(op *Op, attr string, args []*Value, results []Type, suffix string) string {
	a, _ := op.Attrs.Get(attr)
	return callsAttr(op, a, args, results, suffix)
}

func callsAttr(op *Op, a Attr, args []*Value, results []Type, suffix string) string {
	f, msg := callee(op, a)
	if msg != "" {
		return msg
	}
	in, out := f.Signature()
	switch {
	case len(in) != len(args):
		return "incorrect number of operands for " + suffix
	case !slices.Equal(in, typesOf(args)):
		return "operand type mismatch" + mismatchSuffix(suffix)
	case len(out) != len(results):
		return "incorrect number of results for " + suffix
	case !slices.Equal(out, results):
		return "result type mismatch" + mismatchSuffix(suffix)
	}
	return ""
}

func mismatchSuffix(s string) string {
	if s == "callee" {
		return ""
	}
	return " for " + s
}

func verifyCall(op *Op) (*Op, string) {
	return nil, calls(op, "callee", op.Operands, typesOf(op.Results), "callee")
}

func verifyOnce(op *Op) (*Op, string) {
	return nil, calls(op, "function", op.Operands, typesOf(op.Results), "callee")
}

func verifyCond(op *Op) (*Op, string) {
	args, results := op.Operands[1:], typesOf(op.Results)
	if msg := calls(op, "a_true_fn", args, results, "true function"); msg != "" {
		return nil, msg
	}
	return nil, calls(op, "b_false_fn", args, results, "false function")
}

func verifyCase(op *Op) (*Op, string) {
	branches, _ := op.Attrs.Get("branches")
	if len(branches.Elems) == 0 {
		return nil, "requires at least one branch"
	}
	for _, b := range branches.Elems {
		if msg := callsAttr(op, b, op.Operands[1:], typesOf(op.Results), "callee"); msg != "" {
			return nil, msg
		}
	}
	return nil, ""
}

func verifyWhile(op *Op) (*Op, string) {
	args, results := op.Operands[1:], typesOf(op.Results)
	if !slices.Equal(typesOf(args), results) {
		return nil, "operand/result type mismatch"
	}
	return nil, calls(op, "body_fn", args, append(results, "i1"), "callee")
}

func verifyRepeat(op *Op) (*Op, string) {
	carried := typesOf(op.Operands[1:])
	if len(carried) != len(op.Results) {
		return nil, "incorrect number of operands"
	}
	if !slices.Equal(carried, typesOf(op.Results)) || !slices.Equal(carried, typesOf(op.Regions[0].Args)) {
		return nil, "operand/result type mismatch"
	}
	return bodyReturn(op, op.Regions[0], typesOf(op.Results))
}

func verifyParallelFor(op *Op) (*Op, string) {
	want := append([]Type{"i32", "i32"}, typesOf(op.Operands[3:])...)
	if !slices.Equal(typesOf(op.Regions[0].Args), want) {
		return nil, "operand/argument type mismatch"
	}
	at, msg := bodyReturn(op, op.Regions[0], nil)
	if msg != "" {
		return at, msg
	}
	ret := op.Regions[0].terminator()
	if t := typesOf(ret.Operands); len(t) > 1 || len(t) == 1 && t[0] != chainType {
		return ret, "operand types don't match '" + op.Name + "' result"
	}
	return nil, ""
}

func verifyParallelCall(op *Op) (*Op, string) {
	a, _ := op.Attrs.Get("callee")
	f, msg := callee(op, a)
	if msg != "" {
		return nil, msg
	}
	in, out := f.Signature()
	switch args := typesOf(op.Operands[3:]); {
	case len(in) != len(args)+2:
		return nil, "incorrect number of callee operands"
	case in[0] != "i32" || in[1] != "i32":
		return nil, "callee must take stard and end indices first"
	case !slices.Equal(in[2:], args):
		return nil, "operand type mismatch"
	case len(out) > 1:
		return nil, "invalid callee result type"
	case len(out) == 1 && out[0] != chainType:
		return nil, "async callee must return a chain"
	}
	return nil, ""
}

func verifyDoAsync(op *Op) (*Op, string) {
	if !slices.Equal(typesOf(op.Regions[0].Args), typesOf(op.Operands)) {
		return nil, "operand/argument type mismatch"
	}
	return bodyReturn(op, op.Regions[0], typesOf(op.Results))
}

func verifyBenchmark(op *Op) (*Op, string) {
	if !slices.Equal(typesOf(op.Regions[0].Args), typesOf(op.Operands)) {
		return nil, "operand/argument type mismatch"
	}
	ret := op.Regions[0].terminator()
	if ret == nil || ret.Name != returnOp {
		return nil, "missing return statement"
	}
	if len(ret.Operands) != 1 {
		return nil, "incorrect number of return values. One return value is expected"
	}
	return nil, ""
}

func verifyCost(op *Op) (*Op, string) {
	cost, ok := op.Attrs.Int(attrCost)
	switch {
	case !ok:
		return nil, "cost attribute not found"
	case cost <= 0:
		return nil, "cost value must be larger than 0"
	}
	return nil, ""
}
