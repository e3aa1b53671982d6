package verifier

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Explain is the documentation of a rule: what must hold, what breaks it, and what does not. False when there is no such rule.
func Explain(id string) (string, bool) {
	r, ok := RuleByID(strings.ToUpper(id))
	if !ok {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.ID, r.What)
	if note := r.note(); note != "" {
		b.WriteString("\n" + note + "\n")
	}
	if h := hints[r.ID]; h != "" {
		fmt.Fprintf(&b, "\nHint: %s.\n", h)
	}
	e, ok := ExampleOf(r.ID)
	switch {
	case !ok:
	case e.Breaks == "":
		fmt.Fprintf(&b, "\nLegal%s:\n\n%s", e.flags(), indent(e.Mended))
	case e.Route != "":
		fmt.Fprintf(&b, "\nBreaks it%s, when %s:\n\n%s\nAs it stands, this module does not.\n", e.flags(), e.Route, indent(e.Mended))
	default:
		fmt.Fprintf(&b, "\nBreaks it%s:\n\n%s\nDoes not:\n\n%s", e.flags(), indent(e.Breaks), indent(e.Mended))
	}
	return b.String(), true
}

// note says what is special about a rule.
func (r Rule) note() string {
	var notes []string
	switch r.Kind {
	case ByConstruction:
		notes = append(notes, "Modules of this library cannot break it: there is no way to say it.")
	case ByReader:
		notes = append(notes, "The reader of HLO text sees to it.")
	case ByDecoder:
		notes = append(notes, "Text cannot break it; the reader of serialized modules refuses what does.")
	case Covered:
		notes = append(notes, "What breaks it is reported as "+r.As+".")
	case Permission:
		notes = append(notes, "A permission: there is nothing to check.")
	case Definition:
		notes = append(notes, "A definition, for other rules.")
	}
	if strings.HasPrefix(r.ID, "HALO-") {
		notes = append(notes, "XLA does not check it.")
	}
	if r.Severity == SeverityWarning {
		notes = append(notes, "A warning: modules that break it are legal.")
	}
	if r.Option != "" {
		checked := "Checked with --" + strings.ReplaceAll(r.Option, " ", " --")
		if r.InDoc {
			checked += ", and always in profile doc"
		}
		notes = append(notes, checked+".")
	}
	return strings.Join(notes, " ")
}

// Example is a module that breaks a rule and its smallest legal relative. Permissions have the legal one only.
type Example struct {
	Rule           string
	Profile        Profile
	Options        []string // of [Options], name or name=value
	Breaks, Mended string
	// Route says what is done to the module to break the rule where text cannot say it: an edit, or a fault in the serialized form. Breaks
	// and Mended are the same text then.
	Route string
}

func (e *Example) flags() string {
	var f []string
	if e.Profile == XLA {
		f = append(f, "--profile=xla")
	}
	for _, o := range e.Options {
		f = append(f, "--"+o)
	}
	if len(f) == 0 {
		return ""
	}
	return " with " + strings.Join(f, " ")
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}

// ExampleOf is the example of a rule, if it has one.
func ExampleOf(rule string) (Example, bool) {
	e, ok := examples()[rule]
	return e, ok
}

//go:embed examples.txt
var exampleText string

// prelude are computations that examples call.
var prelude = []struct{ name, text string }{
	{"add", "  add.a = f32[] parameter(0)\n  add.b = f32[] parameter(1)\n  ROOT add.r = f32[] add(add.a, add.b)\n"},
	{"ge", "  ge.a = f32[] parameter(0)\n  ge.b = f32[] parameter(1)\n  ROOT ge.r = pred[] compare(ge.a, ge.b), direction=GE\n"},
	{"same", "  same.a = f32[] parameter(0)\n  ROOT same.r = f32[] copy(same.a)\n"},
	{"opposite", "  opposite.a = f32[] parameter(0)\n  ROOT opposite.r = f32[] negate(opposite.a)\n"},
	{"positive", "  positive.a = f32[] parameter(0)\n  positive.z = f32[] constant(0)\n  ROOT positive.r = pred[] compare(positive.a, positive.z), direction=GT\n"},
}

var examples = sync.OnceValue(func() map[string]Example {
	all := make(map[string]Example)
	var e Example
	var header string
	var body []string
	finish := func() {
		if e.Rule != "" {
			text := strings.Join(body, "\n") + "\n"
			e.Mended = reading(e.Rule, header, text, 1)
			if strings.Contains(header+text, "«") || e.Route != "" {
				e.Breaks = reading(e.Rule, header, text, 0)
			}
			all[e.Rule] = e
		}
		e, header, body = Example{}, "", nil
	}
	for line := range strings.Lines(exampleText) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		options, isOptions := strings.CutPrefix(text, "options: ")
		attrs, isModule := strings.CutPrefix(text, "module: ")
		route, isRoute := strings.CutPrefix(text, "when: ")
		switch {
		case strings.HasPrefix(line, "#"):
		case isOptions:
			e.Options = strings.Fields(options)
		case isModule:
			header = ", " + attrs
		case isRoute:
			e.Route = route
		case text == "profile: xla":
			e.Profile = XLA
		case strings.HasPrefix(line, "  ") || text == "" && len(body) > 0:
			body = append(body, strings.TrimPrefix(line, "  "))
		case text != "":
			finish()
			e.Rule = text
		}
	}
	finish()
	return all
})

// reading is the broken (0) or the mended (1) module of an example.
func reading(rule, header, body string, which int) string {
	choose := func(s string) string {
		var b strings.Builder
		for {
			before, rest, ok := strings.Cut(s, "«")
			b.WriteString(before)
			if !ok {
				return b.String()
			}
			choice, after, _ := strings.Cut(rest, "»")
			broken, mended, _ := strings.Cut(choice, "|")
			b.WriteString([2]string{broken, mended}[which])
			s = after
		}
	}
	body = choose(body)
	var b strings.Builder
	fmt.Fprintf(&b, "HloModule %s%s\n", strings.ToLower(strings.ReplaceAll(rule, "-", "_")), choose(header))
	for _, p := range prelude {
		if strings.Contains(body, "prelude."+p.name) {
			fmt.Fprintf(&b, "\n%s {\n%s}\n", p.name, p.text)
		}
	}
	body = strings.ReplaceAll(body, "prelude.", "")
	if strings.Contains(body, "ENTRY") {
		return b.String() + "\n" + strings.TrimRight(body, "\n") + "\n"
	}
	b.WriteString("\nENTRY main {\n")
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("  " + line)
		}
	}
	return b.String() + "}\n"
}
