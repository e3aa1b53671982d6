package filecheck

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// variables are what the matches so far have bound.
type variables struct {
	texts   map[string]string
	numbers map[string]*big.Int
}

// undefined is the error of using a variable that no match has bound.
type undefined string

func (u undefined) Error() string { return fmt.Sprintf("uses undefined variable: \"%s\"", string(u)) }

// span is a part of the output, in bytes.
type span struct{ begin, end int }

var none = span{-1, -1}

// find looks for p in text and returns the first match, or none. The variables that p defines
// are set on success. An error means that the question made no sense: a variable is undefined, say.
func (p *pattern) find(text string, v *variables) (span, error) {
	if p.literal {
		if i := strings.Index(text, p.parts[0].text); i >= 0 {
			return span{i, i + len(p.parts[0].text)}, nil
		}
		return none, nil
	}
	if p.recalls {
		return p.findByBacktracking(text, v)
	}
	re := p.compiled
	if re == nil {
		var err error
		if re, err = p.compile(v); re == nil {
			return none, err
		}
	}
	groups := re.FindStringSubmatchIndex(text)
	if groups == nil {
		return none, nil
	}
	group := 1
	for _, part := range p.parts {
		if part.defines() != "" {
			v.bind(part, text[groups[2*group]:groups[2*group+1]])
			group++
		}
	}
	return span{groups[0], groups[1]}, nil
}

// defines is the name of the variable that part sets, or empty.
func (part part) defines() string {
	if part.number != nil {
		return part.number.define
	}
	return part.definition
}

// bind sets the variable that part defines to what it has matched.
func (v *variables) bind(part part, text string) {
	if part.number != nil {
		v.numbers[part.number.define] = part.number.format.parse(text)
	} else {
		v.texts[part.definition] = text
	}
}

// forget drops the variables whose names do not begin with a dollar sign.
func (v *variables) forget() {
	for name := range v.texts {
		if !strings.HasPrefix(name, "$") {
			delete(v.texts, name)
		}
	}
	for name := range v.numbers {
		if !strings.HasPrefix(name, "$") {
			delete(v.numbers, name)
		}
	}
}

// compile builds the regular expression of p for the present values of the variables.
// Definitions are its groups, in order. A pattern of nothing but empty variables matches
// nowhere, as in LLVM; its expression is nil.
func (p *pattern) compile(v *variables) (*regexp.Regexp, error) {
	var b strings.Builder
	for _, part := range p.parts {
		regex, err := part.expression(v)
		if err != nil {
			return nil, err
		}
		b.WriteString(regex)
	}
	expression := b.String()
	switch {
	case p.fullLine:
		expression = "^" + p.margin + expression + p.margin + "$"
	case expression == "":
		return nil, nil
	}
	re, err := regexp.Compile(p.flags() + expression)
	if err != nil {
		return nil, err
	}
	re.Longest()
	return re, nil
}

// flags make ^ and $ match at lines, and letters match in both cases if so wanted.
func (p *pattern) flags() string {
	if p.ignoreCase {
		return "(?mi)"
	}
	return "(?m)"
}

func (part part) expression(v *variables) (string, error) {
	switch {
	case part.number != nil:
		return part.number.regex(v)
	case part.definition != "":
		return "(" + part.regex + ")", nil
	case part.use != "":
		text, ok := v.texts[part.use]
		if !ok {
			return "", undefined(part.use)
		}
		return regexp.QuoteMeta(text), nil
	case part.text != "":
		return regexp.QuoteMeta(part.text), nil
	}
	return "(?:" + part.regex + ")", nil
}

// substitutions describes the values that p takes from variables, one line each.
func (p *pattern) substitutions(v *variables) []string {
	var notes []string
	for _, part := range p.parts {
		value, ok := "", false
		switch {
		case part.use != "":
			value, ok = v.texts[part.use]
		case part.number.depends():
			var err error
			value, err = part.number.text(v)
			ok = err == nil
		}
		if note := fmt.Sprintf("with \"%s\" equal to \"%s\"", part.source, value); ok && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// findEmptyLine returns the first empty line of text after its first line feed.
func findEmptyLine(text string) span {
	for i := 0; ; i++ {
		j := strings.IndexByte(text[i:], '\n')
		if j < 0 {
			return none
		}
		i += j
		if i+1 == len(text) || text[i+1] == '\n' {
			return span{i + 1, i + 1}
		}
	}
}
