package bef

import (
	"fmt"
	"unsafe"
)

// Generation is a layout of the format. The version byte does not tell them apart.
type Generation uint8

const (
	G2         Generation = iota // from June 2021; what Encode writes
	G1                           // April 2021 to June 2021: a seventh header word, a stream per kernel
	G1NoStream                   // early 2021: without streams
	G1First                      // April 2020: the first public release, with a FormatVersion section
)

// DecodeOptions choose what is read. The zero value reads G2 as TFRT does, with checks.
type DecodeOptions struct {
	// Strict refuses what no writer makes: repeated sections, wrong padding,
	// alignments above 8, redundant bytes in integers, broken location records.
	Strict bool
	// Generation is the layout to expect.
	Generation Generation
	// MaxBytes refuses longer input; 0 means no limit. Decoded data take at
	// most 64 times the input and a MiB.
	MaxBytes int64
	// Warn is called with optional sections that are ignored because they
	// contradict the others. It may be nil.
	Warn func(error)
}

const maxSectionAlign = 128 // a power of two that fits in a byte

// span is a section's body within a file.
type span struct {
	data    []byte
	at      int64
	align   int
	present bool
}

// Decode reads a file and checks all of it that an executor will rely on, so
// that indices of the result need no checks. Errors are [*FormatError].
//
// Attrs.Data, location records and extensions share memory with b, which must
// not change as long as the File is in use; names are copied. If b does not
// start on an 8-byte boundary the constants are copied to one. The File itself
// must not be changed either: see [Check].
//
// Constants themselves are checked when they are read.
func Decode(b []byte, o DecodeOptions) (*File, error) {
	if o.MaxBytes > 0 && int64(len(b)) > o.MaxBytes {
		return nil, &FormatError{Offset: -1, Value: uint64(len(b)), Msg: fmt.Sprintf("file of %d bytes, at most %d are read", len(b), o.MaxBytes)}
	}
	d := decoder{b: b, o: o, f: &File{}}
	if err := d.sections(); err != nil {
		return nil, err
	}
	for _, step := range []func() *FormatError{d.tables, d.index, d.bodies, d.locations, d.optional} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	d.f.checked = d.f
	return d.f, nil
}

// hasMagic says whether bytes begin as a BEF file does.
func hasMagic(b []byte) bool { return len(b) >= 2 && b[0] == magic0 && b[1] == magic1 }

type decoder struct {
	b     []byte
	o     DecodeOptions
	f     *File
	spans [numSections]span
	names stringTable
	// Files name the same few things again and again: answers are kept, by the low bits of their offsets.
	recent [64]struct {
		off uint64
		s   string
	}

	offsets []int64 // of bodies, -1 for native functions
	slabs   slabs   // what functions are cut from
}

// sections finds every section's body.
func (d *decoder) sections() *FormatError {
	whole := func(at int, value uint64, format string, args ...any) *FormatError {
		return &FormatError{Offset: int64(at), Value: value, Msg: fmt.Sprintf(format, args...)}
	}
	b := d.b
	if len(b) < 3 || !hasMagic(b) {
		return whole(0, 0, "not a BEF file: magic 0b ef is missing")
	}
	if b[2] != formatVersion {
		return whole(2, uint64(b[2]), "Unknown BEF format version detected")
	}
	for i := 3; i < len(b); {
		id := SectionID(b[i])
		c := cursor{b: b, i: i + 1, sec: id, strict: d.o.Strict}
		header := c.vbr("section length")
		if c.err != nil {
			return c.err
		}
		align := 1
		if header&1 != 0 {
			align = int(c.byte("section alignment"))
			if c.err == nil && (align == 0 || align&(align-1) != 0 || d.o.Strict && align > 8) {
				c.i--
				c.fail(uint64(align), "section alignment %d is not a power of two that can be met", align)
			}
			for c.err == nil && c.i%align != 0 {
				if p := c.byte("padding"); p != padByte && d.o.Strict {
					c.fail(uint64(p), "padding byte %#02x is not cc", p)
				}
			}
		}
		size := header >> 1
		if c.err == nil && size > uint64(c.left()) {
			c.fail(size, "BEF file section header corrupted: %d bytes announced, %d left", size, c.left())
		}
		if c.err != nil {
			return c.err
		}
		s := span{data: b[c.i:][:size:size], at: int64(c.i), align: align, present: true}
		i = c.i + int(size)
		known, ok := d.known(id)
		if !ok {
			d.f.Extensions = append(d.f.Extensions, Section{ID: id, Align: align, Data: s.data})
			continue
		}
		if d.spans[known].present && d.o.Strict {
			c.fail(uint64(id), "section is repeated")
			return c.err
		}
		d.spans[known] = s
	}
	for _, id := range []SectionID{StringsSection, KernelsSection, TypesSection, FunctionIndexSection, FunctionsSection} {
		if !d.spans[id].present {
			return &FormatError{Section: id, InSection: true, Offset: -1, Msg: "section is missing"}
		}
	}
	return nil
}

