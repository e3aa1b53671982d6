package pass

// Nearest returns the name with the smallest edit distance to s, if it is close; of several, the one whose length is nearest.
func Nearest(s string, names []string) string {
	best, dist := "", 2*(len(s)/2+1)
	for _, n := range names {
		d := 2 * editDistance(s, n)
		if len(n) != len(s) {
			d++
		}
		if d < dist {
			best, dist = n, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
