package verifier

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Explain is the documentation of a rule: what must hold, a module that breaks it and, where there is one, the same module mended. False
// when there is no such rule.
func Explain(id string) (string, bool) {
	r, ok := RuleByID(strings.ToUpper(id))
	if !ok {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.ID, r.What)
	switch r.By {
	case byConstruction:
		b.WriteString("\nModules of this library cannot break it.\n")
	case byReader:
		b.WriteString("\nThe reader of HLO text refuses what breaks it.\n")
	}
	if r.Option != "" {
		fmt.Fprintf(&b, "\nChecked with --%s.\n", r.Option)
	}
	if h := hints[r.ID]; h != "" {
		fmt.Fprintf(&b, "\nHint: %s.\n", h)
	}
	if e, ok := ExampleOf(r.ID); ok {
		fmt.Fprintf(&b, "\nBreaks it%s:\n\n%s\nDoes not:\n\n%s", e.flags(), indent(e.Breaks), indent(e.Mended))
	}
	return b.String(), true
}

// Example is a module that breaks a rule and its smallest legal relative.
type Example struct {
	Rule           string
	Profile        Profile
	Options        []string // names of [Options]
	Breaks, Mended string
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
	{"add", "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n"},
	{"ge", "  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=GE\n"},
	{"same", "  a = f32[] parameter(0)\n  ROOT r = f32[] copy(a)\n"},
	{"half", "  a = f32[] parameter(0)\n  ROOT r = f32[] negate(a)\n"},
	{"positive", "  a = f32[] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = pred[] compare(a, z), direction=GT\n"},
}

var examples = sync.OnceValue(func() map[string]Example {
	all := make(map[string]Example)
	var e Example
	var header string
	var body []string
	finish := func() {
		if e.Rule != "" {
			text := strings.Join(body, "\n") + "\n"
			e.Breaks, e.Mended = reading(e.Rule, header, text, 0), reading(e.Rule, header, text, 1)
			all[e.Rule] = e
		}
		e, header, body = Example{Profile: XLA}, "", nil
	}
	for line := range strings.Lines(exampleText) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		options, isOptions := strings.CutPrefix(text, "options: ")
		attrs, isModule := strings.CutPrefix(text, "module: ")
		switch {
		case strings.HasPrefix(line, "#"):
		case isOptions:
			e.Options = strings.Fields(options)
		case isModule:
			header = ", " + attrs
		case text == "profile: doc":
			e.Profile = Doc
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

// hintOf is the advice that findings of a rule carry.
func hintOf(rule string) string { return hints[rule] }

var hints = map[string]string{
	"ASYNC-S1": "legal under --profile=xla, which lets asynchronous values go through tuples and loops",
	"ASYNC-S2": "write the op's own -start and -done opcodes; legal under --profile=xla",
	"ASYNC-25": "give each done a start of its own, or use the result of one done twice",
	"ASYNC-26": "end it with an async-done, even if nobody needs the result",
	"ASYNC-30": "name another async_execution_thread to run several ops",
	"GEN-03":   "--supported-unbounded-dynamic-op=all allows `?`",
	"GEN-05":   "--mixed-precision allows operands of different floating types",
	"RED-07":   "--mixed-precision allows operands of another precision than the computation's",
	"ELT-12":   "insert a broadcast, and a reshape that drops dimensions of size 1",
	"LAY-02":   "insert a copy; --instruction-can-change-layout=always switches the rule off",
	"THR-01":   "start the computation asynchronously to run it on another thread",
}
