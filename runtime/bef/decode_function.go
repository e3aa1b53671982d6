package bef

import (
	"encoding/binary"
	"slices"
)

// slab hands out pieces of larger allocations, so that a function costs few.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		s.size = max(n, min(2*s.size, 4096), 16)
		s.free = make([]T, s.size)
	}
	piece := s.free[:n:n]
	s.free = s.free[n:]
	return piece
}

type slabs struct {
	types   slab[TypeID]
	regs    slab[RegID]
	users   slab[KernelIndex]
	lists   slab[[]KernelIndex]
	attrs   slab[Attr]
	funcs   slab[FuncID]
	kernels slab[Kernel]
	defs    slab[Register]
}

// bodies reads every function. Bodies may not overlap, so each ends at the
// latest where the next begins.
func (d *decoder) bodies() *FormatError {
	var starts []int64
	for _, off := range d.offsets {
		if off >= 0 {
			starts = append(starts, off)
		}
	}
	slices.Sort(starts)
	section := d.spans[FunctionsSection]
	check := checker{f: d.f}
	var r bodyReader
	var nonStrict []KernelRef
	for i := range d.f.Functions {
		off := d.offsets[i]
		if off < 0 {
			continue
		}
		fn := &d.f.Functions[i]
		next, _ := slices.BinarySearch(starts, off+1)
		end := int64(len(section.data))
		if next < len(starts) {
			end = starts[next]
		}
		r.cursor = cursor{b: section.data[:end], i: int(off), base: section.at, sec: FunctionsSection, strict: d.o.Strict}
		r.slabs, r.generation = &d.slabs, d.o.Generation
		if next >= 2 && starts[next-2] == off {
			r.fail(uint64(off), "two functions have their body at %d", off)
		}
		r.body(fn)
		if r.err != nil {
			return r.err
		}
		if k, err := check.function(i, fn); err != nil {
			err.Offset = section.at + off
			if k >= 0 && k < len(r.table) {
				err.Offset = section.at + int64(r.records) + int64(r.table[k].offset)
			}
			return err
		}
		for _, k := range r.nonStrict {
			nonStrict = append(nonStrict, KernelRef{FuncID(i), k})
		}
		r.nonStrict = r.nonStrict[:0]
	}
	if len(nonStrict) > 0 {
		d.f.Extensions = append(d.f.Extensions, NonStrictSection(nonStrict))
	}
	return nil
}

// bodyReader reads one function after the other.
type bodyReader struct {
	cursor
	slabs      *slabs
	generation Generation
	table      []kernelEntry // without the entry record
	records    int           // where records begin in b
	nonStrict  []KernelIndex // of a legacy function
}

// kernelEntry is a row of the kernel table.
type kernelEntry struct{ offset, operands, stream uint32 }

// body reads header, tables and records. Indices are checked after, but for
// those of the entry record.
func (r *bodyReader) body(fn *Function) {
	fn.Loc = LocID(r.vbr32("function location"))
	n := r.count("register count", 1)
	fn.Registers = r.slabs.defs.take(n)
	for i := range fn.Registers {
		fn.Registers[i] = Register{Uses: r.vbr32("use count"), Type: NoType}
	}
	entry := r.kernelTable()
	if n := len(fn.Results); n > 0 && r.err == nil {
		if n > r.left() {
			r.fail(uint64(n), "%d result registers do not fit", n)
			return
		}
		fn.ResultRegs = r.slabs.regs.take(n)
		for i := range fn.ResultRegs {
			fn.ResultRegs[i] = RegID(r.vbr32("result register"))
		}
	}
	for r.err == nil && r.i%4 != 0 {
		if p := r.byte("padding"); p != padByte && r.strict {
			r.fail(uint64(p), "padding byte %#02x is not cc", p)
		}
	}
	if r.err != nil {
		return
	}
	r.records = r.i
	fn.Kernels = r.slabs.kernels.take(len(r.table))
	if entry.offset != 0 || entry.operands != 0 {
		r.fail(uint64(entry.offset), "the entry record is not the first or has operands")
		return
	}
	r.entry(fn, r.record(0, 0))
	for i := range fn.Kernels {
		if r.err != nil {
			return
		}
		r.kernel(&fn.Kernels[i], i)
	}
}

// kernelTable reads offsets, operand counts and streams; the entry's are returned.
func (r *bodyReader) kernelTable() (entry kernelEntry) {
	columns := 3
	if r.generation >= G1NoStream {
		columns = 2
	}
	n := r.count("kernel count", columns)
	if r.err == nil && n == 0 {
		r.fail(0, "a function without an entry record")
	}
	r.table = r.table[:0]
	for i := 0; i < n && r.err == nil; i++ {
		at := r.i
		e := kernelEntry{offset: r.vbr32("kernel offset"), operands: r.vbr32("operand count")}
		if columns == 3 {
			e.stream = r.vbr32("stream id")
		}
		switch {
		case r.err != nil:
		case e.offset%4 != 0:
			r.i = at
			r.fail(uint64(e.offset), "kernel offset %d is not a multiple of 4", e.offset)
		case e.stream>>31 != 0:
			r.i = at
			r.fail(uint64(e.stream), "stream id %d exceeds 31 bits", e.stream)
		case i == 0:
			entry = e
			continue
		case i == 1 && e.offset == 0 || i > 1 && e.offset <= r.table[i-2].offset:
			r.i = at
			r.fail(uint64(e.offset), "kernel offsets do not increase")
		}
		r.table = append(r.table, e)
	}
	return entry
}

