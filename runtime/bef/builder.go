package bef

import (
	"fmt"
	"slices"
	"strings"
)

// Builder makes a File. Names become indices, constants go to the pool, and the
// use counts, used-by lists, locations and section 0x84 follow from the
// kernels that were added.
//
//	b := bef.NewBuilder()
//	i32 := b.Type("i32")
//	fn := b.Function("add7", bef.Async, []bef.TypeID{i32}, []bef.TypeID{i32})
//	c := fn.Kernel(bef.KernelSpec{Name: "tfrt.constant.i32", Results: []bef.TypeID{i32},
//		Attrs: []bef.NamedValue{{Name: "value", Value: bef.Int32(7)}}})
//	y := fn.Kernel(bef.KernelSpec{Name: "tfrt.add.i32", Args: []bef.RegID{fn.Arg(0), c[0]}, Results: []bef.TypeID{i32}})
//	fn.Return(y...)
//	f, err := b.File()
//
// Ids are given out in the order of first mention, so equal sequences of calls
// make equal files. The first error is kept and returned by File. A Builder is
// for one goroutine.
type Builder struct {
	// Pool takes the constants; set its DenseAlign before the first one.
	Pool PoolWriter
	// Extensions go to the File as they are.
	Extensions []Section

	kernels, types interner
	funcs          []*FuncBuilder
	names          map[string]bool
	err            error
}

// NewBuilder returns a builder of an empty file.
func NewBuilder() *Builder { return &Builder{names: make(map[string]bool)} }

type interner struct {
	names []string
	ids   map[string]uint32
}

func (in *interner) id(name string) uint32 {
	if id, ok := in.ids[name]; ok {
		return id
	}
	if in.ids == nil {
		in.ids = make(map[string]uint32)
	}
	id := uint32(len(in.names))
	in.ids[name] = id
	in.names = append(in.names, name)
	return id
}

// Type returns the id of a type, a new one at first sight.
func (b *Builder) Type(name string) TypeID {
	b.checkName(name)
	return TypeID(b.types.id(name))
}

// TypeOf is Type for a name in memory that may be written afterwards.
func (b *Builder) TypeOf(name []byte) TypeID {
	if id, ok := b.types.ids[string(name)]; ok {
		return TypeID(id)
	}
	return b.Type(string(name))
}

// KernelCode returns the code of a kernel, a new one at first sight.
func (b *Builder) KernelCode(name string) KernelCode {
	b.checkName(name)
	return KernelCode(b.kernels.id(name))
}

