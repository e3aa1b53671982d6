package printer

import (
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

// A LimitError says that a print would be longer than Config.MaxBytes, or nested too deeply.
type LimitError struct {
	What  string
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("print exceeds the limit of %d %s", e.Limit, e.What)
}

// Limits of a print that includes bodies.
const (
	defaultMaxBytes = 1 << 30
	maxNesting      = 4096
	flushBytes      = 1 << 15
)

// Fprint writes the module to w, a large one on as many processors as there are. The error is that of w, or a *[LimitError].
func Fprint(w io.Writer, m hlo.Module, cfg Config) error {
	p := newPrinter(m, cfg)
	p.w = w
	p.b = make([]byte, 0, flushBytes+flushBytes/4)
	p.module()
	p.flush()
	return p.err
}

// Append appends the text of the module to b. The error is a *[LimitError], and cannot occur unless the configuration writes bodies or
// sets MaxBytes.
func Append(b []byte, m hlo.Module, cfg Config) ([]byte, error) {
	p := newPrinter(m, cfg)
	p.b = b
	p.expected = m.NumInstructions() + 3*int(m.CompIDLimit())
	p.module()
	return p.b, p.err
}

// String is the module in the default form.
func String(m hlo.Module) string {
	b, _ := Append(nil, m, Config{})
	return unsafe.String(unsafe.SliceData(b), len(b)) // nobody else has b, and the text may be large
}

// AppendComputation appends the text of one computation of m, without a newline at the end.
func AppendComputation(b []byte, m hlo.Module, c hlo.Computation, cfg Config) ([]byte, error) {
	p := newPrinter(m, cfg)
	p.b = b
	p.computation(c, cfg.Indent, cfg.Entry && c.ID() == m.Entry().ID(), false)
	return p.b, p.err
}

// AppendInstruction appends one instruction of m, without ROOT and without a newline at the end. With canonical names the instruction
// and its operands have none, as in XLA. For many instructions of a module there is [Lines].
func AppendInstruction(b []byte, m hlo.Module, in hlo.Instruction, cfg Config) ([]byte, error) {
	return NewLines(m, cfg).Append(b, in)
}

// Lines prints instructions of a module one by one. What a print has to know of the module as a whole is found once. It belongs to one
// goroutine.
type Lines struct{ p *printer }

// NewLines looks at every instruction of m once.
func NewLines(m hlo.Module, cfg Config) *Lines {
	p := newPrinter(m, cfg)
	p.lone = true
	return &Lines{p}
}

// Append appends an instruction of the module to b, as [AppendInstruction] does.
func (l *Lines) Append(b []byte, in hlo.Instruction) ([]byte, error) {
	l.p.b, l.p.err, l.p.nesting = b, nil, 0
	l.p.instruction(in, l.p.Indent)
	b, l.p.b = l.p.b, nil
	return b, l.p.err
}

// printer is the state of one print. Text grows at the end of b; with a writer, b is handed over between lines.
type printer struct {
	Config
	m hlo.Module
	w io.Writer
	b []byte

	every   int // operands between index marks, 0: none
	sugared []bool
	step    chainStep // of a chain, written last
	names   *canonicalNames
	nesting int
	lone    bool // a single instruction: canonical names are left out
	max     int64
	written int64
	err     error

	lines, expected int // so far, and about how many there are in all; 0: nobody knows
}

func newPrinter(m hlo.Module, cfg Config) *printer {
	p := &printer{Config: cfg, m: m, max: cfg.MaxBytes}
	switch {
	case cfg.OperandIndex == IndexEvery5:
		p.every = 5
	case cfg.OperandIndex > 0:
		p.every = int(cfg.OperandIndex)
	}
	if p.max == 0 && cfg.Bodies >= BodyFull {
		p.max = defaultMaxBytes
	}
	p.sugared = sugaredComputations(m, cfg.Sugar)
	return p
}

// line ends a line and looks after the limits. It reports whether to go on.
func (p *printer) line() bool {
	p.b = append(p.b, '\n')
	if p.lines++; p.w == nil && cap(p.b)-len(p.b) < roomForLine && p.lines >= guessFrom && p.lines < p.expected {
		p.grow()
	}
	p.spill()
	if p.max > 0 && p.written+int64(len(p.b)) > p.max && p.err == nil {
		p.err = &LimitError{"bytes", p.max}
	}
	return p.err == nil
}

// Room for text that has no writer is guessed from the lines so far: growing it step by step would write a long text several times, each time into memory that no cache
// has.
const (
	guessFrom   = 128 // lines
	roomForLine = 1 << 10
	mostRoom    = 4 // times what there is: the lines so far may be longer than the others
)

func (p *printer) grow() {
	n := len(p.b)
	guess := n/p.lines*p.expected + n/16
	p.b = slices.Grow(p.b, min(max(guess-n, n/4), mostRoom*n))
}

// spill hands over what there is when it is much.
func (p *printer) spill() {
	if p.w != nil && len(p.b) >= flushBytes {
		p.flush()
	}
}

func (p *printer) flush() {
	if p.err == nil {
		_, p.err = p.w.Write(p.b)
	}
	p.written += int64(len(p.b))
	p.b = p.b[:0]
}

func (p *printer) str(s string) { p.b = append(p.b, s...) }

const spaces = "                                                                "

func (p *printer) indent(steps int) {
	for n := 2 * steps; n > 0; n -= len(spaces) {
		p.b = append(p.b, spaces[:min(n, len(spaces))]...)
	}
}
