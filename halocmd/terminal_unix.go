//go:build unix

package halocmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf asks a terminal for its width; 0 if it does not say.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
