package bef

// Ids of halo's own sections; other readers skip them. Plan, constants and
// metadata belong to package runtime, which knows what is in them, the module
// to the packages that know HLO.
const (
	ProducerSection    SectionID = 0x80
	BufferPlanSection  SectionID = 0x82
	KernelFlagsSection SectionID = 0x84
	ConstantsSection   SectionID = 0x85
	MetadataSection    SectionID = 0x86
	ModuleSection      SectionID = 0x87
	SignatureSection   SectionID = 0x88 // JSON of package halo
)

// Extension returns the bytes of the last section with that id, or nil.
func (f *File) Extension(id SectionID) []byte {
	if s := f.section(id); s != nil {
		return s.Bytes()
	}
	return nil
}

// Has reports whether the file has a section with that id among its extensions.
func (f *File) Has(id SectionID) bool { return f.section(id) != nil }

// IsEncoded reports whether the file has a section with that id as bytes: it was
// read, or made without knowledge of its contents.
func (f *File) IsEncoded(id SectionID) bool {
	s := f.section(id)
	return s != nil && s.Data != nil
}

// Body returns the content of the last section with that id if it is there
// unencoded and of type T.
func Body[T SectionBody](f *File, id SectionID) (body T, ok bool) {
	if s := f.section(id); s != nil && s.Data == nil {
		body, ok = s.Body.(T)
	}
	return body, ok
}

func (f *File) section(id SectionID) *Section {
	for i := len(f.Extensions) - 1; i >= 0; i-- {
		if f.Extensions[i].ID == id {
			return &f.Extensions[i]
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

// Producer describes the program that made a file.
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
