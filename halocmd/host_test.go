package halocmd

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/internal/filecheck"
)

var updateHost = flag.Bool("update-host", false, "write what halo prints into testdata/host")

// TestHostPrograms runs testdata/host. Files of an archive are put into a folder, and each section whose name begins with "halo" is a command
// line there. Its content is what halo prints, both streams as one, and last the exit status.
func TestHostPrograms(t *testing.T) {
	archives, err := filepath.Glob("testdata/host/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, path := range archives {
		path, err := filepath.Abs(path)
		require.NoError(t, err)
		t.Run(filepath.Base(path), func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			for i := range ar.Files {
				section := &ar.Files[i]
				command, is := strings.CutPrefix(section.Name, "halo ")
				if !is {
					require.NoError(t, os.WriteFile(section.Name, section.Data, 0o666))
					continue
				}
				var out bytes.Buffer
				words, input := strings.Fields(command), ""
				if n := len(words); n > 2 && words[n-2] == "<" {
					text, err := os.ReadFile(words[n-1])
					require.NoError(t, err)
					words, input = words[:n-2], string(text)
				}
				code := run(words, strings.NewReader(input), &out, &out)
				got := fmt.Sprintf("%sexit %d\n", anyAddress.ReplaceAllString(out.String(), "0xN"), code)
				if *updateHost {
					section.Data = []byte(got)
				}
				assert.Equal(t, string(section.Data), got, command)
			}
			if *updateHost {
				require.NoError(t, os.WriteFile(path, txtar.Format(ar), 0o666))
			}
		})
	}
}

var anyAddress = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// hostCorpus is the folder of TFRT's tests, which lie beside the repository.
func hostCorpus(t *testing.T) string {
	root, err := filepath.Abs("../../shared/corpus/tfrt_tests")
	require.NoError(t, err)
	if _, err := os.Stat(root); err != nil {
		t.Skip("the corpus of TFRT's tests is not there")
	}
	return root
}

// TestHostCorpus runs TFRT's tests of its executor as their RUN lines say.
func TestHostCorpus(t *testing.T) {
	root := hostCorpus(t)
	t.Chdir(root)
	ran := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".mlir" || testing.Short() && strings.Contains(path, "benchmark") {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for i, line := range runLines(string(text)) {
			if !strings.Contains(line, "bef_executor") && !strings.Contains(line, "code_size_test_driver") {
				continue
			}
			ran++
			t.Run(fmt.Sprintf("%s:%d", path, i), func(t *testing.T) { executeLine(t, path, string(text), line) })
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, ran, 20)
}

func runLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if _, run, ok := strings.Cut(line, "// RUN: "); ok {
			lines = append(lines, strings.TrimSpace(run))
		}
	}
	return lines
}

// diagnosticLine is a diagnostic, with the source line and the caret that may follow.
var diagnosticLine = regexp.MustCompile(`(?m)^(\S+):(\d+):\d+: error: (.*)\n(?:.*\n\s*\^\n)?`)

// executeLine runs the first stage of a RUN line and gives its output to FileCheck.
func executeLine(t *testing.T, path, text, line string) {
	stage, checks, checked := strings.Cut(line, "|")
	negated := strings.Contains(line, "not ")
	if strings.HasPrefix(stage, "cat ") {
		stage, checks, checked = strings.Cut(checks, "|")
	}
	args := append([]string{"run"}, hostFlags(stage, path)...)
	var out, log bytes.Buffer
	both := strings.Contains(stage, "2>&1")
	stderr := &log
	if both {
		stderr = &out
	}
	code := run(append(args, path), strings.NewReader(""), &out, stderr)
	got := out.String()
	if !both {
		log.WriteString("\n")
	}
	diagnostics := diagnosticLine.FindAllStringSubmatch(log.String()+got, -1)
	got = diagnosticLine.ReplaceAllString(got, "")
	checkExpectations(t, text, diagnostics)
	failed := negated || len(diagnostics) > 0 || strings.Contains(got, "<<error: ")
	assert.Equal(t, failed, code != exitOK, "exit status %d", code)
	if checked && strings.Contains(checks, "FileCheck") {
		assert.NoError(t, filecheck.Check([]byte(text), []byte(got), filecheck.Options{CheckName: path}), got)
	}
}

// hostFlags translates the flags of TFRT's driver.
func hostFlags(stage, path string) (flags []string) {
	if !strings.HasPrefix(filepath.Base(path), "nonstrict") {
		flags = append(flags, "--strict")
	}
	tracing := false
	words := strings.Fields(stage)
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if !strings.HasPrefix(words[i], "-") {
			continue
		}
		switch name {
		case "print_error_code":
			flags = append(flags, "--print-error-code")
			continue
		case "enable_tracing":
			tracing = true
			continue
		}
		if !given {
			i++
			value = words[i]
		}
		switch name {
		case "work_queue_type":
			flags = append(flags, "--queue="+value) // halo reads TFRT's names too
		case "host_allocator_type":
			flags = append(flags, map[string]string{"test_fixed_size_1k": "--host-allocator=budget:1024"}[value])
		case "test_init_function":
			flags = append(flags, "--init-function="+value)
		case "functions":
			flags = append(flags, "--functions="+value)
		case "tracing_level":
			flags = append(flags, "--trace-level="+value)
		}
	}
	if tracing {
		flags = append(flags, "--trace=text")
	}
	return flags
}

var expectedError = regexp.MustCompile(`expected-error\s*(?:@\s*([+-]\d+))?\s*\{\{(.*?)\}\}`)

// checkExpectations holds the diagnostics to the comments of the text: each comes once, and no other.
func checkExpectations(t *testing.T, text string, diagnostics [][]string) {
	t.Helper()
	left := map[string]string{}
	for _, d := range diagnostics {
		left[d[2]+" "+d[3]] = d[3]
	}
	assert.Len(t, left, len(diagnostics), "no diagnostic comes twice")
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, m := range expectedError.FindAllStringSubmatch(line, -1) {
			at := n
			if m[1] != "" {
				var by int
				_, err := fmt.Sscanf(m[1], "%d", &by)
				require.NoError(t, err)
				at += by
			}
			found := ""
			for key, message := range left {
				if strings.HasPrefix(key, fmt.Sprint(at)+" ") && strings.Contains(message, m[2]) {
					found = key
				}
			}
			assert.NotEmpty(t, found, "line %d: %s", at, m[2])
			delete(left, found)
		}
	}
	assert.Empty(t, left, "diagnostics that nobody expects")
}
