package hostprog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/filecheck"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
)

// corpus is TFRT's tests of host programs, which lie beside the repository.
func corpus(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../../shared/corpus/tfrt_tests")
	require.NoError(t, err)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the corpus of TFRT's tests is not there")
	}
	return dir
}

// eachProgram runs a test on every text of the corpus.
func eachProgram(t *testing.T, test func(t *testing.T, path, text string)) {
	root := corpus(t)
	n := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".mlir" {
			return err
		}
		b, err := os.ReadFile(path)
		n++
		rel, _ := filepath.Rel(root, path)
		t.Run(rel, func(t *testing.T) { test(t, rel, string(b)) })
		return err
	}))
	require.Greater(t, n, 20)
}

// pieces are the files that a text stands for.
func pieces(text string) []string { return strings.Split(text, "// -----\n") }

func TestCorpusPrints(t *testing.T) {
	eachProgram(t, func(t *testing.T, path, text string) {
		for _, piece := range pieces(text) {
			p, err := hostprog.Read(path, piece, hostprog.Config{})
			if err != nil {
				checkExpected(t, piece, err)
				continue
			}
			checkPrints(t, p)
		}
	})
}

// checkPrints holds printing to its promises: a fixpoint in both forms, which
// stand for the same program.
func checkPrints(t testing.TB, p *hostprog.Program) {
	t.Helper()
	custom := hostprog.Sprint(p, hostprog.CustomForm)
	for _, form := range []hostprog.Form{hostprog.CustomForm, hostprog.GenericForm} {
		s := hostprog.Sprint(p, form)
		q, err := hostprog.Read("again", s, hostprog.Config{})
		require.NoError(t, err, s)
		require.Equal(t, s, hostprog.Sprint(q, form))
		require.Equal(t, custom, hostprog.Sprint(q, hostprog.CustomForm))
	}
}

func TestCorpusAssembles(t *testing.T) {
	eachProgram(t, func(t *testing.T, path, text string) {
		for _, piece := range pieces(text) {
			p, err := hostprog.Read(path, piece, hostprog.Config{})
			if err != nil {
				continue
			}
			f, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
			if err != nil {
				checkExpected(t, piece, err)
				continue
			}
			checkAssembled(t, f)
		}
	})
}

// encode writes a file with all that belongs to it.
// TestKernelPrograms takes the programs that the kernels are tested with through printing, assembling and disassembling.
func TestKernelPrograms(t *testing.T) {
	for file, ar := range archives.All(t, "../kernels/hostkernels/testdata/*.txtar") {
		for i, section := range ar.Files {
			if section.Name != "program" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				p, err := hostprog.Read("p", string(section.Data), hostprog.Config{})
				require.NoError(t, err)
				checkPrints(t, p)
				f, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
				require.NoError(t, err)
				checkAssembled(t, f)
			})
		}
	}
}

func encode(t testing.TB, f *bef.File) []byte {
	t.Helper()
	b, err := bef.Marshal(f, bef.EncodeOptions{Extensions: true})
	require.NoError(t, err)
	return b
}

// checkAssembled takes a file through bytes and text and expects the same
// file again, but for locations and streams.
func checkAssembled(t testing.TB, f *bef.File) {
	t.Helper()
	b := encode(t, f)
	g, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	require.Equal(t, b, encode(t, g), "decoded and encoded")
	p, err := hostprog.Disassemble(g)
	require.NoError(t, err)
	text := hostprog.Sprint(p, hostprog.CustomForm)
	q, err := hostprog.Read("dis", text, hostprog.Config{})
	require.NoError(t, err, text)
	require.Equal(t, text, hostprog.Sprint(q, hostprog.CustomForm))
	again, err := hostprog.Assemble(q, hostprog.AssembleOptions{})
	require.NoError(t, err, text)
	require.Equal(t, content(f), content(again), text)
	checkExact(t, b)
	// Text that came from a file lacks costs and options; from there on nothing is lost.
	require.Equal(t, plain(encode(t, again)), plain(encode(t, reassemble(t, again))))
}

