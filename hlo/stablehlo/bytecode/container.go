package bytecode

import (
	"bytes"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// magic is what the files begin with.
const magic = "ML\xefR"

// newestVersion of the container that is read.
const newestVersion = 6

// The sections of a file.
const (
	stringSection = iota
	dialectSection
	attrTypeSection
	attrTypeOffsetSection
	irSection
	resourceSection
	resourceOffsetSection
	dialectVersionsSection
	propertiesSection
	numSections
)

var sectionNames = [numSections]string{
	"strings", "dialects", "attributes and types", "offsets of attributes and types", "IR", "resources", "offsets of resources",
	"dialect versions", "properties",
}

// decoder holds the tables of a file.
type decoder struct {
	file     string
	version  uint64
	producer string
	sections [numSections]*reader

	strings    []string
	dialects   []string
	ops        []string // with their dialects
	attrs      []entry
	typs       []entry
	properties []chunk
	resources  []resource
	sdy        map[*entry]sdyPart
	sdyTexts   int // bytes
	types      *mlir.Types
	depth      int
	expanded   int // bytes that the attributes used so far stand for
}

// entry is an attribute or type: its bytes, and what they say once they have been read.
type entry struct {
	dialect string
	data    []byte
	at      int // offset in the file
	custom  bool
	state   uint8
	attr    mlir.Attr
	typ     *mlir.Type
	loc     *mlir.Location
	size    int // with the attributes in it
}

// chunk is a part of the file.
type chunk struct {
	data []byte
	at   int
}

// The states of an entry.
const (
	unread = iota
	reading
	done
)

// maxDepth bounds nesting of attributes, types and regions.
const maxDepth = 400

// Decode reads a program from MLIR bytecode. The module may share memory with data, which must not be written afterwards.
func Decode(file string, data []byte) (m *mlir.Module, err error) {
	d := &decoder{file: file, types: mlir.NewTypes()}
	defer func() {
		if x := recover(); x != nil {
			f, mine := x.(failure)
			if !mine {
				panic(x)
			}
			m, err = nil, fileError(file, f.msg)
		}
	}()
	d.header(data)
	d.stringTable()
	d.dialectTable()
	d.entries()
	d.propertyTable()
	d.resourceTable()
	return d.module(), nil
}

// header reads the version, the producer and the sections.
func (d *decoder) header(data []byte) {
	r := &reader{data: data, section: "header"}
	if !bytes.HasPrefix(data, []byte(magic)) {
		r.fail("this is no MLIR bytecode")
	}
	r.pos = len(magic)
	if d.version = r.varint(); d.version > newestVersion {
		r.fail("version %d of the bytecode is newer than this halo knows: %d is the newest", d.version, newestVersion)
	}
	n := bytes.IndexByte(r.data[r.pos:], 0)
	if n < 0 {
		r.fail("the name of the producer does not end")
	}
	d.producer = string(r.take(uint64(n)))
	r.pos++
	for r.left() > 0 {
		s, id := d.sectionOf(r)
		if d.sections[id] != nil {
			r.fail("the section %s is there twice", sectionNames[id])
		}
		d.sections[id] = s
	}
	for id := range propertiesSection {
		optional := id == resourceSection || id == resourceOffsetSection || id == dialectVersionsSection
		if d.sections[id] == nil && !optional {
			r.fail("the section %s is missing", sectionNames[id])
		}
	}
	if (d.sections[resourceSection] == nil) != (d.sections[resourceOffsetSection] == nil) {
		r.fail("one of the two sections of resources is missing")
	}
}

// sectionOf reads a section.
func (d *decoder) sectionOf(r *reader) (*reader, int) {
	id := r.byte()
	length := r.varint()
	if id&0x80 != 0 {
		r.align(r.varint())
	}
	id &= 0x7f
	if id >= numSections {
		r.fail("there is no section %d", id)
	}
	if length > uint64(r.left()) {
		r.fail("section %s has %d bytes, %d are left", sectionNames[id], length, r.left())
	}
	at := r.base + r.pos
	return &reader{data: r.take(length), base: at, section: sectionNames[id]}, int(id)
}

// align skips the padding before aligned data.
func (r *reader) align(to uint64) {
	if to == 0 || to&(to-1) != 0 || to > 1<<30 {
		r.fail("an alignment of %d", to)
	}
	for uint64(r.base+r.pos)%to != 0 {
		if b := r.byte(); b != 0xcb {
			r.pos--
			r.fail("padding of 0x%02x, want 0xcb", b)
		}
	}
}

// stringTable reads the strings, whose lengths stand in reverse.
func (d *decoder) stringTable() {
	r := d.sections[stringSection]
	n := r.count("strings")
	d.strings = make([]string, n)
	lengths := make([]uint64, n)
	for i := range n {
		lengths[n-1-i] = r.varint()
	}
	for i, l := range lengths {
		b := r.take(l)
		if len(b) == 0 || b[len(b)-1] != 0 {
			r.fail("string %d does not end in a zero", i)
		}
		d.strings[i] = string(b[:len(b)-1])
	}
	r.end("the strings")
}

// str reads the index of a string.
func (d *decoder) str(r *reader) string { return d.stringAt(r, r.varint()) }

func (d *decoder) stringAt(r *reader, i uint64) string {
	if i >= uint64(len(d.strings)) {
		r.fail("string %d, there are %d", i, len(d.strings))
	}
	return d.strings[i]
}

// dialectTable reads the names of dialects and of their operations.
func (d *decoder) dialectTable() {
	r := d.sections[dialectSection]
	n := r.count("dialects")
	for range n {
		if d.version == 0 {
			d.dialects = append(d.dialects, d.str(r))
			continue
		}
		v := r.varint()
		d.dialects = append(d.dialects, d.stringAt(r, v>>1))
		if v&1 != 0 {
			if _, id := d.sectionOf(r); id != dialectVersionsSection {
				r.fail("section %s where the version of a dialect is wanted", sectionNames[id])
			}
		}
	}
	if d.version >= 4 {
		r.varint() // how many operations there are
	}
	for r.left() > 0 {
		dialect := d.dialect(r)
		for range r.count("names of operations") {
			v := r.varint()
			if d.version >= 5 {
				v >>= 1
			}
			d.ops = append(d.ops, dialect+"."+d.stringAt(r, v))
		}
	}
}

// dialect reads the index of a dialect.
func (d *decoder) dialect(r *reader) string {
	i := r.varint()
	if i >= uint64(len(d.dialects)) {
		r.fail("dialect %d, there are %d", i, len(d.dialects))
	}
	return d.dialects[i]
}

// entries finds the bytes of each attribute and type.
func (d *decoder) entries() {
	r := d.sections[attrTypeOffsetSection]
	data := d.sections[attrTypeSection]
	attrs, types := r.varint(), r.varint()
	for i, n := range []uint64{attrs, types} {
		if n > uint64(len(r.data)) {
			r.fail("%d attributes or types in a section of %d bytes", n, len(r.data))
		}
		list := make([]entry, 0, n)
		for uint64(len(list)) < n {
			dialect := d.dialect(r)
			group := r.count("entries")
			if uint64(len(list)+group) > n {
				r.fail("more entries than the %d that there are", n)
			}
			for range group {
				size := r.varint()
				at := data.base + data.pos
				list = append(list, entry{dialect: dialect, custom: size&1 != 0, data: data.take(size >> 1), at: at})
			}
		}
		if i == 0 {
			d.attrs = list
		} else {
			d.typs = list
		}
	}
	r.end("the entries")
	data.end("the entries")
}

// propertyTable finds the bytes of each set of properties.
func (d *decoder) propertyTable() {
	r := d.sections[propertiesSection]
	if r == nil {
		return
	}
	n := r.count("properties")
	for range n {
		size := r.varint()
		at := r.base + r.pos
		d.properties = append(d.properties, chunk{r.take(size), at})
	}
	r.end("the properties")
}

// resource is data that attributes name by its number.
type resource struct {
	key  string
	data []byte
}

// resourceTable finds the data of resources. Those of dialects come after the external ones, which nothing here refers to.
func (d *decoder) resourceTable() {
	if d.sections[resourceSection] == nil {
		return
	}
	r, data := d.sections[resourceOffsetSection], d.sections[resourceSection]
	group := func(keep bool) {
		for range r.count("resources") {
			key, size, kind := d.str(r), r.varint(), r.byte()
			at := data.base + data.pos
			body := &reader{data: data.take(size), base: at, section: "resources"}
			var blob []byte
			if kind == 0 {
				align := body.varint()
				n := body.varint()
				body.align(align)
				blob = body.take(n)
			}
			if keep {
				d.resources = append(d.resources, resource{key, blob})
			}
		}
	}
	for range r.count("groups of resources") {
		d.str(r)
		group(false)
	}
	for r.left() > 0 {
		d.dialect(r)
		group(true)
	}
}
