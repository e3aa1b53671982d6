package hostprog

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// Tokens of the text. White space and comments are left out; types and
// verbatim text are cut from the source by the offsets of their tokens.
const (
	tokBare   lexer.TokenType = -(iota + 2) // tfrt.add.i32, i32, func.func
	tokValue                                // %x
	tokSymbol                               // @f, @"f g"
	tokTypeID                               // !tfrt.chain
	tokAttrID                               // #loc0, #corert.shape
	tokBlock                                // ^bb0
	tokInt                                  // 42, 0x2A
	tokFloat                                // 1.0e5
	tokString                               // "…", with its quotes
	tokPunct                                // one character, or -> or ::
)

// maxNesting bounds open brackets, and so the recursion of everything that
// reads text.
const maxNesting = 250

type lexerDefinition struct{}

func (lexerDefinition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "BareID": tokBare, "Value": tokValue, "Symbol": tokSymbol,
		"TypeID": tokTypeID, "AttrID": tokAttrID, "Block": tokBlock, "Int": tokInt, "Float": tokFloat, "String": tokString, "Punct": tokPunct}
}

func (lexerDefinition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return lexerDefinition{}.LexString(filename, string(b))
}

func (lexerDefinition) LexString(filename, input string) (lexer.Lexer, error) {
	return &scanner{src: input, pos: lexer.Position{Filename: filename, Line: 1, Column: 1}}, nil
}

// scanner cuts text into tokens.
type scanner struct {
	src   string
	pos   lexer.Position // columns count bytes
	depth int
}

// Set of characters, by what may start or continue a token.
const (
	letters = 1 << iota
	digits
	bareRest  // $ . after the first character
	valueRest // -
)

var classes = func() (c [256]uint8) {
	for b := 'a'; b <= 'z'; b++ {
		c[b], c[b-'a'+'A'] = letters, letters
	}
	for b := '0'; b <= '9'; b++ {
		c[b] = digits
	}
	c['_'] = letters
	c['$'], c['.'] = bareRest, bareRest
	c['-'] = valueRest
	return
}()

func (s *scanner) Next() (lexer.Token, error) {
	if err := s.skipBlanks(); err != nil {
		return lexer.Token{}, err
	}
	start := s.pos
	i := s.pos.Offset
	if i == len(s.src) {
		return lexer.EOFToken(start), nil
	}
	typ, n, err := s.scan(s.src[i:])
	if err != nil {
		return lexer.Token{}, err
	}
	// No token holds a line break.
	s.pos.Offset += n
	s.pos.Column += n
	return lexer.Token{Type: typ, Value: s.src[i : i+n], Pos: start}, nil
}

