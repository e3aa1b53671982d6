package rules

import (
	"math/rand/v2"
	"slices"
)

// chooser enumerates sequences of choices: each is asked for as it comes up, and next moves on to the following sequence.
type chooser struct {
	taken, of []int
	at        int
	random    *rand.Rand // draws the choices; the first is as likely as all others together
}

func (c *chooser) choose(n int) int {
	if c.at == len(c.taken) {
		v := 0
		if c.random != nil && c.random.IntN(2) == 1 {
			v = c.random.IntN(n)
		}
		c.taken, c.of = append(c.taken, v), append(c.of, n)
	}
	c.at++
	return c.taken[c.at-1]
}

func (c *chooser) next() bool {
	if c.random != nil {
		c.taken, c.of, c.at = nil, nil, 0
		return true
	}
	c.taken, c.of = c.taken[:c.at], c.of[:c.at]
	c.at = 0
	for i := len(c.taken) - 1; i >= 0; i-- {
		if c.taken[i]++; c.taken[i] < c.of[i] {
			return true
		}
		c.taken, c.of = c.taken[:i], c.of[:i]
	}
	return false
}

// replay makes the same choices again.
func (c *chooser) replay() *chooser {
	return &chooser{taken: slices.Clone(c.taken), of: slices.Clone(c.of)}
}