// record cuts out what may belong to record number k, which begins at the offset.
func (r *bodyReader) record(k int, offset uint32) []byte {
	b := r.b[r.records:]
	end := uint64(len(b))
	if k < len(r.table) {
		end = min(end, uint64(r.table[k].offset))
	}
	r.i = r.records + int(min(uint64(offset), uint64(len(b))))
	if uint64(offset)+4*headerWords > end {
		r.fail(uint64(offset), "kernel record %d does not fit", k)
		return nil
	}
	return b[offset:end]
}

// lengths are the counts of a record's header. They have been added up and fit.
type lengths struct{ args, attrs, funcs, results int }

// header checks that all that a record announces is there.
func (r *bodyReader) header(k int, b []byte) (n lengths, rest []byte) {
	if r.err != nil {
		return
	}
	words := uint64(headerWords)
	if r.generation != G2 {
		words++
	}
	have := uint64(len(b) / 4)
	args, attrs, funcs, results := uint64(word(b[8:])), uint64(word(b[12:])), uint64(word(b[16:])), uint64(word(b[20:]))
	need := words + args + attrs + funcs + 2*results
	if need > have {
		r.fail(need, "kernel record %d needs %d words and has %d", k, need, have)
		return
	}
	counts := b[4*words:]
	for i := uint64(0); i < results; i++ {
		need += uint64(word(counts[4*i:]))
	}
	if need > have {
		r.fail(need, "kernel record %d needs %d words and has %d", k, need, have)
		return
	}
	return lengths{int(args), int(attrs), int(funcs), int(results)}, counts
}

// entry reads the record that stands for the start of the function.
func (r *bodyReader) entry(fn *Function, b []byte) {
	n, rest := r.header(0, b)
	if r.err != nil {
		return
	}
	trigger := 4 * n.results // the result registers follow the used-by counts
	switch {
	case word(b) != entryCode || word(b[4:]) != entryLoc:
		r.fail(uint64(word(b)), "the first kernel record is not the entry")
	case n.args|n.attrs|n.funcs != 0 || n.results != len(fn.Args)+1:
		r.fail(uint64(n.results), "the entry record has %d results for %d arguments", n.results, len(fn.Args))
	case len(fn.Registers) < len(fn.Args):
		r.fail(uint64(len(fn.Registers)), "%d registers for %d arguments", len(fn.Registers), len(fn.Args))
	case uint64(word(rest[trigger:])) != uint64(len(fn.Registers)):
		r.fail(uint64(word(rest[trigger:])), "the trigger's register is %d of %d", word(rest[trigger:]), len(fn.Registers))
	}
	for i := 0; i < len(fn.Args) && r.err == nil; i++ {
		if reg := word(rest[trigger+4+4*i:]); reg != uint32(i) {
			r.fail(uint64(reg), "argument %d is in register %d", i, reg)
		}
	}
	if r.err != nil {
		return
	}
	lists := r.users(n.results, rest, rest[2*trigger:])
	fn.TriggerUsers, fn.ArgUsers = lists[0], lists[1:]
}

// kernel reads an ordinary record.
func (r *bodyReader) kernel(k *Kernel, i int) {
	e := r.table[i]
	b := r.record(i+1, e.offset)
	n, rest := r.header(i+1, b)
	if r.err != nil {
		return
	}
	nonStrict := r.generation != G2 && word(b[24:])&1 != 0
	if int64(e.operands) != int64(n.args) && !(nonStrict && e.operands == 1) {
		r.fail(uint64(e.operands), "kernel record %d has %d arguments, the table says %d", i+1, n.args, e.operands)
		return
	}
	if nonStrict {
		r.nonStrict = append(r.nonStrict, KernelIndex(i))
	}
	k.Code, k.Loc, k.Stream = KernelCode(word(b)), LocID(word(b[4:])), e.stream
	counts := rest
	rest = rest[4*n.results:]
	k.Args, rest = words(&r.slabs.regs, n.args, rest)
	if n.attrs > 0 {
		k.Attrs = r.slabs.attrs.take(n.attrs)
		for j := range k.Attrs {
			k.Attrs[j] = Attr{Offset: word(rest[4*j:])}
		}
		rest = rest[4*n.attrs:]
	}
	k.Funcs, rest = words(&r.slabs.funcs, n.funcs, rest)
	k.Results, rest = words(&r.slabs.regs, n.results, rest)
	k.Users = r.users(n.results, counts, rest)
}

// users reads used-by lists, of which the lengths stand in counts. The bytes
// count the entry record, indices in memory do not.
func (r *bodyReader) users(n int, counts, b []byte) [][]KernelIndex {
	if n == 0 {
		return nil
	}
	lists := r.slabs.lists.take(n)
	for i := range lists {
		lists[i], b = words(&r.slabs.users, int(word(counts[4*i:])), b)
		for j, u := range lists[i] {
			if u == 0 {
				r.fail(0, "the entry record uses a value")
				return lists
			}
			lists[i][j] = u - 1
		}
	}
	return lists
}

// words copies n words, which are there.
func words[T ~uint32](s *slab[T], n int, b []byte) ([]T, []byte) {
	if n == 0 {
		return nil, b
	}
	out := s.take(n)
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, b[4*n:]
}
