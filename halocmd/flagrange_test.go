package halocmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNumbersOutOfRange: an option that no program can mean is an error in the command line, not a default in silence.
func TestNumbersOutOfRange(t *testing.T) {
	for _, args := range []string{
		"fmt --indent=-9", "fmt --indent=9223372036854775807", "fmt --max-bytes=-9", "opt --passes=dce --indent=-1",
		"mem --top=-9", "profile --top=-1", "stats --top=-9", "overlap --devices=-1", "schedule --min-overlap=nan", "schedule --min-overlap=2",
		"run --rtol=nan", "run --atol=-1", "run --bench=-1", "run --threads=-1", "compare --rtol=nan", "opt --passes=fix{limit=-1}(dce)",
		"opt --passes=dce --dump-to=d --dump-max=-9",
	} {
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var out, errs bytes.Buffer
			code := Run(append(strings.Fields(args), "-"), strings.NewReader("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }\n"), &out, &errs)
			assert.Equal(t, exitUsage, code, "%s%s", out.String(), errs.String())
		})
	}
}
