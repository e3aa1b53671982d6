package hostprog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/runtime/bef"
)

// MissingSections is what to warn of when a file lacks types or names.
const MissingSections = "Missing AttributeTypes, AttributeNames or RegisterTypes sections."

// unknownValue stands for constants of a file that does not tell their types.
const unknownValue = -559038737

// Disassemble turns a file into a program. Regions go back into the ops that
// own them, functions into the attributes that named them, compiled modules
// come first. A file without types gives a text for eyes, in generic form.
// It fails for constants that are broken and for regions that contain themselves.
func Disassemble(f *bef.File) (*Program, error) {
	return newDisassembler(f).program()
}

func newDisassembler(f *bef.File) *disassembler {
	return &disassembler{f: f, p: &Program{generic: !f.Typed}, nonStrict: make(map[bef.KernelRef]bool),
		busy: make([]bool, len(f.Functions)), units: make(map[string]string)}
}

func (d *disassembler) program() (*Program, error) {
	f := d.f
	refs, err := f.NonStrict()
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		d.nonStrict[r] = true
	}
	// Kernels may share a region, and each then gets its own copy, within reason.
	d.budget = 1 << 16
	for i := range f.Functions {
		d.budget += 16 * len(f.Functions[i].Kernels)
	}
	d.p.Module = &Op{Name: moduleOp}
	body := d.p.Module.addRegion()
	var funcs []*Op
	for i := range f.Functions {
		if f.Functions[i].Name == "" {
			continue
		}
		op, err := d.function(bef.FuncID(i))
		if err != nil {
			return nil, fmt.Errorf("function %q: %w", f.Functions[i].Name, err)
		}
		funcs = append(funcs, op)
	}
	for _, op := range append(d.modules, funcs...) {
		body.add(op)
		body.declare(op)
	}
	return d.p, nil
}

type disassembler struct {
	f         *bef.File
	p         *Program
	nonStrict map[bef.KernelRef]bool
	busy      []bool            // regions that are being made
	units     map[string]string // text of compiled modules by name
	modules   []*Op
	budget    int // ops that may still be made
	depth     int // of regions
	exact     bool
}

// maxRegions is the depth of regions that text can nest.
const maxRegions = maxNesting/2 - 5

func (d *disassembler) typ(t bef.TypeID) Type {
	if int(t) >= len(d.f.Types) {
		return noneType
	}
	// A text with other characters is no type; it is shown, but not as it is.
	name := d.f.Types[t]
	for i := 0; i < len(name); i++ {
		if name[i] < ' ' || name[i] > '~' {
			name = ""
		}
	}
	if name == "" {
		return Type("!bef.type<" + quote(d.f.Types[t]) + ">")
	}
	return Type(name)
}

func (d *disassembler) types(ids []bef.TypeID) []Type {
	var list []Type
	for _, t := range ids {
		list = append(list, d.typ(t))
	}
	return list
}

func (d *disassembler) function(id bef.FuncID) (*Op, error) {
	fn := &d.f.Functions[id]
	op := &Op{Name: funcOp}
	in, out := d.types(fn.Args), d.types(fn.Results)
	op.Attrs.Set(attrSymName, stringAttr(fn.Name))
	if fn.Kind != bef.Native {
		d.locate(op, fn.Loc)
	}
	switch fn.Kind {
	case bef.Native:
		op.Attrs.Set(attrNative, Attr{Kind: UnitAttr})
		op.Attrs.Set(attrVisibility, stringAttr("private"))
	case bef.Sync:
		op.Attrs.Set(attrSync, Attr{Kind: UnitAttr})
	}
	if fn.Kind != bef.Native {
		r := op.addRegion()
		for _, t := range in {
			r.addArg(t)
		}
		if err := d.body(r, id); err != nil {
			return nil, err
		}
		// The return takes its types from the registers.
		out = typesOf(r.terminator().Operands)
	}
	op.Attrs.Set(attrFuncType, functionTypeAttr(in, out))
	return op, nil
}

