//go:build unix

package halocmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file; false when it is better read: it is small, or no regular file.
func mapFile(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < worthMapping || int64(int(info.Size())) != info.Size() {
		return nil, false
	}
	forgetPages()
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	return data, err == nil
}

// dropPages gives back the memory of a mapped file, which is read again where it is looked at again.
func dropPages(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }

func unmap(data []byte) { _ = unix.Munmap(data) }
