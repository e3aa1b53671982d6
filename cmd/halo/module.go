package main

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/verifier"
)

// moduleOptions say how a module is read.
type moduleOptions struct {
	mixed   bool // accept operands of different floating-point widths
	profile string
	fill    bool // give elided constants XLA's filler
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

// parseModule reads the one module of a file.
func parseModule(in *input) (hlo.Module, error) {
	return source.ReadKind(in.name, in.data, in.kind, source.Options{Text: parser.Config{Lenient: in.lenient}})
}
