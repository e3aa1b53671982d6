package hostprog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/hostprog"
)

// Every error has a piece of text that makes it, on the line that says so.
func TestErrors(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.mlir")
	require.NoError(t, err)
	for _, piece := range pieces(string(text)) {
		_, name, _ := strings.Cut(piece, "expected-error")
		name, _, _ = strings.Cut(name, "}}")
		t.Run(name, func(t *testing.T) {
			checkDiagnostics(t, piece, diagnose(t, "errors.mlir", piece, false, true))
		})
	}
}

// Archives hold an input and what becomes of it: canonical and generic text,
// what canonicalization and disassembly give, and remarks on streams.
func TestPrint(t *testing.T) {
	for path, ar := range archives.All(t, "testdata/print/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			section := make(map[string]string)
			for _, f := range ar.Files {
				section[f.Name] = string(f.Data)
			}
			p, err := hostprog.Read("input", section["input"], hostprog.Config{})
			require.NoError(t, err)
			checkPrints(t, p)
			for i, f := range ar.Files {
				var got string
				switch f.Name {
				case "input":
					continue
				case "want":
					got = hostprog.Sprint(p, hostprog.CustomForm)
				case "generic":
					got = hostprog.Sprint(p, hostprog.GenericForm)
				case "canonical":
					hostprog.Canonicalize(p)
					got = hostprog.Sprint(p, hostprog.CustomForm)
				case "streams":
					got = remarks(hostprog.Streams(p, hostprog.Config{}))
				case "dis":
					got = string(disassemble(t, assemble(t, "input", section["input"], false), false))
				default:
					t.Fatalf("unknown section %q", f.Name)
				}
				if os.Getenv("UPDATE") != "" {
					ar.Files[i].Data = []byte(got)
					continue
				}
				assert.Equal(t, section[f.Name], got, f.Name)
			}
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(path, txtar.Format(ar), 0o644))
			}
			if f, err := hostprog.Assemble(p, hostprog.AssembleOptions{}); err == nil {
				checkAssembled(t, f)
			}
		})
	}
}

// remarks are one line each.
func remarks(list []*hostprog.Diagnostic) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%d: %s\n", d.Pos.Line, d.Msg)
	}
	return b.String()
}

// A diagnostic shows the line and a caret below the column, tabs included.
func TestDiagnostic(t *testing.T) {
	_, err := hostprog.Read("f.mlir", "func.func @f() {\n\ttfrt.return %x : i32\n}\n", hostprog.Config{})
	require.EqualError(t, err, "f.mlir:2:14: error: use of undeclared SSA value name\n\ttfrt.return %x : i32\n\t            ^")
	var d *hostprog.Diagnostic
	require.ErrorAs(t, err, &d)
	assert.Equal(t, hostprog.Position{File: "f.mlir", Line: 2, Column: 14}, d.Pos)
}

// Rows of another package are checked like those of this one.
func TestOpTable(t *testing.T) {
	table, err := hostprog.NewOpTable(hostprog.OpDef{Name: "my.kernel", Operands: []hostprog.Type{"i32"}, Results: []hostprog.Type{"f32"}})
	require.NoError(t, err)
	text := "func.func @f(%a: i64) {\n  %0 = \"my.kernel\"(%a) : (i64) -> f32\n  tfrt.return\n}\n"
	_, err = hostprog.Read("f", text, hostprog.Config{})
	require.NoError(t, err)
	_, err = hostprog.Read("f", text, hostprog.Config{Ops: table})
	require.ErrorContains(t, err, "operand #0 must be 32-bit signless integer, but got 'i64'")
	_, err = hostprog.NewOpTable(hostprog.OpDef{Name: "tfrt.call"})
	require.Error(t, err)
	assert.Nil(t, table.Lookup("nothing"))
	assert.Contains(t, table.Names(), "my.kernel")
	assert.Contains(t, table.Names(), "tfrt.call")
}

