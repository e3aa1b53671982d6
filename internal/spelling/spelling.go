// Package spelling finds the name that was meant.
package spelling

import "strings"

// Nearest returns the name that was probably meant by word, or "": the one that the fewest changes make of it, or else the shortest that
// begins with it, if it has three letters. At most half of the letters may change, and three, or two of a word of less than eight. A name
// that differs in case alone comes before all others; of names equally near, the one of equal length, then the first.
func Nearest(word string, names []string) string {
	most := min(len(word)/2, max((len(word)+1)/3, 2), 3)
	lower := strings.ToLower(word)
	best, near := "", 2*most+2
	longer := ""
	for _, name := range names {
		if strings.EqualFold(word, name) {
			return name
		}
		d := 2 * Distance(lower, strings.ToLower(name), near/2+1)
		if len(name) != len(word) {
			d++
		}
		if d < near {
			best, near = name, d
		}
		if strings.HasPrefix(strings.ToLower(name), lower) && (longer == "" || len(name) < len(longer)) {
			longer = name
		}
	}
	if longer != "" && len(word) >= 3 && near > 3 { // one change more is nearer
		return longer
	}
	return best
}

// tooLong is the length from which on words are not compared: a distance takes the product of both lengths.
const tooLong = 200

// Distance counts the bytes to insert, delete, replace or exchange with the next one to make b of a. It returns limit when there are as
// many or more, or a word is longer than 200 bytes.
func Distance(a, b string, limit int) int {
	if len(a) > tooLong || len(b) > tooLong || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	// Rows of the table of distances between beginnings of a and of b: the one before the last, the last, and the one to fill.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
