package halo_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors is the house: a package may import packages of lower floors of its own wing, and nothing else of the module. Entries are
// prefixes; the longest that matches counts.
var floors = []struct {
	pkg   string
	floor int
	wing  string // "": seen from both wings
	// also lists packages of the same floor, or of the other wing, that may be imported all the same, and why is in the comment
	also []string
}{
	{pkg: "internal/", floor: 0},
	{pkg: "hlo", floor: 1, wing: "hlo"},
	{pkg: "runtime/async", floor: 1, wing: "runtime"},
	{pkg: "runtime/bef", floor: 1, wing: "runtime"},
	{pkg: "internal/arrays", floor: 2}, // literals on disk
	{pkg: "internal/shadow", floor: 3}, // evaluates two versions of a module
	{pkg: "internal/hlotest", floor: 4},
	{pkg: "internal/reduce", floor: 4}, // cleans up after itself with dce
	{pkg: "internal/difftest", floor: 5}, // runs modules on both engines
	{pkg: "internal/diverge", floor: 5}, // finds where executions part
	{pkg: "internal/lint", floor: 0},
	{pkg: "internal/lint/", floor: 1, also: []string{"internal/lint/"}}, // the analyzers, and the command that runs them
	{pkg: "hlo/parser", floor: 2, wing: "hlo"},
	{pkg: "hlo/proto", floor: 2, wing: "hlo", also: []string{"hlo/parser"}}, // origin recovery holds modules as text
	{pkg: "hlo/pass", floor: 2, wing: "hlo", also: []string{"hlo/analysis"}}, // passes share facts
	{pkg: "hlo/match", floor: 2, wing: "hlo"},
	{pkg: "hlo/eval", floor: 2, wing: "hlo"},
	{pkg: "hlo/analysis", floor: 2, wing: "hlo"},
	{pkg: "printer", floor: 2, wing: "hlo"},
	{pkg: "verifier", floor: 2, wing: "hlo", also: []string{"hlo/analysis"}},
	{pkg: "runtime/workqueue", floor: 2, wing: "runtime"},
	{pkg: "runtime/hostprog", floor: 2, wing: "runtime"},
	{pkg: "runtime", floor: 3, wing: "runtime"},
	{pkg: "runtime/eager", floor: 5}, // HLO ops one by one: it lowers them, and binds their kernels
	{pkg: "passes/", floor: 3, wing: "hlo", also: []string{"passes/"}}, // families share clones and inlining
	{pkg: "lower", floor: 4},                                           // a bridge between the wings
	{pkg: "runtime/kernels", floor: 4, also: []string{"runtime/kernels/"}},
	{pkg: "passes", floor: 4, wing: "hlo"},
	{pkg: "", floor: 5},
	{pkg: "cmd/", floor: 6},
}

const module = "github.com/gohalo/halo"

// TestImportsGoDown holds every import of the module to the floors.
func TestImportsGoDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
		for _, to := range words[1:] {
			to, ours := strings.CutPrefix(to, module)
			if !ours {
				continue
			}
			if why := forbidden(from, strings.TrimPrefix(to, "/")); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
	}
}

func forbidden(from, to string) string {
	f, g := place(from), place(to)
	for _, p := range floors[f].also {
		if to == p || strings.HasSuffix(p, "/") && strings.HasPrefix(to, p) {
			return ""
		}
	}
	a, b := floors[f], floors[g]
	switch {
	case b.floor >= a.floor:
		return "imports go down, never sideways or up"
	case a.wing != "" && b.wing != "" && a.wing != b.wing:
		return "the wings meet in lower and runtime/kernels only"
	}
	return ""
}

// place finds the floor of a package.
func place(pkg string) int {
	best, length := -1, -1
	for i, f := range floors {
		match := pkg == f.pkg || strings.HasSuffix(f.pkg, "/") && strings.HasPrefix(pkg, f.pkg) ||
			f.pkg != "" && strings.HasPrefix(pkg, f.pkg+"/")
		if match && len(f.pkg) > length {
			best, length = i, len(f.pkg)
		}
	}
	if best < 0 {
		panic("no floor for package " + pkg)
	}
	return best
}
