package hlo

import "strings"

// AppendQuoted appends s in double quotes, escaped as HLO text escapes strings (hlo-text section 1.6).
func AppendQuoted(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// appendVerbatim appends s in double quotes as it is: so XLA writes scheduling names and the names of original values. One that would not
// read back so, for a quote or a backslash in it, is escaped.
func appendVerbatim(b []byte, s string) []byte {
	if strings.ContainsAny(s, "\"\\") {
		return AppendQuoted(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendEscaped(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\'' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '"', '\'', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
	}
	return append(b, s[start:]...)
}

// AppendDictOrQuoted appends s as it is when it looks like a dictionary, and quoted otherwise: the form of backend_config and of the
// values of frontend_attributes.
func AppendDictOrQuoted(b []byte, s string) []byte {
	if isDictionary(s) {
		return append(b, s...)
	}
	return AppendQuoted(b, s)
}

// isDictionary reports whether s, apart from white space around it, is one pair of braces with balanced braces inside. Braces in
// double-quoted strings do not count; nothing else is looked at (hlo-text section 1.8).
func isDictionary(s string) bool {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	n, ok := dictionaryLen(s[i:])
	if !ok {
		return false
	}
	for i += n; i < len(s); i++ {
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}

// dictionaryLen is the length of the dictionary that s begins with, its braces included; false when s does not begin with a
// brace or the brace is never closed.
func dictionaryLen(s string) (int, bool) {
	if len(s) == 0 || s[0] != '{' {
		return 0, false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return 0, false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
