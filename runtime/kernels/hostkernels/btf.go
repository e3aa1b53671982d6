package hostkernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/gohalo/halo/runtime"
)

// BTF files hold tensors one after the other. All numbers are little-endian: their count, for each the offset of its record, and records
// of rank, element type, layout, extents and elements.

// btfTypes names the element types by their numbers.
var btfTypes = []string{"i8", "i16", "i32", "i64", "f32", "f64", "ui8", "ui16", "ui32", "ui64"}

func registerFiles(reg *runtime.Registry) {
	for _, suffix := range []string{"f32", "i32", "i64", "i8", "ui8"} {
		for rank := range 5 {
			e := elemNamed(suffix)
			reg.Kernel("btf.read_dense_tensor."+suffix+"."+strconv.Itoa(rank), runtime.Params5(
				func(ctx runtime.ExecContext, rep runtime.Reporter, path runtime.Argument[string], index runtime.Argument[int32], out runtime.Result[*Dense]) error {
					r := btfReader{ctx: ctx, path: path.Get(), elem: e, rank: rank}
					i := index.Get()
					ref := out.Allocate()
					var t *Dense
					var err error
					taken := block(ctx.Queue, func() { t, err = r.read(i) }, func() {
						if err != nil {
							ref.SetError(rep.Report(err))
						} else {
							ref.Emplace(t)
						}
						ref.Drop()
					})
					if !taken {
						ref.Drop()
						return errQueueIsFull
					}
					return nil
				}))
		}
	}
}

// btfReader reads one tensor.
type btfReader struct {
	ctx  runtime.ExecContext
	path string
	elem *elem
	rank int
	file *os.File
	size int64
}

func (r *btfReader) read(index int32) (*Dense, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return nil, fmt.Errorf("failed to open file %s for reading", r.path)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("failed to open file %s for reading", r.path)
	}
	r.file, r.size = file, info.Size()
	count, err := r.word(0)
	if err != nil {
		return nil, fmt.Errorf("failed to read tensor num_tensors from path %s", r.path)
	}
	if index < 0 || uint64(index) >= count {
		return nil, fmt.Errorf("invalid tensor index %d to read tensor from path %s which contains %d tensors", index, r.path, count)
	}
	offset, err := r.word(8 + 8*int64(index))
	if err != nil {
		return nil, fmt.Errorf("failed to read tensor offset from %s for tensor index %d", r.path, index)
	}
	return r.record(offset)
}

var errPastEnd = errors.New("past the end")

// bytes reads a part of the file, which has it before memory for it is taken.
func (r *btfReader) bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > r.size || n > r.size-offset {
		return nil, errPastEnd
	}
	b := make([]byte, n)
	_, err := r.file.ReadAt(b, offset)
	if err == io.EOF {
		err = errPastEnd
	}
	return b, err
}

func (r *btfReader) word(offset int64) (uint64, error) {
	b, err := r.bytes(offset, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (r *btfReader) record(at uint64) (*Dense, error) {
	const headerSize = 16
	header, err := r.bytes(int64(at), headerSize)
	if err != nil {
		return nil, fmt.Errorf("failed to read tensor header from stream at offset %d", at)
	}
	rank, kind, layout := binary.LittleEndian.Uint64(header), header[8], header[9]
	if name := btfTypeName(kind); name != r.elem.name {
		return nil, fmt.Errorf("unexpected tensor dtype %s. Expected dtype is %s", name, r.elem.name)
	}
	if rank != uint64(r.rank) {
		return nil, fmt.Errorf("unexpected tensor rank %d. Expected rank is %d", rank, r.rank)
	}
	if layout != 0 {
		return nil, fmt.Errorf("unexpected tensor layout %d", layout)
	}
	offset := int64(at) + headerSize
	dims := make([]int64, r.rank)
	for i := range dims {
		d, err := r.word(offset)
		if err != nil {
			return nil, fmt.Errorf("failed to read tensor dims at offset %d", offset)
		}
		dims[i] = int64(d)
		offset += 8
	}
	size, ok := byteSize(r.elem, dims)
	if !ok || size > r.size-offset {
		return nil, fmt.Errorf("failed to read tensor data from stream at offset %d", offset)
	}
	t, err := newDense(r.ctx, r.elem, dims)
	if err != nil {
		return nil, errors.New("cannot allocate result tensor")
	}
	if _, err := r.file.ReadAt(t.Data(), offset); err != nil && len(t.Data()) > 0 {
		t.DropRef()
		return nil, fmt.Errorf("failed to read tensor data from stream at offset %d", offset)
	}
	return t, nil
}

func btfTypeName(kind byte) string {
	if int(kind) < len(btfTypes) {
		return btfTypes[kind]
	}
	return strconv.Itoa(int(kind))
}
