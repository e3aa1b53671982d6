package bef

import (
	"fmt"
)

// optional reads what tools want. A section that contradicts the others is
// ignored as a whole, and with it the claim that the file is typed.
func (d *decoder) optional() *FormatError {
	d.f.Typed = true
	for _, s := range []struct {
		id   SectionID
		read func(*cursor) func()
	}{{AttributeTypesSection, d.attributeTypes}, {AttributeNamesSection, d.attributeNames}, {RegisterTypesSection, d.registerTypes}} {
		if !d.spans[s.id].present {
			d.f.Typed = false
			continue
		}
		c := d.cursor(s.id)
		commit := s.read(&c)
		if err := c.end(); err != nil {
			d.f.Typed = false
			if d.o.Warn != nil {
				d.o.Warn(fmt.Errorf("section ignored: %w", err))
			}
			continue
		}
		commit()
	}
	return nil
}

func (d *decoder) attributeTypes(c *cursor) func() {
	p := &d.f.Attrs
	entries := make([]PoolEntry, c.count("attribute count", 2))
	for i := range entries {
		off := c.vbr32("attribute offset")
		t := c.vbr("attribute type")
		if c.err == nil && (uint64(off) >= uint64(len(p.Data)) || t > 255 || !AttrType(t).Known()) {
			c.fail(t, "attribute at %d of type %d does not exist", off, t)
		}
		entries[i] = PoolEntry{off, AttrType(t)}
	}
	return func() {
		p.Types = entries
		align := 1
		for _, e := range entries {
			align = max(align, p.payloadAlign(e))
		}
		// A section that happened to fall on its boundary does not say so.
		p.Align = max(p.Align, align)
		typeAt := typesByOffset(entries, len(p.Data))
		d.eachAttr(func(a *Attr) { a.Type = typeAt(a.Offset) })
	}
}

// typesByOffset is a table of types: dense where constants are small, as they mostly are.
func typesByOffset(entries []PoolEntry, size int) func(off uint32) AttrType {
	if size <= 64*len(entries) {
		dense := make([]AttrType, size)
		for _, e := range entries {
			dense[e.Offset] = e.Type
		}
		return func(off uint32) AttrType { return dense[off] }
	}
	types := make(map[uint32]AttrType, len(entries))
	for _, e := range entries {
		types[e.Offset] = e.Type
	}
	return func(off uint32) AttrType { return types[off] }
}

// eachAttr calls f for the attributes of all kernels.
func (d *decoder) eachAttr(f func(*Attr)) {
	for i := range d.f.Functions {
		kernels := d.f.Functions[i].Kernels
		for k := range kernels {
			for a := range kernels[k].Attrs {
				f(&kernels[k].Attrs[a])
			}
		}
	}
}

// attributeNames and registerTypes put what they read where it belongs at once, and take it back if the section turns out to be wrong.

func (d *decoder) attributeNames(c *cursor) func() {
	d.eachBody(c, "kernel count", func(fn *Function) int { return len(fn.Kernels) + 1 }, func(fn *Function) {
		for k := range fn.Kernels {
			for a := range fn.Kernels[k].Attrs {
				if c.err != nil {
					return
				}
				fn.Kernels[k].Attrs[a].Name = d.name(c, "attribute name")
			}
		}
	})
	if c.end() != nil {
		d.eachAttr(func(a *Attr) { a.Name = "" })
	}
	return func() {}
}

func (d *decoder) registerTypes(c *cursor) func() {
	d.eachBody(c, "register count", func(fn *Function) int { return len(fn.Registers) }, func(fn *Function) {
		for i := range fn.Registers {
			t := c.vbr("register type")
			if c.err == nil && t >= uint64(len(d.f.Types)) {
				c.fail(t, "register type %d of %d", t, len(d.f.Types))
			}
			if c.err != nil {
				return
			}
			fn.Registers[i].Type = TypeID(t)
		}
	})
	if c.end() != nil {
		for i := range d.f.Functions {
			for r := range d.f.Functions[i].Registers {
				d.f.Functions[i].Registers[r].Type = NoType
			}
		}
	}
	return func() {}
}
