package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// record is what --json prints for one file.
type record struct {
	File  string `json:"file"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	// Extra holds what a command adds; its fields are printed beside the others.
	Extra map[string]any `json:"-"`
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

func (b *bug) Error() string { return fmt.Sprintf("bug in halo: %v\n%s", b.value, b.stack) }

// each works on every file that the arguments name. A failure on one does not keep it from the others. Errors go to standard error, or
// with asJSON into one record a file on standard output. The result is nil or a failure with the exit code.
func (e *env) each(args []string, asJSON bool, work func(in *input, r *record) error) error {
	files, err := expand(args)
	if err != nil {
		return err
	}
	code := exitOK
	for _, name := range files {
		r := &record{File: name, OK: true}
		err := e.one(name, r, work)
		if err != nil {
			r.OK = false
			r.Error = err.Error()
			if _, isBug := err.(*bug); isBug {
				code = exitBug
			} else {
				code = max(code, exitInput)
			}
			if _, reported := err.(failure); reported {
				r.Error = ""
			} else if !asJSON {
				fmt.Fprintln(e.stderr, err)
			}
		}
		if asJSON {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s\n", line)
		}
	}
	if code != exitOK {
		return failure(code)
	}
	return nil
}

// one works on one file and turns a panic into an error.
func (e *env) one(name string, r *record, work func(*input, *record) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &bug{p, debug.Stack()}
		}
	}()
	in, err := e.read(name)
	if err != nil {
		return err
	}
	return work(in, r)
}
