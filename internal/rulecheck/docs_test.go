package rulecheck_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/internal/rulecheck"
)

// TestTutorial proves the rules of docs/rules.md, and wants those that it calls wrong to fail as it says.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	right, wrong := "", ""
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 0 {
			continue
		}
		kind, body, _ := strings.Cut(block, "\n")
		switch kind {
		case "rules":
			right += body
		case "rules wrong":
			wrong += body
		}
	}
	list, err := rules.Parse("mine.rules", right)
	require.NoError(t, err)
	require.Len(t, list, 10)
	for _, r := range list {
		if w := rulecheck.Check(t.Context(), r).Wrong; w != nil {
			t.Errorf("%s: %v", r.ID, w)
		}
	}
	list, err = rules.Parse("mine.rules", wrong)
	require.NoError(t, err)
	w := rulecheck.Check(t.Context(), list[0]).Wrong
	require.NotNil(t, w)
	message, _, _ := strings.Cut(w.Error(), "\n")
	assert.Contains(t, string(text), message)
}

// TestConditionsAreDocumented wants every condition in the tutorial.
func TestConditionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	for _, c := range rules.Conditions {
		assert.Regexp(t, "`"+c.Name+"[`(]", string(text))
	}
}
