package verifier

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Severity distinguishes errors from warnings.
type Severity uint8

// The severities.
const (
	SeverityError Severity = iota
	SeverityWarning
)

func (s Severity) String() string {
	if s == SeverityWarning {
		return "warning"
	}
	return "error"
}

// Error is one finding.
type Error struct {
	Rule     string // id in the rule table
	Severity Severity
	File     string // where the module came from; "" when unknown
	// Computation and Instruction are names without '%'; empty when the finding is about something larger.
	Computation, Instruction string
	Pos                      hlo.Position // unknown for modules that were not read from text
	Msg                      string
	Hint                     string // how to mend it; "" when there is nothing to add
	// Chain is, for findings about an asynchronous value, where it comes from and goes to: its start first, then what hands it on, its dones.
	// Findings share these slices.
	Chain []Link
}

// Link is an instruction that an asynchronous value passes.
type Link struct {
	Opcode                   hlo.Opcode
	Computation, Instruction string
	Pos                      hlo.Position // unknown for modules that were not read from text
}

// Error is [Error.Headline] and [Error.Details].
func (e *Error) Error() string { return e.Headline() + e.Details() }

// Headline is `file:line:col: error: %instruction: message [RULE]`.
func (e *Error) Headline() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.Pos.IsKnown() {
		fmt.Fprintf(&b, "%d:%d:", e.Pos.Line, e.Pos.Col)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "%v: ", e.Severity)
	switch {
	case e.Instruction != "":
		fmt.Fprintf(&b, "%%%s: ", e.Instruction)
	case e.Computation != "":
		fmt.Fprintf(&b, "computation %%%s: ", e.Computation)
	}
	fmt.Fprintf(&b, "%s [%s]", e.Msg, e.Rule)
	return b.String()
}

// Details is what follows the headline: the chain, a line for each link, and the hint. Each line begins with a line end.
func (e *Error) Details() string {
	var b strings.Builder
	for i, l := range e.Chain {
		b.WriteString("\n  ")
		b.WriteString([]string{"chain: ", "       "}[min(i, 1)])
		if l.Instruction == "" {
			b.WriteString("... and more")
			continue
		}
		fmt.Fprintf(&b, "%%%s = %v", l.Instruction, l.Opcode)
		if l.Computation != e.Computation {
			fmt.Fprintf(&b, " in %%%s", l.Computation)
		}
		if l.Pos.IsKnown() {
			fmt.Fprintf(&b, " (line %d)", l.Pos.Line)
		}
	}
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// ErrorList is all findings about a module, errors and warnings, by place in the text.
type ErrorList []*Error

// Error joins the findings by newlines.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the findings to errors.As.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// Err is the errors of the list without the warnings, nil when there are none. Its type is ErrorList.
func (l ErrorList) Err() error {
	var errs ErrorList
	for _, e := range l {
		if e.Severity == SeverityError {
			errs = append(errs, e)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// HasRule reports whether some error is of the given rule.
func (l ErrorList) HasRule(rule string) bool {
	for _, e := range l {
		if e.Rule == rule {
			return true
		}
	}
	return false
}
