package npz

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/gohalo/halo/internal/pages"
)

const (
	// deflateRatio is more than deflate can shrink anything: 1032 to 1, and a few bytes of frame.
	deflateRatio = 1100
	// An archive may unpack to expansion times its size, or to freely bytes if that is more.
	expansion = 64
	freely    = 1 << 30
)

// ReadNPZ reads all arrays of an archive of the given size, in the order of its directory.
// Checksums are verified. Small arrays share memory, up to 32 MB of it.
func ReadNPZ(r io.ReaderAt, size int64) ([]Named, error) {
	z, err := zip.NewReader(r, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, errors.New("not an npz file, or one that is cut short")
	}
	if err != nil {
		return nil, fmt.Errorf("npz: %w", err)
	}
	if err := plausible(z, size); err != nil {
		return nil, fmt.Errorf("npz: %w", err)
	}
	arrays := make([]Named, 0, len(z.File))
	seen := map[string]bool{}
	room := new(pages.Room)
	for _, f := range z.File {
		room.Expect(int64(f.UncompressedSize64))
	}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("npz: entry %q is not an npy file", f.Name)
		}
		if seen[name] {
			return nil, fmt.Errorf("npz: array %q is given twice", name)
		}
		seen[name] = true
		a, err := readEntry(f, room)
		if err != nil {
			return nil, fmt.Errorf("npz: array %q: %w", name, err)
		}
		arrays = append(arrays, Named{name, a})
	}
	return arrays, nil
}

// plausible compares the sizes in the directory with each other and with that of the archive, so that they
// can be trusted as bounds afterwards. Entries that share bytes of the archive, as in zip bombs,
// exceed its size together.
func plausible(z *zip.Reader, size int64) error {
	var packed, unpacked uint64
	for _, f := range z.File {
		packed += min(f.CompressedSize64, uint64(size)+1)
		most := f.CompressedSize64
		if f.Method != zip.Store {
			most = most*deflateRatio + 64
		}
		if packed > uint64(size) || f.UncompressedSize64 > most {
			return fmt.Errorf("impossible size of entry %q", f.Name)
		}
		unpacked += f.UncompressedSize64
	}
	if unpacked > max(freely, uint64(size)*expansion) {
		return fmt.Errorf("unpacks to %d bytes, more than %d times its size", unpacked, expansion)
	}
	return nil
}

func readEntry(f *zip.File, room *pages.Room) (Array, error) {
	r, err := f.Open()
	if err != nil {
		return Array{}, err
	}
	defer r.Close()
	a, err := readArray(r, int64(f.UncompressedSize64), room)
	if err != nil {
		return Array{}, err
	}
	// The end is also where the checksum is compared.
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return Array{}, errors.New("data after the array")
	case err != io.EOF:
		return Array{}, err
	}
	return a, nil
}

// WriteNPZ writes an archive, uncompressed as by NumPy's savez. The same arrays give the same bytes.
func WriteNPZ(w io.Writer, arrays []Named) error {
	z := zip.NewWriter(w)
	seen := map[string]bool{}
	for _, a := range arrays {
		if seen[a.Name] {
			return fmt.Errorf("npz: array %q is given twice", a.Name)
		}
		seen[a.Name] = true
		if err := writeEntry(z, a); err != nil {
			return fmt.Errorf("npz: array %q: %w", a.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("npz: %w", err)
	}
	return nil
}

// writeEntry knows size and checksum beforehand, so that no descriptor has to follow the data.
func writeEntry(z *zip.Writer, a Named) error {
	head, err := a.header()
	if err != nil {
		return err
	}
	size := uint64(len(head) + len(a.Data))
	w, err := z.CreateRaw(&zip.FileHeader{
		Name:               a.Name + ".npy",
		Method:             zip.Store,
		CRC32:              crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, a.Data),
		CompressedSize64:   size,
		UncompressedSize64: size,
	})
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = w.Write(a.Data)
	return err
}
