package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// reader reads the language of the grammar by hand. The simplifier's own rules are read each time a pipeline is made, and for that building and
// running the grammar is ten times too slow. What the reader does not understand it leaves to the grammar, which also reports the mistakes.
type reader struct {
	scanner
	ahead  [3]token // the next ones
	depth  int
	failed bool
}

type token struct {
	kind tokenKind
	text string
	pos  lexer.Position
}

// tokenKind is a class of tokens; a punctuation mark is a class by itself.
type tokenKind byte

const (
	endToken    tokenKind = 0
	wordToken   tokenKind = 'w'
	numberToken tokenKind = '0'
	reasonToken tokenKind = '"'
	arrowToken  tokenKind = '>'
	noToken     tokenKind = '?'
)

// maxReaderDepth is how deep terms nest before they are left to the grammar.
const maxReaderDepth = 100

// read reads rules; it is false if the grammar must.
func read(name, text string) (*file, bool) {
	r := &reader{scanner: scanner{name: name, text: text, line: 1, column: 1}}
	for range r.ahead {
		r.shift()
	}
	f := &file{}
	for !r.failed && r.next().kind != endToken {
		f.Rules = append(f.Rules, r.rule())
	}
	return f, !r.failed
}

func (r *reader) shift() {
	copy(r.ahead[:], r.ahead[1:])
	r.ahead[len(r.ahead)-1] = r.scan()
}

// next is a copy: what it was is asked after it is taken.
func (r *reader) next() token { return r.ahead[0] }

// take goes on behind a token if it is of a class.
func (r *reader) take(kind tokenKind) bool {
	if r.failed || r.next().kind != kind {
		return false
	}
	r.shift()
	return true
}

func (r *reader) want(kind tokenKind) string {
	text := r.next().text
	if !r.take(kind) {
		r.failed = true
	}
	return text
}

// more reads what stands between separators.
func (r *reader) more(separator tokenKind, one func()) {
	one()
	for r.take(separator) {
		one()
	}
}

func (r *reader) words(into *[]string, separator, kind tokenKind) {
	r.more(separator, func() { *into = append(*into, r.want(kind)) })
}

// keyword takes a word that means something by itself.
func (r *reader) keyword(word string) bool {
	return r.next().text == word && r.take(wordToken)
}

func (r *reader) rule() *ruleText {
	t := &ruleText{Pos: r.next().pos, ID: r.want(wordToken)}
	if r.take('[') {
		t.Class = r.next().text
		if !r.take(numberToken) { // nan is one
			r.want(wordToken)
		}
		r.want(']')
	}
	t.Left = r.term()
	r.want(arrowToken)
	t.Right = r.term()
	if r.keyword("if") {
		r.more(',', func() { t.If = append(t.If, r.condition()) })
	}
	t.Reason = r.want(reasonToken)
	return t
}

func (r *reader) term() *term {
	t := &term{Pos: r.next().pos}
	if r.depth++; r.depth > maxReaderDepth {
		r.failed = true
	}
	defer func() { r.depth-- }()
	if after := r.ahead[2].kind; r.ahead[1].kind == ':' && (after == '(' || after == wordToken || after == numberToken) {
		t.Name = r.want(wordToken)
		r.want(':')
	}
	switch text := r.next().text; {
	case r.take(numberToken):
		t.Number = text
	case r.take('('):
		t.Call = r.call()
		r.want(')')
	default:
		t.Word = r.want(wordToken)
	}
	return t
}

func (r *reader) call() *call {
	k := &call{Pos: r.next().pos, Op: r.want(wordToken)}
	switch {
	case r.take(':'):
		r.words(&k.Of, '|', wordToken)
	case r.take('|'):
		r.words(&k.Or, '|', wordToken)
	}
	k.Ordered = r.take('!')
	if r.take('[') {
		k.Attr = r.attr()
		r.want(']')
	}
	for !r.failed && (r.next().kind == wordToken || r.next().kind == numberToken || r.next().kind == '(') {
		k.Args = append(k.Args, r.term())
	}
	return k
}

