package runtime

import (
	"encoding/binary"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gohalo/halo/internal/budget"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// Program is a loaded file: kernel names are resolved, plans are made. It is immutable and may be executed any number of
// times at once.
type Program struct {
	file      *bef.File
	host      *Host
	options   LoadOptions
	functions []*Function
	byName    map[string]*Function
	consts    []byte
	values    *TensorValues
	metadata  *Metadata
	module    any // what modules.Open made of the file's
	modules   Modules
	resolved  []*registered // by kernel code; nil if unknown
	callees   [][]*Function // lists of functions that kernels have; the first is empty
	unknown   unknownKernels
}

// LoadOptions configure loading. The zero value is good for most programs.
type LoadOptions struct {
	// Host is where executions take place that do not say otherwise. Nil means a new one with a single-threaded queue.
	Host *Host
	// MaxBytes bounds the memory of one execution of a tensor function: arguments, results and arena. A program that needs
	// more is refused. Zero means the machine's memory, or 64 GiB where that is not known.
	MaxBytes int64
	// MaxIdleInstances is how many instances of each entry function are kept between executions. Zero means one for each
	// processor.
	MaxIdleInstances int
	// Sequential runs general functions that would gain nothing from a second worker in file order, without ready counts.
	// Values are the same; the order of kernels that no chain orders is another.
	Sequential bool
	// Strict makes every general kernel wait for all its arguments, control flow included, unless the file marks its use as not strict
	// (bef.nonstrict).
	Strict bool
}

// maxBytes returns the bound. It matters beyond good manners: the Go runtime ends the process when it does not get memory.
func (o *LoadOptions) maxBytes() int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return machineMemory()
}

var machineMemory = sync.OnceValue(func() int64 {
	if n := budget.Total(); n > 0 {
		return n
	}
	return 64 << 30
})

// Function is a function of a program.
type Function struct {
	program *Program
	id      int
	name    string
	def     *bef.Function

	// One of these is set.
	tensor  *tensorFunction
	general *generalFunction
	native  *nativeFunction
	sync    *syncFunction

	instances instancePool // of a tensor function
}

