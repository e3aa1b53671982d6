package parser

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// The statement lexer cuts a module into the tokens of its outline: an instruction is one token, whatever lines it spans, and so are
// the header, each debug table and a signature. Other readers read the inside, from the text of the token.
const (
	tokenHeader lexer.TokenType = -2 - iota // HloModule and its attributes
	tokenTable                              // FileNames and so on, with entries
	tokenHead                               // of a computation: ENTRY, name, signature and the opening brace
	tokenInstruction
	tokenBroken       // an instruction whose brackets do not match, up to the end of a line
	tokenClose        // the closing brace and the attributes behind it
	tokenComputations // all that follows the header and the tables
)

var statementSymbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Header": tokenHeader, "Table": tokenTable, "Head": tokenHead, "Instruction": tokenInstruction, "Broken": tokenBroken,
	"Close": tokenClose, "Computations": tokenComputations,
}

// statementLexer fills only the offset of positions: lines are counted where they are needed.
type statementLexer struct {
	s      string
	i      int
	inBody bool
	inside bool // the computations are cut into statements; else they are one token
}

// textError is a fault at a byte offset.
type textError struct {
	off int
	msg string
}

func (e *textError) Error() string { return e.msg }

// asTextError finds a textError in err.
func asTextError(err error) (*textError, bool) {
	var t *textError
	ok := errors.As(err, &t)
	return t, ok
}

func (l *statementLexer) token(kind lexer.TokenType, start, end int) (lexer.Token, error) {
	l.i = end
	return lexer.Token{Type: kind, Value: l.s[start:end], Pos: lexer.Position{Offset: start}}, nil
}

// Next is the next token of the outline.
func (l *statementLexer) Next() (lexer.Token, error) {
	s := l.s
	i := skipSpace(s, l.i)
	if i >= len(s) {
		l.i = i
		return lexer.Token{Type: lexer.EOF, Pos: lexer.Position{Offset: len(s)}}, nil
	}
	switch c := s[i]; {
	case c == '}':
		l.inBody = false
		end, err := l.closing(i + 1)
		if err != nil {
			return lexer.Token{}, err
		}
		return l.token(tokenClose, i, end)
	case l.inBody:
		end, err := l.instruction(i)
		if err != nil {
			return l.broken(i, err)
		}
		return l.token(tokenInstruction, i, end)
	case c == '%' || class[c]&classLetter != 0:
		return l.topWord(i)
	case c == '/':
		return lexer.Token{}, &textError{i, "expects name; a comment begins with // or with /* and ends with */"}
	}
	return lexer.Token{}, &textError{i, "expects name"}
}

// broken gives up on the end of the instruction at i: brackets, or a string, do not end. The line of the fault is taken for the whole of
// the instruction, so that those after it are read all the same.
func (l *statementLexer) broken(i int, err error) (lexer.Token, error) {
	fault, ok := asTextError(err)
	if !ok || fault.msg == tooDeep {
		return lexer.Token{}, err
	}
	end := len(l.s)
	if k := strings.IndexByte(l.s[fault.off:], '\n'); k >= 0 {
		end = fault.off + k
	}
	if end <= i {
		return lexer.Token{}, err
	}
	return l.token(tokenBroken, i, end)
}

// topWord reads what begins with a word outside of bodies.
func (l *statementLexer) topWord(i int) (lexer.Token, error) {
	s := l.s
	kind := tokenHead
	find := l.head
	end := skipWord(s, i+1)
	switch s[i:end] {
	case "HloModule":
		kind, find = tokenHeader, l.header
	case "FileNames", "FunctionNames", "FileLocations", "StackFrames":
		kind, find = tokenTable, l.table
	case "ENTRY":
		// The name is the next word.
		next := skipSpace(s, end)
		if next >= len(s) || s[next] != '%' && class[s[next]]&classLetter == 0 {
			return lexer.Token{}, &textError{next, "expects name"}
		}
		end = skipWord(s, next+1)
	}
	if kind == tokenHead && !l.inside {
		return l.token(tokenComputations, i, len(s))
	}
	end, err := find(end)
	if err != nil {
		return lexer.Token{}, err
	}
	l.inBody = kind == tokenHead
	return l.token(kind, i, end)
}

// head finds the opening brace of a computation whose name ends at i.
func (l *statementLexer) head(i int) (end int, err error) {
	s := l.s
	if i < len(s) && s[i] == ':' {
		i++
	}
	if i = skipSpace(s, i); i < len(s) && s[i] == '(' {
		if i, err = l.signature(i); err != nil {
			return 0, err
		}
		i = skipSpace(s, i)
	}
	if i >= len(s) || s[i] != '{' {
		return 0, &textError{i, "expects '{' at the beginning of instruction list."}
	}
	return i + 1, nil
}

// closing finds the end of the attributes of a computation, `, key=value`, behind its closing brace.
func (l *statementLexer) closing(end int) (int, error) {
	s := l.s
	for {
		i := skipSpace(s, end)
		if i >= len(s) || s[i] != ',' {
			return end, nil
		}
		i = skipSpace(s, i+1)
		j := skipWord(s, i)
		if j == i || j >= len(s) || s[j] != '=' {
			return 0, &textError{i, "expects attribute name"}
		}
		var err error
		if end, err = skipUnit(s, skipSpace(s, j+1)); err != nil {
			return 0, err
		}
	}
}

