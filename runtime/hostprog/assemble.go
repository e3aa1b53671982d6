package hostprog

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/runtime/bef"
)

// AssembleOptions choose what becomes of a program. The zero value is TFRT's.
type AssembleOptions struct {
	// NoOptionalSections leaves out of the type table what only section 8
	// would need. It goes together with the option of bef.Encode.
	NoOptionalSections bool
	// Ops say which costs count; nil means Standard.
	Ops *OpTable
}

// Assemble makes a file of a program that was verified. Numbers are given out
// in the order of a walk that visits an op after all that it holds, so that
// equal programs make equal files. Kernels marked bef.nonstrict are listed in
// the file's section 0x84, for which bef.Encode needs Extensions.
//
// The error is an [ErrorList] of what a file cannot say.
func Assemble(p *Program, o AssembleOptions) (*bef.File, error) {
	a := assembler{o: o, b: bef.NewBuilder(), funcs: make(map[*Region]bef.FuncID), named: make(map[*Op]bef.FuncID), names: make(map[string]bool), units: make(map[*Op]uint64)}
	a.exactly(p.Module)
	a.collect(p.Module)
	if len(a.errs) == 0 {
		a.emit()
	}
	if err := a.errs.located(p.src); err != nil {
		return nil, err
	}
	f, err := a.b.File()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	f.Attrs.Align = max(f.Attrs.Align, a.align)
	return f, nil
}

type assembler struct {
	o     AssembleOptions
	b     *bef.Builder
	errs  ErrorList
	list  []entry // in the order of their ids
	funcs map[*Region]bef.FuncID
	named map[*Op]bef.FuncID
	names map[string]bool
	units map[*Op]uint64 // ids of compiled modules, by first reference
	align int            // of the pool at least
}

// entry is a function of the file: a function of the program, or a region that
// an op owns.
type entry struct {
	op     *Op // function, or owner of the region
	body   *Region
	native bool
}

func (a *assembler) errorf(op *Op, format string, args ...any) {
	a.errs = append(a.errs, &Diagnostic{Pos: op.Pos, Msg: fmt.Sprintf(format, args...)})
}

// collect is the walk: it numbers types, kernels, constants and functions by
// first sight, and refuses what cannot be written.
func (a *assembler) collect(op *Op) {
	if op.Text != "" {
		return
	}
	for _, r := range op.Regions {
		for _, o := range r.Ops {
			a.collect(o)
		}
	}
	switch {
	case op.IsModule(), op.Name == returnOp:
		return
	case op.IsFunc():
		a.collectFunc(op)
		return
	}
	if a.parentless(op) {
		a.errorf(op, "BEF files cannot hold '%s' outside of a function", op.Name)
		return
	}
	for _, v := range op.Results {
		a.b.Type(string(v.Type))
	}
	a.b.KernelCode(op.Name)
	a.collectAttrs(op)
	for _, r := range op.Regions {
		for _, v := range r.Args {
			a.b.Type(string(v.Type))
		}
		if a.checkBody(op, r) {
			a.funcs[r] = bef.FuncID(len(a.list))
			a.list = append(a.list, entry{op: op, body: r})
		}
	}
}

func (a *assembler) parentless(op *Op) bool { return op.parent == nil || op.parent.parent.IsModule() }

func (a *assembler) collectFunc(op *Op) {
	in, out := op.Signature()
	for _, t := range in {
		a.b.Type(string(t))
	}
	e := entry{op: op, body: op.Body(), native: op.Attrs.Has(attrNative)}
	switch {
	case e.native:
		if e.body != nil {
			a.errorf(op, "native function @%s cannot have a body", op.SymName())
			return
		}
		for _, t := range out {
			a.b.Type(string(t))
		}
	case e.body == nil:
		a.errorf(op, "external functions are not allowed")
		return
	case !a.checkBody(op, e.body):
		return
	}
	if a.names[op.SymName()] {
		// Of another module: a file has one table for all.
		a.errorf(op, "redefinition of symbol named '%s'", op.SymName())
		return
	}
	a.names[op.SymName()] = true
	a.named[op] = bef.FuncID(len(a.list))
	a.list = append(a.list, e)
}

