package parser

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Byte classes of the lexical grammar (hlo-text section 1).
const (
	classIdent  = 1 << iota // letters, digits, '_', '.', '-'
	classLetter             // letters and '_': what an identifier begins with
	classDigit
	classSpace
	classOpen
	classClose
	classQuote
	classSlash
	classGroup = classOpen | classClose | classQuote | classSlash // where skipping a group must look
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			t[c] = classIdent | classLetter
		case '0' <= c && c <= '9':
			t[c] = classIdent | classDigit
		case c == '.', c == '-':
			t[c] = classIdent
		case c == ' ', c == '\t', c == '\n', c == '\r':
			t[c] = classSpace
		case c == '(', c == '[', c == '{':
			t[c] = classOpen
		case c == ')', c == ']', c == '}':
			t[c] = classClose
		case c == '"', c == '\'':
			t[c] = classQuote
		case c == '/':
			t[c] = classSlash
		}
	}
	return t
}()

// keywords are the words that cannot be names when bare (hlo-text section 1.7).
var keywords = []string{
	"HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames", "FileLocations", "StackFrames", "true", "false", "inf", "maximal",
	"replicated", "manual", "unknown", "unreduced", "last_tile_dim_replicate", "shard_as", "shard_like", "nan",
}

func isKeyword(word string) bool { return slices.Contains(keywords, word) }

// typeByName is the primitive type that a word names in text: tuple and buffer are ordinary words there.
func typeByName(word string) (hlo.PrimitiveType, bool) {
	if len(word) < 2 || !mayBeReserved(word) {
		return hlo.InvalidType, false
	}
	t, ok := hlo.PrimitiveTypeByName(word)
	return t, ok && t != hlo.TUPLE && t != hlo.BUFFER
}

// isReserved reports whether a bare word is a keyword or a type.
func isReserved(word string) bool {
	if !mayBeReserved(word) {
		return false
	}
	_, isType := typeByName(word)
	return isType || isKeyword(word)
}

// mayBeReserved refuses most words at once by their length and first letter, and whether they have a dot.
func mayBeReserved(word string) bool {
	return len(word) < 32 && reservedLengths[word[0]]>>len(word)&1 != 0 && strings.IndexByte(word, '.') < 0
}

// reservedLengths has a bit for every length of reserved words, by first letter.
var reservedLengths = func() (t [256]uint32) {
	for _, w := range append(slices.Clone(keywords), typeNames...) {
		t[w[0]] |= 1 << len(w)
	}
	return t
}()

// The functions below read text at an index and return the index after what they read; those that can fail return the place and a
// message. They are shared by the statement lexer, the instruction parser and the lexer of attribute grammars.

// skipSpace skips white space and comments. A malformed comment is left standing, so that whoever comes next trips over it.
func skipSpace(s string, i int) int {
	if i+1 < len(s) && s[i] == ' ' && class[s[i+1]]&(classSpace|classSlash) == 0 {
		return i + 1
	}
	for i < len(s) {
		switch c := s[i]; {
		case class[c]&classSpace != 0:
			i++
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			j := strings.Index(s[i+2:], "*/")
			if j < 0 {
				return i
			}
			i += j + 4
		case c == '/' && i+1 < len(s) && s[i+1] == '/':
			j := strings.IndexAny(s[i:], "\r\n")
			if j < 0 {
				return len(s)
			}
			i += j
		default:
			return i
		}
	}
	return i
}

// skipWord skips a run of identifier characters.
func skipWord(s string, i int) int {
	for i < len(s) && class[s[i]]&classIdent != 0 {
		i++
	}
	return i
}

// definesAt reports whether `ROOT` or `name =` is at i. A space tells the name of an instruction from that of an attribute.
func definesAt(s string, i int) bool {
	if i < len(s) && s[i] == '%' {
		i++
	}
	end := skipWord(s, i)
	if end == i {
		return false
	}
	next := skipSpace(s, end)
	return s[i:end] == "ROOT" && next > end || next > end && next < len(s) && s[next] == '='
}

