package parser_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// corpus is the folder of real HLO that lies beside the repository of developers; tests that need it are skipped without.
const corpus = "../../../shared/corpus"

func needCorpus(tb testing.TB) {
	tb.Helper()
	if _, err := os.Stat(corpus); err != nil {
		tb.Skip("no corpus of HLO beside the repository")
	}
}

// row is a line of the tables of xla_tests.
type row struct {
	ID, Kind, Set, Verdict string
	Text                   textOrPrints
	OK                     *bool
	Substr                 []string
	Disputed               any
	Error                  []any
}

// textOrPrints is the text of a case; in printed.jsonl the field holds prints, which are not looked at here.
type textOrPrints string

func (t *textOrPrints) UnmarshalJSON(b []byte) error {
	if b[0] != '"' {
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

func rows(tb testing.TB, name string) []row {
	tb.Helper()
	f, err := os.Open(filepath.Join(corpus, "xla_tests", name))
	require.NoError(tb, err)
	defer f.Close()
	var all []row
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var r row
		require.NoError(tb, json.Unmarshal(s.Bytes(), &r))
		all = append(all, r)
	}
	require.NoError(tb, s.Err())
	return all
}

var separator = regexp.MustCompile(`(?m)^// -----.*$`)

// files calls yield with every module of every file of the corpus.
func files(tb testing.TB, yield func(id, text string)) {
	tb.Helper()
	base := filepath.Join(corpus, "hlo")
	require.NoError(tb, filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".hlo") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(base, path)
		for i, part := range separator.Split(string(text), -1) {
			if strings.TrimSpace(regexp.MustCompile(`//.*`).ReplaceAllString(part, "")) != "" {
				yield(rel+"#"+strconv.Itoa(i), part)
			}
		}
		return nil
	}))
}

// TestVerdicts compares with what XLA's parser says of every text it was given.
func TestVerdicts(t *testing.T) {
	needCorpus(t)
	texts := make(map[string]string)
	for _, set := range []string{"modules", "parser", "roundtrip"} {
		for _, r := range rows(t, set+".jsonl") {
			texts[r.ID] = string(r.Text)
		}
	}
	files(t, func(id, text string) { texts[id] = text })
	good, n := 0, 0
	for _, r := range rows(t, "printed.jsonl") {
		text, ok := texts[r.ID]
		if !ok || r.Disputed != nil {
			continue
		}
		n++
		_, err := parser.Parse(r.ID, text)
		if r.Verdict == "crash" || (err == nil) == (r.Verdict == "ok") {
			good++
			continue
		}
		t.Errorf("%s %s: XLA says %s %v, got %v", r.Set, r.ID, r.Verdict, r.Error, err)
	}
	t.Logf("verdicts: %d of %d", good, n)
}

// TestParserCases runs XLA's own parser tests.
func TestParserCases(t *testing.T) {
	needCorpus(t)
	good, phrases, wanted := 0, 0, 0
	all := rows(t, "parser.jsonl")
	for _, r := range all {
		if r.Kind != "module" {
			t.Logf("%s: kind %s", r.ID, r.Kind)
			continue
		}
		_, err := parser.Parse("", string(r.Text))
		if !assert.Equal(t, *r.OK, err == nil, "%s: %v", r.ID, err) {
			continue
		}
		good++
		if err != nil && len(r.Substr) > 0 {
			wanted++
			all := true
			for _, s := range r.Substr {
				all = all && strings.Contains(err.Error(), s)
			}
			if all {
				phrases++
			} else {
				t.Logf("%s: want %q in\n%v", r.ID, r.Substr, err)
			}
		}
	}
	t.Logf("cases: %d of %d, phrases: %d of %d", good, len(all), phrases, wanted)
}
