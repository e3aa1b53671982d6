package halocmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/stack"
)

// record is what --json prints for one file.
type record struct {
	File  string `json:"file"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Extra holds what a command adds; its fields are printed beside the others.
	Extra map[string]any `json:"-"`
}

// add sets a field that the command adds to the record.
func (r *record) add(name string, value any) {
	if r.Extra == nil {
		r.Extra = map[string]any{}
	}
	r.Extra[name] = value
}

// MarshalJSON puts the extra fields beside the fixed ones.
func (r record) MarshalJSON() ([]byte, error) {
	all := map[string]any{"file": r.File, "ok": r.OK}
	if r.Error != "" {
		all["error"] = r.Error
	}
	for k, v := range r.Extra {
		all[k] = v
	}
	return json.Marshal(all)
}

// bug is a panic that was caught while working on a file.
type bug struct {
	value any
	stack []byte
}

func (b *bug) Error() string { return fmt.Sprintf("halo: bug: %v\n%s", b.value, b.stack) }

// exitCode says whose fault an error is.
func exitCode(err error) int {
	var (
		reported failure
		usage    usageError
		ours     *bug
		caught   *stack.Panic
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &reported):
		return int(reported)
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &ours) && isGrowth(ours.value):
		return exitInput
	case errors.As(err, &ours), errors.As(err, &caught):
		return exitBug
	}
	return exitInput
}

// isGrowth reports whether a panic says that the module has grown too large, which is the module's fault.
func isGrowth(v any) bool {
	_, ok := v.(*hlo.GrowthError)
	return ok
}

// atWork is called before a command works on a file. Tests plant bugs here.
var atWork = func(name string) {}

// each works on every file that the arguments name. A failure on one does not keep it from the others. Errors go to standard error, or
// with asJSON into one record a file on standard output. The result is nil or a failure with the exit code.
func (e *env) each(args []string, asJSON bool, work func(in *input, r *record) error) error {
	files, err := e.expand(args)
	if err != nil {
		return err
	}
	defer e.guard()()
	e.records = asJSON
	code := exitOK
	for _, s := range files {
		read := func() (*input, error) { return e.read(s) }
		fileCode, err := e.file(s, read, asJSON, work)
		if err != nil {
			return err
		}
		code = max(code, fileCode)
	}
	if code != exitOK {
		return failure(code)
	}
	return nil
}

// file works on one file, or on each of its programs, and reports what has become of it. An error is one of writing the reports.
func (e *env) file(s place, read func() (*input, error), asJSON bool, work func(*input, *record) error) (code int, unwritable error) {
	r := &record{File: s.label(), OK: true}
	hasParts := false
	text, err := e.one(s, r, read, func(in *input, r *record) (err error) {
		hasParts, err = e.eachPart(in, func(part *input) {
			if unwritable == nil {
				var partCode int
				partCode, unwritable = e.file(part.place, func() (*input, error) { return part, nil }, asJSON, work)
				code = max(code, partCode)
			}
		})
		if hasParts || err != nil {
			return err
		}
		return work(in, r)
	})
	code = max(code, exitCode(err))
	if err != nil {
		r.OK, r.Error = false, text
		e.tellJob(err)
	}
	switch {
	case unwritable != nil:
		return code, unwritable // the reader has gone
	case asJSON && (!hasParts || err != nil):
		return code, e.writeRecord(r)
	case !asJSON && text != "":
		fmt.Fprintln(e.stderr, text)
	}
	return code, nil
}

// writeRecord prints a record on a line.
func (e *env) writeRecord(r *record) error {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = fmt.Fprintf(e.stdout, "%s\n", line)
	}
	return err
}

// one works on one file and turns a panic into an error. The text says what went wrong, unless the command has done so itself.
func (e *env) one(s place, r *record, read func() (*input, error), work func(*input, *record) error) (text string, err error) {
	var in *input
	e.progress.begin(s.label())
	defer e.progress.end()
	defer func() { in.close() }()
	defer func() {
		if p := recover(); p != nil {
			err = &bug{p, debug.Stack()}
		}
		if err != nil && e.ended != nil && e.ended() != nil { // whatever the work makes of it
			err = fmt.Errorf("%s: error: %w", s.name, e.ended())
		}
		if err != nil && !errors.As(err, new(failure)) {
			text = describe(err, in)
		}
		if exitCode(err) == exitBug && text != "" {
			text = fmt.Sprintf("%s: this is a bug in halo, please report it with the file\n%s", s.name, text)
		}
	}()
	if in, err = read(); err != nil {
		return "", err
	}
	atWork(s.name)
	return "", work(in, r)
}
