package stablehlo

import (
	"errors"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
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
