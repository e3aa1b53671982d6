package npz

import (
	"io"
	"io/fs"
	"os"
)

// ReadNPYFile is [ReadNPY] from a file. Memory is made once where the system says how long the file is; other file systems may hold
// what was packed by somebody else, and are not believed.
func ReadNPYFile(f fs.File) (*Array, error) {
	var r io.Reader = f
	if f, ok := f.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			r = sized{f, int(info.Size())}
		}
	}
	a, err := ReadNPY(r)
	return &a, err
}

// sized is a reader that knows how much there is.
type sized struct {
	io.Reader
	size int
}

func (s sized) Len() int { return s.size }
