package halocmd

import (
	"fmt"
	"io"
)

// results is standard output. It remembers the first failure, so that no command can end well whose results went nowhere.
type results struct {
	w   io.Writer
	err error
}

func (r *results) Write(b []byte) (int, error) {
	n, err := r.w.Write(b)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n, err
}

// exit is the exit code of a command that would end with code.
func (r *results) exit(code int, stderr io.Writer) int {
	if r.err == nil || code != exitOK {
		return code
	}
	fmt.Fprintf(stderr, "halo: error: cannot write standard output: %v\n", unwrapPath(r.err))
	return exitInput
}