// checkBody refuses bodies that do not end in a return or that refer to values
// around them.
func (a *assembler) checkBody(owner *Op, r *Region) bool {
	last := r.terminator()
	if last == nil || last.Name != returnOp {
		if last == nil {
			last = owner
		}
		a.errorf(last, "all functions need to have a tfrt.return")
		return false
	}
	for i, op := range r.Ops {
		if op.Name == returnOp && i+1 < len(r.Ops) {
			a.errorf(op, "return op must be at the end of its block")
			return false
		}
		for _, v := range op.Operands {
			if v.Region != r && (v.Op == nil || v.Op.parent != r) {
				a.errorf(op, "BEF executor only supports references to kernels within the current region")
				return false
			}
		}
	}
	if !owner.IsFunc() || !owner.Attrs.Has(attrSync) {
		return true
	}
	seen := make(map[*Value]bool)
	for i, v := range last.Operands {
		if v.Region != nil {
			a.errorf(last, "return value %d is an argument in a sync function", i)
			return false
		}
		if seen[v] {
			a.errorf(last, "return value %d is duplicated in a sync function", i)
			return false
		}
		seen[v] = true
	}
	return true
}

// isControl says whether an attribute is for this program's tools alone.
func isControl(name string) bool { return name == attrCost || name == attrNonStrict || isExact(name) }

// functionRefs says whether an attribute belongs to the function list: a name
// of a function, or a list that begins with one.
func functionRefs(a Attr) bool {
	if a.Kind == ArrayAttr && len(a.Elems) > 0 {
		a = a.Elems[0]
	}
	_, ok := a.flatSymbol()
	return ok
}

func (a *assembler) collectAttrs(op *Op) {
	for _, e := range op.Attrs {
		if isControl(e.Name) || a.isFunctions(op, e.Attr) {
			continue
		}
		v, ok := a.value(op, e.Attr)
		if !ok {
			a.errorf(op, "BEF files cannot encode the '%s' attribute", e.Name)
			continue
		}
		if _, err := a.b.Pool.Add(v); err != nil {
			a.errorf(op, "BEF files cannot encode the '%s' attribute: %v", e.Name, err)
			continue
		}
		if !a.o.NoOptionalSections {
			a.attrTypes(e.Attr)
		}
	}
}

// isFunctions is functionRefs, but for names of compiled modules, which are constants.
func (a *assembler) isFunctions(op *Op, at Attr) bool {
	if !functionRefs(at) {
		return false
	}
	if name, ok := at.flatSymbol(); ok {
		to := op.symbol(name)
		return to == nil || to.Text == ""
	}
	return true
}

// attrTypes names the types of numbers. The format has them, though no reader needs them.
func (a *assembler) attrTypes(at Attr) {
	switch at.Kind {
	case IntAttr, FloatAttr:
		a.b.Type(string(at.Type))
	case ArrayAttr:
		for _, e := range at.Elems {
			a.attrTypes(e)
		}
	}
}

// value is what is stored for an attribute.
func (a *assembler) value(op *Op, at Attr) (bef.Value, bool) {
	switch at.Kind {
	case IntAttr, FloatAttr:
		t, ok := dataType(at.Type)
		return bef.Bits(t, at.Bits), ok && t.Size() > 0 && t.Size() <= 8
	case StringAttr:
		return bef.String(at.Text), true
	case TypeAttr:
		t, ok := dataType(at.Type)
		return bef.TypeValue(t), ok
	case ShapeAttr:
		if at.Dims == nil {
			return bef.UnrankedShape(), true
		}
		return bef.Shape(at.Dims...), true
	case DenseAttr:
		return bef.Dense(at.Elem, at.Dims, at.Data), strings.HasPrefix(string(at.Type), "tensor<")
	case ArrayAttr:
		elems := make([]bef.Value, len(at.Elems))
		for i, e := range at.Elems {
			v, ok := a.value(op, e)
			if !ok {
				return bef.Value{}, false
			}
			elems[i] = v
		}
		return bef.List(elems...), true
	case SymbolAttr:
		unit := op.symbol(at.Symbol[0])
		if unit == nil || unit.Text == "" {
			return bef.Value{}, false
		}
		id, ok := a.units[unit]
		if !ok {
			id = uint64(len(a.units))
			a.units[unit] = id
		}
		return bef.SymbolRef(bef.Symbol{ID: id, Root: at.Symbol[0], Nested: at.Symbol[1:], Text: unit.Text}), true
	}
	return bef.Value{}, false
}

