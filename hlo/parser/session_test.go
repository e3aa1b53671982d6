package parser_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/printer"
)

// found is all that reading a text finds, as text.
func found(tb testing.TB, m hlo.Module, err error) string {
	tb.Helper()
	if err != nil {
		return err.Error()
	}
	style, _ := printer.StyleByName("long")
	b, err := printer.Append(nil, m, style)
	require.NoError(tb, err)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			b = fmt.Appendln(b, in.Name(), in.Position(), in.ID())
		}
	}
	return string(b)
}

// agreeSession holds a session against reading each version as a whole, through random edits.
// It returns how many versions were sound.
func agreeSession(tb testing.TB, id, text string, seed uint64, edits int) (sound int) {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	whole, parts := parser.Config{MaxConstantBytes: 1 << 22}, parser.Config{MaxConstantBytes: 1 << 22}
	var told, toldParts strings.Builder
	whole.Warn = func(e *parser.Error) { fmt.Fprintln(&told, e) }
	parts.Warn = func(e *parser.Error) { fmt.Fprintln(&toldParts, e) }
	s := parts.NewSession(id)
	version := text
	for n := range edits {
		want, wantErr := whole.Parse(id, version)
		m, _, err := s.Parse(version)
		if found(tb, want, wantErr) != found(tb, m, err) || told.String() != toldParts.String() {
			require.Equal(tb, found(tb, want, wantErr), found(tb, m, err), "%s, seed %d, after %d edits:\n%s", id, seed, n, version)
			require.Equal(tb, told.String(), toldParts.String(), "%s, seed %d, after %d edits:\n%s", id, seed, n, version)
		}
		if err == nil {
			s.Sound()
			sound++
		}
		told.Reset()
		toldParts.Reset()
		version = hlotest.Edited(r, version, text)
	}
	return sound
}

// TestSession edits the project's own programs at random, and those of the corpus that are short.
func TestSession(t *testing.T) {
	n, versions, sound := 0, 0, 0
	for _, root := range []string{"../../testdata", "../../../shared/corpus/programs", "../../../shared/corpus/hlo"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".hlo" {
				return nil // a part of the corpus that is absent
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if len(text) < 200<<10 {
				n++
				edits := max(8, min(40, 400_000/(len(text)+1)))
				versions += edits
				sound += agreeSession(t, path, string(text), uint64(n), edits)
			}
			return nil
		})
	}
	require.Greater(t, sound, versions/10)
	require.Less(t, sound, versions*3/4)
	t.Logf("%d texts in %d versions, %d of them without faults", n, versions, sound)
}

// FuzzSession replaces a part of a text by another and back again.
func FuzzSession(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, uint64(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) { agreeSession(t, "fuzz.hlo", text, seed, 20) })
}

// TestSessionStackFrames: frames are numbered anew for each module, from what the text says and not from what the module before has.
func TestSessionStackFrames(t *testing.T) {
	text := `HloModule m

FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}
2 {file_name_id=2 function_name_id=1 line=2 end_line=2 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

ENTRY main {
  p = f32[4] parameter(0)
  a = f32[4] negate(p), metadata={op_name="a" stack_frame_id=2}
  b = f32[4] negate(a), metadata={op_name="b" stack_frame_id=1}
  ROOT r = f32[4] add(a, b), metadata={op_name="a" stack_frame_id=2}
}
`
	s := parser.Config{}.NewSession("m.hlo")
	for _, version := range []string{text, strings.Replace(text, "negate(a)", "abs(a)", 1), text, strings.Replace(text, "  a =", "\n  a =", 1)} {
		want, err := parser.Parse("m.hlo", version)
		require.NoError(t, err)
		m, _, err := s.Parse(version)
		require.Equal(t, found(t, want, nil), found(t, m, err))
	}
}

// BenchmarkSession is the time from a letter typed in the largest text of the corpus to its module: sound is a space more, faulty an element
// type that there is not, upon which a third of the program hangs.
func BenchmarkSession(b *testing.B) {
	needCorpus(b)
	data, err := os.ReadFile(filepath.Join(corpus, "hlo/tools/benchmarks/hlo/hlo_mixtral_8x7b_bf16_1x8.hlo"))
	require.NoError(b, err)
	text := string(data)
	for _, c := range [][3]string{{"sound", "%dot.168 = bf16", "%dot.168 =  bf16"}, {"faulty", "%dot.168 = bf16", "%dot.168 = bf17"}} {
		require.True(b, strings.Contains(text, c[1]))
		changed := strings.Replace(text, c[1], c[2], 1)
		b.Run(c[0], func(b *testing.B) {
			s := parser.Config{}.NewSession("m.hlo")
			for i := 0; b.Loop(); i++ {
				_, _, err := s.Parse([]string{text, changed}[i%2])
				require.Equal(b, c[0] == "faulty" && i%2 == 1, err != nil)
			}
		})
	}
}
