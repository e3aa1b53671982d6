package filecheck

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// patternSyntax is the grammar of what follows the colon of a directive.
type patternSyntax struct {
	Parts []*partSyntax `parser:"@@*"`
}

type partSyntax struct {
	Pos          lexer.Position
	Text         string            `parser:"  @Text+"`
	Regex        string            `parser:"| @Regex"`
	Number       *numberSyntax     `parser:"| OpenNumber @@ Close"`
	Use          string            `parser:"| @Use"`
	Definition   *definitionSyntax `parser:"| @@"`
	OpenRegex    bool              `parser:"| @OpenRegex"`
	OpenVariable bool              `parser:"| @OpenVariable"`
	EndPos       lexer.Position
}

// definitionSyntax is [[NAME:regex]]; Open holds the brackets, the name and the colon.
type definitionSyntax struct {
	Open  string `parser:"@OpenDefinition"`
	Regex string `parser:"@(Escaped | Body | OpenClass | CloseClass)* Close"`
}

// A definition ends at the first ]] that is not inside of brackets, which nest; hence the states.
// OpenRegex and OpenVariable match what does not end or begin properly, for the sake of the message.
var patternParser = sync.OnceValue(func() *participle.Parser[patternSyntax] {
	return participle.MustBuild[patternSyntax](participle.UseLookahead(2), participle.Lexer(lexer.MustStateful(lexer.Rules{
		"Root": {
			{Name: "Regex", Pattern: `\{\{.*?\}\}`},
			{Name: "OpenRegex", Pattern: `\{\{`},
			{Name: "OpenNumber", Pattern: `\[\[#`, Action: lexer.Push("Number")},
			{Name: "OpenDefinition", Pattern: `\[\[\$?[A-Za-z_][A-Za-z0-9_]*:`, Action: lexer.Push("Definition")},
			{Name: "Use", Pattern: `\[\[(@LINE([-+][0-9]+)?|\$?[A-Za-z_][A-Za-z0-9_]*)\]\]`},
			{Name: "OpenVariable", Pattern: `\[\[`},
			{Name: "Text", Pattern: `[^\[{]+|[\[{]`},
		},
		"Definition": {
			{Name: "Escaped", Pattern: `\\.`},
			{Name: "OpenClass", Pattern: `\[`, Action: lexer.Push("Class")},
			{Name: "Close", Pattern: `\]\]`, Action: lexer.Pop()},
			{Name: "Body", Pattern: `[^\\\[\]]+`},
		},
		"Class": {
			{Name: "Escaped", Pattern: `\\.`},
			{Name: "OpenClass", Pattern: `\[`, Action: lexer.Push("Class")},
			{Name: "CloseClass", Pattern: `\]`, Action: lexer.Pop()},
			{Name: "Body", Pattern: `[^\\\[\]]+`},
		},
		"Number": numberTokens,
	})))
})

// pattern is what a directive looks for.
type pattern struct {
	text       string // as written
	parts      []part
	ignoreCase bool
	fullLine   bool   // the pattern covers its line
	margin     string // but for this, on both sides

	literal  bool           // parts is one plain text, found without a regular expression
	compiled *regexp.Regexp // nil when the expression depends on variables
	recalls  bool           // some part uses what an earlier one defines
}

// part is one piece of a pattern. At most one of the fields is set, but for definition,
// which has a regex, too.
type part struct {
	text       string
	regex      string // in Go's syntax, without capturing groups
	definition string // text variable set to what regex matches
	use        string // text variable
	recall     string // text variable defined by an earlier part of the same pattern
	number     *number
	source     string // of use and number, as written
}

func (p *pattern) hasVariables() bool {
	for _, part := range p.parts {
		if part.definition != "" || part.use != "" || part.recall != "" || part.number != nil {
			return true
		}
	}
	return false
}

// symbols are the variables that directives have defined so far.
type symbols struct {
	texts   map[string]bool
	numbers map[string]format
}

