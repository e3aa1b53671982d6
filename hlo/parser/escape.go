package parser

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape undoes the C escapes of a string (hlo-text section 1.6). bad is the index of a malformed escape, -1 when there is none.
func unescape(s string) (text string, bad int) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, -1
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		at := i
		if i++; i == len(s) {
			return "", at
		}
		c := s[i]
		i++
		switch c {
		case 'a':
			b = append(b, '\a')
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'v':
			b = append(b, '\v')
		case '\\', '?', '\'', '"':
			b = append(b, c)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v := int(c - '0')
			for n := 1; n < 3 && i < len(s) && '0' <= s[i] && s[i] <= '7'; n++ {
				v = v*8 + int(s[i]-'0')
				i++
			}
			if v > 0xff {
				return "", at
			}
			b = append(b, byte(v))
		case 'x', 'X':
			end := i
			for end < len(s) && isHex(s[end]) {
				end++
			}
			v, err := strconv.ParseUint(strings.TrimLeft(s[i:end], "0"), 16, 8)
			if end == i || err != nil && strings.Trim(s[i:end], "0") != "" {
				return "", at
			}
			b = append(b, byte(v))
			i = end
		case 'u', 'U':
			n := 4
			if c == 'U' {
				n = 8
			}
			if i+n > len(s) {
				return "", at
			}
			v, err := strconv.ParseUint(s[i:i+n], 16, 32)
			if err != nil || v > utf8.MaxRune || v >= 0xd800 && v < 0xe000 {
				return "", at
			}
			b = utf8.AppendRune(b, rune(v))
			i += n
		default:
			return "", at
		}
	}
	return string(b), -1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
