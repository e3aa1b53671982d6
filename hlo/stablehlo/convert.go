package stablehlo

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/spelling"
)

// Options say how to convert.
type Options struct {
	// Shapes are those of the arguments of main, for programs with dynamic dimensions; nil when they are not known.
	Shapes []hlo.Shape // of those that are left, without Values and tokens
	// Values are integer arguments that are known, by their number: the index of the platform of an export, for instance.
	Values map[int]*hlo.Literal
	// DropTokens drops arguments and results of main that are tokens, as the first effect needs no order.
	DropTokens bool
	// Names are what the caller calls the arguments of main, as in args[0]['w']: the op_name of parameters that have none but the name of an instruction.
	Names []string // of those that are left
}

// converter makes one module:
//
//  1. functions are found; shapes are refined where they are dynamic, which makes new functions;
//  2. operations that nothing needs are dropped, constants are shared and moved;
//  3. functions become computations, each after those it calls; regions become computations just before the operation that has them.
type converter struct {
	m       *mlir.Module
	o       Options
	e       *hlo.Editor
	funcs   map[string]*function
	shapes  map[*mlir.Type]hlo.Shape
	meshes  meshes
	regions int // computations made of regions so far
	depth   int // of calls being converted
	sharing map[string]*hlo.Sharding
	frames  stackFrames
}

// function is a function of the program.
type function struct {
	name  string
	op    *mlir.Op
	body  *mlir.Block // nil: a declaration
	typ   *mlir.Type
	comp  hlo.CompID
	state uint8
}

// The states of a function.
const (
	untouched = iota
	converting
	converted
)

// failure is an error on its way to Convert.
type failure struct{ err error }

// Convert makes an HLO module of a program. The error is a [parser.ErrorList], with the place of the operation it is about.
func Convert(m *mlir.Module, o Options) (module hlo.Module, err error) {
	c := &converter{
		m: m, o: o, funcs: make(map[string]*function), shapes: make(map[*mlir.Type]hlo.Shape), sharing: make(map[string]*hlo.Sharding),
	}
	defer func() {
		if x := recover(); x != nil {
			f, mine := x.(failure)
			if !mine {
				panic(x)
			}
			module, err = hlo.Module{}, f.err
		}
	}()
	return c.module(), nil
}

func (c *converter) fail(op *mlir.Op, format string, args ...any) {
	panic(failure{c.m.Error(op, format, args...)})
}

func (c *converter) failHint(op *mlir.Op, hint, format string, args ...any) {
	panic(failure{c.m.ErrorHint(op, hint, format, args...)})
}

// failFile is an error of the program as a whole.
func (c *converter) failFile(format string, args ...any) {
	c.fail(&mlir.Op{}, format, args...)
}

func (c *converter) module() hlo.Module {
	c.findFunctions()
	main := c.main()
	c.checkProgram()
	c.refine(main)
	for _, f := range c.funcs {
		if f.body != nil {
			c.canonicalize(f)
		}
	}
	c.e = hlo.NewModule(moduleName(c.m.Name))
	c.e.ReserveNames(c.countOps())
	c.function(main, nil)
	for _, op := range c.m.Ops { // public functions that nothing calls are kept
		if f := c.functionOf(op); f != nil && f != main && f.state == untouched && f.body != nil && isPublic(f) && f.op == op {
			c.function(f, nil)
		}
	}
	c.e.SetEntry(main.comp)
	c.config(main)
	return c.e.Freeze()
}

func moduleName(name string) string {
	if name == "" {
		return "main"
	}
	return hlo.LegalName(name)
}

func (c *converter) countOps() (n int) {
	for _, f := range c.funcs {
		f.op.Walk(func(*mlir.Op) { n++ })
	}
	return n
}

func isPublic(f *function) bool {
	v, _ := f.op.Attrs.Get("sym_visibility").(mlir.String)
	return v != "private" && v != "nested"
}

// findFunctions collects functions and meshes.
func (c *converter) findFunctions() {
	for _, op := range c.m.Ops {
		switch op.Name {
		case "func.func":
			f := &function{op: op, name: stringOf(op.Attrs.Get("sym_name"))}
			t, _ := op.Attrs.Get("function_type").(mlir.TypeAttr)
			if f.name == "" || t.Type == nil || t.Type.Kind != mlir.Func || len(op.Regions) != 1 {
				c.fail(op, "'func.func' wants a name, a type and a region")
			}
			if c.funcs[f.name] != nil {
				c.fail(op, "the function @%s is defined twice", f.name)
			}
			f.typ = t.Type
			if len(op.Regions[0].Blocks) > 0 {
				f.body = op.Regions[0].Block()
				c.checkBody(f)
			}
			c.funcs[f.name] = f
		case "sdy.mesh":
			c.meshes.add(c, op)
		default:
			c.fail(op, "'%s' outside of a function", op.Name)
		}
	}
}

