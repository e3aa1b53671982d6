package scalar

// transfer is a copy from one register to another.
type transfer struct {
	d, s  int32
	width uint8
}

// inOrder makes a series of copies that does what the given ones do at once. Copies that go round in a circle take a free register to
// help.
func inOrder(copies []transfer, free int32) []transfer {
	var out, todo []transfer
	for _, c := range copies {
		if c.d != c.s {
			todo = append(todo, c)
		}
	}
	for len(todo) > 0 {
		k := -1
		for i, c := range todo {
			if !isRead(todo, c.d) {
				k = i
				break
			}
		}
		if k >= 0 {
			out = append(out, todo[k])
			todo = append(todo[:k], todo[k+1:]...)
			continue
		}
		// All are read: somebody's value goes aside, and its readers take it from there.
		c := todo[0]
		aside := c.d
		out = append(out, transfer{free, aside, 8})
		for i := range todo {
			if todo[i].s == aside {
				todo[i].s = free
			}
		}
	}
	return out
}

func isRead(copies []transfer, r int32) bool {
	for _, c := range copies {
		if c.s == r {
			return true
		}
	}
	return false
}
