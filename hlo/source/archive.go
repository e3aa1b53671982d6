package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gohalo/halo/internal/budget"
	"github.com/gohalo/halo/internal/packed"
)

// Member is a file of an archive.
type Member struct {
	Name string // its path in the archive
	Data []byte // unpacked
	Err  error  // in the place of Data, when the member cannot be read
}

// maxMembers bounds the files of an archive.
const maxMembers = 1 << 20

// tarMark is the offset of the magic number of tar files.
const tarMark = 257

func isTar(data []byte) bool {
	return len(data) >= tarMark+5 && string(data[tarMark:tarMark+5]) == "ustar"
}

// IsArchive reports whether files of this kind hold files.
func (k Kind) IsArchive() bool { return k == Zip || k == Tar }

// Members calls visit with the files of an archive, in the order of the archive, each of them unpacked like [Unpack] does; false
// ends it. The memory of one is free when the next is read, unless visit keeps it. Together they may have limit bytes, where 0 stands for
// [MaxUnpacked]. An error is about the archive itself.
func Members(kind Kind, data []byte, limit int64, visit func(Member) bool) error {
	if limit <= 0 {
		limit = MaxUnpacked
	}
	limit = min(limit, packed.Limit(len(data)))
	left := limit
	// take reads one member of a size that need not be true.
	take := func(name string, size int64, r io.Reader) (Member, error) {
		m := Member{Name: name}
		if m.Err = budget.Check("the archive's member", min(max(size, 0), left)); m.Err != nil {
			return m, nil
		}
		m.Data, m.Err = io.ReadAll(io.LimitReader(r, left+1))
		if left -= int64(len(m.Data)); left < 0 {
			return m, fmt.Errorf("unpacks to more than %d bytes", limit)
		}
		if m.Err == nil {
			packed := len(m.Data)
			m.Data, m.Err = Unpack(m.Data, left+int64(packed))
			if left -= int64(len(m.Data) - packed); left < 0 {
				return m, fmt.Errorf("unpacks to more than %d bytes", limit)
			}
		}
		if m.Err != nil {
			m.Data = nil
		}
		return m, nil
	}
	if kind == Tar {
		return tarMembers(data, take, visit)
	}
	return zipMembers(data, take, visit)
}

type takeMember func(name string, size int64, r io.Reader) (Member, error)

func zipMembers(data []byte, take takeMember, visit func(Member) bool) error {
	// The directory at the end of the file may claim any number of entries; the reader does not believe more than fit into the file.
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return errors.New("zip: the file is cut short or damaged")
	}
	for i, f := range z.File {
		if i == maxMembers {
			return fmt.Errorf("zip: more than %d files", maxMembers)
		}
		if !f.Mode().IsRegular() {
			continue
		}
		m := Member{Name: f.Name}
		r, err := f.Open()
		if err != nil {
			m.Err = err
		} else if m, err = take(f.Name, int64(min(f.UncompressedSize64, 1<<62)), r); err != nil {
			return fmt.Errorf("zip: %w", err)
		}
		if !visit(m) {
			return nil
		}
	}
	return nil
}

func tarMembers(data []byte, take takeMember, visit func(Member) bool) error {
	t := tar.NewReader(bytes.NewReader(data))
	for range maxMembers {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("tar: the file is cut short")
		case err != nil:
			return fmt.Errorf("tar: %w", err)
		case h.Typeflag != tar.TypeReg || h.FileInfo().Mode()&fs.ModeType != 0:
			continue
		}
		m, err := take(h.Name, h.Size, t)
		if err != nil {
			return fmt.Errorf("tar: %w", err)
		}
		if !visit(m) {
			return nil
		}
	}
	return fmt.Errorf("tar: more than %d files", maxMembers)
}
