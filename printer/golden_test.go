package printer_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/printer"
)

var update = flag.Bool("update", false, "rewrite the expected prints in testdata")

// TestGolden prints the section `input` of each archive in testdata with the configuration that the name of each other section spells:
// a style, fields of Config, or both: `short,Sugar=2,OmitIDs`.
func TestGolden(t *testing.T) {
	for file, archive := range archives.All(t, filepath.Join("testdata", "*.txtar")) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			require.Equal(t, "input", archive.Files[0].Name)
			m, err := parser.ParseBytes(file, archive.Files[0].Data)
			require.NoError(t, err)
			for i := range archive.Files[1:] {
				section := &archive.Files[i+1]
				cfg, err := configOf(section.Name)
				require.NoError(t, err)
				got, err := printer.Append(nil, m, cfg)
				require.NoError(t, err)
				if *update {
					section.Data = got
				}
				assert.Equal(t, string(section.Data), string(got), section.Name)
				if strings.Contains(string(archive.Comment), "not read back: "+section.Name+"\n") {
					continue
				}
				// What is printed reads back, and prints the same from then on; the first time, computations may change places.
				again := reprint(t, file, got, cfg)
				assert.Equal(t, again, reprint(t, file, []byte(again), cfg), "%s, read back", section.Name)
			}
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
		})
	}
}

func configOf(name string) (printer.Config, error) {
	var cfg printer.Config
	for word := range strings.SplitSeq(name, ",") {
		if style, ok := printer.StyleByName(word); ok {
			cfg = style
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		f := reflect.ValueOf(&cfg).Elem().FieldByName(key)
		if !f.IsValid() {
			return cfg, &printer.LimitError{What: "no option " + word}
		}
		if f.Kind() == reflect.Bool {
			f.SetBool(true)
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return cfg, err
		}
		if f.CanInt() {
			f.SetInt(int64(n))
		} else {
			f.SetUint(uint64(n))
		}
	}
	return cfg, nil
}

func reprint(t *testing.T, file string, text []byte, cfg printer.Config) string {
	m, err := parser.ParseBytes(file, text)
	require.NoError(t, err)
	b, err := printer.Append(nil, m, cfg)
	require.NoError(t, err)
	return string(b)
}