func (s *scanner) skipBlanks() error {
	for s.pos.Offset < len(s.src) {
		switch c := s.src[s.pos.Offset]; {
		case c == '\n':
			s.pos.Offset++
			s.pos.Line++
			s.pos.Column = 1
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.pos.Offset++
			s.pos.Column++
		case c == '/' && strings.HasPrefix(s.src[s.pos.Offset:], "//"):
			n := strings.IndexByte(s.src[s.pos.Offset:], '\n')
			if n < 0 {
				n = len(s.src) - s.pos.Offset
			}
			s.pos.Offset += n
			s.pos.Column += n
		case c == 0:
			return s.errorf("unexpected NUL character")
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) errorf(format string, args ...any) error {
	return &Diagnostic{Pos: position(s.pos), Severity: SevError, Msg: fmt.Sprintf(format, args...)}
}

// run returns the length of the prefix of characters in the classes.
func run(t string, set uint8) int {
	n := 0
	for n < len(t) && classes[t[n]]&set != 0 {
		n++
	}
	return n
}

// scan returns the type and length of the token at the start of t.
func (s *scanner) scan(t string) (lexer.TokenType, int, error) {
	at := func(i int) byte {
		if i < len(t) {
			return t[i]
		}
		return 0
	}
	const idRest = letters | digits | bareRest
	switch c := t[0]; {
	case classes[c]&letters != 0:
		return tokBare, run(t, idRest), nil
	case classes[c]&digits != 0:
		return s.number(t)
	case c == '"':
		n, err := s.quoted(t)
		return tokString, n, err
	case c == '%':
		n := run(t[1:], digits)
		if n == 0 || classes[at(1)]&digits == 0 {
			n = run(t[1:], idRest|valueRest)
		}
		if n == 0 {
			return 0, 0, s.errorf("invalid SSA name")
		}
		return tokValue, 1 + n, nil
	case c == '@':
		if at(1) == '"' {
			n, err := s.quoted(t[1:])
			return tokSymbol, 1 + n, err
		}
		n := run(t[1:], idRest|valueRest)
		if n == 0 {
			return 0, 0, s.errorf("@ identifier expected to start with letter or '_'")
		}
		return tokSymbol, 1 + n, nil
	case (c == '!' || c == '#' || c == '^') && classes[at(1)]&letters != 0:
		typ := map[byte]lexer.TokenType{'!': tokTypeID, '#': tokAttrID, '^': tokBlock}[c]
		return typ, 1 + run(t[1:], idRest), nil
	case c == '-' && at(1) == '>', c == ':' && at(1) == ':':
		return tokPunct, 2, nil
	case strings.IndexByte("([{<", c) >= 0:
		if s.depth++; s.depth > maxNesting {
			return 0, 0, s.errorf("brackets nested more than %d deep", maxNesting)
		}
	case strings.IndexByte(")]}>", c) >= 0:
		s.depth = max(s.depth-1, 0)
	}
	_, n := utf8.DecodeRuneInString(t)
	return tokPunct, n, nil
}

func (s *scanner) number(t string) (lexer.TokenType, int, error) {
	if len(t) > 2 && t[0] == '0' && t[1] == 'x' && isHex(t[2]) {
		n := 3
		for n < len(t) && isHex(t[n]) {
			n++
		}
		return tokInt, n, nil
	}
	n := run(t, digits)
	if n == len(t) || t[n] != '.' {
		return tokInt, n, nil
	}
	n++
	n += run(t[n:], digits)
	if n < len(t) && (t[n] == 'e' || t[n] == 'E') {
		m := n + 1
		if m < len(t) && (t[m] == '+' || t[m] == '-') {
			m++
		}
		if d := run(t[m:], digits); d > 0 {
			n = m + d
		}
	}
	return tokFloat, n, nil
}

// quoted returns the length of a string literal.
func (s *scanner) quoted(t string) (int, error) {
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '"':
			return i + 1, nil
		case '\n':
			return 0, s.errorf("expected '\"' in string literal")
		case '\\':
			switch {
			case i+1 < len(t) && strings.IndexByte(`"\nt`, t[i+1]) >= 0:
				i++
			case i+2 < len(t) && isHex(t[i+1]) && isHex(t[i+2]):
				i += 2
			default:
				return 0, s.errorf("unknown escape in string literal")
			}
		}
	}
	return 0, s.errorf("expected '\"' in string literal")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// unquote decodes a string literal that the scanner has accepted.
func unquote(lit string) string {
	body := lit[1 : len(lit)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			continue
		}
		i++
		switch body[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '"', '\\':
			b.WriteByte(body[i])
		default:
			b.WriteByte(hexDigit(body[i])<<4 | hexDigit(body[i+1]))
			i++
		}
	}
	return b.String()
}

func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// quote writes a string literal as MLIR does: of the short escapes only that of
// the backslash itself.
func quote(s string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c >= 0x7F || c == '"':
			b = append(b, '\\', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// isBareID says whether a name needs no quotes.
func isBareID(s string) bool {
	return s != "" && classes[s[0]]&letters != 0 && run(s, letters|digits|bareRest) == len(s)
}