// Locations of a text arrive in the file.
func TestLocations(t *testing.T) {
	f, err := bef.Decode(assemble(t, "dir/f.mlir", `func.func @f() {
  %0 = "a"() : () -> i32
  "b"() : () -> () loc("x.py":3:4)
  "c"() : () -> () loc(#l)
  "d"() : () -> () loc(callsite("foo" at "bar.py":42:314))
  "e"() : () -> () loc(fused<"m">["foo", unknown])
  tfrt.return
} loc("f"("g":1:2))
#l = loc("name")
`, false), bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	fn := f.Func("f")
	var got []string
	for _, k := range fn.Kernels {
		l := f.Locations.At(k.Loc)
		got = append(got, l.String()+" | "+l.DebugInfo())
	}
	assert.Equal(t, []string{"dir/f.mlir:2:8 | ", "x.py:3:4 | ", `"name" | name`, `"foo"<-bar.py:42:314 | foo`, `fused["foo", unknown] | foo`}, got)
	assert.Equal(t, `"f"(g:1:2)`, f.Locations.At(fn.Loc).String())
}

func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/*.mlir", "testdata/print/*.txtar"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, path := range files {
			b, err := os.ReadFile(path)
			require.NoError(f, err)
			for _, piece := range pieces(string(b)) {
				f.Add(piece)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := hostprog.Read("fuzz", text, hostprog.Config{})
		if err != nil {
			_ = err.Error()
			return
		}
		hostprog.Streams(p, hostprog.Config{})
		checkPrints(t, p)
		file, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
		if err != nil {
			return
		}
		checkAssembled(t, file)
		hostprog.Canonicalize(p)
		checkPrints(t, p)
	})
}

// Any file that decodes has a text, and one that tells its types is read back
// or refused.
func FuzzDisassemble(f *testing.F) {
	for _, ar := range archives.All(f, "testdata/print/*.txtar") {
		if p, err := hostprog.Read("f", string(ar.Files[0].Data), hostprog.Config{}); err == nil {
			if file, err := hostprog.Assemble(p, hostprog.AssembleOptions{}); err == nil {
				f.Add(encode(f, file))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := bef.Decode(b, bef.DecodeOptions{})
		if err != nil {
			return
		}
		p, err := hostprog.Disassemble(file)
		if err != nil {
			return
		}
		for _, form := range []hostprog.Form{hostprog.CustomForm, hostprog.GenericForm} {
			text := hostprog.Sprint(p, form)
			if len(text) > 1<<16 {
				continue // shared regions expand; reading that again takes its time
			}
			if q, err := hostprog.Parse("dis", text); err == nil {
				_ = hostprog.Sprint(q, form)
			}
		}
	})
}

// A region that contains itself, or regions nested beyond all text, are refused.
func TestDisassembleRefuses(t *testing.T) {
	b := bef.NewBuilder()
	loop := b.Function("", bef.Async, nil, nil)
	loop.Kernel(bef.KernelSpec{Name: "k", Funcs: []bef.FuncID{0}})
	loop.Return()
	main := b.Function("main", bef.Async, nil, nil)
	main.Kernel(bef.KernelSpec{Name: "k", Funcs: []bef.FuncID{0}})
	main.Return()
	f, err := b.File()
	require.NoError(t, err)
	_, err = hostprog.Disassemble(f)
	require.ErrorContains(t, err, "no region")

	b = bef.NewBuilder()
	for i := range 1000 {
		fn := b.Function(map[bool]string{true: "main"}[i == 999], bef.Async, nil, nil)
		if i > 0 {
			fn.Kernel(bef.KernelSpec{Name: "k", Funcs: []bef.FuncID{bef.FuncID(i - 1), bef.FuncID(i - 1)}})
		}
		fn.Return()
	}
	f, err = b.File()
	require.NoError(t, err)
	_, err = hostprog.Disassemble(f)
	require.ErrorContains(t, err, "nested")
}

// What the grammar says is put in words.
func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"func.func @f( {":               "f:1:15: error: expected ')', got '{'",
		"\"a\"() {a = 3 : } : () -> ()": "f:1:16: error: expected type, got '}'",
		"\"a\"() {a = } : () -> ()":     "f:1:12: error: expected a value, got '}'",
		"func.func @f() {":              "f:1:17: error: expected '}', got end of file",
		"func.func f":                   "f:1:11: error: expected symbol name, got 'f'",
		"tfrt.new.chain loc(3)":         "f:1:20: error: unexpected '3'",
		"}":                             "f:1:1: error: unexpected '}'",
		"tfrt.call f()":                 "f:1:11: error: expected symbol name, @f",
		strings.Repeat("(", 300):        "f:1:251: error: brackets nested more than 250 deep",
	} {
		_, err := hostprog.Parse("f", text)
		var d *hostprog.Diagnostic
		require.ErrorAs(t, err, &d, text)
		assert.Equal(t, want, d.Error())
	}
}

// line returns a program of n additions, one after the other.
func line(n int) string {
	var b strings.Builder
	b.WriteString("func.func @f(%x0: i32) -> i32 {\n")
	for i := range n {
		fmt.Fprintf(&b, "  %%x%d = tfrt.add.i32 %%x%d, %%x%d\n", i+1, i, i/2)
	}
	fmt.Fprintf(&b, "  tfrt.return %%x%d : i32\n}\n", n)
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text := line(10000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hostprog.Read("f", text, hostprog.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssemble(b *testing.B) {
	p, err := hostprog.Read("f", line(10000), hostprog.Config{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hostprog.Assemble(p, hostprog.AssembleOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDisassemble(b *testing.B) {
	p, err := hostprog.Read("f", line(10000), hostprog.Config{})
	require.NoError(b, err)
	f, err := hostprog.Assemble(p, hostprog.AssembleOptions{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		p, err := hostprog.Disassemble(f)
		if err != nil {
			b.Fatal(err)
		}
		_ = hostprog.Sprint(p, hostprog.CustomForm)
	}
}
