package halocmd

import (
	"io"
	"os"
	"strconv"
)

// terminalWidth is how many columns the terminal behind w has; 0 if it is none. COLUMNS names another number.
func terminalWidth(w io.Writer) int {
	f := fileOf(w)
	if f == nil || !isTerminal(f) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return columnsOf(f)
}

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// fileOf is the file that a writer of this package writes to in the end, or nil.
func fileOf(w io.Writer) *os.File {
	for {
		switch x := w.(type) {
		case *os.File:
			return x
		case overProgress:
			w = x.w
		case *results:
			w = x.w
		default:
			return nil
		}
	}
}

// colours reports whether w is a terminal that shows colours. NO_COLOR and TERM=dumb turn them off.
func colours(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