func newSymbols(define map[string]string) symbols {
	s := symbols{map[string]bool{}, map[string]format{}}
	for name := range define {
		s.texts[name] = true
	}
	return s
}

// pattern reads the pattern of d, which has everything but that. Errors are *Error.
func (r *reader) pattern(text string, d *directive, literal bool) (*pattern, error) {
	p := &pattern{text: text, ignoreCase: r.options.IgnoreCase}
	p.fullLine = r.options.MatchFullLines && d.kind != not
	if !r.options.StrictWhitespace {
		p.margin = " *"
	}
	fail := func(offset int, format string, args ...any) error {
		at := d.at
		at.Column += offset
		return &Error{At: at, Directive: d.name, Message: fmt.Sprintf(format, args...), Line: r.source[at.Line-1]}
	}
	if literal {
		p.parts = []part{{text: text}}
	} else {
		syntax, err := patternParser().ParseString("", text)
		if err != nil {
			offset := 0
			var at participle.Error
			if errors.As(err, &at) {
				offset = at.Position().Offset
			}
			return nil, fail(offset, "%s", syntaxMessage(text[:offset], text[offset:]))
		}
		own := map[string]bool{} // variables that this pattern defines
		for _, s := range syntax.Parts {
			part, err := r.part(s, text[s.Pos.Offset:s.EndPos.Offset], own, d)
			if err != nil {
				return nil, fail(s.Pos.Offset, "%v", err)
			}
			p.recalls = p.recalls || part.recall != ""
			p.parts = append(p.parts, part)
		}
	}

	p.literal = len(p.parts) == 1 && p.parts[0].text != "" && !p.fullLine && !p.ignoreCase
	if p.literal || p.recalls || d.kind == empty {
		return p, nil
	}
	for _, part := range p.parts {
		if part.use != "" || part.number.depends() {
			return p, nil
		}
	}
	var err error
	if p.compiled, err = p.compile(nil); err != nil {
		return nil, fail(0, "%v", err)
	}
	return p, nil
}

// syntaxMessage says what is wrong with a pattern that cannot be read further than read.
func syntaxMessage(read, rest string) string {
	open := strings.LastIndex(read, "[[")
	switch {
	case strings.HasPrefix(read[open:], "[[#") && strings.Contains(rest, "]]"):
		inner, _, _ := strings.Cut(read[open+3:]+rest, "]]")
		return "invalid numeric expression '" + inner + "'"
	case strings.HasPrefix(rest, "]"):
		return `missing closing "]" for regex variable`
	}
	return "invalid substitution block, no ]] found"
}

// part reads one piece of a pattern, written as source.
func (r *reader) part(s *partSyntax, source string, own map[string]bool, d *directive) (part, error) {
	inner := strings.TrimSpace(strings.Trim(source, "[]#"))
	switch {
	case s.OpenRegex:
		return part{}, errors.New("found start of regex string with no end '}}'")
	case s.OpenVariable:
		return part{}, errors.New("invalid substitution block: want a variable name followed by ]] or a colon and a regular expression")
	case s.Regex != "":
		regex, err := translate(s.Regex[2 : len(s.Regex)-2])
		return part{regex: regex}, err

	case s.Definition != nil:
		name := strings.Trim(s.Definition.Open, "[:")
		if _, ok := r.vars.numbers[name]; ok {
			return part{}, fmt.Errorf("numeric variable with name '%s' already exists", name)
		}
		r.vars.texts[name], own[name] = true, true
		regex, err := translate(s.Definition.Regex)
		return part{definition: name, regex: regex}, err

	case strings.HasPrefix(s.Use, "[[@"):
		n, err := lineNumber(inner, d.at.Line)
		return part{number: n, source: inner}, err

	case s.Use != "":
		if own[inner] && r.vars.texts[inner] {
			return part{recall: inner, source: inner}, nil
		}
		return part{use: inner, source: inner}, nil

	case s.Number != nil:
		n, err := s.Number.number(d.at.Line, r.vars, own)
		return part{number: n, source: inner}, err
	}
	return part{text: s.Text}, nil
}
