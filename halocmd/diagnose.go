package halocmd

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes/directive"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/devices"
	"github.com/gohalo/halo/verifier"
)

// describe is an error as people read it: where the position in the file is known, the line follows with a caret under the fault. The
// readers of texts quote the line themselves; the verifier and lowering, which see no text, do not.
func describe(err error, in *input) string {
	switch err := err.(type) {
	case several:
		texts := make([]string, len(err))
		for i, part := range err {
			texts[i] = describe(part, in)
		}
		return strings.Join(texts, "\n")
	case verifier.ErrorList:
		lines := make([]string, len(err))
		for i, f := range err {
			lines[i] = describeFinding(f, in)
		}
		return strings.Join(lines, "\n")
	case *eval.Error:
		return err.Error() + quote(in, err.Position) + remedy(err)
	case *lower.Error:
		return err.Error() + quote(in, err.Position)
	}
	var bad *directive.Error
	if errors.As(err, &bad) {
		return err.Error() + quote(in, bad.Position)
	}
	var st *async.Status
	if errors.As(err, &st) {
		if st.Location.Line > 0 {
			return describeStatus(st, in)
		}
		if in != nil && !strings.HasPrefix(err.Error(), in.name) {
			return fmt.Sprintf("%s: error: %v%s", in.name, err, remedy(st))
		}
	}
	return err.Error()
}

// describeStatus is an error of a kernel, at the instruction that the kernel was made from.
func describeStatus(st *async.Status, in *input) string {
	loc := st.Location
	message := st.Message
	var inner *eval.Error
	if errors.As(st.Cause, &inner) { // its position is in the text of the kernel, which the user has not seen
		message = inner.Err.Error()
	}
	return fmt.Sprintf("%s:%d:%d: error: %s: %s", loc.File, loc.Line, loc.Col, st.Kernel, message) +
		quote(in, hlo.Position{Line: uint32(loc.Line), Col: uint32(loc.Col)}) + remedy(st)
}

// remedy is what a flag does about an error of a run, in a line of its own; "" where none does.
func remedy(err error) string {
	if errors.Is(err, devices.ErrAlone) {
		return "\n  --partitions or --replicas runs it on more devices"
	}
	return ""
}

// several is the errors of the modules of one file.
type several []error

func (s several) Error() string   { return errors.Join(s...).Error() }
func (s several) Unwrap() []error { return s }

func describeFinding(f *verifier.Error, in *input) string {
	return f.Headline() + quote(in, f.Pos) + f.Details()
}

// quoted bounds how much of a line is shown.
const quoted = 160

// quote is the line at a position and a caret, each after a line end; "" where there is no text to quote.
func quote(in *input, pos hlo.Position) string {
	if in == nil || in.kind != source.HLOText && in.kind != source.StableHLOText || !pos.IsKnown() {
		return ""
	}
	data := in.data
	for range int(pos.Line) - 1 - in.linesBefore {
		_, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return ""
		}
		data = rest
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	col := int(pos.Col) - 1
	if col < 0 || col > len(line) {
		return ""
	}
	if start := col - quoted/2; start > 0 && len(line) > quoted {
		line, col = line[start:], quoted/2
	}
	pad := bytes.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:col])
	return fmt.Sprintf("\n%s\n%s^", line[:min(len(line), quoted)], pad)
}
