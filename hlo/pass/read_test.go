package pass

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReader holds the reader to the grammar, on texts and on what becomes of them when characters are put in, taken out and exchanged: what it accepts
// must be the tree that the grammar makes.
func TestReader(t *testing.T) {
	texts := []string{
		"", "dce", "dce,cse", "fix(dce,cse),dce", "fix{limit=3}(dce)", "(dce,(cse))", "fix()", "a{}", "a{b}", "a{b=c,d=[e,f],g}", "a{b=[]}(c)", "a{b=[[u16,u32],[s16,s32]]}",
		"if(not-async,dce)", "threads{only=[main,host]}(local,(local))", "algsimp{executing-on-cpu rules=[-H04,+E25] x=1.5}", " fix { limit = 3 , } ( dce , cse ) ", "()", "a_b*",
	}
	for _, text := range texts {
		got, ok := readText(text)
		require.True(t, ok, text)
		want, err := textParser().ParseString("", text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	const marks = "{}()[],= \"\nabé"
	characters := []rune(marks)
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 20_000 {
		text := []rune(texts[random.IntN(len(texts))])
		for range 1 + random.IntN(2) {
			at, c := random.IntN(len(text)+1), characters[random.IntN(len(characters))]
			rest := text[min(at+random.IntN(2), len(text)):]
			text = append(append([]rune{}, text[:at]...), rest...)
			if random.IntN(2) == 0 {
				text = append(append(append([]rune{}, text[:at]...), c), text[at:]...)
			}
		}
		got, ok := readText(string(text))
		if !ok {
			continue
		}
		accepted++
		want, err := textParser().ParseString("", string(text))
		if assert.NoError(t, err, string(text)) {
			assert.Equal(t, want, got, string(text))
		}
	}
	assert.Greater(t, accepted, 2000)
}

// TestReaderStopsAtDepth nests groups and lists deeper than the reader goes.
func TestReaderStopsAtDepth(t *testing.T) {
	const deep = 100_000
	for _, text := range []string{strings.Repeat("(", deep) + "a" + strings.Repeat(")", deep), "a{b=" + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}"} {
		_, ok := readText(text)
		assert.False(t, ok)
	}
}
