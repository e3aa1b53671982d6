package pass

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// textReader reads the grammar of pipelines by hand. Most processes read a pipeline or two, and building the grammar takes longer than all that they
// do with it. Text that the reader does not understand it leaves to the grammar, which also reports the mistakes.
type textReader struct {
	text   string
	at     int
	depth  int
	failed bool
}

// maxTextDepth is how deep groups and lists nest before they are left to the grammar.
const maxTextDepth = 50

// readText reads a pipeline; it is false if the grammar must.
func readText(text string) (*textPipeline, bool) {
	r := &textReader{text: text}
	p := r.pipeline()
	return p, !r.failed && r.at == len(text)
}

// peek is the next character that is no blank, 0 at the end.
func (r *textReader) peek() byte {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
	if r.failed || r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

func (r *textReader) take(mark byte) bool {
	if r.peek() != mark {
		return false
	}
	r.at++
	return true
}

func (r *textReader) want(mark byte) {
	if !r.take(mark) {
		r.failed = true
	}
}

func (r *textReader) deeper() {
	if r.depth++; r.depth > maxTextDepth {
		r.failed = true
	}
}

// atWord reports whether a word is next.
func (r *textReader) atWord() bool {
	c := r.peek()
	return c != 0 && strings.IndexByte(wordChars, c) >= 0
}

func (r *textReader) word() string {
	if !r.atWord() {
		r.failed = true
		return ""
	}
	from := r.at
	for r.at < len(r.text) && strings.IndexByte(wordChars, r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[from:r.at]
}

func (r *textReader) pipeline() *textPipeline {
	r.deeper()
	defer func() { r.depth-- }()
	p := &textPipeline{}
	if !r.atWord() && r.peek() != '(' {
		return p
	}
	p.Elements = append(p.Elements, r.element())
	for r.take(',') {
		p.Elements = append(p.Elements, r.element())
	}
	return p
}

func (r *textReader) element() *textElement {
	c := r.peek() // behind the blanks
	e := &textElement{Pos: lexer.Position{Offset: r.at, Line: 1, Column: r.at + 1}}
	if c == '(' {
		e.Group = r.group()
		return e
	}
	e.Name = r.word()
	if r.take('{') {
		for r.atWord() {
			e.Options = append(e.Options, r.option())
			r.take(',')
		}
		r.want('}')
	}
	if r.peek() == '(' {
		e.Body = r.group()
	}
	return e
}

func (r *textReader) group() *textPipeline {
	r.want('(')
	p := r.pipeline()
	r.want(')')
	return p
}

func (r *textReader) option() *textOption {
	o := &textOption{Key: r.word()}
	if r.take('=') {
		if r.peek() == '[' {
			o.List = r.list()
		} else {
			o.Value = r.word()
		}
	}
	return o
}

func (r *textReader) list() *textList {
	r.deeper()
	defer func() { r.depth-- }()
	r.want('[')
	l := &textList{}
	if r.take(']') {
		return l
	}
	for more := true; more; more = r.take(',') {
		i := &textItem{}
		if r.peek() == '[' {
			i.List = r.list()
		} else {
			i.Word = r.word()
		}
		l.Items = append(l.Items, i)
	}
	r.want(']')
	return l
}
