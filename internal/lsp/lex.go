package lsp

import "strings"

// span is a part of a text: from and before to, in bytes.
type span struct{ from, to int }

func (s span) in(text string) string { return text[s.from:s.to] }

// kind is the kind of a token.
type kind uint8

const (
	endOfText kind = iota
	word           // letters, digits and _ . - $, with a sign before it if there is one: %x, @f, !t, #m, ^bb
	quoted         // a string
	comment
	sign // one character of anything else, or ->
)

// token is a part of a text that belongs together.
type token struct {
	kind kind
	span
}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	at   int
	// dashes says that words may hold them: names of HLO do.
	dashes bool
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '$'
}

func isSigil(c byte) bool { return strings.IndexByte("%@!#^", c) >= 0 }

// next is the next token. Comments are tokens, space is none.
func (l *lexer) next() token {
	s := l.text
	for l.at < len(s) && (s[l.at] == ' ' || s[l.at] == '\t' || s[l.at] == '\n' || s[l.at] == '\r') {
		l.at++
	}
	from := l.at
	if from >= len(s) {
		return token{endOfText, span{from, from}}
	}
	k := sign
	switch c := s[from]; {
	case c == '"':
		k = quoted
		l.at++
		for l.at < len(s) && s[l.at] != '"' && s[l.at] != '\n' {
			if s[l.at] == '\\' {
				l.at++
			}
			l.at++
		}
		l.at++
	case strings.HasPrefix(s[from:], "//"):
		k = comment
		l.at = from + lineLength(s[from:])
	case strings.HasPrefix(s[from:], "/*"):
		k = comment
		if n := strings.Index(s[from:], "*/"); n >= 0 {
			l.at = from + n + 2
		} else {
			l.at = len(s)
		}
	case strings.HasPrefix(s[from:], "->"):
		l.at += 2
	case isLetter(c) || isSigil(c) && from+1 < len(s) && isLetter(s[from+1]):
		k = word
		l.at++
		for l.at < len(s) && (isLetter(s[l.at]) || l.dashes && s[l.at] == '-' && !strings.HasPrefix(s[l.at:], "->")) {
			l.at++
		}
	default:
		l.at++
	}
	l.at = min(l.at, len(s))
	return token{k, span{from, l.at}}
}

// nextCode is the next token that is no comment.
func (l *lexer) nextCode() token {
	for {
		if t := l.next(); t.kind != comment {
			return t
		}
	}
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}