// body fills a region, which has its arguments, with a function's kernels.
func (d *disassembler) body(r *Region, id bef.FuncID) error {
	fn := &d.f.Functions[id]
	if d.depth++; d.depth > maxRegions {
		return fmt.Errorf("regions nested more than %d deep", maxRegions)
	}
	d.busy[id] = true
	defer func() { d.busy[id] = false; d.depth-- }()
	values := make([]*Value, len(fn.Registers))
	copy(values, r.Args)
	use := func(op *Op, regs []bef.RegID) {
		for _, reg := range regs {
			op.addOperand(values[reg])
		}
	}
	// In text a value is defined before it is used, in a file it need not be.
	for _, i := range inOrder(fn) {
		k := &fn.Kernels[i]
		if d.budget--; d.budget < 0 {
			return errors.New("shared regions expand to too many kernels")
		}
		op := &Op{Name: d.f.Kernels[k.Code]}
		use(op, k.Args)
		for _, reg := range k.Results {
			values[reg] = op.addResult(d.typ(fn.Registers[reg].Type))
		}
		if err := d.attributes(op, k); err != nil {
			return fmt.Errorf("kernel %d, %s: %w", i+1, op.Name, err)
		}
		if d.nonStrict[bef.KernelRef{Func: id, Kernel: bef.KernelIndex(i)}] {
			op.Attrs.Set(attrNonStrict, Attr{Kind: UnitAttr})
		}
		if err := d.functions(op, k); err != nil {
			return err
		}
		if d.locate(op, k.Loc); d.exact {
			op.Attrs.Set(attrStream, intAttr("i64", int64(k.Stream)))
		}
		r.add(op)
	}
	ret := &Op{Name: returnOp}
	use(ret, fn.ResultRegs)
	r.add(ret)
	return nil
}

// inOrder is an order of the kernels in which operands come first: that of the
// file, if it is one.
func inOrder(fn *bef.Function) []int {
	order := make([]int, 0, len(fn.Kernels))
	made := make([]bool, len(fn.Registers))
	for i := range fn.Args {
		made[i] = true
	}
	missing := make([]int, len(fn.Kernels))
	var add func(i int)
	ready := []int{}
	add = func(i int) {
		order = append(order, i)
		for j, users := range fn.Kernels[i].Users {
			made[fn.Kernels[i].Results[j]] = true
			for _, u := range users {
				if missing[u]--; missing[u] == 0 && int(u) < i {
					ready = append(ready, int(u))
				}
			}
		}
	}
	for i := range fn.Kernels {
		for _, r := range fn.Kernels[i].Args {
			if int(r) >= len(fn.Args) {
				missing[i]++
			}
		}
	}
	for i := range fn.Kernels {
		if missing[i] != 0 {
			continue // added when its last operand is there
		}
		add(i)
		for len(ready) > 0 {
			next := slices.Min(ready)
			ready = slices.DeleteFunc(ready, func(x int) bool { return x == next })
			add(next)
		}
	}
	return order
}

// attributes reads a kernel's constants.
func (d *disassembler) attributes(op *Op, k *bef.Kernel) error {
	for i, a := range k.Attrs {
		name := a.Name
		if !d.f.Typed || name == "" || op.Attrs.Has(name) {
			name = "attr" + strconv.Itoa(i)
		}
		if !d.f.Typed || a.Type == 0 {
			op.Attrs.Set(name, intAttr("i32", unknownValue))
			continue
		}
		v, err := d.f.Attrs.Value(a)
		if err != nil {
			return err
		}
		at, err := d.attr(v)
		if err != nil {
			return err
		}
		op.Attrs.Set(name, at)
	}
	if def := standard().Lookup(op.Name); def != nil && def.Cost {
		op.Attrs.Set(attrCost, intAttr("i64", 1))
	}
	return nil
}

