//go:build unix

package bef

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a regular file; what has no size to speak of, such as a pipe,
// is read.
func mapFile(path string) ([]byte, func() error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 || int64(int(info.Size())) != info.Size() {
		return readFile(path)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return readFile(path)
	}
	return b, func() error { return unix.Munmap(b) }, nil
}
