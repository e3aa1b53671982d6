package runtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gohalo/halo/internal/packed"
	"github.com/gohalo/halo/runtime/bef"
)

// The bodies of the plan and metadata sections are a version, then VBR integers in BEF's big-endian groups, and strings
// as a VBR length with the bytes. Signed numbers (dimensions, trip counts) are zig-zag coded. Files have all but short ones compressed.

const (
	planVersion     = 2
	metadataVersion = 1
)

// Encode returns the body of the buffer plan section.
func (p *BufferPlan) Encode() []byte {
	var w planWriter
	w.uint(planVersion)
	w.count(len(p.Functions))
	for i := range p.Functions {
		f := &p.Functions[i]
		w.int(f.Func)
		w.int64(f.FrameBytes)
		w.count(len(f.Registers))
		for _, r := range f.Registers {
			w.b = append(w.b, r.Type, byte(r.Slot.Kind))
			w.dims(r.Dims)
			w.int64(r.Bytes)
			if r.Slot.Kind != SlotNone {
				w.int64(r.Slot.Index)
			}
		}
		w.count(len(f.Controls))
		for _, c := range f.Controls {
			w.int(c.Kernel)
			w.int64s(c.Frames)
			w.ints(c.Counts)
			w.signed(c.TripCount)
			w.string(c.Thread)
			w.ints(c.Outputs)
			w.bool(c.Detached)
		}
		w.count(len(f.Segments))
		for _, s := range f.Segments {
			w.int(s.Kernels)
			w.ints(s.After)
		}
	}
	return w.b
}

// DecodeBufferPlan reads the body of a buffer plan section. It checks the form only: Load checks the plan against the
// functions it is for.
func DecodeBufferPlan(body []byte) (*BufferPlan, error) {
	r := openPlan(body)
	version := r.version("buffer plan", planVersion)
	p := &BufferPlan{}
	for n := r.count(4); n > 0 && r.err == nil; n-- {
		f := FunctionPlan{Func: r.int(), FrameBytes: r.int64()}
		for n := r.count(4); n > 0 && r.err == nil; n-- {
			reg := Register{Type: r.byte(), Slot: Slot{Kind: SlotKind(r.byte())}}
			if reg.Slot.Kind > SlotConst {
				r.fail("unknown slot kind %d", uint8(reg.Slot.Kind))
			}
			reg.Dims = r.dims()
			reg.Bytes = r.int64()
			if reg.Slot.Kind != SlotNone {
				reg.Slot.Index = r.int64()
			}
			f.Registers = append(f.Registers, reg)
		}
		for n := r.count(7); n > 0 && r.err == nil; n-- {
			f.Controls = append(f.Controls, Control{
				Kernel:    r.int(),
				Frames:    r.int64s(),
				Counts:    r.ints(),
				TripCount: r.signed(),
				Thread:    r.string(),
				Outputs:   r.ints(),
				Detached:  r.bool(),
			})
		}
		if version > 1 {
			for n := r.count(2); n > 0 && r.err == nil; n-- {
				f.Segments = append(f.Segments, Segment{Kernels: r.int(), After: r.ints()})
			}
		}
		p.Functions = append(p.Functions, f)
	}
	if err := r.finish("buffer plan"); err != nil {
		return nil, err
	}
	return p, nil
}

// BufferPlanOf is the buffer plan of a file, or nil if it has none. What was made in this process is not encoded first, and must not be written.
func BufferPlanOf(f *bef.File) (*BufferPlan, error) {
	if p, ok := bef.Body[*BufferPlan](f, SectionBufferPlan); ok {
		return p, nil
	}
	if body := f.Extension(SectionBufferPlan); body != nil {
		return DecodeBufferPlan(body)
	}
	return nil, nil
}

// MetadataOf is the metadata of a file, or nil if it has none, in the same way.
func MetadataOf(f *bef.File) (*Metadata, error) {
	if m, ok := bef.Body[*Metadata](f, SectionMetadata); ok {
		return m, nil
	}
	if body := f.Extension(SectionMetadata); body != nil {
		return DecodeMetadata(body)
	}
	return nil, nil
}

// Encode returns the body of the metadata section.
func (m *Metadata) Encode() []byte {
	var w planWriter
	w.uint(metadataVersion)
	w.string(m.Module)
	w.int(m.Entry)
	w.int(m.Replicas)
	w.int(m.Partitions)
	for _, leaves := range [][]Leaf{m.Params, m.Results} {
		w.count(len(leaves))
		for _, l := range leaves {
			w.string(l.Name)
			w.string(l.Shape)
			w.b = append(w.b, l.Type)
			w.dims(l.Dims)
			w.int64(l.Bytes)
		}
	}
	w.count(len(m.Aliases))
	for _, a := range m.Aliases {
		w.int(a.Result)
		w.int(a.Param)
		w.bool(a.Must)
	}
	w.count(len(m.Properties))
	for _, p := range m.Properties {
		w.string(p.Key)
		w.string(p.Value)
	}
	return w.b
}

