package lsp

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/hlotest"
)

// TestIncremental edits programs at random. After each edit the diagnostics are those of the text opened anew, although most of it was not read and
// verified again.
func TestIncremental(t *testing.T) {
	texts, versions, clean := 0, 0, 0
	for _, root := range []string{"../../testdata", "../../../shared/corpus/programs", "../../../shared/corpus/hlo", "../../../shared/corpus/overlap"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".hlo" {
				return nil // a part of the corpus that is absent
			}
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			if len(data) > 150<<10 {
				return nil
			}
			texts++
			text := string(data)
			r := rand.New(rand.NewPCG(uint64(texts), 1))
			last := newDocument(path, 0, text, hloText, &shared{})
			for n := range max(6, min(40, 200_000/(len(text)+1))) {
				opened := newDocument(path, n, last.text, hloText, &shared{})
				want, got := opened.checks().diagnostics, last.checks().diagnostics
				versions++
				if len(want) == 0 {
					clean++
				}
				require.Equal(t, want, got, "%s, after %d edits:\n%s", path, n, last.text)
				last = newDocument(path, n+1, hlotest.Edited(r, last.text, text), hloText, last.shared)
			}
			return nil
		})
	}
	require.Greater(t, clean, versions/20)
	t.Logf("%d texts in %d versions, %d of them clean", texts, versions, clean)
}

// TestIncrementalShapes changes the type of each instruction of programs in turn, and back. Most such edits leave a text that can be read and a program
// that cannot be: what is wrong are the uses, which the edit has not touched. In the second round shapes are left out where they can be inferred, so
// that types go on from instruction to instruction.
func TestIncrementalShapes(t *testing.T) {
	files, err := filepath.Glob("../../testdata/run/*.hlo")
	require.NoError(t, err)
	corpus, err := filepath.Glob("../../../shared/corpus/programs/*/*.hlo")
	require.NoError(t, err)
	wrong := 0
	for _, path := range append(files, corpus...) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if len(data) > 8<<10 {
			continue
		}
		for _, text := range []string{string(data), inferred.ReplaceAllString(string(data), "$1 = $2(")} {
			s := &shared{}
			for _, at := range shape.FindAllStringSubmatchIndex(text, -1) {
				changed := text[:at[2]] + "s64[" + text[at[3]:]
				for _, version := range []string{text, changed} {
					want := newDocument(path, 0, version, hloText, &shared{}).checks().diagnostics
					require.Equal(t, want, newDocument(path, 0, version, hloText, s).checks().diagnostics, "%s:\n%s", path, version)
					wrong += min(1, len(want))
				}
			}
		}
	}
	require.Greater(t, wrong, 50)
	t.Logf("%d versions with findings", wrong)
}

var (
	shape    = regexp.MustCompile(` = ((?:f32|s32|pred|bf16|u32|f64)\[)`)
	inferred = regexp.MustCompile(`(\S+) = \S+ (add|multiply|subtract|negate|exponential|tanh|maximum|dot|transpose|select)\(`)
)
