package parser_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo/parser"
)

var tokens = regexp.MustCompile(`[A-Za-z_0-9.%-]+|"[^"\n]*"|\s+|.`)

// TestMutations reads modules with tokens deleted, doubled, exchanged and replaced: nothing may panic, and nothing may take long.
func TestMutations(t *testing.T) {
	needCorpus(t)
	var texts []string
	for _, r := range rows(t, "modules.jsonl") {
		if len(r.Text) < 6000 {
			texts = append(texts, string(r.Text))
		}
	}
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		text := texts[rng.IntN(len(texts))]
		parts := tokens.FindAllString(text, -1)
		for range 1 + rng.IntN(3) {
			i, j := rng.IntN(len(parts)), rng.IntN(len(parts))
			switch rng.IntN(5) {
			case 0:
				parts[i] = ""
			case 1:
				parts[i] += parts[i]
			case 2:
				parts[i], parts[j] = parts[j], parts[i]
			case 3:
				parts[i] = parts[j]
			case 4:
				other := tokens.FindAllString(texts[rng.IntN(len(texts))], -1)
				parts[i] = other[rng.IntN(len(other))]
			}
		}
		mutated := strings.Join(parts, "")
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("round %d: panic %v on\n%s", round, r, mutated)
				}
			}()
			_, err := parser.Config{MaxConstantBytes: 1 << 24}.Parse("", mutated)
			_ = fmt.Sprint(err)
		}()
	}
}