// checkExact expects the exact text of a file to assemble to its bytes, and to read as any other text.
func checkExact(t testing.TB, b []byte) {
	t.Helper()
	f, err := bef.Decode(b, bef.DecodeOptions{})
	require.NoError(t, err)
	p, err := hostprog.DisassembleExact(f)
	require.NoError(t, err)
	for _, form := range []hostprog.Form{hostprog.CustomForm, hostprog.GenericForm} {
		text := hostprog.Sprint(p, form)
		q, err := hostprog.Read("exact", text, hostprog.Config{})
		require.NoError(t, err, text)
		g, err := hostprog.Assemble(q, hostprog.AssembleOptions{})
		require.NoError(t, err, text)
		require.Equal(t, plain(b), plain(encode(t, g)), text)
	}
}

func reassemble(t testing.TB, f *bef.File) *bef.File {
	t.Helper()
	p, err := hostprog.Disassemble(f)
	require.NoError(t, err)
	q, err := hostprog.Read("dis", hostprog.Sprint(p, hostprog.CustomForm), hostprog.Config{})
	require.NoError(t, err)
	g, err := hostprog.Assemble(q, hostprog.AssembleOptions{})
	require.NoError(t, err)
	return g
}

func plain(b []byte) string { return fmt.Sprintf("%x", b) }

// content is all of a file but locations and streams.
func content(f *bef.File) string {
	var b strings.Builder
	fmt.Fprintln(&b, f.Kernels, f.Types, f.Attrs.Types, f.Typed)
	fmt.Fprintf(&b, "%x %d\n", f.Attrs.Data, f.Attrs.Align)
	for _, fn := range f.Functions {
		fmt.Fprintln(&b, fn.Name, fn.Kind, fn.Args, fn.Results, fn.Registers, fn.ResultRegs, fn.TriggerUsers, fn.ArgUsers)
		for _, k := range fn.Kernels {
			k.Loc, k.Stream = 0, 0
			fmt.Fprintf(&b, "  %+v\n", k)
		}
	}
	for _, s := range f.Extensions {
		fmt.Fprintf(&b, "%v\n", s)
	}
	return b.String()
}

// Whole files of TFRT's encoder.
func TestCorpusBytes(t *testing.T) {
	dir := filepath.Join(corpus(t), "bytes")
	texts, err := filepath.Glob(filepath.Join(dir, "*.mlir"))
	require.NoError(t, err)
	require.NotEmpty(t, texts)
	for _, path := range texts {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		p, err := hostprog.Read(path, string(text), hostprog.Config{})
		require.NoError(t, err)
		for suffix, short := range map[string]bool{".bef": false, ".short.bef": true} {
			want, err := os.ReadFile(strings.TrimSuffix(path, ".mlir") + suffix)
			require.NoError(t, err)
			f, err := hostprog.Assemble(p, hostprog.AssembleOptions{NoOptionalSections: short})
			require.NoError(t, err)
			got, err := bef.Marshal(f, bef.EncodeOptions{NoOptionalSections: short})
			require.NoError(t, err)
			assert.Equal(t, plain(want), plain(got), "%s%s", path, suffix)
		}
	}
}

var expectRE = regexp.MustCompile(`expected-(error|remark)\s*(?:@\s*([+-]\d+))?\s*\{\{(.*?)\}\}`)

// checkExpected compares diagnostics with the comments that announce them.
func checkExpected(t testing.TB, text string, err error) {
	t.Helper()
	var list hostprog.ErrorList
	if err != nil {
		require.ErrorAs(t, err, &list)
	}
	checkDiagnostics(t, text, list)
}

func checkDiagnostics(t testing.TB, text string, got []*hostprog.Diagnostic) {
	t.Helper()
	type finding struct {
		severity string
		line     int
		msg      string
	}
	var want []finding
	for i, l := range strings.Split(text, "\n") {
		_, comment, ok := strings.Cut(l, "//")
		if !ok {
			continue
		}
		for _, m := range expectRE.FindAllStringSubmatch(comment, -1) {
			if strings.Contains(m[3], "runtime error") || strings.Contains(m[3], "unknown kernel") {
				continue
			}
			off, _ := strconv.Atoi(m[2])
			want = append(want, finding{m[1], i + 1 + off, m[3]})
		}
	}
	require.Equal(t, len(want), len(got), "%v", got)
	for i, w := range want {
		assert.Equal(t, w.severity, got[i].Severity.String())
		assert.Equal(t, w.line, got[i].Pos.Line, "%v", got[i])
		assert.Contains(t, got[i].Msg, w.msg)
	}
}

