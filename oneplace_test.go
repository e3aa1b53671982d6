package halo_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// structural are the ops that programs are made of whatever they compute; every floor that walks a program knows them.
var structural = map[string]string{
	"OpParameter": "how a computation begins", "OpConstant": "data in the program", "OpTuple": "regroups values", "OpGetTupleElement": "regroups values",
	"OpCall": "calls", "OpWhile": "calls", "OpConditional": "calls", "OpFusion": "calls", "OpCustomCall": "calls code that is not HLO",
	"OpAsyncStart": "a step of a chain", "OpAsyncUpdate": "a step of a chain", "OpAsyncDone": "a step of a chain",
	"OpCopy": "puts a value elsewhere", "OpBroadcast": "repeats a value", "OpOptBarrier": "hands a value on", "OpDomain": "hands a value on",
}

// tables are the files of a floor that hold one table of functions for each kind of element or of kernel; an op has a line in each of those
// that concern it. Passes and the language of their rules are about ops, and so is the conversion of another dialect's ops into these.
var tables = regexp.MustCompile(`^hlo/eval/|^runtime/kernels/|^runtime/eager/|^passes/|^hlo/rules/|^hlo/stablehlo/|^hlo/builder_ops\.go$|^hlo/opcode\.go$`)

// TestOpIsKnownInOnePlacePerFloor holds what adding an op may cost: its constant and its row in hlo, where its shape rule may stand in a file
// of the same family, its meaning in hlo/eval, and, if it is to be fast, a line in a table of runtime/kernels. Reader, printer, codec,
// verifier, analyses, lowering and commands know it in one file at most, where they have a function for it.
func TestOpIsKnownInOnePlacePerFloor(t *testing.T) {
	names := make(map[string]map[string][]string) // op → folder → files
	for op := range hlo.Opcodes {
		names[constantOf(op)] = make(map[string][]string)
	}
	word := regexp.MustCompile(`\bOp[A-Z]\w*\b`)
	comment := regexp.MustCompile(`//.*`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (path == "internal" || d.Name() == "testdata") { // tests and their generators choose ops
				return filepath.SkipDir
			}
			return err
		}
		path = filepath.ToSlash(path)
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen := make(map[string]bool)
		for _, name := range word.FindAllString(comment.ReplaceAllString(string(text), ""), -1) {
			if in, ok := names[name]; ok && !seen[name] {
				seen[name] = true
				in[filepath.ToSlash(filepath.Dir(path))] = append(in[filepath.ToSlash(filepath.Dir(path))], path)
			}
		}
		return nil
	}))
	for name, folders := range names {
		rows := 0
		for _, path := range folders["hlo"] {
			if strings.HasPrefix(path, "hlo/op_") {
				rows++
			}
		}
		assert.NotZero(t, rows, "%s has a row", name)
		if structural[name] != "" {
			continue
		}
		for folder, files := range folders {
			var places []string
			families := make(map[string]bool)
			for _, path := range files {
				if tables.MatchString(path) {
					continue
				}
				base := strings.TrimSuffix(filepath.Base(path), ".go")
				if kind, family, ok := strings.Cut(base, "_"); ok && folder == "hlo" && (kind == "op" || kind == "shape") {
					if families[family] {
						continue
					}
					families[family] = true
				}
				places = append(places, path)
			}
			assert.LessOrEqual(t, len(places), 1, "%s is known in %v", name, places)
		}
	}
}

// constantOf is the name of the constant of an opcode: its mnemonic in camel case.
func constantOf(op hlo.Opcode) string {
	var b strings.Builder
	b.WriteString("Op")
	for _, part := range strings.Split(op.String(), "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
