package halocmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// session is a command of a document and what it prints.
type session struct{ command, want string }

// sessions are the commands in the blocks of a document that are marked console.
func sessions(text string) (list []session) {
	for _, block := range strings.Split(text, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			list = append(list, session{command, strings.TrimRight(want, "\n")})
		}
	}
	return list
}

// pattern is an expression for a printed text in which … stands for anything.
func pattern(want string) *regexp.Regexp {
	parts := strings.Split(want, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, `.*`) + `\s*$`)
}

// TestDebugging runs the sessions of docs/debugging.md.
func TestDebugging(t *testing.T) {
	text, err := os.ReadFile("../docs/debugging.md")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../testdata/run/debugging")))
	t.Chdir(dir)
	list := sessions(string(text))
	require.Greater(t, len(list), 6)
	for _, s := range list {
		t.Run(s.command, func(t *testing.T) {
			words := strings.Fields(s.command)
			require.Equal(t, "halo", words[0])
			var out bytes.Buffer
			code := run(words[1:], strings.NewReader(""), &out, &out)
			assert.Less(t, code, exitUsage)
			assert.Regexp(t, pattern(s.want), out.String())
		})
	}
	made, err := filepath.Glob("op.*")
	require.NoError(t, err)
	assert.Len(t, made, 2, "--save writes a program and its inputs")
}
