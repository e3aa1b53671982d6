package lsp

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/hlo/source"
	"github.com/gohalo/halo/verifier"
)

// checked is what reading and verifying a text found.
type checked struct {
	module      hlo.Module // the zero Module if it cannot be read
	diagnostics []Diagnostic
}

// fix is a change that mends what a diagnostic is about.
type fix struct {
	Title string `json:"title"`
	Range Range  `json:"range"`
	Text  string `json:"text"`
}

// most bounds how many diagnostics are shown: a person mends the first few.
const most = 200

// checkModule reads and verifies a module. Faults in the profile doc alone are warnings, as in all commands.
func checkModule(d *document) (c checked) {
	c.diagnostics = []Diagnostic{}
	defer func() {
		if p := recover(); p != nil { // an editor must not lose its server to a bug
			c.diagnostics = append(c.diagnostics, Diagnostic{Severity: severityError, Source: "halo", Message: fmt.Sprintf("this is a bug in halo, please report it with the file: %v", p)})
		}
		c.diagnostics = c.diagnostics[:min(len(c.diagnostics), most)]
	}()
	if strings.TrimSpace(d.text) == "" {
		return c
	}
	if d.language.name == nameStableHLO {
		m, err := source.ReadKind(d.uri, []byte(d.text), source.StableHLOText, source.Options{})
		c.add(d, m, err, verifier.Config{})
		return c
	}
	warn := func(e *parser.Error) { c.diagnostics = append(c.diagnostics, d.fault(e, severityWarning)) }
	parts := parser.Split(d.text)
	if len(parts) == 1 {
		d.shared.read(d, &c, warn)
		return c
	}
	for _, part := range parts {
		m, err := parser.Config{Warn: warn, LinesBefore: part.LinesBefore}.Parse(d.uri, part.Text)
		c.add(d, m, err, verifier.Config{})
	}
	return c
}

// read reads a text of one module: what versions before had in common with it is not read and verified again.
func (s *shared) read(d *document, c *checked, warn func(*parser.Error)) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.session == nil {
		s.session = parser.Config{Warn: func(e *parser.Error) { s.warn(e) }}.NewSession(d.uri)
	}
	s.warn = warn
	whole := false
	defer func() {
		if !whole { // a bug: what the session has is not to be trusted
			s.session = nil
		}
	}()
	m, touched, err := s.session.Parse(d.text)
	cfg := verifier.Config{}
	if touched != nil {
		cfg.Known = func(in hlo.Instruction) bool { return !touched.Has(in) }
	}
	if found := c.add(d, m, err, cfg); err == nil && found == 0 {
		s.session.Sound()
	}
	whole = true
}

// add adds what was found of a module, and counts what the verifier has found.
func (c *checked) add(d *document, m hlo.Module, err error, cfg verifier.Config) (findings int) {
	if err != nil {
		c.diagnostics = append(c.diagnostics, d.faults(err)...)
		return 0
	}
	if c.module.IsZero() {
		c.module = m
		d.shared.mu.Lock()
		d.shared.module = m
		d.shared.mu.Unlock()
	}
	found := d.verify(m, cfg)
	c.diagnostics = append(c.diagnostics, found...)
	return len(found)
}

// verify lists the findings of the verifier.
func (d *document) verify(m hlo.Module, cfg verifier.Config) []Diagnostic {
	found := verifier.Verify(m, cfg)
	if len(found) == 0 {
		return nil
	}
	severity := severityError
	cfg.Profile = verifier.XLA
	if verifier.Verify(m, cfg).Err() == nil {
		severity = severityWarning
	}
	var all []Diagnostic
	for _, f := range found[:min(len(found), most)] {
		x := Diagnostic{Severity: severity, Code: f.Rule, Source: "halo", Message: f.Msg}
		if f.Severity == verifier.SeverityWarning {
			x.Severity = severityWarning
		}
		if f.Hint != "" {
			x.Message += "\nHint: " + f.Hint
		}
		x.Range = d.rangeOf(d.wordAt(d.place(int(f.Pos.Line), int(f.Pos.Col))))
		for _, l := range f.Chain {
			if l.Pos.IsKnown() && len(x.Related) < 10 {
				at := d.rangeOf(d.wordAt(d.place(int(l.Pos.Line), int(l.Pos.Col))))
				x.Related = append(x.Related, RelatedInformation{Location{d.uri, at}, l.Opcode.String() + " %" + l.Instruction})
			}
		}
		all = append(all, x)
	}
	return all
}

// faults lists the faults of a text.
func (d *document) faults(err error) []Diagnostic {
	var list parser.ErrorList
	if !errors.As(err, &list) {
		message := strings.TrimPrefix(err.Error(), d.uri+": error: ")
		return []Diagnostic{{Severity: severityError, Source: "halo", Message: message}}
	}
	var all []Diagnostic
	for _, e := range list[:min(len(list), most)] {
		all = append(all, d.fault(e, severityError))
	}
	return all
}

func (d *document) fault(e *parser.Error, severity int) Diagnostic {
	at := d.wordAt(d.place(e.Line, e.Col))
	x := Diagnostic{Range: d.rangeOf(at), Severity: severity, Code: e.Rule, Source: "halo", Message: e.Msg}
	for _, note := range e.Notes {
		x.Message += "\n" + note
	}
	x.Data = d.advised(at, strings.Join(e.Notes, "\n"))
	return x
}

// suggestion is how advice names what should stand there instead.
var suggestion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`did you mean ["']([^"']+)["']\?`) })

// advised is the change that a fault's advice amounts to; nil if it does not say.
func (d *document) advised(at span, notes string) *fix {
	if m := suggestion().FindStringSubmatch(notes); m != nil {
		if at.from < at.to && isSigil(d.text[at.from]) && !isSigil(m[1][0]) {
			at.from++
		}
		return &fix{"Change it to " + m[1], d.rangeOf(at), m[1]}
	}
	if strings.Contains(notes, "attributes are separated by commas") {
		return &fix{"Put a comma before it", d.rangeOf(span{at.from, at.from}), ", "}
	}
	if strings.Contains(notes, "as a name it needs a '%'") {
		return &fix{"Write it with a %", d.rangeOf(span{at.from, at.from}), "%"}
	}
	return nil
}

// wordAt is the word that begins at an offset, or the character if there is none.
func (d *document) wordAt(from int) span {
	l := lexer{text: d.text, at: from, dashes: d.language.name != nameStableHLO}
	t := l.next()
	if t.kind == endOfText || t.from != from || strings.Contains(t.in(d.text), "\n") {
		return span{from, min(from+1, len(d.text))}
	}
	return t.span
}

// checkRules reads rules.
func checkRules(d *document) (c checked) {
	c.diagnostics = []Diagnostic{}
	_, err := rules.Parse(d.uri, d.text)
	var list rules.ErrorList
	var one *rules.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = rules.ErrorList{one}
	case err != nil:
		c.diagnostics = append(c.diagnostics, Diagnostic{Severity: severityError, Source: "halo", Message: err.Error()})
	}
	for _, e := range list[:min(len(list), most)] {
		at := d.wordAt(d.place(e.Line, e.Col))
		x := Diagnostic{Range: d.rangeOf(at), Severity: severityError, Source: "halo", Message: e.Msg, Data: d.advised(at, e.Hint+e.Msg)}
		if e.Hint != "" {
			x.Message += "\n" + e.Hint
		}
		c.diagnostics = append(c.diagnostics, x)
	}
	return c
}
