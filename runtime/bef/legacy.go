package bef

// Generation G1, read behind an option and never written. Its files have other
// section ids, a seventh word in kernel headers, positions in place of tagged
// location records, and lengths of strings and arrays before their payload.

// legacySection maps section ids to those of G2.
func legacySection(id SectionID, g Generation) (SectionID, bool) {
	ids := []SectionID{LocationStringsSection, LocationsSection, StringsSection, AttributesSection, KernelsSection, TypesSection,
		FunctionIndexSection, FunctionsSection, AttributeTypesSection, AttributeNamesSection, RegisterTypesSection}
	if g == G1First {
		if id == 0 {
			return 0, false // FormatVersion
		}
		ids[6], ids[7] = ids[7], ids[6]
		id--
	}
	if int(id) >= len(ids) {
		return 0, false
	}
	return ids[id], true
}

// legacyLocations rewrites the positions as records of G2, of the same ids.
// A position is a file's index, a line and a column.
func (d *decoder) legacyLocations() *FormatError {
	var files []uint64 // offsets of names
	t := &d.f.Locations
	start := uint64(0)
	for _, end := range t.names.ends {
		files = append(files, start)
		start = uint64(end) + 1
	}
	c := cursor{b: t.Records, base: d.spans[LocationsSection].at, sec: LocationsSection}
	moved := make(map[LocID]LocID)
	var records []byte
	for c.left() > 0 && c.err == nil {
		at := LocID(c.i)
		file, line, column := c.vbr("file index"), c.vbr32("line"), c.vbr32("column")
		if c.err == nil && file >= uint64(len(files)) {
			c.fail(file, "file %d of %d", file, len(files))
		}
		if c.err != nil {
			return c.err
		}
		moved[at] = LocID(len(records))
		records = appendVBR(append(records, locFile), files[file])
		records = appendVBR(appendVBR(records, uint64(line)), uint64(column))
	}
	t.Records = records
	fix := func(l *LocID) {
		if to, ok := moved[*l]; ok {
			*l = to
		} else {
			*l = ^LocID(0)
		}
	}
	for i := range d.f.Functions {
		fn := &d.f.Functions[i]
		if fn.Kind == Native {
			continue
		}
		fix(&fn.Loc)
		for k := range fn.Kernels {
			fix(&fn.Kernels[k].Loc)
		}
	}
	return nil
}

// legacyCounted reads a count backwards from the byte before the offset.
func (p *Pool) legacyCounted(off uint32, t AttrType) ([]byte, uint64, error) {
	if uint64(off) > uint64(len(p.Data)) {
		return nil, 0, p.fail(off, t, "outside of the pool")
	}
	var n uint64
	for i := int(off) - 1; i >= 0 && int(off)-i <= 5; i-- {
		n = n<<7 | uint64(p.Data[i]&0x7F)
		if p.Data[i] < 0x80 {
			return p.Data[off:], n, nil
		}
	}
	return nil, 0, p.fail(off, t, "length before the payload has no end")
}
