package parser

import (
	"io"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// The tokens of attribute values, as hlo-text section 1.2 lists them. Strings keep their quotes, so that no string can be taken for
// punctuation; keywords and type names are identifiers.
const (
	tokenPunct     lexer.TokenType = -32 - iota
	tokenIdent                     // also keywords and primitive types
	tokenKey                       // attribute name; the value has no '='
	tokenColonName                 // id: or %id; the value has neither
	tokenString
	tokenInt
	tokenDecimal
	tokenDimLabels
	tokenDxD
	tokenPad
)

var valueSymbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Punct": tokenPunct, "Ident": tokenIdent, "Key": tokenKey, "ColonName": tokenColonName, "String": tokenString,
	"Int": tokenInt, "Decimal": tokenDecimal, "DimLabels": tokenDimLabels, "DxD": tokenDxD, "Pad": tokenPad,
}

// valueDefinition is the lexer of attribute values as participle wants it.
type valueDefinition struct{}

func (valueDefinition) Symbols() map[string]lexer.TokenType { return valueSymbols }

func (d valueDefinition) Lex(file string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(file, string(text))
}

func (valueDefinition) LexString(_, text string) (lexer.Lexer, error) {
	return &valueLexer{s: text}, nil
}

type valueLexer struct {
	s string
	i int
}

// Next is the next token; a malformed one is a textError.
func (l *valueLexer) Next() (lexer.Token, error) {
	i := skipSpace(l.s, l.i)
	pos := lexer.Position{Offset: i}
	if i >= len(l.s) {
		return lexer.Token{Type: lexer.EOF, Pos: pos}, nil
	}
	kind, value, end, msg := scanToken(l.s, i)
	if msg != "" {
		return lexer.Token{}, &textError{i, msg}
	}
	l.i = end
	return lexer.Token{Type: kind, Value: value, Pos: pos}, nil
}

// scanToken reads the token at i, which is not white space.
func scanToken(s string, i int) (kind lexer.TokenType, value string, end int, msg string) {
	c := s[i]
	switch k := class[c]; {
	case k&classLetter != 0:
		return scanLetterToken(s, i)
	case k&classDigit != 0 || c == '-' || c == '?':
		return scanDigitToken(s, i)
	case k&classQuote != 0:
		end := skipString(s, i)
		if end < 0 {
			return 0, "", i, "string does not end"
		}
		return tokenString, s[i:end], end, ""
	case c == '%':
		end := skipWord(s, i+1)
		if end == i+1 || class[s[i+1]]&classLetter == 0 {
			return 0, "", i, "expects a name after '%'"
		}
		return tokenColonName, s[i+1 : end], end, ""
	case strings.HasPrefix(s[i:], "<="):
		return tokenPunct, "<=", i + 2, ""
	case strings.HasPrefix(s[i:], "..."):
		return tokenPunct, "...", i + 3, ""
	case strings.IndexByte("=,:*#+~[]{}()", c) >= 0:
		return tokenPunct, s[i : i+1], i + 1, ""
	}
	return 0, "", i, "unexpected character"
}

func scanLetterToken(s string, i int) (kind lexer.TokenType, value string, end int, msg string) {
	end = skipWord(s, i)
	word := s[i:end]
	if end < len(s) {
		switch s[end] {
		case ':':
			return tokenColonName, word, end + 1, ""
		case '=':
			return tokenKey, word, end + 1, ""
		}
	}
	if end := skipDimLabels(s, i); end > 0 {
		return tokenDimLabels, s[i:end], end, ""
	}
	return tokenIdent, word, end, ""
}

func scanDigitToken(s string, i int) (kind lexer.TokenType, value string, end int, msg string) {
	if strings.HasPrefix(s[i:], "->") {
		return tokenPunct, "->", i + 2, ""
	}
	for _, t := range []struct {
		kind lexer.TokenType
		skip func(string, int) int
	}{{tokenDecimal, skipDecimal}, {tokenDimLabels, skipDimLabels}, {tokenDxD, skipDxD}, {tokenPad, skipPad}} {
		if end := t.skip(s, i); end > 0 {
			return t.kind, s[i:end], end, ""
		}
	}
	if s[i] == '?' {
		return tokenPunct, "?", i + 1, ""
	}
	if strings.HasPrefix(s[i:], "-inf") || strings.HasPrefix(s[i:], "-nan") {
		return tokenDecimal, s[i : i+4], i + 4, ""
	}
	if _, end, msg = scanInt(s, i); msg != "" {
		return 0, "", i, msg
	}
	return tokenInt, s[i:end], end, ""
}

// The skip functions return the index after a token of their pattern at i, 0 when there is none (hlo-text section 1.4).

func skipDigits(s string, i int) int {
	for i < len(s) && class[s[i]]&classDigit != 0 {
		i++
	}
	return i
}

// skipSigned skips `-?[0-9]+`.
func skipSigned(s string, i int) int {
	if i < len(s) && s[i] == '-' {
		i++
	}
	if j := skipDigits(s, i); j > i {
		return j
	}
	return 0
}

// skipDecimal skips a number that has a point or an exponent.
func skipDecimal(s string, i int) int {
	if s[i] == '-' {
		i++
	}
	j := skipDigits(s, i)
	digits, point := j > i, false
	if j < len(s) && s[j] == '.' {
		k := skipDigits(s, j+1)
		if digits || k > j+1 {
			point, digits, j = true, true, k
		}
	}
	if !digits {
		return 0
	}
	if j < len(s) && (s[j] == 'e' || s[j] == 'E') {
		k := j + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if e := skipDigits(s, k); e > k {
			return e
		}
	}
	if point {
		return j
	}
	return 0
}

// skipSet skips a run of at least min bytes of set.
func skipSet(s string, i, min int, set string) int {
	j := i
	for j < len(s) && (class[s[j]]&classDigit != 0 || strings.IndexByte(set, s[j]) >= 0) {
		j++
	}
	if j-i < min {
		return 0
	}
	return j
}

func skipDimLabels(s string, i int) int {
	if i = skipSet(s, i, 2, "bf?"); i == 0 || i >= len(s) || s[i] != '_' {
		return 0
	}
	if i = skipSet(s, i+1, 2, "io?"); i == 0 || !strings.HasPrefix(s[i:], "->") {
		return 0
	}
	return skipSet(s, i+2, 2, "bf?")
}

func skipDxD(s string, i int) int {
	end := 0
	for j := skipDigits(s, i); j > i && j < len(s) && s[j] == 'x'; {
		if i = j + 1; skipDigits(s, i) == i {
			break
		}
		j = skipDigits(s, i)
		end = j
	}
	return end
}

func skipPad(s string, i int) int {
	end := 0
	for {
		j := skipSigned(s, i)
		if j == 0 || j >= len(s) || s[j] != '_' {
			return end
		}
		if j = skipSigned(s, j+1); j == 0 {
			return end
		}
		if j+1 < len(s) && s[j] == '_' && class[s[j+1]]&classDigit != 0 {
			j = skipDigits(s, j+1)
		}
		end = j
		if j >= len(s) || s[j] != 'x' {
			return end
		}
		i = j + 1
	}
}