// TestCorpusRuns follows those RUN lines that execute nothing.
func TestCorpusRuns(t *testing.T) {
	ran := 0
	eachProgram(t, func(t *testing.T, path, text string) {
		for _, line := range runLines(text) {
			if !strings.Contains(line, "bef_executor") && !strings.Contains(line, "code_size_test_driver") {
				ran++
				run(t, path, text, line)
			}
		}
	})
	if !t.Failed() {
		require.Greater(t, ran, 10)
	}
}

func runLines(text string) []string {
	joined := strings.ReplaceAll(text, "\\\n// RUN:", "")
	var lines []string
	for _, l := range strings.Split(joined, "\n") {
		if _, cmd, ok := strings.Cut(l, "// RUN:"); ok {
			lines = append(lines, strings.TrimSpace(cmd))
		}
	}
	return lines
}

// run does what a pipeline of TFRT's tools would do.
func run(t *testing.T, path, text, line string) {
	var data []byte
	for _, stage := range strings.Split(line, "|") {
		args := strings.Fields(strings.ReplaceAll(stage, "2>&1", ""))
		flags := strings.ReplaceAll(strings.Join(args[1:], " "), "--", "-")
		has := func(f string) bool { return strings.Contains(flags, f) }
		in := data
		if has("%s") {
			in = []byte(text)
		}
		switch tool := args[0]; {
		case tool == "FileCheck":
			require.NoError(t, filecheck.Check([]byte(text), data, filecheck.Options{CheckName: path}))
		case tool == "od":
			data = []byte("0000000 " + strings.TrimSpace(fmt.Sprintf("% x", assemble(t, path, text, false)[:16])) + "\n")
		case has("-verify-diagnostics"):
			for _, p := range pieces(text) {
				checkDiagnostics(t, p, diagnose(t, path, p, has("-tfrt-print-stream"), has("-mlir-to-bef")))
			}
		case has("-mlir-to-bef"):
			data = assemble(t, path, string(in), has("-disable-optional-sections=true"))
		case has("-bef-to-mlir"):
			if has("%s.bef") {
				in = assemble(t, path, text, false)
			}
			data = disassemble(t, in, has("-mlir-print-op-generic"))
		case tool == "tfrt_opt":
			data = nil
			for _, piece := range pieces(string(in)) {
				p, err := hostprog.Read(path, piece, hostprog.Config{})
				require.NoError(t, err)
				if has("-canonicalize") {
					hostprog.Canonicalize(p)
				}
				data = append(data, hostprog.Sprint(p, hostprog.CustomForm)...)
			}
		default:
			t.Fatalf("tool of %q is not known", line)
		}
	}
}

func assemble(t testing.TB, path, text string, short bool) []byte {
	p, err := hostprog.Read(path, text, hostprog.Config{})
	require.NoError(t, err)
	f, err := hostprog.Assemble(p, hostprog.AssembleOptions{NoOptionalSections: short})
	require.NoError(t, err)
	b, err := bef.Marshal(f, bef.EncodeOptions{NoOptionalSections: short, Extensions: len(f.Extensions) > 0})
	require.NoError(t, err)
	return b
}

func disassemble(t testing.TB, b []byte, generic bool) []byte {
	f, err := bef.Decode(b, bef.DecodeOptions{})
	require.NoError(t, err)
	p, err := hostprog.Disassemble(f)
	require.NoError(t, err)
	var out bytes.Buffer
	if !f.Typed {
		fmt.Fprintln(&out, "warning:", hostprog.MissingSections)
	}
	form := hostprog.CustomForm
	if generic {
		form = hostprog.GenericForm
	}
	require.NoError(t, hostprog.Fprint(&out, p, form))
	return out.Bytes()
}

func diagnose(t testing.TB, path, text string, streams, asm bool) []*hostprog.Diagnostic {
	p, err := hostprog.Read(path, text, hostprog.Config{})
	if err == nil && asm {
		_, err = hostprog.Assemble(p, hostprog.AssembleOptions{})
	}
	var list hostprog.ErrorList
	if errors.As(err, &list) {
		return list
	}
	require.NoError(t, err)
	if streams {
		return hostprog.Streams(p, hostprog.Config{})
	}
	return nil
}