func (c *converter) functionOf(op *mlir.Op) *function {
	if op.Name != "func.func" {
		return nil
	}
	return c.funcs[stringOf(op.Attrs.Get("sym_name"))]
}

// checkBody holds a function to its type.
func (c *converter) checkBody(f *function) {
	if len(f.body.Args) != len(f.typ.Parts) {
		c.fail(f.op, "@%s has %d arguments, its type has %d", f.name, len(f.body.Args), len(f.typ.Parts))
	}
	for i := range f.body.Args {
		if f.body.Args[i].Type != f.typ.Parts[i] {
			c.fail(f.op, "argument %d of @%s is %v, in its type %v", i, f.name, f.body.Args[i].Type, f.typ.Parts[i])
		}
	}
	end := f.body.Terminator()
	if end == nil || end.Name != "func.return" && end.Name != "stablehlo.return" { // JAX writes the second in comparators
		c.fail(f.op, "the body of @%s does not end in a return", f.name)
	}
	if len(end.Operands) != len(f.typ.Out) {
		c.fail(end, "@%s returns %d values, its type has %d results", f.name, len(end.Operands), len(f.typ.Out))
	}
	for i, v := range end.Operands {
		if v.Type != f.typ.Out[i] {
			c.fail(end, "result %d of @%s is %v, in its type %v", i, f.name, v.Type, f.typ.Out[i])
		}
	}
}

// main is the function to begin with: @main, or the only public one.
func (c *converter) main() *function {
	if f := c.funcs["main"]; f != nil {
		if f.body == nil {
			c.fail(f.op, "@main has no body")
		}
		return f
	}
	var names []string
	var public []*function
	for _, op := range c.m.Ops {
		if f := c.functionOf(op); f != nil {
			names = append(names, "@"+f.name)
			if isPublic(f) && f.body != nil {
				public = append(public, f)
			}
		}
	}
	if len(public) == 1 {
		return public[0]
	}
	if len(names) == 0 {
		c.failFile("the program has no functions: want @main")
	}
	c.failFile("the program has no function @main; it has %s", strings.Join(names, ", "))
	return nil
}

// checkProgram looks at every operation: whether it is known, how many operands it has, and whether calls are of functions that are there.
func (c *converter) checkProgram() {
	for _, op := range c.m.Ops {
		f := c.functionOf(op)
		if f == nil || f.body == nil {
			continue
		}
		for _, inner := range f.body.Ops {
			inner.Walk(c.checkOp)
		}
	}
}

func (c *converter) checkOp(op *mlir.Op) {
	r := rowOf(op.Name)
	if r == nil {
		c.unknownOp(op)
	}
	if n := len(op.Operands); n < r.min || r.max >= 0 && n > r.max {
		want := plural(r.min)
		if r.max < 0 {
			want = "at least " + want
		} else if r.max > r.min {
			want = "at most " + plural(r.max)
		}
		c.fail(op, "'%s' with %d operands, want %s", op.Name, n, want)
	}
	if n := len(op.Regions); n < r.regions && !(op.Name == "stablehlo.case") {
		c.fail(op, "'%s' with %d regions, want %d", op.Name, n, r.regions)
	}
	if r.results >= 0 && len(op.Results) != r.results {
		c.fail(op, "'%s' with %d results, want %d", op.Name, len(op.Results), r.results)
	}
	for i := range op.Regions {
		b := op.Regions[i].Block()
		if b == nil {
			c.fail(op, "a region of '%s' with %d blocks: unstructured control flow is not StableHLO", op.Name, len(op.Regions[i].Blocks))
		}
		if t := b.Terminator(); t == nil || !strings.HasSuffix(t.Name, ".return") && t.Name != "shape.assuming_yield" {
			c.fail(op, "a region of '%s' does not end in a return", op.Name)
		}
	}
	if op.Name == "func.call" {
		c.checkCall(op)
	}
	if op.Name == "stablehlo.while" || op.Name == "mhlo.while" {
		c.checkWhile(op)
	}
}

func (c *converter) checkCall(op *mlir.Op) {
	name := symbolOf(op.Attrs.Get("callee"))
	f := c.funcs[name]
	if f == nil {
		c.failHint(op, c.funcMeant(name), "a call of @%s, and there is no such function", name)
	}
	if f.body == nil {
		c.fail(op, "a call of @%s, which is only declared: it has no body", name)
	}
	if len(op.Operands) != len(f.typ.Parts) || len(op.Results) != len(f.typ.Out) {
		c.fail(op, "a call of @%s with %d operands and %d results, it has %d and %d", name, len(op.Operands), len(op.Results),
			len(f.typ.Parts), len(f.typ.Out))
	}
	for i, v := range op.Operands {
		if v.Type != f.typ.Parts[i] {
			c.fail(op, "operand %d of the call of @%s is %v, the function takes %v", i, name, v.Type, f.typ.Parts[i])
		}
	}
	for i := range op.Results {
		if op.Results[i].Type != f.typ.Out[i] {
			c.fail(op, "result %d of the call of @%s is %v, the function gives %v", i, name, op.Results[i].Type, f.typ.Out[i])
		}
	}
}

