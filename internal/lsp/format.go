package lsp

import (
	"errors"
	"strings"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// errComments is why a text is not formatted.
var errComments = errors.New("the text has comments, which formatting would lose")

// formatHLO prints the module again: in the short form if the text writes names without %.
func formatHLO(d *document) (string, error) {
	if len(parser.Split(d.text)) > 1 {
		return "", errors.New("the text holds several modules")
	}
	names := false
	l := lexer{text: d.text, dashes: true}
	for t := l.next(); t.kind != endOfText; t = l.next() {
		if s := t.in(d.text); t.kind == comment && !strings.HasPrefix(s, "/*index=") {
			return "", errComments
		} else if t.kind == word && s[0] == '%' {
			names = true
		}
	}
	m, err := parser.Parse(d.uri, d.text)
	if err != nil {
		return "", errors.New("the text has faults")
	}
	cfg := printer.Config{}
	if !names {
		cfg = printer.Short
	}
	b, err := printer.Append(nil, m, cfg)
	return string(b), err
}

// formatMLIR indents every line by the brackets that are open, and leaves the rest.
func formatMLIR(d *document) (string, error) {
	var b strings.Builder
	depth := 0
	for n := range d.lines {
		line := strings.TrimSpace(d.line(n))
		l := lexer{text: line}
		before, closes := depth, 0
		leading := true
		for t := l.nextCode(); t.kind != endOfText; t = l.nextCode() {
			switch t.in(line) {
			case "{", "(", "[":
				depth++
				leading = false
			case "}", ")", "]":
				depth--
				if leading {
					closes++
				}
			default:
				leading = false
			}
		}
		depth = max(depth, 0)
		if line != "" {
			b.WriteString(strings.Repeat("  ", max(indentOf(line, before)-closes, 0)))
			b.WriteString(line)
		}
		if n < len(d.lines)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// indentOf is how far a line is indented: labels of blocks stand with their region.
func indentOf(line string, depth int) int {
	if strings.HasPrefix(line, "^") {
		return depth - 1
	}
	return depth
}

// formatRules takes away spaces at the ends of lines, and empty lines after the first of several.
func formatRules(d *document) (string, error) {
	var lines []string
	for n := range d.lines {
		line := strings.TrimRight(d.line(n), " \t")
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	if text != "" {
		text += "\n"
	}
	return text, nil
}