// header finds the end of the header whose name is at i: a name, then attributes after commas.
func (l *statementLexer) header(i int) (end int, err error) {
	s := l.s
	i = skipSpace(s, i)
	if i < len(s) && s[i] == '%' {
		i++
	}
	end = skipWord(s, i)
	if end < len(s) && s[end] == ':' {
		end++
	}
	for {
		i = skipSpace(s, end)
		if i >= len(s) || s[i] != ',' {
			return end, nil
		}
		i = skipSpace(s, i+1)
		j := skipWord(s, i)
		if j >= len(s) || s[j] != '=' {
			return 0, &textError{i, "expects attribute name"}
		}
		if end, err = skipUnits(s, skipSpace(s, j+1)); err != nil {
			return 0, err
		}
	}
}

// skipUnits skips all that a value consists of, with no space between. A group in braces is a value by itself.
func skipUnits(s string, i int) (int, error) {
	if i < len(s) && s[i] == '{' {
		return skipUnit(s, i)
	}
	for i < len(s) {
		var err error
		switch k := class[s[i]]; {
		case k&(classOpen|classQuote|classIdent) != 0 || s[i] == '<' || s[i] == '>' || s[i] == '?' || s[i] == '=' || s[i] == '*' || s[i] == '+' || s[i] == '%':
			if i, err = skipUnit(s, i); err != nil {
				return 0, err
			}
			continue
		}
		break
	}
	return i, nil
}

// skipUnit skips a bracketed group, a string or a word; at least one byte if there is any.
func skipUnit(s string, i int) (int, error) {
	if i >= len(s) {
		return i, nil
	}
	switch k := class[s[i]]; {
	case k&classOpen != 0:
		end, msg := skipGroup(s, i)
		if msg != "" {
			return 0, &textError{end, msg}
		}
		return end, nil
	case k&classQuote != 0:
		end := skipString(s, i)
		if end < 0 {
			return 0, &textError{i, "string does not end"}
		}
		return end, nil
	case k&classIdent != 0:
		return skipWord(s, i), nil
	}
	return i + 1, nil
}

// table finds the end of the entries of a debug table: numbers, each with a string or a group.
func (l *statementLexer) table(i int) (int, error) {
	s := l.s
	for end := i; ; {
		i = skipSpace(s, end)
		if i >= len(s) || class[s[i]]&(classDigit|classQuote) == 0 && s[i] != '{' {
			return end, nil
		}
		var err error
		if end, err = skipUnit(s, i); err != nil {
			return 0, err
		}
	}
}

// signature finds the end of `(...) -> shape`.
func (l *statementLexer) signature(i int) (int, error) {
	s := l.s
	end, msg := skipGroup(s, i)
	if msg != "" {
		return 0, &textError{end, msg}
	}
	i = skipSpace(s, end)
	if i+1 >= len(s) || s[i] != '-' || s[i+1] != '>' {
		return 0, &textError{i, "expects '->'"}
	}
	end, msg = skipShape(s, skipSpace(s, i+2))
	if msg != "" {
		return 0, &textError{end, msg}
	}
	return end, nil
}

// instruction finds the end of the instruction at i: a closing brace, or the beginning of the next one, which is ROOT or a name
// with an equals sign after it that no comma before it makes an attribute.
func (l *statementLexer) instruction(i int) (end int, err error) {
	s := l.s
	end = i
	before := byte(0) // the last byte of the token before
	for first := true; i < len(s); {
		c := s[i]
		k := class[c]
		switch {
		case k&classSpace != 0:
			i++
			continue
		case k&classLetter != 0 || c == '%':
			j := skipWord(s, i+1)
			if before != ',' && before != '=' && !first {
				if j-i == 4 && s[i:j] == "ROOT" || l.defines(j) {
					return end, nil
				}
			}
			// `ROOT` and the name that it marks are one beginning.
			first = first && j-i == 4 && s[i:j] == "ROOT"
			before = s[j-1]
			i, end = j, j
			continue
		case k&classSlash != 0:
			if j := skipSpace(s, i); j > i {
				i = j
				continue
			}
		case c == '}':
			return end, nil
		case k&(classOpen|classQuote) != 0:
			if i, err = skipUnit(s, i); err != nil {
				return 0, err
			}
			before, end = s[i-1], i
			first = false
			continue
		}
		before = c
		i++
		end = i
		first = false
	}
	return end, nil
}

// defines reports whether the word that ends at i is the left side of a definition: `=` follows, which is not `=...` of `<=` kind.
func (l *statementLexer) defines(i int) bool {
	s := l.s
	if i < len(s) && s[i] == ':' {
		i++
	}
	if i < len(s) && class[s[i]]&(classSpace|classSlash) != 0 {
		i = skipSpace(s, i)
	}
	return i < len(s) && s[i] == '='
}
