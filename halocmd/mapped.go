package halocmd

import "io"

// A text is looked at twice, when it is read and when the names in it are printed, both times from front to back. So a large one is
// mapped, and its pages are given back as reading and printing go on: the memory that is needed does not grow with them.
const (
	worthMapping = 256 << 10
	keptPages    = 512 << 10 // bytes read or printed between two times that pages are given back
)

// passed is told how far the reading of a mapped input has come.
func (in *input) passed(int) {
	if in.mapped {
		dropPages(in.data)
	}
}

// forgetting is w; pages of in are given back as it is written to.
func (in *input) forgetting(w io.Writer) io.Writer {
	if !in.mapped {
		return w
	}
	forgetPages()
	return &forgetting{w: w, in: in}
}

type forgetting struct {
	w  io.Writer
	in *input
	n  int // bytes written since pages were given back
}

func (f *forgetting) Write(b []byte) (int, error) {
	if f.n += len(b); f.n >= keptPages {
		f.n = 0
		dropPages(f.in.data)
	}
	return f.w.Write(b)
}

// close gives a mapped input back. Nothing that was read from it may be used any more.
func (in *input) close() {
	if in != nil && in.mapped {
		unmap(in.data)
		in.data, in.mapped = nil, false
	}
}
