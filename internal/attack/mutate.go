package attack

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bytes changes a few bytes of a copy of b, or cuts or doubles a piece of it.
func Bytes(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) == 0 {
		return b
	}
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(b))
		switch rng.IntN(8) {
		case 0, 1, 2:
			b[at] ^= 1 << rng.IntN(8)
		case 3:
			b[at] = byte(rng.Uint32())
		case 4, 5:
			b[at] = interesting[rng.IntN(len(interesting))]
		case 6:
			n := min(1+rng.IntN(16), len(b)-at)
			copy(b[at:], b[rng.IntN(len(b)-n+1):][:n])
		case 7:
			if rng.IntN(4) == 0 {
				b = b[:at+1]
			} else {
				b[at]++
			}
		}
	}
	return b
}

var interesting = []byte{0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 129, 192, 254, 255}

// message changes some numbers of a copy of a protobuf message to others that are written with as many bytes, so that all around them stays
// well-formed: shapes, attributes, ids.
func message(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	var numbers [][2]int // offset and length
	varints(b, 0, 0, &numbers)
	if len(numbers) == 0 {
		return Bytes(rng, b)
	}
	for range 1 + rng.IntN(3) {
		at := numbers[rng.IntN(len(numbers))]
		old, _ := protowire.ConsumeVarint(b[at[0]:])
		v := number(rng, int64(old))
		if other := numbers[rng.IntN(len(numbers))]; rng.IntN(4) == 0 {
			x, _ := protowire.ConsumeVarint(b[other[0]:])
			v = int64(x)
		}
		putVarint(b[at[0]:][:at[1]], uint64(v))
	}
	return b
}

// varints lists the numbers of a message and of what looks like messages in it.
func varints(b []byte, base, depth int, list *[][2]int) bool {
	mark := len(*list)
	for i := 0; i < len(b); {
		_, typ, n := protowire.ConsumeTag(b[i:])
		if n < 0 {
			*list = (*list)[:mark]
			return false
		}
		i += n
		m := protowire.ConsumeFieldValue(1, typ, b[i:])
		if m < 0 {
			*list = (*list)[:mark]
			return false
		}
		switch typ {
		case protowire.VarintType:
			*list = append(*list, [2]int{base + i, m})
		case protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(b[i:])
			from := i + m - len(inner)
			if depth < 20 && !varints(inner, base+from, depth+1, list) || len(inner) < 2 {
				packed(inner, base+from, list)
			}
		}
		i += m
	}
	return true
}

// packed lists the numbers of a packed list, if it is one.
func packed(b []byte, base int, list *[][2]int) {
	mark := len(*list)
	for i := 0; i < len(b); {
		_, n := protowire.ConsumeVarint(b[i:])
		if n < 0 {
			*list = (*list)[:mark]
			return
		}
		*list = append(*list, [2]int{base + i, n})
		i += n
	}
}

// putVarint writes as much of v as b has room for, with redundant bytes where it has more.
func putVarint(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v)&0x7f | 0x80
		v >>= 7
	}
	b[len(b)-1] &= 0x7f
}

// number is another number than v, near to it or one at the edge of something.
func number(rng *rand.Rand, v int64) int64 {
	edges := []int64{0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 127, 255, 1 << 15, 1 << 20, 1<<31 - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 60, 1 << 62, 1<<63 - 1, -1, -2, -1 << 31, -1 << 63}
	switch rng.IntN(6) {
	case 0:
		return v + 1
	case 1:
		return v - 1
	case 2:
		return v * 2
	case 3:
		return v / 2
	}
	return edges[rng.IntN(len(edges))]
}

var (
	numbers = regexp.MustCompile(`-?\b\d+\b`)
	types   = regexp.MustCompile(`\b(pred|[su](2|4|8|16|32|64)|bf16|f(16|32|64)|c(64|128)|f8e4m3fn|token)\b`)
	words   = []string{"pred", "s2", "s4", "s8", "s32", "s64", "u8", "u32", "u64", "bf16", "f16", "f32", "f64", "c64", "c128", "f8e4m3fn", "token"}
)

// Text changes some numbers, types, lines or characters of a text.
func Text(rng *rand.Rand, text string) string {
	for range 1 + rng.IntN(3) {
		switch rng.IntN(10) {
		case 0, 1, 2, 3, 4:
			text = replaceOne(rng, text, numbers, func(s string) string {
				v, _ := strconv.ParseInt(s, 10, 64)
				if rng.IntN(3) > 0 { // most others are refused by their size
					return strconv.FormatInt([]int64{0, 1, 2, 3, 4, 5, 8, v + 1, max(v-1, 0), 2 * v}[rng.IntN(10)], 10)
				}
				return strconv.FormatInt(number(rng, v), 10)
			})
		case 5:
			text = replaceOne(rng, text, types, func(string) string { return words[rng.IntN(len(words))] })
		case 6, 7:
			lines := strings.SplitAfter(text, "\n")
			i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
			switch rng.IntN(3) {
			case 0:
				lines[i], lines[j] = lines[j], lines[i]
			case 1:
				lines[i] = ""
			case 2:
				lines[i] += lines[j]
			}
			text = strings.Join(lines, "")
		case 8:
			text = string(Bytes(rng, []byte(text)))
		case 9:
			at := rng.IntN(len(text) + 1)
			text = text[:at] + []string{"{", "}", "(", ")", ",", "=", "[", "]", "%", "0,", "{}", "->", "\n", "/*", "*/"}[rng.IntN(15)] + text[at:]
		}
		if text == "" {
			return text
		}
	}
	return text
}

func replaceOne(rng *rand.Rand, text string, what *regexp.Regexp, by func(string) string) string {
	all := what.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return text
	}
	at := all[rng.IntN(len(all))]
	return text[:at[0]] + by(text[at[0]:at[1]]) + text[at[1]:]
}