// skipString skips the string that begins at i; -1 when it does not end.
func skipString(s string, i int) int {
	quote := s[i]
	for i++; ; {
		j := strings.IndexByte(s[i:], quote)
		if j < 0 {
			return -1
		}
		if k := strings.IndexByte(s[i:i+j], '\\'); k >= 0 {
			// The byte after a backslash is part of the string, whatever it is.
			if i += k + 2; i > len(s) {
				return -1
			}
			continue
		}
		return i + j + 1
	}
}

// skipDictionary skips the raw dictionary that begins with the brace at i (hlo-text section 1.8); -1 when it does not end. Only
// braces and double-quoted strings mean anything inside.
func skipDictionary(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			if i = skipString(s, i); i < 0 {
				return -1
			}
			i--
		}
	}
	return -1
}

// maxNesting bounds the brackets within brackets that are skipped. The inside is read with a lower bound, see Config.MaxDepth.
const maxNesting = 1 << 17

// tooDeep is what is said of more nesting than that, or than Config.MaxDepth.
const tooDeep = "maximum recursion depth exceeded"

// skipGroup skips the brackets that begin at i, whatever is inside. On failure msg says why and end is the place: the bracket, string or
// comment that does not end, or a closing bracket of another kind.
func skipGroup(s string, i int) (end int, msg string) {
	var buf [32]int
	open := buf[:0]
	for i < len(s) {
		k := class[s[i]] & classGroup
		if k == 0 {
			i++
			continue
		}
		switch k {
		case classOpen:
			if s[i] == '{' && i > 0 && s[i-1] == '=' {
				j, msg := skipKeyed(s, i)
				if msg != "" {
					return j, msg
				}
				if j > i {
					if i = j; len(open) == 0 {
						return i, ""
					}
					continue
				}
			}
			if open = append(open, i); len(open) > maxNesting {
				return i, tooDeep
			}
			i++
		case classClose:
			o := s[open[len(open)-1]]
			if c := s[i]; c != o+2 && c != o+1 { // '(' and ')' are neighbours, the others are two apart
				return open[len(open)-1], "'" + string(o) + "' is not closed before a '" + string(c) + "'"
			}
			open = open[:len(open)-1]
			i++
			if len(open) == 0 {
				return i, ""
			}
		case classQuote:
			j := skipString(s, i)
			if j < 0 {
				return i, "string does not end"
			}
			i = j
		case classSlash:
			j := skipSpace(s, i)
			if j == i {
				if strings.HasPrefix(s[i:], "/*") {
					return i, "comment does not end"
				}
				j++
			}
			i = j
		}
	}
	at := open[len(open)-1]
	return at, "'" + s[at:at+1] + "' is never closed"
}

// skipKeyed skips the braces at i that follow `key=` when the key says that raw dictionaries may be inside, where quotes and comments
// are read differently. It returns i for any other key.
func skipKeyed(s string, i int) (end int, msg string) {
	switch before := s[:i-1]; {
	case strings.HasSuffix(before, "backend_config"):
		if end := skipDictionary(s, i); end >= 0 {
			return end, ""
		}
		return i, "dictionary does not end"
	case strings.HasSuffix(before, "frontend_attributes"):
		return skipFrontend(s, i)
	}
	return i, ""
}

// skipFrontend skips the value of frontend_attributes: braces around keys with strings or raw dictionaries.
func skipFrontend(s string, i int) (end int, msg string) {
	i = skipSpace(s, i+1)
	if i < len(s) && s[i] == '}' {
		return i + 1, ""
	}
	for {
		i = skipSpace(s, i)
		if end := skipWord(s, i); end == i || end >= len(s) || s[end] != '=' {
			return i, "expects attribute name"
		} else {
			i = skipSpace(s, end+1)
		}
		if i >= len(s) {
			return i, "expects string or dictionary"
		}
		end := -1
		switch s[i] {
		case '"', '\'':
			end = skipString(s, i)
		case '{':
			end = skipDictionary(s, i)
		default:
			return i, "expects string or dictionary"
		}
		if end < 0 {
			return i, "string or dictionary does not end"
		}
		if i = skipSpace(s, end); i < len(s) && s[i] == '}' {
			return i + 1, ""
		}
		if i >= len(s) || s[i] != ',' {
			return i, "expects '}' at the end of frontend_attributes"
		}
		i++
	}
}
