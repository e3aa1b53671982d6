package main

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// moduleOptions say how a module is read.
type moduleOptions struct {
	profile string
	fill    bool // give elided constants XLA's filler
	mixed   bool // floating types of operands and result may differ
}

// readFlags say how texts are read, for the commands that look at programs and do not run them.
type readFlags struct {
	Lenient bool `help:"Keep what is not known as it is written: attributes, opcodes, values of attributes."`
}

// AfterApply is called by kong when the flags are there.
func (f *readFlags) AfterApply(e *env) error {
	e.lenient = f.Lenient
	return nil
}

// loadModule reads and verifies the one module of a file. What only the profile xla accepts is a warning, and the module is taken.
func (e *env) loadModule(in *input, o moduleOptions) (hlo.Module, error) {
	m, err := parseModule(in)
	if err != nil {
		return m, err
	}
	if o.fill {
		m = hlo.FillElided(m)
	}
	if o.profile != "xla" {
		if findings := verifier.Verify(m, verifier.Config{MixedPrecision: o.mixed}); findings.Err() == nil {
			return m, nil
		} else if relaxed := verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: o.mixed}); meaningIsClear(relaxed) {
			for _, f := range findings {
				warning := *f
				warning.Severity = verifier.SeverityWarning
				fmt.Fprintln(e.stderr, describeFinding(&warning, in))
			}
			return m, nil
		}
	}
	findings := verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: o.mixed})
	if meaningIsClear(findings) {
		return m, nil
	}
	return m, findings.Err()
}

// meaningIsClear reports whether all errors are of rules that earlier XLA did not have and that do not touch what a program means: its
// dumps have asynchronous computations of several instructions on the main thread.
func meaningIsClear(findings verifier.ErrorList) bool {
	for _, f := range findings {
		if f.Severity == verifier.SeverityError && f.Rule != "ASYNC-30" {
			return false
		}
	}
	return true
}

// parseModule reads the one module of a text or proto.
func parseModule(in *input) (hlo.Module, error) {
	switch in.kind {
	case hloText:
		m, err := parser.Config{Lenient: in.lenient}.Parse(in.name, unsafe.String(unsafe.SliceData(in.data), len(in.data)))
		if err != nil {
			if n := modulesIn(in); n > 1 {
				return m, fmt.Errorf("%s: error: the file holds %d modules, and this command takes one at a time: cut it at its lines // -----", in.name, n)
			}
		}
		return m, err
	case hloProto:
		return decodeProto(in)
	case befFile:
		return hlo.Module{}, fmt.Errorf("%s: error: this is a BEF file; want HLO", in.name)
	}
	return hlo.Module{}, fmt.Errorf("%s: error: this is a host program; want HLO", in.name)
}

// modulesIn counts the parts of a text that are not just comments and space.
func modulesIn(in *input) (n int) {
	for _, part := range parser.Split(string(in.data)) {
		for line := range strings.Lines(part.Text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
				break
			}
		}
	}
	return n
}
