package hlotest

import (
	"math/rand/v2"
	"strings"
)

// Edited is a text after a random edit such as people and machines make: letters and lines typed, deleted, doubled and moved, types that change,
// and now and then the text as it was at first.
func Edited(r *rand.Rand, text, first string) string {
	at := func() int { return r.IntN(len(text) + 1) }
	line := func() (from, to int) {
		from = strings.LastIndexByte(text[:at()], '\n') + 1
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			return from, from + n + 1
		}
		return from, len(text)
	}
	switch r.IntN(12) {
	case 0, 1, 2: // a letter typed
		const letters = "0123456789abcx%{}()[],=\"/*-# \n"
		i, letter := at(), r.IntN(len(letters))
		return text[:i] + letters[letter:letter+1] + text[i:]
	case 3, 4: // a letter deleted
		if i := at(); i < len(text) {
			return text[:i] + text[i+1:]
		}
	case 5: // a line deleted
		from, to := line()
		return text[:from] + text[to:]
	case 6: // a line twice, under another name or the same
		from, to := line()
		again := text[from:to]
		if r.IntN(2) == 0 {
			again = strings.Replace(again, " = ", "_2 = ", 1)
		}
		return text[:to] + again + text[to:]
	case 7: // a line that moves
		from, to := line()
		moved, rest := text[from:to], text[:from]+text[to:]
		i := strings.LastIndexByte(rest[:r.IntN(len(rest)+1)], '\n') + 1
		return rest[:i] + moved + rest[i:]
	case 8: // another type
		from, to := line()
		old := []string{"f32[", "s32[", "pred[", "bf16["}
		i, j := r.IntN(len(old)), r.IntN(len(old))
		return text[:from] + strings.Replace(text[from:to], old[i], old[j], 1) + text[to:]
	case 9: // a shape left to be inferred
		from, to := line()
		if a, b, ok := strings.Cut(text[from:to], " = "); ok {
			_, b, _ = strings.Cut(b, " ")
			return text[:from] + a + " = " + b + text[to:]
		}
	case 10: // a line broken in two
		i := at()
		return text[:i] + "\n" + text[i:]
	case 11:
		return first
	}
	return text
}