// DecodeMetadata reads the body of a metadata section.
func DecodeMetadata(body []byte) (*Metadata, error) {
	r := openPlan(body)
	r.version("metadata", metadataVersion)
	m := &Metadata{Module: r.string(), Entry: r.int(), Replicas: r.int(), Partitions: r.int()}
	for _, leaves := range []*[]Leaf{&m.Params, &m.Results} {
		for n := r.count(5); n > 0 && r.err == nil; n-- {
			*leaves = append(*leaves, Leaf{Name: r.string(), Shape: r.string(), Type: r.byte(), Dims: r.dims(), Bytes: r.int64()})
		}
	}
	for n := r.count(3); n > 0 && r.err == nil; n-- {
		a := Alias{Result: r.int(), Param: r.int(), Must: r.bool()}
		if r.err == nil && (a.Result >= len(m.Results) || a.Param >= len(m.Params)) {
			r.fail("alias of result %d with parameter %d: no such leaf", a.Result, a.Param)
		}
		m.Aliases = append(m.Aliases, a)
	}
	for n := r.count(2); n > 0 && r.err == nil; n-- {
		m.Properties = append(m.Properties, Property{Key: r.string(), Value: r.string()})
	}
	if err := r.finish("metadata"); err != nil {
		return nil, err
	}
	return m, nil
}

type planWriter struct{ b []byte }

func (w *planWriter) uint(v uint64) {
	var groups [binary.MaxVarintLen64]byte
	i := len(groups) - 1
	groups[i] = byte(v & 0x7f)
	for v >>= 7; v != 0; v >>= 7 {
		i--
		groups[i] = byte(v&0x7f) | 0x80
	}
	w.b = append(w.b, groups[i:]...)
}

func (w *planWriter) int64(v int64) {
	if v < 0 {
		panic(fmt.Sprintf("runtime: negative number %d in a plan", v))
	}
	w.uint(uint64(v))
}

func (w *planWriter) int(v int)      { w.int64(int64(v)) }
func (w *planWriter) count(n int)    { w.uint(uint64(n)) }
func (w *planWriter) signed(v int64) { w.uint(uint64(v)<<1 ^ uint64(v>>63)) }

func (w *planWriter) bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	w.b = append(w.b, b)
}

func (w *planWriter) string(s string) {
	w.count(len(s))
	w.b = append(w.b, s...)
}

func (w *planWriter) ints(v []int) {
	w.count(len(v))
	for _, x := range v {
		w.int(x)
	}
}

func (w *planWriter) int64s(v []int64) {
	w.count(len(v))
	for _, x := range v {
		w.int64(x)
	}
}

func (w *planWriter) dims(v []int64) {
	w.count(len(v))
	for _, x := range v {
		w.signed(x)
	}
}

var errPlanTruncated = errors.New("section ends early")

// planReader reads until the first error, which it keeps; everything read after it is zero.
type planReader struct {
	b   []byte
	off int
	err error
}

func openPlan(body []byte) (r planReader) {
	r.b, r.err = packed.Unpack(body)
	return r
}

func (r *planReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("offset %d: "+format, append([]any{r.off}, args...)...)
	}
}

// version reads the version of a section, of which newest is the newest that is known.
func (r *planReader) version(what string, newest uint64) uint64 {
	v := r.uint()
	if r.err == nil && (v < 1 || v > newest) {
		r.fail("%s version %d, want %d", what, v, newest)
	}
	return v
}

func (r *planReader) finish(what string) error {
	if r.err == nil && r.off != len(r.b) {
		r.fail("%d bytes after the end", len(r.b)-r.off)
	}
	if r.err != nil {
		return fmt.Errorf("%s section: %w", what, r.err)
	}
	return nil
}

func (r *planReader) byte() byte {
	if r.err != nil {
		return 0
	}
	if r.off >= len(r.b) {
		r.fail("%w", errPlanTruncated)
		return 0
	}
	r.off++
	return r.b[r.off-1]
}

func (r *planReader) bool() bool {
	b := r.byte()
	if b > 1 {
		r.fail("boolean is %d", b)
	}
	return b == 1
}

func (r *planReader) uint() uint64 {
	var v uint64
	for range binary.MaxVarintLen64 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if v > math.MaxUint64>>7 {
			break
		}
		v = v<<7 | uint64(b&0x7f)
		if b < 0x80 {
			return v
		}
	}
	r.fail("integer overflows 64 bits")
	return 0
}

func (r *planReader) int64() int64 {
	v := r.uint()
	if v > math.MaxInt64 {
		r.fail("integer %d overflows", v)
		return 0
	}
	return int64(v)
}

// int reads an index or a small number: 32 bits, so that it fits an int anywhere.
func (r *planReader) int() int {
	v := r.uint()
	if v > math.MaxInt32 {
		r.fail("integer %d overflows 32 bits", v)
		return 0
	}
	return int(v)
}

func (r *planReader) signed() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// count reads the length of a list whose elements take at least size bytes each, and refuses one that cannot fit.
func (r *planReader) count(size int) int {
	n := r.uint()
	if r.err == nil && n > uint64((len(r.b)-r.off)/size) {
		r.fail("list of %d: %w", n, errPlanTruncated)
		return 0
	}
	return int(n)
}

func (r *planReader) string() string {
	n := r.count(1)
	if r.err != nil {
		return ""
	}
	r.off += n
	return string(r.b[r.off-n : r.off])
}

func (r *planReader) ints() []int       { return readList(r, r.int) }
func (r *planReader) int64s() []int64   { return readList(r, r.int64) }
func (r *planReader) dims() (d []int64) { return readList(r, r.signed) }

func readList[T any](r *planReader, element func() T) []T {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	list := make([]T, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		list = append(list, element())
	}
	return list
}
