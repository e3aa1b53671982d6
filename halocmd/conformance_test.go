package halocmd

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

var updateConformance = flag.Bool("update-conformance", false, "write what halo prints into testdata/conformance")

// TestConformance runs the rows of the conformance list that are host programs. For each row an archive has the program, and a section with
// what halo prints about it, both streams as one, and the exit status. The section is named by the row; then follow
//
//	single, multi   run on this queue only
//	stdin           the program comes from standard input
//	--flag          more flags
//	halo …          a whole command line instead
//
// On the single-threaded queue the output is exactly that, on the other one the lines may come in any order.
func TestConformance(t *testing.T) {
	archives, err := filepath.Glob("testdata/conformance/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, path := range archives {
		path, err := filepath.Abs(path)
		require.NoError(t, err)
		ar, err := txtar.ParseFile(path)
		require.NoError(t, err)
		folder := t.TempDir()
		for i := range ar.Files {
			section := &ar.Files[i]
			if name := strings.Fields(section.Name); len(name) == 1 && strings.HasSuffix(name[0], ".mlir") {
				require.NoError(t, os.WriteFile(filepath.Join(folder, section.Name), section.Data, 0o666))
				continue
			}
			conformanceRow(t, folder, section)
		}
		if *updateConformance {
			require.NoError(t, os.WriteFile(path, txtar.Format(ar), 0o666))
		}
	}
}

func conformanceRow(t *testing.T, folder string, section *txtar.File) {
	words := strings.Fields(section.Name)
	id, words := words[0], words[1:]
	if len(words) > 0 && words[0] == "halo" {
		t.Run(section.Name, func(t *testing.T) {
			t.Chdir(folder)
			got := conformanceRun(words[1:], "")
			if *updateConformance {
				section.Data = []byte(got)
			}
			assert.Equal(t, string(section.Data), got)
			if words[1] == "fmt" {
				text, _, _ := strings.Cut(got, "exit ")
				require.NoError(t, os.WriteFile("again.mlir", []byte(text), 0o666))
				assert.Equal(t, got, conformanceRun([]string{"fmt", "again.mlir"}, ""), "printing again changes nothing")
			}
		})
		return
	}
	args, file, input := []string{"run"}, id+".mlir", ""
	if slices.Contains(words, "stdin") {
		text, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(t, err)
		file, input = "-", string(text)
	}
	for _, w := range words {
		if strings.HasPrefix(w, "--") {
			args = append(args, w)
		}
	}
	for _, queue := range []string{"single", "multi:4"} {
		kind, _, _ := strings.Cut(queue, ":")
		if kind == "single" && slices.Contains(words, "multi") || kind == "multi" && slices.Contains(words, "single") {
			continue
		}
		t.Run(strings.Join(append([]string{id, queue}, words...), " "), func(t *testing.T) {
			t.Chdir(folder)
			first := args
			if !strings.Contains(strings.Join(args, " "), "--queue") {
				first = append(slices.Clone(args), "--queue="+queue)
			}
			got := conformanceRun(append(first, file), input)
			if *updateConformance && (kind == "single" || slices.Contains(words, "multi")) {
				section.Data = []byte(got)
			}
			want := string(section.Data)
			if kind == "multi" {
				want, got = sortedLines(want), sortedLines(got)
			}
			assert.Equal(t, want, got)
		})
	}
}

// conformanceRun is what a command prints, without what differs from run to run.
func conformanceRun(args []string, input string) string {
	var out bytes.Buffer
	code := run(args, strings.NewReader(input), &out, &out)
	return fmt.Sprintf("%sexit %d\n", measuredValue.ReplaceAllString(out.String(), "$1: N"), code)
}

var measuredValue = regexp.MustCompile(`(\(ns\)|\(percent\)): [0-9.e+-]+`)

func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