// functions puts regions into the op and names of functions into attributes.
func (d *disassembler) functions(op *Op, k *bef.Kernel) error {
	var named []Attr
	for _, id := range k.Funcs {
		fn := &d.f.Functions[id]
		if fn.Name != "" {
			named = append(named, symbolAttr(fn.Name))
			continue
		}
		if d.busy[id] || fn.Kind == bef.Native {
			return fmt.Errorf("function %d is no region", id)
		}
		r := op.addRegion()
		for _, t := range fn.Args {
			r.addArg(d.typ(t))
		}
		if err := d.body(r, id); err != nil {
			return err
		}
	}
	if len(named) == 0 {
		return nil
	}
	names := []string{}
	if def := standard().Lookup(op.Name); def != nil {
		names = def.funcs
	}
	switch {
	case len(names) == 1 && names[0] == "branches…":
		op.Attrs.Set("branches", Attr{Kind: ArrayAttr, Elems: named})
	case len(names) == len(named):
		for i, a := range named {
			op.Attrs.Set(names[i], a)
		}
	case len(named) > 10:
		// Beyond that many, names with numbers would not sort as the functions do.
		op.Attrs.Set(freshName(op, "callee"), Attr{Kind: ArrayAttr, Elems: named})
	default:
		for i, a := range named {
			name := "callee"
			if i > 0 {
				name += strconv.Itoa(i)
			}
			op.Attrs.Set(freshName(op, name), a)
		}
	}
	return nil
}

// freshName is name, or one like it if the op has such an attribute.
func freshName(op *Op, name string) string {
	for op.Attrs.Has(name) {
		name += "_"
	}
	return name
}

// attr is the attribute that a constant was made of.
func (d *disassembler) attr(v bef.Value) (Attr, error) {
	switch t := v.Type; {
	case t.IsArray():
		a := Attr{Kind: ArrayAttr}
		for size := t.Elem().Size(); len(v.Data) > 0; v.Data = v.Data[size:] {
			e, err := d.attr(bef.Value{Type: t.Elem(), Data: v.Data[:size]})
			if err != nil {
				return Attr{}, err
			}
			a.Elems = append(a.Elems, e)
		}
		return a, nil
	case t == bef.TypeType:
		return Attr{Kind: TypeAttr, Type: typeOf(bef.AttrType(v.Data[0]))}, nil
	case t == bef.StringType || t == bef.FuncType:
		return stringAttr(string(v.Data)), nil
	case t == bef.ShapeType && v.Unranked:
		return Attr{Kind: ShapeAttr}, nil
	case t == bef.ShapeType:
		return Attr{Kind: ShapeAttr, Dims: append([]int64{}, v.Dims...)}, nil
	case t == bef.DenseType:
		return Attr{Kind: DenseAttr, Type: tensorOf(v.Dims, typeOf(v.Elem)), Dims: v.Dims, Elem: v.Elem, Data: v.Data}, nil
	case t == bef.AggregateType:
		a := Attr{Kind: ArrayAttr}
		for _, e := range v.Elems {
			at, err := d.attr(e)
			if err != nil {
				return Attr{}, err
			}
			a.Elems = append(a.Elems, at)
		}
		return a, nil
	case t == bef.SymbolRefType:
		return d.symbol(v.Symbol)
	case t.Size() > 0 && t.Size() <= 8:
		typ := typeOf(t)
		if _, _, ok := intType(typ); ok || isFloatType(typ) {
			var b [8]byte
			copy(b[:], v.Data)
			return Attr{Kind: numberKind(typ), Type: typ, Bits: binary.LittleEndian.Uint64(b[:])}, nil
		}
	}
	// Text has no form for these; they can be read, but not assembled.
	return Attr{Kind: OpaqueAttr, Text: fmt.Sprintf("#halo.bits<%v, \"0x%X\">", v.Type, v.Data)}, nil
}

// symbol makes the module that a reference points into, at its first sight.
func (d *disassembler) symbol(s *bef.Symbol) (Attr, error) {
	if text, ok := d.units[s.Root]; !ok {
		m, err := Parse("", s.Text)
		if err != nil {
			return Attr{}, fmt.Errorf("compiled module @%s: %w", s.Root, err)
		}
		ops := m.Module.Body().Ops
		if len(ops) != 1 || ops[0].Text == "" || ops[0].SymName() != s.Root {
			return Attr{}, fmt.Errorf("compiled module @%s: the text is of something else", s.Root)
		}
		d.units[s.Root] = s.Text
		d.modules = append(d.modules, ops[0])
	} else if text != s.Text {
		return Attr{}, fmt.Errorf("compiled module @%s has two texts", s.Root)
	}
	return symbolAttr(append([]string{s.Root}, s.Nested...)...), nil
}