// funcMeant asks for the function that was meant by a name.
func (c *converter) funcMeant(name string) string {
	if near := spelling.Nearest(name, slices.Sorted(maps.Keys(c.funcs))); near != "" {
		return "did you mean @" + near + "?"
	}
	return ""
}

func (c *converter) checkWhile(op *mlir.Op) {
	if len(op.Operands) != len(op.Results) {
		c.fail(op, "'%s' has %d operands and %d results", op.Name, len(op.Operands), len(op.Results))
	}
	for i := range op.Regions {
		b := op.Regions[i].Block()
		if len(b.Args) != len(op.Operands) {
			c.fail(op, "a region of '%s' has %d arguments, the loop has %d values", op.Name, len(b.Args), len(op.Operands))
		}
	}
	cond := op.Regions[0].Block().Terminator()
	if len(cond.Operands) != 1 || cond.Operands[0].Type.Kind != mlir.Tensor || cond.Operands[0].Type.Elem != hlo.PRED {
		c.fail(op, "the condition of '%s' does not return one i1", op.Name)
	}
	if body := op.Regions[1].Block().Terminator(); len(body.Operands) != len(op.Operands) {
		c.fail(body, "the body of '%s' returns %d values, the loop has %d", op.Name, len(body.Operands), len(op.Operands))
	}
}

func (c *converter) unknownOp(op *mlir.Op) {
	dialect := op.Dialect()
	switch {
	case dialect == "cf":
		c.fail(op, "'%s': unstructured control flow is not StableHLO", op.Name)
	case op.Name == "mhlo.unknown":
		c.failHint(op, "take the program as HLO, which has it; a reshape to sizes that are computed is such an instruction",
			"'%s' stands for an instruction of HLO that XLA did not write as StableHLO", op.Name)
	case isKnownDialect(dialect):
		if near := nearestRow(op.Name); near != "" {
			c.failHint(op, "did you mean '"+near+"'?", "'%s' is unknown", op.Name)
		}
		c.fail(op, "'%s' is unknown", op.Name)
	}
	c.failHint(op, "read are the dialects "+mlir.Dialects, "'%s' is of the dialect %s, which is not read", op.Name, dialect)
}

// function makes the computation of a function, after those it calls. from is the operation that calls it.
func (c *converter) function(f *function, from *mlir.Op) hlo.CompID {
	switch f.state {
	case converted:
		return f.comp
	case converting:
		c.fail(from, "@%s calls itself: recursion is not supported", f.name)
	}
	if c.depth++; c.depth > 1000 {
		c.fail(from, "calls nested deeper than 1000")
	}
	f.state = converting
	b := newComp(c, f.name)
	b.parameters(f)
	for _, op := range f.body.Ops {
		b.convert(op)
	}
	b.results(f)
	f.comp = b.finish()
	f.state = converted
	c.depth--
	return f.comp
}

// positionOf is where an operation is.
func (c *converter) positionOf(op *mlir.Op) hlo.Position { return c.m.Position(op.Pos) }

// sharding reads a sharding in HLO's text, each text once.
func (c *converter) sharding(op *mlir.Op, text string) *hlo.Sharding {
	if s, ok := c.sharing[text]; ok {
		return s
	}
	if !strings.HasPrefix(text, "{") {
		s, err := shardingOfProto(text)
		if err != nil {
			c.fail(op, "the sharding is no text, and no serialized OpSharding: %v", err)
		}
		c.sharing[text] = s
		return s
	}
	s, err := parser.ParseSharding(text)
	if err != nil {
		c.fail(op, "sharding %q: %s", text, firstMessage(err))
	}
	c.sharing[text] = s
	return s
}

func firstMessage(err error) string {
	var list parser.ErrorList
	if errors.As(err, &list) {
		return list[0].Msg
	}
	return err.Error()
}

func stringOf(a mlir.Attr) string {
	switch a := a.(type) {
	case mlir.String:
		return string(a)
	case mlir.Symbol:
		return string(a)
	}
	return ""
}

func symbolOf(a mlir.Attr) string { return stringOf(a) }

func plural(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five"}
	if n < len(words) {
		return words[n]
	}
	return "more"
}
