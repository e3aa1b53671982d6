package printer_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// corpus is the folder of XLA's texts beside the repository; tests that use it are skipped in a clone without it.
func corpus(tb testing.TB) string {
	dir := filepath.Join("..", "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		tb.Skip("no corpus beside the repository")
	}
	return dir
}

// jsonl reads a file of one JSON object per line.
func jsonl[T any](tb testing.TB, path string) (rows []T) {
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var row T
			require.NoError(tb, json.Unmarshal(line, &row))
			rows = append(rows, row)
		}
		if err != nil {
			return rows
		}
	}
}

// texts maps the ids of all cases to their texts: rows of XLA's tests, and the modules of files.
func texts(tb testing.TB) map[string]string {
	all := make(map[string]string)
	dir := corpus(tb)
	for _, set := range []string{"modules", "roundtrip", "parser"} {
		for _, row := range jsonl[struct{ ID, Text string }](tb, filepath.Join(dir, "xla_tests", set+".jsonl")) {
			all[row.ID] = row.Text
		}
	}
	cut := regexp.MustCompile(`(?m)^// -----.*$`)
	base := filepath.Join(dir, "hlo")
	require.NoError(tb, filepath.WalkDir(base, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".hlo") {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(base, path)
		for i, part := range cut.Split(string(text), -1) {
			all[rel+"#"+strconv.Itoa(i)] = part
		}
		return err
	}))
	return all
}

// label is what XLA made of one case.
type label struct {
	Set, ID, Verdict string
	Text, SHA        map[string]string
	Again            map[string]string
	Crash            json.RawMessage
	Quirk            string
	Disputed         json.RawMessage
}

// unreadable reports whether XLA cannot read its own print in this style back as what it was; halo then prints what can be.
func (l *label) unreadable(style string) bool {
	if l.Quirk != "" {
		return true
	}
	if style != "default" && style != "long" && style != "short" {
		style = "default"
	}
	return strings.HasPrefix(l.Again[style], "error") || strings.Contains(string(l.Crash), "again:"+style)
}

// norm drops white space at the ends of lines and of the whole.
func norm(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r\f\v")
	}
	return strings.Join(lines, "\n")
}

func sum(s string) string {
	h := sha256.Sum256([]byte(norm(s)))
	return hex.EncodeToString(h[:])
}

// differ shows the first line in which two texts differ.
func differ(got, want string) string {
	g, w := strings.Split(norm(got), "\n"), strings.Split(norm(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return "line " + strconv.Itoa(i+1) + "\n got  " + a + "\n want " + b
		}
	}
	return "equal"
}

// kept lists the prints that differ from XLA's on purpose, with the reason.
var kept = map[string]string{}

// TestCorpusPrints compares halo's print of every text with XLA's, in every style.
func TestCorpusPrints(t *testing.T) {
	all := texts(t)
	labels := jsonl[label](t, filepath.Join(corpus(t), "xla_tests", "printed.jsonl"))
	only := os.Getenv("HALO_CORPUS") // of ids, for chasing one
	parsed := make(map[string]hlo.Module)
	for _, style := range []string{"default", "long", "short", "canonical", "fingerprint"} {
		cfg, ok := printer.StyleByName(style)
		require.True(t, ok)
		t.Run(style, func(t *testing.T) {
			same, total := 0, 0
			for _, l := range labels {
				text, want, digest := all[l.ID], l.Text[style], l.SHA[style]
				if l.Verdict != "ok" || l.Disputed != nil || want == "" && digest == "" || l.unreadable(style) || !strings.Contains(l.ID, only) {
					continue
				}
				total++
				m, ok := parsed[l.ID]
				if !ok {
					var err error
					if m, err = tryParse(l.ID, text); err != nil {
						t.Logf("%s: not parsed: %.300v", l.ID, err)
						continue
					}
					parsed[l.ID] = m
				}
				got, err := printer.Append(nil, m, cfg)
				require.NoError(t, err)
				switch {
				case digest == sum(string(got)), want != "" && norm(want) == norm(string(got)):
					same++
				case kept[l.ID] != "":
					total--
				case want != "":
					t.Logf("%s: %s", l.ID, differ(string(got), want))
				default:
					t.Logf("%s: digest differs", l.ID)
				}
			}
			t.Logf("%d of %d", same, total)
			assert.Equal(t, total, same)
		})
	}
}

// TestCorpusFixpoint reads back what is printed in the styles that are meant to be read, and expects the same print.
func TestCorpusFixpoint(t *testing.T) {
	all := texts(t)
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		m, err := parser.Parse(id, all[id])
		if err != nil {
			continue // for the parser's tests
		}
		for _, style := range []string{"default", "long", "short"} {
			cfg, _ := printer.StyleByName(style)
			first, err := printer.Append(nil, m, cfg)
			require.NoError(t, err)
			back, err := parser.Parse(id, string(first))
			if !assert.NoErrorf(t, err, "%s, printed in style %s", id, style) {
				continue
			}
			second, err := printer.Append(nil, back, cfg)
			require.NoError(t, err)
			if string(first) != string(second) {
				t.Errorf("%s, style %s: second print: %s", id, style, differ(string(second), string(first)))
			}
		}
	}
}

func tryParse(id, text string) (m hlo.Module, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("PANIC %v", e)
		}
	}()
	return parser.Parse(id, text)
}
