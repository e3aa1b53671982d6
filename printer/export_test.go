package printer

import (
	"io"

	"github.com/gohalo/halo/hlo"
)

// FprintParallel is Fprint by n workers in chunks of chunkSize instructions, however small the module is; false when the configuration
// is for one worker only.
func FprintParallel(w io.Writer, m hlo.Module, cfg Config, n, chunkSize int) (bool, error) {
	p := newPrinter(m, cfg)
	if p.max != 0 {
		return false, nil
	}
	p.w = w
	p.front()
	p.parallel(n, chunkSize)
	return true, p.err
}
