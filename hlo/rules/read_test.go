package rules

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestReader holds the reader to the grammar: on the rules of the simplifier and of the tutorial, and on texts that differ from them by a few tokens.
// What it accepts must be the tree that the grammar makes, and it must accept what is written in earnest.
func TestReader(t *testing.T) {
	texts := textsInEarnest(t)
	var tokens, lines []string
	for path, text := range texts {
		got, ok := read(path, text)
		require.True(t, ok, path)
		want, err := parseByGrammar(path, text)
		require.NoError(t, err)
		require.Equal(t, want, got, path)
		for line := range strings.Lines(text) {
			if all, ok := tokensOf(line); ok && len(all) > 1 {
				lines = append(lines, line)
				for _, k := range all[:len(all)-1] {
					tokens = append(tokens, k.text)
				}
			}
		}
	}
	tokens = append(tokens, "if", "not", "-", "--", "//", "\n", "1.5e3", "1.5e", "2x", "inf-x", "-nan", "é", "a--b", "(", ")", "[", "]", ":", "|", ",", "!", "=>", "\t", "_")
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 4000 {
		text := lines[random.IntN(len(lines))]
		for range 1 + random.IntN(2) {
			all, ok := tokensOf(text)
			if !ok || len(all) < 2 {
				break
			}
			k, other := all[random.IntN(len(all)-1)], tokens[random.IntN(len(tokens))]
			end := k.pos.Offset + len(k.text)
			text = []string{text[:k.pos.Offset] + text[end:], text[:k.pos.Offset] + other + text[end:], text[:end] + " " + other + text[end:]}[random.IntN(3)]
		}
		got, ok := read("mine.rules", text)
		if !ok {
			continue
		}
		accepted++
		want, err := parseByGrammar("mine.rules", text)
		if assert.NoError(t, err, text) {
			assert.Equal(t, want, got, text)
		}
	}
	assert.Greater(t, accepted, 500)
}

// textsInEarnest are the rules of the simplifier and of the tutorial, by where they stand.
func textsInEarnest(t *testing.T) map[string]string {
	texts := map[string]string{}
	paths, err := filepath.Glob("../../passes/*/*.rules")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = string(text)
	}
	tutorial, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	for i, block := range strings.Split(string(tutorial), "```") {
		if kind, body, _ := strings.Cut(block, "\n"); i%2 == 1 && strings.HasPrefix(kind, "rules") {
			texts[fmt.Sprintf("block %d", i)] = body
		}
	}
	return texts
}

// TestLate holds what is known of a rule before it is read to the rule.
func TestLate(t *testing.T) {
	texts := textsInEarnest(t)
	texts["spread"] = "// one -- two\nA [nan] w:(f:add|multiply (abs x) y) // three -- four\n  => x // five -- six\n -- seven // eight\n\n B (add x 0) => x -- nine"
	rules, narrowed := 0, 0
	for path, text := range texts {
		_, ok := outlinesOf(text)
		assert.True(t, ok, path)
		want, late := Must(path, text), Late(path, text)
		require.Equal(t, len(want), len(late), path)
		for i, l := range late {
			rules++
			w := want[i].RewriteRule
			require.NotNil(t, l.Late)
			assert.Equal(t, w.ID, l.ID)
			assert.Equal(t, w.FP, l.FP)
			assert.Equal(t, w.Root, l.Root)
			whole := l.Whole()
			wantDoc, wantText := w.Words()
			doc, text := whole.Words()
			assert.Equal(t, [6]any{w.ID, w.FP, w.Root, wantDoc, wantText, w.Dynamic}, [6]any{whole.ID, whole.FP, whole.Root, doc, text, whole.Dynamic})
			assert.Equal(t, len(w.Forms), len(whole.Forms))
			orders := l.LateOperands()
			if slices.ContainsFunc(orders, func(known [][]hlo.Opcode) bool {
				return slices.ContainsFunc(known, func(ops []hlo.Opcode) bool { return ops != nil })
			}) {
				narrowed++
			}
			for _, f := range w.Forms {
				assert.True(t, slices.ContainsFunc(orders, func(known [][]hlo.Opcode) bool { return leaves(known, f.Operands) }), "%s: got %v, want %v", l.ID, orders, f.Operands)
			}
		}
	}
	assert.Greater(t, narrowed, rules/2)
}

// leaves reports whether what is known of operands leaves all that they may be.
func leaves(known, operands [][]hlo.Opcode) bool {
	for i, ops := range known {
		if ops != nil && (operands[i] == nil || slices.ContainsFunc(operands[i], func(op hlo.Opcode) bool { return !slices.Contains(ops, op) })) {
			return false
		}
	}
	return true
}

// tokensOf cuts a text into tokens, of which the last is the end.
func tokensOf(text string) (all []token, ok bool) {
	s := scanner{text: text, line: 1, column: 1}
	for {
		t := s.scan()
		if all = append(all, t); t.kind == endToken || t.kind == noToken {
			return all, t.kind == endToken
		}
	}
}

// TestReaderStopsAtDepth nests terms deeper than the reader goes.
func TestReaderStopsAtDepth(t *testing.T) {
	const deep = 100_000
	_, ok := read("deep.rules", "D "+strings.Repeat("(abs ", deep)+"x"+strings.Repeat(")", deep)+" => x -- deep")
	assert.False(t, ok)
}