func (r *reader) attr() *attr {
	a := &attr{Pos: r.next().pos}
	switch {
	case r.next().kind == numberToken:
		r.words(&a.Axes, ',', numberToken)
	case r.take('-'):
		a.None = true
	default:
		a.Call = r.attrCall()
		if r.take('|') {
			r.words(&a.Or, '|', wordToken)
		}
	}
	return a
}

func (r *reader) attrCall() *attrCall {
	k := &attrCall{Pos: r.next().pos, Name: r.want(wordToken)}
	if r.depth++; r.depth > maxReaderDepth {
		r.failed = true
	}
	defer func() { r.depth-- }()
	if r.take('(') {
		r.more(',', func() { k.Args = append(k.Args, r.attrCall()) })
		r.want(')')
	}
	return k
}

func (r *reader) condition() *condition {
	k := &condition{Pos: r.next().pos, Not: r.keyword("not"), Name: r.want(wordToken)}
	r.want('(')
	if r.take(')') {
		return k
	}
	r.more(',', func() {
		a := &argument{Pos: r.next().pos, Word: r.next().text}
		if !r.take(numberToken) {
			r.want(wordToken)
		}
		k.Args = append(k.Args, a)
	})
	r.want(')')
	return k
}

// scanner cuts a text into tokens.
type scanner struct {
	name, text   string
	at           int
	line, column int // of byte counted
	counted      int
}

// scan is the next token: the last one again and again is that of the end, or one of no class.
func (s *scanner) scan() token {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch c := rest[0]; {
		case c == '\n':
			s.at++
			s.line, s.column, s.counted = s.line+1, 1, s.at
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			s.at++
			continue
		case strings.HasPrefix(rest, "//"):
			s.at += lineEnd(rest)
			continue
		}
		kind, n := tokenAt(rest)
		t := token{kind, rest[:n], s.position()}
		s.at += n
		return t
	}
	return token{pos: s.position()}
}

func (s *scanner) position() lexer.Position {
	s.column, s.counted = s.column+utf8.RuneCountInString(s.text[s.counted:s.at]), s.at
	return lexer.Position{Filename: s.name, Offset: s.at, Line: s.line, Column: s.column}
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// tokenAt is the first token of a text and its length.
func tokenAt(s string) (tokenKind, int) {
	if strings.HasPrefix(s, "--") {
		return reasonToken, lineEnd(s)
	}
	if n := numberLength(s); n > 0 {
		return numberToken, n
	}
	if n := wordLength(s); n > 0 {
		return wordToken, n
	}
	if strings.HasPrefix(s, "=>") {
		return arrowToken, 2
	}
	if strings.IndexByte("()[]:,|!-", s[0]) >= 0 {
		return tokenKind(s[0]), 1
	}
	return noToken, 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// run counts the letters and digits at the front.
func run(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

// wordLength is the length of a word: runs with single dashes between, the first of which begins with a letter.
func wordLength(s string) int {
	if !isLetter(s[0]) {
		return 0
	}
	n := run(s)
	for n < len(s) && s[n] == '-' {
		more := run(s[n+1:])
		if more == 0 {
			break
		}
		n += 1 + more
	}
	return n
}

// numberLength is the length of a number. Text such as 1.5e, of which only a part would be one, is none: the grammar decides about it.
func numberLength(s string) int {
	sign := 0
	if s[0] == '-' {
		sign = 1
	}
	n := sign + run(s[sign:])
	switch s[sign:n] {
	case "":
		return 0
	case "inf", "nan", "true", "false":
		return n
	}
	digits := func(i int) int {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i
	}
	n = digits(sign)
	if n == sign {
		return 0
	}
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		n = digits(n + 1)
	}
	if n < len(s) && s[n] == 'e' {
		exponent := n + 1
		if exponent < len(s) && s[exponent] == '-' {
			exponent++
		}
		end := digits(exponent)
		if end == exponent {
			return 0
		}
		n = end
	}
	if n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		return 0
	}
	return n
}