// Attr stores a constant without using it yet.
func (b *Builder) Attr(v Value) Attr {
	a, err := b.Pool.Add(v)
	b.fail(err)
	return a
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// checkName refuses what a table of NUL-terminated strings cannot hold.
func (b *Builder) checkName(name string) {
	if strings.IndexByte(name, 0) >= 0 {
		b.fail(fmt.Errorf("bef: name %q holds a NUL", name))
	}
}

// Function adds a function; its id is the number of functions before it. The
// body may be filled at any time before File. A native function has none.
// The empty name is that of a region that a kernel owns.
func (b *Builder) Function(name string, kind Kind, args, results []TypeID) *FuncBuilder {
	b.checkName(name)
	if name != "" && b.names[name] {
		b.fail(fmt.Errorf("bef: two functions are named %q", name))
	}
	b.names[name] = true
	f := &FuncBuilder{b: b, id: FuncID(len(b.funcs))}
	f.fn = Function{Name: name, Kind: kind, Args: slices.Clone(args), Results: slices.Clone(results)}
	if kind != Native {
		for _, t := range args {
			f.fn.Registers = append(f.fn.Registers, Register{Type: t})
		}
	}
	b.funcs = append(b.funcs, f)
	return f
}

// FuncBuilder fills the body of a function.
type FuncBuilder struct {
	b         *Builder
	id        FuncID
	fn        Function
	loc       Location
	locs      []Location
	nonStrict []bool
	returned  bool
}

// KernelSpec describes a call of a kernel.
type KernelSpec struct {
	Name    string
	Args    []RegID
	Attrs   []NamedValue // stored in the byte order of their names
	Funcs   []FuncID     // what attributes refer to first, in their order, then regions
	Results []TypeID
	Loc     Location
	Stream  uint32
	// NonStrict lets the kernel start when one argument is there. It is
	// written to section 0x84, which other readers skip.
	NonStrict bool
}

// NamedValue is an attribute of a kernel.
type NamedValue struct {
	Name  string
	Value Value
}

// ID is the function's id, to be used by kernels that call it.
func (f *FuncBuilder) ID() FuncID { return f.id }

// SetLocation records where the function comes from.
func (f *FuncBuilder) SetLocation(l Location) { f.loc = l }

// Arg is the register of argument i.
func (f *FuncBuilder) Arg(i int) RegID { return RegID(i) }

// Grow makes room for so many kernels and results of kernels.
func (f *FuncBuilder) Grow(kernels, results int) {
	f.fn.Kernels, f.fn.Registers = slices.Grow(f.fn.Kernels, kernels), slices.Grow(f.fn.Registers, results)
	f.locs, f.nonStrict = slices.Grow(f.locs, kernels), slices.Grow(f.nonStrict, kernels)
}

// Kernel adds a kernel after those already there and returns its result registers. It keeps nothing of what the spec refers to.
func (f *FuncBuilder) Kernel(s KernelSpec) []RegID {
	k := Kernel{Code: f.b.KernelCode(s.Name), Stream: s.Stream, Args: slices.Clone(s.Args), Funcs: slices.Clone(s.Funcs)}
	attrs := s.Attrs
	if len(attrs) > 1 {
		attrs = slices.Clone(attrs)
		slices.SortStableFunc(attrs, func(a, b NamedValue) int { return strings.Compare(a.Name, b.Name) })
	}
	if len(attrs) > 0 {
		k.Attrs = make([]Attr, 0, len(attrs))
	}
	for i, nv := range attrs {
		f.b.checkName(nv.Name)
		if i > 0 && attrs[i-1].Name == nv.Name {
			f.b.fail(fmt.Errorf("bef: kernel %q has two attributes %q", s.Name, nv.Name))
		}
		a := f.b.Attr(nv.Value)
		a.Name = nv.Name
		k.Attrs = append(k.Attrs, a)
	}
	if len(s.Results) > 0 {
		k.Results = make([]RegID, 0, len(s.Results))
	}
	for _, t := range s.Results {
		k.Results = append(k.Results, RegID(len(f.fn.Registers)))
		f.fn.Registers = append(f.fn.Registers, Register{Type: t})
	}
	f.fn.Kernels = append(f.fn.Kernels, k)
	f.locs = append(f.locs, s.Loc)
	f.nonStrict = append(f.nonStrict, s.NonStrict)
	return k.Results
}

// Return sets the registers that the function returns.
func (f *FuncBuilder) Return(regs ...RegID) {
	if f.returned {
		f.b.fail(fmt.Errorf("bef: function %q returns twice", f.fn.Name))
	}
	f.returned = true
	f.fn.ResultRegs = slices.Clone(regs)
}

// File completes the program and checks it. The builder must not be used after.
func (b *Builder) File() (*File, error) {
	if b.err != nil {
		return nil, b.err
	}
	f := &File{Kernels: b.kernels.names, Types: b.types.names, Attrs: b.Pool.Pool(), Typed: true, Extensions: b.Extensions}
	locs := locationWriter{virtual: ^LocID(0)}
	var nonStrict []KernelRef
	f.Functions = make([]Function, len(b.funcs))
	records := len(b.funcs)
	for _, fb := range b.funcs {
		records += len(fb.locs)
	}
	locs.grow(records)
	for i, fb := range b.funcs {
		fn := &fb.fn
		if fn.Kind != Native {
			if !fb.returned {
				return nil, fmt.Errorf("bef: function %q has no return", fn.Name)
			}
			fn.Loc = locs.add(fb.loc)
			for k := range fn.Kernels {
				fn.Kernels[k].Loc = locs.add(fb.locs[k])
				if fb.nonStrict[k] {
					nonStrict = append(nonStrict, KernelRef{fb.id, KernelIndex(k)})
				}
			}
			if err := fn.link(); err != nil {
				return nil, err
			}
		}
		f.Functions[i] = *fn
	}
	f.Locations = locs.table()
	if len(nonStrict) > 0 {
		f.Extensions = append(f.Extensions, NonStrictSection(nonStrict))
	}
	if err := Check(f); err != nil {
		return nil, err
	}
	return f, nil
}

// link computes use counts and used-by lists from operands and results.
func (fn *Function) link() error {
	mentions := 0
	for i := range fn.Kernels {
		k := &fn.Kernels[i]
		mentions += len(k.Args)
		for _, r := range k.Args {
			if int(r) >= len(fn.Registers) {
				return fmt.Errorf("bef: function %q, kernel %d reads register %d of %d", fn.Name, i, r, len(fn.Registers))
			}
			fn.Registers[r].Uses++
		}
	}
	arena := make([]KernelIndex, mentions)
	users := make([][]KernelIndex, len(fn.Registers))
	for r := range fn.Registers {
		n := fn.Registers[r].Uses
		users[r], arena = arena[:0:n], arena[n:]
	}
	// An in-memory use list grows at its front: the last user comes first.
	for i := len(fn.Kernels) - 1; i >= 0; i-- {
		for _, r := range fn.Kernels[i].Args {
			users[r] = append(users[r], KernelIndex(i))
		}
	}
	for i := range fn.Kernels {
		k := &fn.Kernels[i]
		if len(k.Args) == 0 {
			fn.TriggerUsers = append(fn.TriggerUsers, KernelIndex(i))
		}
		if len(k.Results) > 0 {
			k.Users = users[k.Results[0]:][:len(k.Results):len(k.Results)]
		}
	}
	fn.ArgUsers = users[:len(fn.Args):len(fn.Args)]
	for _, r := range fn.ResultRegs {
		if int(r) >= len(fn.Registers) {
			return fmt.Errorf("bef: function %q returns register %d of %d", fn.Name, r, len(fn.Registers))
		}
		fn.Registers[r].Uses++
	}
	return nil
}
