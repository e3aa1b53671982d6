package npz

import (
	"fmt"
	"io"
	"slices"

	"github.com/gohalo/halo/internal/pages"
)

// ReadNPY reads one array, up to its last byte; what follows is left unread. Memory grows with the bytes that
// r delivers, to at most twice their number, and exactly to what is needed when r is a
// *bytes.Reader or the like, which knows its length.
func ReadNPY(r io.Reader) (Array, error) {
	available := int64(-1)
	if sized, ok := r.(interface{ Len() int }); ok {
		available = int64(sized.Len())
	}
	return readArray(r, available, new(pages.Room))
}

// readArray reads an array into room from r, which has the given number of bytes; a negative number is unknown.
func readArray(r io.Reader, available int64, room *pages.Room) (Array, error) {
	h, err := readHeader(r)
	if err != nil {
		return Array{}, err
	}
	size, err := byteSize(h.shape, h.item.size)
	if err != nil {
		return Array{}, err
	}
	known := available >= 0
	if available -= h.length; known && size > available {
		return Array{}, fmt.Errorf("array of shape %v needs %d bytes, but %d are left", h.shape, size, max(0, available))
	}
	data, err := readBytes(r, size, known, room)
	if err != nil {
		return Array{}, fmt.Errorf("array of shape %v needs %d bytes: %w", h.shape, size, err)
	}
	if h.item.bigEndian {
		swapBytes(data, h.item)
	}
	if h.fortranOrder {
		data = toRowMajor(data, h.shape, h.item.size)
	}
	return Array{Descr: h.item.String(), ItemSize: h.item.size, Shape: h.shape, Data: data}, nil
}

// readBytes reads exactly n bytes: into room if their number is known to be true, else in growing steps.
func readBytes(r io.Reader, n int64, known bool, room *pages.Room) ([]byte, error) {
	if known {
		data := room.Bytes(n)
		_, err := io.ReadFull(r, data)
		return data, unexpected(err)
	}
	step := int64(1 << 20)
	data := []byte{}
	for int64(len(data)) < n {
		begin := len(data)
		end := min(n, int64(begin)+step)
		data = slices.Grow(data, int(end)-begin)[:end]
		if _, err := io.ReadFull(r, data[begin:]); err != nil {
			return nil, unexpected(err)
		}
		step = end // double
	}
	return data, nil
}

// WriteNPY writes one array, as NumPy would. The error is about a or comes from w.
func WriteNPY(w io.Writer, a Array) error {
	head, err := a.header()
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = w.Write(a.Data)
	return err
}

// header checks that the fields of a agree, and is what precedes the data in a file.
func (a Array) header() ([]byte, error) {
	it, err := parseDescr(a.Descr)
	if err != nil {
		return nil, err
	}
	if it.bigEndian && it.size > 1 {
		return nil, fmt.Errorf("cannot write %q: items in memory are little-endian", a.Descr)
	}
	if a.ItemSize != 0 && a.ItemSize != it.size {
		return nil, fmt.Errorf("items of type %q have %d bytes, not %d", a.Descr, it.size, a.ItemSize)
	}
	size, err := byteSize(a.Shape, it.size)
	if err != nil {
		return nil, err
	}
	if size != int64(len(a.Data)) {
		return nil, fmt.Errorf("array of type %q and shape %v needs %d bytes, got %d", a.Descr, a.Shape, size, len(a.Data))
	}
	return header{item: it, shape: a.Shape}.bytes(), nil
}
