package bef

import "fmt"

// Ids of halo's own sections. Other readers skip them.
const (
	ProducerSection    SectionID = 0x80
	BufferPlanSection  SectionID = 0x82
	CostsSection       SectionID = 0x83
	KernelFlagsSection SectionID = 0x84
)

// Extension returns the last section with that id, or nil.
func (f *File) Extension(id SectionID) []byte {
	for i := len(f.Extensions) - 1; i >= 0; i-- {
		if f.Extensions[i].ID == id {
			return f.Extensions[i].Data
		}
	}
	return nil
}

// KernelRef names a kernel of a file.
type KernelRef struct {
	Func   FuncID
	Kernel KernelIndex
}

// NonStrictSection lists the kernels that may start when one argument is
// there, in ascending order.
func NonStrictSection(kernels []KernelRef) Section {
	b := appendVBR(nil, uint64(len(kernels)))
	for _, k := range kernels {
		b = appendVBR(b, uint64(k.Func))
		b = appendVBR(b, uint64(k.Kernel)+1)
	}
	return Section{ID: KernelFlagsSection, Data: b}
}

// NonStrict returns the kernels of section 0x84, all of which exist.
func (f *File) NonStrict() ([]KernelRef, error) {
	c := cursor{b: f.Extension(KernelFlagsSection), sec: KernelFlagsSection}
	if c.b == nil {
		return nil, nil
	}
	refs := make([]KernelRef, c.count("kernels", 2))
	for i := range refs {
		refs[i] = f.kernelRef(&c)
		if i > 0 && c.err == nil && !refs[i-1].before(refs[i]) {
			c.fail(uint64(i), "kernels are not in ascending order")
		}
	}
	if err := c.end(); err != nil {
		err.Offset = -1
		return nil, err
	}
	return refs, nil
}

func (r KernelRef) before(s KernelRef) bool {
	return r.Func < s.Func || r.Func == s.Func && r.Kernel < s.Kernel
}

// kernelRef reads a function id and the index of a kernel record.
func (f *File) kernelRef(c *cursor) KernelRef {
	fn, k := c.vbr("function id"), c.vbr("kernel index")
	if c.err == nil && (fn >= uint64(len(f.Functions)) || k == 0 || k > uint64(len(f.Functions[fn].Kernels))) {
		c.fail(k, "kernel %d of function %d does not exist", k, fn)
	}
	if c.err != nil {
		return KernelRef{}
	}
	return KernelRef{FuncID(fn), KernelIndex(k - 1)}
}

// Slot says where the tensor of a register lives.
type Slot struct {
	Kind SlotKind
	// Offset in the arena (ArenaSlot), argument index (ArgumentSlot) or
	// attribute offset (ConstantSlot).
	Offset uint64
	Bytes  uint64 // ArenaSlot, DynamicSlot
}

// SlotKind is a way to hold a tensor.
type SlotKind uint8

const (
	NoSlot       SlotKind = iota // not a tensor
	ArenaSlot                    // in the execution's arena
	ArgumentSlot                 // shares an argument's buffer
	ConstantSlot                 // lies in the attribute pool
	DynamicSlot                  // allocated when it is needed
)

// BufferPlan is the memory layout that lowering chose.
type BufferPlan struct {
	Functions []FunctionPlan // those that have a plan, by ascending id
}

// FunctionPlan is the layout of one function's arena.
type FunctionPlan struct {
	Func  FuncID
	Arena uint64 // bytes
	Slots []Slot // one for each register
}

const planVersion = 1

// Section encodes the plan. Arena offsets must be multiples of 64.
func (p *BufferPlan) Section() Section {
	b := appendVBR(nil, planVersion)
	b = appendVBR(b, uint64(len(p.Functions)))
	for _, fp := range p.Functions {
		b = appendVBR(b, uint64(fp.Func))
		b = appendVBR(b, fp.Arena)
		b = appendVBR(b, uint64(len(fp.Slots)))
		for _, s := range fp.Slots {
			b = appendVBR(b, uint64(s.Kind))
			switch s.Kind {
			case ArenaSlot:
				b = appendVBR(appendVBR(b, s.Offset), s.Bytes)
			case ArgumentSlot, ConstantSlot:
				b = appendVBR(b, s.Offset)
			case DynamicSlot:
				b = appendVBR(b, s.Bytes)
			}
		}
	}
	return Section{ID: BufferPlanSection, Data: b}
}

