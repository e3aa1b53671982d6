package arrays

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/pages"
)

// A safetensors file is the length of a header in eight bytes, the header, which is JSON, and the elements: arrays by name, row-major,
// lowest byte first, each at offsets behind the header.

// maxHeader is what the format allows.
const maxHeader = 100_000_000

// tensorTypes are the element types by their names in the format.
var tensorTypes = map[string]hlo.PrimitiveType{
	"BOOL": hlo.PRED, "I8": hlo.S8, "I16": hlo.S16, "I32": hlo.S32, "I64": hlo.S64, "U8": hlo.U8, "U16": hlo.U16, "U32": hlo.U32, "U64": hlo.U64,
	"F16": hlo.F16, "BF16": hlo.BF16, "F32": hlo.F32, "F64": hlo.F64, "C64": hlo.C64, "F8_E5M2": hlo.F8E5M2, "F8_E4M3": hlo.F8E4M3FN, "F8_E8M0": hlo.F8E8M0FNU,
}

// tensorInfo is what the header says about an array.
type tensorInfo struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// ReadSafetensors reads the arrays of a safetensors file of the given size by their names. Small arrays share memory, up to 32 MB of it.
func ReadSafetensors(r io.ReaderAt, size int64) (map[string]*npz.Array, error) {
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("safetensors: the file is cut short")
	}
	n := int64(binary.LittleEndian.Uint64(length[:]))
	if n < 2 || n > min(maxHeader, size-8) {
		return nil, fmt.Errorf("safetensors: got a header of %d bytes in a file of %d", uint64(n), size)
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, 8); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	delete(entries, "__metadata__")
	all := make(map[string]*npz.Array, len(entries))
	infos := make(map[string]tensorInfo, len(entries))
	var room pages.Room
	left := size - 8 - n // arrays do not share bytes, so together they are no larger than the file
	names := slices.Sorted(maps.Keys(entries))
	for _, name := range names {
		var info tensorInfo
		if err := json.Unmarshal(entries[name], &info); err != nil {
			return nil, fmt.Errorf("safetensors: array %q: %w", name, err)
		}
		a, err := info.array(size - 8 - n)
		if err != nil {
			return nil, fmt.Errorf("safetensors: array %q: %w", name, err)
		}
		if left -= info.bytes(); left < 0 {
			return nil, fmt.Errorf("safetensors: array %q: its bytes are those of another array", name)
		}
		room.Expect(info.bytes())
		infos[name], all[name] = info, a
	}
	for _, name := range names {
		info, a := infos[name], all[name]
		a.Data = room.Bytes(info.bytes())
		if _, err := r.ReadAt(a.Data, 8+n+info.Offsets[0]); err != nil && len(a.Data) > 0 {
			return nil, fmt.Errorf("safetensors: array %q: %w", name, err)
		}
	}
	return all, nil
}

func (t *tensorInfo) bytes() int64 { return t.Offsets[1] - t.Offsets[0] }

// array checks what the header says against the bytes that there are.
func (t *tensorInfo) array(bytes int64) (*npz.Array, error) {
	typ, ok := tensorTypes[t.Type]
	if !ok {
		return nil, fmt.Errorf("elements of type %q are not supported", t.Type)
	}
	if t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] || t.Offsets[1] > bytes {
		return nil, fmt.Errorf("got offsets %v in %d bytes", t.Offsets, bytes)
	}
	if slices.ContainsFunc(t.Shape, func(d int64) bool { return d < 0 }) {
		return nil, fmt.Errorf("got shape %v", t.Shape)
	}
	if want, got := hlo.MakeShape(typ, t.Shape...).ByteSize(), t.Offsets[1]-t.Offsets[0]; want != got {
		return nil, fmt.Errorf("got %d bytes, want %d for %s of shape %v", got, want, t.Type, t.Shape)
	}
	descr, _ := npz.Descr(typ.String())
	return &npz.Array{Descr: descr, ItemSize: typ.ByteSize(), Shape: t.Shape}, nil
}

// WriteSafetensors writes literals as a safetensors file. The same literals give the same bytes.
func WriteSafetensors(w io.Writer, literals []Named) error {
	header := map[string]tensorInfo{}
	at := int64(0)
	for _, l := range literals {
		s := l.Literal.Shape()
		name := ""
		for n, t := range tensorTypes {
			if t == s.Type() {
				name = n
			}
		}
		if name == "" {
			return fmt.Errorf("safetensors: array %q: there are no elements of type %v", l.Key, s.Type())
		}
		if _, taken := header[l.Key]; taken {
			return fmt.Errorf("safetensors: array %q is given twice", l.Key)
		}
		header[l.Key] = tensorInfo{name, append([]int64{}, s.Dimensions()...), [2]int64{at, at + s.ByteSize()}}
		at += s.ByteSize()
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, strings.Repeat(" ", -len(text)&7)...) // elements are aligned to eight bytes
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)); err != nil {
		return err
	}
	for _, l := range literals {
		if _, err := w.Write(l.Literal.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func readSafetensorsFile(path string) (map[string]*npz.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return ReadSafetensors(f, info.Size())
}
