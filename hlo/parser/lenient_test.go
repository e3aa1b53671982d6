package parser_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
)

// TestLenientPrints holds what the lenient reader keeps: the print reads back, and prints the same, in every style that is meant to be read; and
// the module is the same when it has been in bytes.
func TestLenientPrints(t *testing.T) {
	a, err := txtar.ParseFile("testdata/lenient.txtar")
	require.NoError(t, err)
	kept := 0
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		lenient := parser.Config{Lenient: true}
		m, err := lenient.Parse("", string(f.Data))
		if err != nil {
			continue
		}
		kept++
		for _, s := range printer.Styles() {
			if s.Config.OmitIDs {
				continue
			}
			text, err := printer.Append(nil, m, s.Config)
			require.NoError(t, err)
			if s.Config.Bodies == printer.BodyFull && strings.Contains(string(text), "-start(") {
				continue // these print computations that sugar has none of (hlo-text section 8.4)
			}
			again, err := lenient.Parse("", string(text))
			if !assert.NoError(t, err, "%s, %s:\n%s", f.Name, s.Name, text) {
				continue
			}
			second, err := printer.Append(nil, again, s.Config)
			require.NoError(t, err)
			assert.Equal(t, string(text), string(second), "%s, %s", f.Name, s.Name)
		}
		decoded, err := proto.Decode(proto.Encode(m))
		if assert.NoError(t, err, f.Name) {
			assert.Equal(t, printer.String(m), printer.String(decoded), f.Name)
		}
	}
	assert.Greater(t, kept, 20)
}
