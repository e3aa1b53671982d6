package hostprog

import "github.com/gohalo/halo/runtime/bef"

// Names of ops with a meaning of their own.
const (
	moduleOp = "builtin.module"
	funcOp   = "func.func"
	returnOp = "tfrt.return"
)

// Attributes with a meaning of their own.
const (
	attrSymName      = "sym_name"
	attrVisibility   = "sym_visibility"
	attrFuncType     = "function_type"
	attrArgAttrs     = "arg_attrs"
	attrNative       = "tfrt.native"
	attrSync         = "tfrt.sync"
	attrCompiled     = "tfrt.compiled"
	attrThreshold    = "tfrt.cost_threshold"
	attrMergeStreams = "tfrt.merge_inter_dependent_streams"
	attrCost         = "_tfrt_cost"
	attrNonStrict    = "bef.nonstrict"
)

// Program is a host program. The module that holds everything is there even if
// the text does not write it.
type Program struct {
	File   string
	Module *Op
	src    string
	// generic asks the printer for generic forms: a file without types does
	// not verify.
	generic bool
	// exact asks it for locations.
	exact bool
}

// Op is an operation: a kernel call, a return, a function or a module.
type Op struct {
	Name     string
	Operands []*Value
	Results  []*Value
	Attrs    Dict
	Regions  []*Region
	Pos      Position
	// Loc is what the text says in a trailing loc; else the op is at Pos.
	Loc *bef.Location
	// Text is that of a module that belongs to another compiler, verbatim.
	Text string

	parent  *Region
	symbols map[string]*Op // of a module
}

// Region is a block of ops with its arguments.
type Region struct {
	Args []*Value
	Ops  []*Op

	parent *Op
}

// Value is a result of an op or an argument of a region.
type Value struct {
	Type Type
	// Op makes the value as its result number Index; nil for an argument.
	Op    *Op
	Index int
	// Region has the value as its argument number Index; nil for a result.
	Region *Region

	uses int
}

func (op *Op) addRegion() *Region {
	r := &Region{parent: op}
	op.Regions = append(op.Regions, r)
	return r
}

func (r *Region) addArg(t Type) *Value {
	v := &Value{Type: t, Region: r, Index: len(r.Args)}
	r.Args = append(r.Args, v)
	return v
}

func (r *Region) add(op *Op) {
	op.parent = r
	r.Ops = append(r.Ops, op)
}

func (op *Op) addResult(t Type) *Value {
	v := &Value{Type: t, Op: op, Index: len(op.Results)}
	op.Results = append(op.Results, v)
	return v
}

func (op *Op) addOperand(v *Value) {
	v.uses++
	op.Operands = append(op.Operands, v)
}

// Body is a function's or module's region, or nil.
func (op *Op) Body() *Region {
	if len(op.Regions) == 0 {
		return nil
	}
	return op.Regions[0]
}

// IsFunc reports whether an op is a function.
func (op *Op) IsFunc() bool { return op.Name == funcOp }

// IsModule reports whether an op is a module.
func (op *Op) IsModule() bool { return op.Name == moduleOp }

// SymName is the name of a function or module, without its @.
func (op *Op) SymName() string { return op.Attrs.Text(attrSymName) }

// Signature is a function's types.
func (op *Op) Signature() (args, results []Type) {
	a, _ := op.Attrs.Get(attrFuncType)
	return a.In, a.Out
}

// terminator is the last op, or nil.
func (r *Region) terminator() *Op {
	if len(r.Ops) == 0 {
		return nil
	}
	return r.Ops[len(r.Ops)-1]
}

// enclosing returns the nearest op of that name around op, or nil.
func (op *Op) enclosing(name string) *Op {
	for r := op.parent; r != nil; r = r.parent.parent {
		if r.parent.Name == name {
			return r.parent
		}
	}
	return nil
}

// symbol finds a function or module by name in the module around op.
func (op *Op) symbol(name string) *Op {
	m := op.enclosing(moduleOp)
	if m == nil {
		return nil
	}
	return m.symbols[name]
}

// declare makes a function or module known by its name; false if there is one.
func (r *Region) declare(op *Op) bool {
	name := op.SymName()
	if name == "" {
		return true
	}
	if r.parent.symbols[name] != nil {
		return false
	}
	if r.parent.symbols == nil {
		r.parent.symbols = make(map[string]*Op)
	}
	r.parent.symbols[name] = op
	return true
}

// Functions are the program's functions, in the order of the text, those of
// nested modules included.
func (p *Program) Functions() []*Op {
	var fs []*Op
	walk(p.Module, func(op *Op) {
		if op.IsFunc() {
			fs = append(fs, op)
		}
	})
	return fs
}

// walk visits op after all that it holds.
func walk(op *Op, visit func(*Op)) {
	for _, r := range op.Regions {
		for _, o := range r.Ops {
			walk(o, visit)
		}
	}
	visit(op)
}
