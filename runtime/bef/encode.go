package bef

import (
	"encoding/binary"
	"io"
	"math"
	"strings"

	"github.com/gohalo/halo/internal/packed"
)

// EncodeOptions choose what is written. The zero value writes what TFRT's
// encoder writes.
type EncodeOptions struct {
	// NoOptionalSections leaves out attribute types, attribute names and
	// register types, which execution does not need.
	NoOptionalSections bool
	// Extensions writes File.Extensions. TFRT's executor skips them, its
	// decompiler does not read files that have them.
	Extensions bool
}

// Encode checks the file and writes it. Equal files give equal bytes.
// Nothing is written if there is an error in the file.
func Encode(w io.Writer, f *File, o EncodeOptions) error {
	b, err := Marshal(f, o)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// Marshal is Encode to memory.
func Marshal(f *File, o EncodeOptions) ([]byte, error) {
	if f.Attrs.Legacy {
		return nil, &FormatError{Offset: -1, Msg: "a file of generation G1 cannot be written"}
	}
	if err := Check(f); err != nil {
		return nil, err
	}
	e := encoder{f: f, typed: f.Typed && !o.NoOptionalSections}
	if err := e.file(o); err != nil {
		return nil, err
	}
	return e.out, nil
}

type encoder struct {
	f       *File
	out     []byte
	typed   bool
	strings stringWriter
	offsets []int // of functions' bodies
}

func (e *encoder) file(o EncodeOptions) error {
	f := e.f
	all := e.allStrings()
	for _, s := range all {
		if strings.IndexByte(s, 0) >= 0 {
			return fail(StringsSection, 0, "name %q holds a NUL", s)
		}
	}
	e.strings = newStringWriter(all)
	functions, err := e.functions()
	if err != nil {
		return err
	}
	e.out = make([]byte, 0, len(e.strings.data)+len(f.Attrs.Data)+len(functions)+len(f.Locations.Records)+4096)
	e.out = append(e.out, magic0, magic1, formatVersion)
	e.section(StringsSection, 1, e.strings.data)
	e.section(AttributesSection, max(f.Attrs.Align, 1), f.Attrs.Data)
	e.section(KernelsSection, 1, e.names(f.Kernels))
	e.section(TypesSection, 1, e.names(f.Types))
	e.section(FunctionIndexSection, 1, e.index())
	align := 4
	if len(functions) == 0 {
		align = 1
	}
	e.section(FunctionsSection, align, functions)
	if len(f.Locations.Records) > 0 {
		e.section(LocationStringsSection, 1, f.Locations.Strings)
		e.section(LocationsSection, 1, f.Locations.Records)
	}
	if e.typed {
		e.section(AttributeTypesSection, 1, e.attributeTypes())
		e.section(AttributeNamesSection, 1, e.attributeNames())
		e.section(RegisterTypesSection, 1, e.registerTypes())
	}
	if o.Extensions {
		for _, s := range f.Extensions {
			if s.ID < numSections || s.Align < 0 || s.Align > maxSectionAlign || s.Align&(s.Align-1) != 0 {
				return fail(s.ID, uint64(s.Align), "extension with id %d and alignment %d cannot be written", s.ID, s.Align)
			}
			body := s.Bytes()
			if s.Packs {
				body = packed.Pack(body)
			}
			e.section(s.ID, max(s.Align, 1), body)
		}
	}
	return nil
}

// section writes a body where its alignment allows; an aligned section that
// falls on its boundary by itself looks like any other.
func (e *encoder) section(id SectionID, align int, body []byte) {
	e.out = append(e.out, byte(id))
	size := uint64(len(body)) << 1
	if (len(e.out)+vbrLen(size))%align == 0 {
		e.out = appendVBR(e.out, size)
	} else {
		e.out = append(appendVBR(e.out, size|1), byte(align))
		e.out = appendPad(e.out, align)
	}
	e.out = append(e.out, body...)
}

func (e *encoder) allStrings() []string {
	f := e.f
	n := len(f.Kernels) + len(f.Types) + len(f.Functions)
	all := make([]string, 0, n)
	all = append(append(all, f.Kernels...), f.Types...)
	seen := make(map[string]bool)
	for i := range f.Functions {
		fn := &f.Functions[i]
		all = append(all, fn.Name)
		if !e.typed {
			continue
		}
		for k := range fn.Kernels {
			for _, a := range fn.Kernels[k].Attrs {
				if !seen[a.Name] {
					seen[a.Name] = true
					all = append(all, a.Name)
				}
			}
		}
	}
	return all
}

func (e *encoder) string(b []byte, s string) []byte { return appendVBR(b, e.strings.offsets[s]) }

func (e *encoder) names(names []string) []byte {
	b := appendVBR(nil, uint64(len(names)))
	for _, n := range names {
		b = e.string(b, n)
	}
	return b
}

func (e *encoder) index() []byte {
	b := appendVBR(nil, uint64(len(e.f.Functions)))
	for i := range e.f.Functions {
		fn := &e.f.Functions[i]
		b = append(b, byte(fn.Kind))
		b = appendVBR(b, uint64(e.offsets[i]))
		b = e.string(b, fn.Name)
		for _, list := range [][]TypeID{fn.Args, fn.Results} {
			b = appendVBR(b, uint64(len(list)))
			for _, t := range list {
				b = appendVBR(b, uint64(t))
			}
		}
	}
	return b
}

func (e *encoder) functions() ([]byte, error) {
	var b, records []byte
	var at []int
	e.offsets = make([]int, len(e.f.Functions))
	for i := range e.f.Functions {
		fn := &e.f.Functions[i]
		// A native function has no body, and TFRT notes here how far it had come.
		e.offsets[i] = len(b)
		if fn.Kind == Native {
			continue
		}
		records, at = kernelRecords(records[:0], at[:0], fn)
		if len(records) > math.MaxUint32-4 {
			return nil, fail(FunctionsSection, uint64(i), "function %s exceeds 4 GiB", quoteName(i, fn.Name))
		}
		b = appendVBR(b, uint64(fn.Loc))
		b = appendVBR(b, uint64(len(fn.Registers)))
		for _, r := range fn.Registers {
			b = appendVBR(b, uint64(r.Uses))
		}
		b = appendVBR(b, uint64(len(fn.Kernels)+1))
		b = append(b, 0, 0, 0) // the entry: offset, operands, stream
		for k := range fn.Kernels {
			kernel := &fn.Kernels[k]
			b = appendVBR(b, uint64(at[k]))
			b = appendVBR(b, uint64(len(kernel.Args)))
			b = appendVBR(b, uint64(kernel.Stream))
		}
		for _, r := range fn.ResultRegs {
			b = appendVBR(b, uint64(r))
		}
		b = append(appendPad(b, 4), records...)
		if len(b) > math.MaxUint32 {
			return nil, fail(FunctionsSection, uint64(len(b)), "functions exceed 4 GiB")
		}
	}
	return b, nil
}

// kernelRecords writes the records of a function, the entry first, and the
// offsets of all but the entry.
func kernelRecords(b []byte, at []int, fn *Function) ([]byte, []int) {
	u32 := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	users := func(list []KernelIndex) {
		for _, k := range list {
			u32(uint32(k) + 1)
		}
	}
	for _, v := range []uint32{entryCode, entryLoc, 0, 0, 0, uint32(len(fn.Args) + 1), uint32(len(fn.TriggerUsers))} {
		u32(v)
	}
	for _, list := range fn.ArgUsers {
		u32(uint32(len(list)))
	}
	u32(uint32(len(fn.Registers))) // the trigger's register is one past the last
	for r := range fn.Args {
		u32(uint32(r))
	}
	users(fn.TriggerUsers)
	for _, list := range fn.ArgUsers {
		users(list)
	}
	for i := range fn.Kernels {
		k := &fn.Kernels[i]
		at = append(at, len(b))
		u32(uint32(k.Code))
		u32(uint32(k.Loc))
		u32(uint32(len(k.Args)))
		u32(uint32(len(k.Attrs)))
		u32(uint32(len(k.Funcs)))
		u32(uint32(len(k.Results)))
		for _, list := range k.Users {
			u32(uint32(len(list)))
		}
		for _, r := range k.Args {
			u32(uint32(r))
		}
		for _, a := range k.Attrs {
			u32(a.Offset)
		}
		for _, id := range k.Funcs {
			u32(uint32(id))
		}
		for _, r := range k.Results {
			u32(uint32(r))
		}
		for _, list := range k.Users {
			users(list)
		}
	}
	return b, at
}

func (e *encoder) attributeTypes() []byte {
	b := appendVBR(nil, uint64(len(e.f.Attrs.Types)))
	for _, t := range e.f.Attrs.Types {
		b = appendVBR(b, uint64(t.Offset))
		b = appendVBR(b, uint64(t.Type))
	}
	return b
}

func (e *encoder) attributeNames() []byte {
	b := appendVBR(nil, uint64(len(e.f.Functions)))
	for i := range e.f.Functions {
		fn := &e.f.Functions[i]
		if fn.Kind == Native {
			continue
		}
		b = appendVBR(b, uint64(len(fn.Kernels)+1))
		for k := range fn.Kernels {
			for _, a := range fn.Kernels[k].Attrs {
				b = e.string(b, a.Name)
			}
		}
	}
	return b
}

func (e *encoder) registerTypes() []byte {
	b := appendVBR(nil, uint64(len(e.f.Functions)))
	for i := range e.f.Functions {
		fn := &e.f.Functions[i]
		if fn.Kind == Native {
			continue
		}
		b = appendVBR(b, uint64(len(fn.Registers)))
		for _, r := range fn.Registers {
			b = appendVBR(b, uint64(r.Type))
		}
	}
	return b
}
