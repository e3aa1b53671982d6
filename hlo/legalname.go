package hlo

import "strings"

// LegalName is name when text can hold it as the name of an instruction or computation, and what XLA turns it into otherwise (hlo-text
// section 10.1): '_' stands for characters that names cannot have, and types and XLA's own prefix are told apart from names.
func LegalName(name string) string {
	if isLegalName(name) || name == "" {
		return name
	}
	b := []byte(name)
	for i, c := range b {
		if nameChars[c] == 0 || i == 0 && nameChars[c] != startsName {
			b[i] = '_'
		}
	}
	s := string(b)
	if isTypeName(s) {
		s += "_"
	}
	if isReservedName(s) {
		s = "a" + s[1:]
	}
	return s
}

const (
	startsName = iota + 1 // may be the first character of a name
	continuesName
)

var nameChars = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case 'a' <= b|0x20 && b|0x20 <= 'z' || b == '_':
			t[c] = startsName
		case '0' <= b && b <= '9' || b == '.' || b == '-':
			t[c] = continuesName
		}
	}
	return t
}()

func isLegalName(name string) bool {
	if name == "" || nameChars[name[0]] != startsName {
		return false
	}
	for i := range len(name) {
		if nameChars[name[i]] == 0 {
			return false
		}
	}
	return !isReservedName(name) && !isTypeName(name)
}

// isReservedName reports whether a name has a prefix that XLA keeps for itself.
func isReservedName(name string) bool {
	return name[0] == '_' && strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "__xla_")
}

// longestType is that of the names of types.
var longestType = func() (n int) {
	for name := range typeByName {
		n = max(n, len(name))
	}
	return n
}()

// isTypeName reports whether text would take the name for a type.
func isTypeName(name string) bool {
	if len(name) > longestType || strings.IndexByte(name, '.') >= 0 {
		return false
	}
	t, ok := typeByName[name]
	return ok && t != TUPLE && t != BUFFER
}