// BufferPlan decodes section 0x82; nil if there is none. Functions, register
// counts, arguments and slot bounds are checked, and that slots are 64-aligned;
// that live slots do not overlap is for the loader, which knows the order.
func (f *File) BufferPlan() (*BufferPlan, error) {
	c := cursor{b: f.Extension(BufferPlanSection), sec: BufferPlanSection}
	if c.b == nil {
		return nil, nil
	}
	if v := c.vbr("version"); c.err == nil && v != planVersion {
		c.fail(v, "buffer plan of unknown version %d", v)
	}
	p := &BufferPlan{}
	for n := c.count("functions", 3); n > 0 && c.err == nil; n-- {
		p.Functions = append(p.Functions, f.functionPlan(&c))
		if i := len(p.Functions) - 1; i > 0 && p.Functions[i].Func <= p.Functions[i-1].Func {
			c.fail(uint64(p.Functions[i].Func), "functions are not in ascending order")
		}
	}
	if err := c.end(); err != nil {
		err.Offset = -1
		return nil, err
	}
	return p, nil
}

func (f *File) functionPlan(c *cursor) (fp FunctionPlan) {
	id := c.vbr("function id")
	if c.err == nil && id >= uint64(len(f.Functions)) {
		c.fail(id, "function %d does not exist", id)
	}
	if c.err != nil {
		return
	}
	fn := &f.Functions[id]
	fp.Func = FuncID(id)
	fp.Arena = c.vbr("arena size")
	n := c.count("registers", 1)
	if c.err == nil && n != len(fn.Registers) {
		c.fail(uint64(n), "plan of function %d has %d registers, the function %d", id, n, len(fn.Registers))
	}
	if c.err != nil {
		return
	}
	fp.Slots = make([]Slot, n)
	for i := range fp.Slots {
		s := Slot{Kind: SlotKind(min(c.vbr("slot kind"), 255))}
		ok := true
		switch s.Kind {
		case NoSlot:
		case ArenaSlot:
			s.Offset, s.Bytes = c.vbr("offset"), c.vbr("bytes")
			ok = s.Offset%64 == 0 && s.Offset <= fp.Arena && s.Bytes <= fp.Arena-s.Offset
		case ArgumentSlot:
			s.Offset = c.vbr("argument")
			ok = s.Offset < uint64(len(fn.Args))
		case ConstantSlot:
			s.Offset = c.vbr("attribute")
			ok = s.Offset < uint64(len(f.Attrs.Data))
		case DynamicSlot:
			s.Bytes = c.vbr("bytes")
		default:
			ok = false
		}
		if c.err == nil && !ok {
			c.fail(s.Offset, "slot of register %d of function %d is invalid", i, id)
		}
		fp.Slots[i] = s
	}
	return fp
}

// Producer tells what made a file.
type Producer struct {
	Tool, Version string
	Module        string // of the HLO it was lowered from
	Layout        string // generation, "G2"
}

// Section encodes the producer.
func (p Producer) Section() Section {
	var b []byte
	for _, s := range []string{p.Tool, p.Version, p.Module, p.Layout} {
		b = append(appendVBR(b, uint64(len(s))), s...)
	}
	return Section{ID: ProducerSection, Data: b}
}

// Producer decodes section 0x80; false if there is none or it is broken.
func (f *File) Producer() (p Producer, ok bool) {
	c := cursor{b: f.Extension(ProducerSection), sec: ProducerSection}
	for _, s := range []*string{&p.Tool, &p.Version, &p.Module, &p.Layout} {
		n := c.count("length", 1)
		*s = string(c.b[c.i:][:n])
		c.i += n
	}
	return p, c.end() == nil && c.b != nil
}

// Cost is an estimate of a kernel's run time.
type Cost struct {
	Kernel KernelRef
	Nanos  uint64
}

// CostsOf encodes estimates, in ascending order of kernels.
func CostsOf(costs []Cost) Section {
	b := appendVBR(nil, uint64(len(costs)))
	for _, x := range costs {
		b = appendVBR(appendVBR(b, uint64(x.Kernel.Func)), uint64(x.Kernel.Kernel)+1)
		b = appendVBR(b, x.Nanos)
	}
	return Section{ID: CostsSection, Data: b}
}

// Costs decodes section 0x83.
func (f *File) Costs() ([]Cost, error) {
	c := cursor{b: f.Extension(CostsSection), sec: CostsSection}
	if c.b == nil {
		return nil, nil
	}
	costs := make([]Cost, c.count("entries", 3))
	for i := range costs {
		costs[i].Kernel = f.kernelRef(&c)
		costs[i].Nanos = c.vbr("cost")
	}
	if err := c.end(); err != nil {
		return nil, fmt.Errorf("costs: %w", err)
	}
	return costs, nil
}