// emit builds the functions, now that all have their numbers.
func (a *assembler) emit() {
	for _, e := range a.list {
		name, kind := "", bef.Async
		var in, out []Type
		switch {
		case e.op.IsFunc():
			name = e.op.SymName()
			in, out = e.op.Signature()
			if e.op.Attrs.Has(attrSync) {
				kind = bef.Sync
			}
			if e.native {
				kind = bef.Native
			}
		default:
			in, out = typesOf(e.body.Args), typesOf(e.body.terminator().Operands)
		}
		fn := a.b.Function(name, kind, a.types(in), a.types(out))
		if kind != bef.Native {
			fn.SetLocation(opLocation(e.op))
			a.body(fn, e)
		}
	}
}

func (a *assembler) types(list []Type) []bef.TypeID {
	ids := make([]bef.TypeID, len(list))
	for i, t := range list {
		ids[i] = a.b.Type(string(t))
	}
	return ids
}

func opLocation(op *Op) bef.Location {
	switch {
	case op.Loc != nil:
		return *op.Loc
	case op.Attrs.Has(attrNoLoc):
		return bef.Location{}
	}
	return bef.At(op.Pos.File, op.Pos.Line, op.Pos.Column)
}

func (a *assembler) body(fn *bef.FuncBuilder, e entry) {
	streams := analyse(e.op, e.body, a.o.Ops)
	regs := make(map[*Value]bef.RegID)
	for i, v := range e.body.Args {
		regs[v] = fn.Arg(i)
	}
	operands := func(op *Op) []bef.RegID {
		list := make([]bef.RegID, len(op.Operands))
		for i, v := range op.Operands {
			list[i] = regs[v]
		}
		return list
	}
	for i, op := range e.body.Ops {
		if op.Name == returnOp {
			fn.Return(operands(op)...)
			return
		}
		spec := bef.KernelSpec{Name: op.Name, Args: operands(op), Results: a.types(typesOf(op.Results)), Loc: opLocation(op),
			Stream: uint32(streams.ops[i].stream), NonStrict: op.Attrs.Has(attrNonStrict)}
		if s, ok := op.Attrs.Int(attrStream); ok && s >= 0 && s < 1<<31 {
			spec.Stream = uint32(s)
		}
		for _, e := range op.Attrs {
			switch {
			case isControl(e.Name):
			case a.isFunctions(op, e.Attr):
				spec.Funcs = a.appendFuncs(spec.Funcs, op, e.Attr)
			default:
				v, _ := a.value(op, e.Attr)
				spec.Attrs = append(spec.Attrs, bef.NamedValue{Name: e.Name, Value: v})
			}
		}
		for _, r := range op.Regions {
			spec.Funcs = append(spec.Funcs, a.funcs[r])
		}
		for j, reg := range fn.Kernel(spec) {
			regs[op.Results[j]] = reg
		}
	}
}

// appendFuncs adds the functions that an attribute names.
func (a *assembler) appendFuncs(list []bef.FuncID, op *Op, at Attr) []bef.FuncID {
	refs := []Attr{at}
	if at.Kind == ArrayAttr {
		refs = at.Elems
	}
	for _, ref := range refs {
		name, _ := ref.flatSymbol()
		to := op.symbol(name)
		id, ok := a.named[to]
		if to == nil || !ok {
			a.errorf(op, "function @%s not defined", strings.Join(ref.Symbol, "::@"))
			return list
		}
		list = append(list, id)
	}
	return list
}
