package proto_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
)

// kept lists the prints that differ from XLA's on purpose.
var kept = map[string]string{
	"015-hlo_dataflow_analysis_test_cc_77.hlo.pb": "the wrapped computation uses a parameter twice, which sugar cannot say",
}

// corpus is the files of modules that XLA wrote, if they are there.
func corpus() []string {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "proto", "*.pb*"))
	return files
}

// TestCorpus decodes what XLA wrote, and expects XLA's print of it.
func TestCorpus(t *testing.T) {
	files := corpus()
	if len(files) == 0 {
		t.Skip("no corpus beside the repository")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		base, _, _ := strings.Cut(file, ".hlo.pb")
		m, err := proto.Decode(data)
		if !assert.NoError(t, err, filepath.Base(file)) {
			continue
		}
		again, err := proto.Decode(proto.Encode(m))
		if !assert.NoError(t, err, "written again: %s", filepath.Base(file)) {
			continue
		}
		for style, suffix := range map[string]string{"default": ".hlo", "long": ".long.hlo"} {
			cfg, _ := printer.StyleByName(style)
			got, err := printer.Append(nil, m, cfg)
			require.NoError(t, err)
			if want, err := os.ReadFile(base + suffix); err == nil && kept[filepath.Base(file)] == "" {
				assert.Equal(t, strings.TrimSpace(string(want)), strings.TrimSpace(string(got)), filepath.Base(file))
			}
			second, err := printer.Append(nil, again, cfg)
			require.NoError(t, err)
			assert.Equal(t, string(got), string(second), "%s, written again", filepath.Base(file))
		}
	}
}

// TestCorpusText takes modules from text into bytes and back, and expects the text to be the same.
func TestCorpusText(t *testing.T) {
	for _, set := range []string{"modules", "roundtrip", "parser"} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "corpus", "xla_tests", set+".jsonl"))
		if err != nil {
			t.Skip("no corpus beside the repository")
		}
		defer f.Close()
		for rows := bufio.NewReaderSize(f, 1<<20); ; {
			line, err := rows.ReadBytes('\n')
			if err != nil {
				break
			}
			var row struct{ ID, Text string }
			require.NoError(t, json.Unmarshal(line, &row))
			m, err := parser.Parse(row.ID, row.Text)
			if err != nil {
				continue
			}
			back, err := proto.Decode(proto.Encode(m))
			if !assert.NoError(t, err, row.ID) {
				continue
			}
			for _, cfg := range []printer.Config{printer.Long, {Sugar: printer.SugarOff}} {
				assert.Equal(t, text(t, m, cfg), text(t, back, cfg), row.ID)
			}
		}
	}
}

func text(t *testing.T, m hlo.Module, cfg printer.Config) string {
	b, err := printer.Append(nil, m, cfg)
	require.NoError(t, err)
	return string(b)
}
