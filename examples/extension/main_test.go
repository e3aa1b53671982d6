package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gohalo/halo/halocmd"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passtest"

	"github.com/gohalo/halo/hlo/pass"
)

// TestPasses runs the cases of testdata/PASS/*.txtar.
func TestPasses(t *testing.T) {
	catalogue, err := passes.With([]pass.Family{extension.Passes}, extension.Pipelines, extension.Orders)
	if err != nil {
		t.Fatal(err)
	}
	passtest.Run(t, "testdata", catalogue.Parse)
}

// TestCommand asks the subcommands for what this program adds.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"opt --passes=double-to-add testdata/acme/scale.hlo", "add(", 0},
		{"opt --passes=acme --fp=fast testdata/acme/scale.hlo", `backend_config="6"`, 0},
		{"opt --passes=acme testdata/acme/scale.hlo", `backend_config="2"`, 0},
		{"run --fill=ones --print testdata/acme/scale.hlo", "{6, 6, 6}", 0},
		{"compare --engines=eval,bef testdata/acme/scale.hlo", "largest difference 0", 0},
		{"verify testdata/acme/broken.hlo", "got backend_config \"twice\", want a number", 1},
		{"explain ACME-01", "backend configuration of acme.scale", 0},
		{"explain double-to-add", "In the pipelines acme", 0},
		{"list-passes", "scale-simplifier", 0},
		{"check testdata/double-to-add/cases.txtar", "2 passed", 0},
		{"opt --passes=dobule-to-add testdata/acme/scale.hlo", "double-to-add", 2},
	} {
		var out bytes.Buffer
		status := halocmd.Run(strings.Fields(c.args), strings.NewReader(""), &out, &out, extension)
		if status != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("acme %s: status %d, want %d with %q:\n%s", c.args, status, c.status, c.want, &out)
		}
	}
}