// Load resolves the kernels of file in reg and plans every function. Unknown kernels are listed all together in an
// *UnknownKernelsError. The file must not be changed afterwards, and its memory must stay as long as the program: constants
// are used where they lie if they are aligned. Load freezes reg.
func Load(file *bef.File, reg *Registry, o LoadOptions) (*Program, error) {
	reg.Freeze()
	if err := bef.Check(file); err != nil {
		return nil, err
	}
	p := &Program{file: file, host: o.Host, options: o, byName: make(map[string]*Function), values: reg.values, callees: make([][]*Function, 1)}
	if p.host == nil {
		p.host = NewHost(HostOptions{})
	}
	for _, name := range file.Kernels {
		p.resolved = append(p.resolved, reg.lookup(name))
	}
	idle := o.MaxIdleInstances
	if idle <= 0 {
		idle = goruntime.GOMAXPROCS(0)
	}
	for i := range file.Functions {
		def := &file.Functions[i]
		fn := &Function{program: p, id: i, name: def.Name, def: def, instances: instancePool{limit: idle}}
		p.functions = append(p.functions, fn)
		if def.Name != "" {
			p.byName[def.Name] = fn
		}
	}
	if err := p.loadModule(reg); err != nil {
		return nil, err
	}
	if err := p.loadTensorFunctions(); err != nil {
		return nil, err
	}
	if err := p.loadGeneralFunctions(reg); err != nil {
		return nil, err
	}
	if err := p.unknown.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// loadTensorFunctions loads the functions that have a buffer plan.
func (p *Program) loadTensorFunctions() error {
	m, err := MetadataOf(p.file)
	if err != nil {
		return err
	}
	if m != nil {
		if m.Entry >= len(p.functions) {
			return fmt.Errorf("metadata section: entry is function %d of %d", m.Entry, len(p.functions))
		}
		p.metadata = m
	}
	plan, err := BufferPlanOf(p.file)
	if err != nil || plan == nil {
		return err
	}
	p.consts = p.file.Extension(SectionConstants)
	if dataAddress(p.consts)%ConstantAlign != 0 {
		aligned := AlignedBytes(int64(len(p.consts)))
		copy(aligned, p.consts)
		p.consts = aligned
	}
	l := tensorLoader{program: p, plans: make(map[int]*FunctionPlan),
		done: make(map[tensorKey]*tensorFunction), loading: make(map[tensorKey]bool)}
	for _, name := range p.file.Kernels {
		_, is := controlKernels[name]
		l.isControl = append(l.isControl, is)
	}
	for i := range plan.Functions {
		f := &plan.Functions[i]
		if f.Func >= len(p.functions) || l.plans[f.Func] != nil || p.functions[f.Func].def.Kind == bef.Native {
			return fmt.Errorf("buffer plan section: function %d does not exist, has no body or comes twice", f.Func)
		}
		l.plans[f.Func] = f
	}
	for i := range plan.Functions {
		id := plan.Functions[i].Func
		t, err := l.load(tensorKey{fn: id})
		if err != nil {
			return err
		}
		p.functions[id].tensor = t
	}
	if len(l.errs) > 0 {
		return l.errs[0]
	}
	l.buildLoops()
	if err := p.checkMetadata(); err != nil {
		return err
	}
	if entry := p.Entry(); entry != nil && p.options.MaxBytes == 0 {
		if err := budget.Check("an execution", entry.tensor.bytes()); err != nil {
			return async.Errorf(async.ResourceExhausted, "%w", err)
		}
	}
	if p.module != nil && p.file.IsEncoded(SectionModule) { // who lowered the program in this process has made the plan, too
		return p.CheckPlans()
	}
	return nil
}

// checkMetadata compares the file's description of its entry with the entry.
func (p *Program) checkMetadata() error {
	if p.metadata == nil {
		return nil
	}
	entry := p.functions[p.metadata.Entry]
	if entry.tensor == nil {
		return fmt.Errorf("metadata section: entry is function %d, which has no buffer plan", p.metadata.Entry)
	}
	for _, list := range []struct {
		what   string
		leaves []Leaf
		types  []TensorType
	}{{"parameter", p.metadata.Params, entry.ArgTypes()}, {"result", p.metadata.Results, entry.ResultTypes()}} {
		if len(list.leaves) != len(list.types) {
			return fmt.Errorf("metadata section: %d %s leaves, the entry has %d", len(list.leaves), list.what, len(list.types))
		}
		for i, leaf := range list.leaves {
			if told := (TensorType{leaf.Type, leaf.Dims, leaf.Bytes}); !told.Equal(list.types[i]) {
				return fmt.Errorf("metadata section: %s leaf %d is %v, the entry has %v", list.what, i, &told, &list.types[i])
			}
		}
	}
	return p.metadata.checkAliases()
}

// checkAliases: a result and a parameter that may be the same memory are of one type, and neither has another partner.
func (m *Metadata) checkAliases() error {
	results, params := map[int]bool{}, map[int]bool{}
	for _, a := range m.Aliases {
		switch {
		case a.Result < 0 || a.Result >= len(m.Results) || a.Param < 0 || a.Param >= len(m.Params):
			return fmt.Errorf("metadata section: an alias of result %d and parameter %d, of %d and %d", a.Result, a.Param, len(m.Results), len(m.Params))
		case results[a.Result] || params[a.Param]:
			return fmt.Errorf("metadata section: result %d or parameter %d has two aliases", a.Result, a.Param)
		}
		result, param := &m.Results[a.Result], &m.Params[a.Param]
		if r, p := (TensorType{result.Type, result.Dims, result.Bytes}), (TensorType{param.Type, param.Dims, param.Bytes}); !r.Equal(p) {
			return fmt.Errorf("metadata section: result %d is %v, parameter %d in its memory %v", a.Result, &r, a.Param, &p)
		}
		results[a.Result], params[a.Param] = true, true
	}
	return nil
}

// call notes a list of functions, and returns its index in callees.
func (p *Program) call(ids []bef.FuncID) int32 {
	if len(ids) == 0 {
		return 0
	}
	list := make([]*Function, len(ids))
	for i, id := range ids {
		list[i] = p.functions[id]
	}
	p.callees = append(p.callees, list)
	return int32(len(p.callees) - 1)
}

// Function returns the function of that name, or nil.
func (p *Program) Function(name string) *Function { return p.byName[name] }

// Functions returns all functions; the index is the id in the file.
func (p *Program) Functions() []*Function { return p.functions }

// File returns the file the program was loaded from.
func (p *Program) File() *bef.File { return p.file }

// Host returns the host the program runs on.
func (p *Program) Host() *Host { return p.host }

// Metadata returns the file's description of its entry function, or nil.
func (p *Program) Metadata() *Metadata { return p.metadata }

// Entry returns the entry function that the metadata names, or nil.
func (p *Program) Entry() *Function {
	if p.metadata == nil {
		return nil
	}
	return p.functions[p.metadata.Entry]
}

// isEntry reports whether f is run by the host: the arguments and results of what others call lie in their memory.
func (p *Program) isEntry(f *Function) bool {
	return p.metadata == nil || p.functions[p.metadata.Entry] == f
}

// Trim gives the memory of idle instances back to the allocator.
func (p *Program) Trim() {
	for _, f := range p.functions {
		f.instances.trim()
	}
}

// Trim gives the memory of the function's idle instances back to the allocator.
func (f *Function) Trim() { f.instances.trim() }

// Name returns the function's name; regions have none.
func (f *Function) Name() string { return f.name }

// ID returns the function's id in the file.
func (f *Function) ID() int { return f.id }

// Location returns where the function comes from.
func (f *Function) Location() bef.Location { return f.program.file.Locations.At(f.def.Loc) }

// statusLocation is the position of a location, for errors.
func statusLocation(l bef.Location) async.Location {
	if file, line, col, ok := l.Position(); ok {
		return async.Location{File: file, Line: int(line), Col: int(col)}
	}
	return async.Location{File: l.DebugInfo()}
}

// UnknownKernelsError lists the kernels of a file that no registry entry stands for.
type UnknownKernelsError struct {
	Kernels []UnknownKernel
}

// UnknownKernel is a kernel name with the location of its first use.
type UnknownKernel struct {
	Name     string
	Location bef.Location
}

func (e *UnknownKernelsError) Error() string {
	lines := make([]string, len(e.Kernels))
	for i, k := range e.Kernels {
		lines[i] = fmt.Sprintf("unknown kernel name '%s'", k.Name)
		if loc := statusLocation(k.Location); loc.IsKnown() && loc.Line > 0 {
			lines[i] = loc.String() + ": " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

type unknownKernels struct{ list []UnknownKernel }

func (u *unknownKernels) add(name string, loc bef.Location) {
	if !slices.ContainsFunc(u.list, func(k UnknownKernel) bool { return k.Name == name }) {
		u.list = append(u.list, UnknownKernel{name, loc})
	}
}

func (u *unknownKernels) err() error {
	if len(u.list) == 0 {
		return nil
	}
	return &UnknownKernelsError{u.list}
}

var nativeEndian = binary.NativeEndian