// known maps an id of the file to that of G2.
func (d *decoder) known(id SectionID) (SectionID, bool) {
	if d.o.Generation != G2 {
		return legacySection(id, d.o.Generation)
	}
	return id, id < numSections
}

func (d *decoder) cursor(id SectionID) cursor {
	return cursor{b: d.spans[id].data, base: d.spans[id].at, sec: id, strict: d.o.Strict}
}

// tables reads strings, constants, kernel and type names.
func (d *decoder) tables() *FormatError {
	s := d.spans[StringsSection]
	d.names = newStringTable(s.data)
	if !d.names.terminated() {
		return &FormatError{Section: StringsSection, InSection: true, Offset: s.at + int64(len(s.data)) - 1, Msg: "last string has no end"}
	}
	d.f.Attrs = Pool{Data: alignedTo8(d.spans[AttributesSection].data), Legacy: d.o.Generation != G2}
	d.f.Attrs.Align = max(d.spans[AttributesSection].align, 1)
	for _, t := range []struct {
		id   SectionID
		what string
		to   *[]string
	}{{KernelsSection, "kernel", &d.f.Kernels}, {TypesSection, "type", &d.f.Types}} {
		c := d.cursor(t.id)
		names := make([]string, c.count(t.what+" count", 1))
		for i := range names {
			names[i] = d.name(&c, t.what+" name")
		}
		if err := c.end(); err != nil {
			return err
		}
		*t.to = names
	}
	return nil
}

// alignedTo8 copies if it has to: dense data is used where it lies.
func alignedTo8(b []byte) []byte {
	if len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0 {
		return b
	}
	return append(make([]byte, 0, max(len(b), 8)), b...)
}

func (d *decoder) name(c *cursor, what string) string {
	at := c.i
	off := c.vbr(what)
	if c.err != nil {
		return ""
	}
	r := &d.recent[off%uint64(len(d.recent))]
	if r.off == off && r.s != "" {
		return r.s
	}
	s, ok := d.names.at(off)
	if !ok {
		c.i = at
		c.fail(off, "%s at %d is not in the strings", what, off)
		return ""
	}
	r.off, r.s = off, s
	return s
}

// index reads the signatures.
func (d *decoder) index() *FormatError {
	c := d.cursor(FunctionIndexSection)
	n := c.count("function count", 5)
	d.f.Functions = make([]Function, n)
	d.offsets = make([]int64, n)
	named := make(map[string]bool)
	check := checker{f: d.f}
	for i := range d.f.Functions {
		fn := &d.f.Functions[i]
		at := c.i
		fn.Kind = Kind(c.byte("function kind"))
		off := c.vbr32("function offset")
		fn.Name = d.name(&c, "function name")
		fn.Args = d.typeIDs(&c, "argument count")
		fn.Results = d.typeIDs(&c, "result count")
		if c.err != nil {
			return c.err
		}
		d.offsets[i] = int64(off)
		if fn.Kind == Native {
			d.offsets[i] = -1
		}
		err := check.signature(i, fn)
		switch {
		case err != nil:
			err.Offset = c.base + int64(at)
			return err
		case fn.Name != "" && named[fn.Name]:
			c.i = at
			c.fail(uint64(i), "two functions are named %q", fn.Name)
		case fn.Kind != Native && uint64(off) >= uint64(len(d.spans[FunctionsSection].data)):
			c.i = at
			c.fail(uint64(off), "body at %d is outside of the functions section", off)
		}
		named[fn.Name] = true
	}
	return c.end()
}

func (d *decoder) typeIDs(c *cursor, what string) []TypeID {
	n := c.count(what, 1)
	if n == 0 {
		return nil
	}
	ids := d.slabs.types.take(n)
	for i := range ids {
		ids[i] = TypeID(c.vbr32("type id"))
	}
	return ids
}

func (d *decoder) locations() *FormatError {
	s := d.spans[LocationStringsSection]
	t := &d.f.Locations
	*t = Locations{Records: d.spans[LocationsSection].data, Strings: s.data, names: newStringTable(s.data)}
	if d.o.Generation != G2 {
		return d.legacyLocations()
	}
	if d.o.Strict {
		if !t.names.terminated() {
			return &FormatError{Section: LocationStringsSection, InSection: true, Offset: s.at, Msg: "last string has no end"}
		}
		return t.check(d.spans[LocationsSection].at)
	}
	return nil
}

// eachBody walks an optional section in step with the functions: a count of
// functions, native ones included, then for each that has a body a count that
// must be want's, and what read reads.
func (d *decoder) eachBody(c *cursor, what string, want func(*Function) int, read func(*Function)) {
	if n := c.vbr("function count"); c.err == nil && n != uint64(len(d.f.Functions)) {
		c.fail(n, "%d functions, the index has %d", n, len(d.f.Functions))
	}
	for i := range d.f.Functions {
		fn := &d.f.Functions[i]
		if fn.Kind == Native || c.err != nil {
			continue
		}
		if n := c.vbr(what); c.err == nil && n != uint64(want(fn)) {
			c.fail(n, "%s %d, function %s has %d", what, n, quoteName(i, fn.Name), want(fn))
		}
		if c.err == nil {
			read(fn)
		}
	}
}
