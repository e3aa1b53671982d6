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
var kept = map[string]string{
	// The wrapped computation ignores its last parameter, which sugar cannot say: XLA's print reads back as another program.
	"hlo/parser/hlo_parser_test.cc#417":        "sugar",
	"service/hlo_verifier_test.cc#53":          "sugar",
	"service/hlo_verifier_test.cc#58":          "sugar",
	"service/hlo_verifier_test.cc#70":          "sugar",
	"HloParserTest.AsyncDone_BindOutputBuffer": "sugar",
	// XLA leaves the mesh out of shardings without dimensions.
	"service/spmd/spmd_partitioner_test.cc#549": "mesh",
	// XLA's reader takes the NaN of an imaginary part from the real part.
	"service/elemental_ir_emitter_test.cc#6":                            "complex NaN",
	"service/cpu/tests/cpu_while_test.cc#2":                             "complex NaN",
	"backends/cpu/codegen/tiled/tests/elementwise/complex_divide.hlo#0": "complex NaN",
}

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

// TestCorpusFixpoint reads back what is printed, and expects the same print. Printing may change the order of computations, once: then
// XLA's second print differs from its first, too, and halo's third must equal its second.
func TestCorpusFixpoint(t *testing.T) {
	all := texts(t)
	for _, l := range jsonl[label](t, filepath.Join(corpus(t), "xla_tests", "printed.jsonl")) {
		m, err := tryParse(l.ID, all[l.ID])
		if err != nil {
			continue // for the parser's tests
		}
		const times = 3
		prints := [times]string{}
		for i := range prints {
			b, err := printer.Append(nil, m, printer.Long)
			require.NoError(t, err)
			prints[i] = string(b)
			if i > 0 && prints[i] == prints[i-1] {
				prints[times-1] = prints[i]
				break
			}
			if m, err = tryParse(l.ID, prints[i]); !assert.NoErrorf(t, err, "%s, print %d", l.ID, i+1) {
				break
			}
		}
		if prints[0] != prints[1] && l.Again["long"] == "" && l.Quirk == "" {
			t.Errorf("%s: second print: %s", l.ID, differ(prints[1], prints[0]))
		}
		if prints[1] != prints[times-1] {
			t.Errorf("%s: third print: %s", l.ID, differ(prints[times-1], prints[1]))
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

// TestCorpusRoundTrip takes the tables of XLA's parser tests: text, read and printed in the form of the table, is what the test expects.
func TestCorpusRoundTrip(t *testing.T) {
	rows := jsonl[struct{ ID, Form, Text, Want string }](t, filepath.Join(corpus(t), "xla_tests", "roundtrip.jsonl"))
	same := 0
	for _, row := range rows {
		cfg := printer.Short
		if row.Form == "long" {
			cfg = printer.Long
		}
		m, err := tryParse(row.ID, row.Text)
		if err != nil {
			t.Logf("%s: %v", row.ID, err)
			continue
		}
		got, err := printer.Append(nil, m, cfg)
		require.NoError(t, err)
		if norm(string(got)) == norm(row.Want) {
			same++
			continue
		}
		t.Logf("%s: %s", row.ID, differ(string(got), row.Want))
	}
	t.Logf("%d of %d", same, len(rows))
	assert.Equal(t, len(rows), same)
}
