package passcases

import (
	"fmt"
	"strings"
)

var (
	checkLine  = lazily(`(?m)^[ \t]*// CHECK.*\n?`)
	nameInText = lazily(`%[A-Za-z_][\w.-]*`)
)

// Updated returns the text of a case with CHECK lines for every line of the computations of an output, in front of its module. Names are captured where they are
// defined, so that another numbering is no difference.
func (c *Case) Updated(output string) string {
	text := checkLine().ReplaceAllString(c.Text, "")
	var b strings.Builder
	_, body, _ := strings.Cut(output, "\n\n")
	known := map[string]bool{}
	next := "CHECK"
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || line == "}" {
			next = "CHECK"
			continue
		}
		fmt.Fprintf(&b, "// %s: %s\n", next, captureNames(line, known))
		next = "CHECK-NEXT"
	}
	at := strings.Index(text, "HloModule")
	if at < 0 {
		at = 0
	}
	return text[:at] + b.String() + text[at:]
}

// captureNames makes a pattern of a line.
func captureNames(line string, known map[string]bool) string {
	line = strings.ReplaceAll(line, "{{", "{{[{][{]}}") // FileCheck's own brackets
	return nameInText().ReplaceAllStringFunc(line, func(name string) string {
		v := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' {
				return r
			}
			return '_'
		}, name[1:])
		if known[v] {
			return "[[" + v + "]]"
		}
		known[v] = true
		return "[[" + v + ":%[^ ,)]+]]"
	})
}
