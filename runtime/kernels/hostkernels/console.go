package hostkernels

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gohalo/halo/runtime"
)

// Console is where a host program prints and logs. Every call is one write, so lines of parallel kernels do not mix. It is safe for
// concurrent use, also with both writers being the same.
//
// Kernels find the one that their request carries as a datum (runtime.RequestOptions.Data).
type Console struct {
	mu       sync.Mutex
	out, log io.Writer
}

// NewConsole returns a console that prints to out and logs to log.
func NewConsole(out, log io.Writer) *Console { return &Console{out: out, log: log} }

// Printf prints.
func (c *Console) Printf(format string, args ...any) { c.write(c.out, format, args) }

// Errorf writes to the log as it is.
func (c *Console) Errorf(format string, args ...any) { c.write(c.log, format, args) }

// write ignores errors: a program goes on when its output is closed.
func (c *Console) write(w io.Writer, format string, args []any) {
	text := fmt.Appendf(nil, format, args...)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = w.Write(text)
}

// Severity is the importance of a line in the log.
type Severity byte

// Severities, by their letters.
const (
	Info    Severity = 'I'
	Warning Severity = 'W'
	Failure Severity = 'E'
)

// Logf writes one line to the log: the severity's letter, then the message.
func (c *Console) Logf(s Severity, format string, args ...any) {
	c.Errorf("%c %s\n", s, fmt.Sprintf(format, args...))
}

var standardConsole = sync.OnceValue(func() *Console { return NewConsole(os.Stdout, os.Stderr) })

// console returns the console of an execution.
func console(ctx runtime.ExecContext) *Console {
	if c, ok := runtime.Data[*Console](&ctx); ok {
		return c
	}
	return standardConsole()
}
