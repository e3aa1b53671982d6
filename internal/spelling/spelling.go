// Package spelling finds the name that was meant.
package spelling

import "strings"

// Nearest returns the name that the fewest changes make of word, and "" when each takes more than most. A name that differs in case alone
// comes before all others; of names equally near, the one of nearest length, then the first.
func Nearest(word string, names []string, most int) string {
	best, near := "", 2*most+2
	for _, name := range names {
		if strings.EqualFold(word, name) {
			return name
		}
		d := 2 * Distance(word, name, near/2+1)
		if len(name) != len(word) {
			d++
		}
		if d < near {
			best, near = name, d
		}
	}
	return best
}

// tooLong is the length from which on words are not compared: a distance takes the product of both lengths.
const tooLong = 200

// Distance counts the bytes to insert, delete or replace to make b of a. It returns limit when there are as many or more, or a word is
// longer than 200 bytes.
func Distance(a, b string, limit int) int {
	if len(a) > tooLong || len(b) > tooLong || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return min(row[len(b)], limit)
}
