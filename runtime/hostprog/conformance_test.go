package hostprog_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/runtime/bef"
)

// TestRows holds the rows of the conformance list that say what survives the way through a file.
func TestRows(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/conformance/rows.txtar")
	require.NoError(t, err)
	for _, f := range ar.Files {
		t.Run(f.Name, func(t *testing.T) {
			b := assemble(t, f.Name, string(f.Data), false)
			file, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
			require.NoError(t, err)
			assert.Equal(t, string(f.Data), string(disassemble(t, b, false)))
			again, err := bef.Marshal(file, bef.EncodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, b, again)
		})
	}
}

func TestW01EmptyModule(t *testing.T) {
	b := assemble(t, "empty", "", false)
	assert.Equal(t, []byte{0x0b, 0xef}, b[:2])
	assert.Len(t, b, 27)
	assert.Empty(t, disassemble(t, b, false))
}

// TestRefusals has what assembling refuses, by rows of the conformance list.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ id, text, want string }{
		{"W03", "func.func @f() {\n  \"k\"() : () -> ()\n}", "all functions need to have a tfrt.return"},
		{"W04", "func.func private @f()", "external functions are not allowed"},
		{"W05", "func.func @f() {\n  \"k\"() {value = @x} : () -> ()\n  tfrt.return\n}", "function @x not defined"},
		{"W06", "func.func @f() {\n  tfrt.call @x() : () -> ()\n  tfrt.return\n}", "'x' does not reference a valid function"},
		{"W07", "func.func @f() {\n  \"k\"() {type = memref<2xi32>} : () -> ()\n  tfrt.return\n}", "BEF files cannot encode the 'type' attribute"},
		{"W08 argument", "func.func @f(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {\n  tfrt.return %b : i32\n}", "return value 0 is an argument in a sync function"},
		{"W08 duplicate", "func.func @f() -> (i32, i32) attributes {tfrt.sync} {\n  %a = \"tfrt.constant_s.i32\"() {value = 1 : i32} : () -> i32\n  tfrt.return %a, %a : i32, i32\n}",
			"return value 1 is duplicated in a sync function"},
	} {
		t.Run(c.id, func(t *testing.T) {
			var all strings.Builder
			for _, d := range diagnose(t, "f", c.text, false, true) {
				fmt.Fprintln(&all, d)
			}
			assert.Contains(t, all.String(), c.want)
		})
	}
}

const compiledModules = `module @one attributes {tfrt.compiled} {
  func.func @main() { return }
}
module @two attributes {tfrt.compiled} {
  func.func @main() { return }
}
func.func @f() {
  "k"() {value = @one::@main} : () -> ()
  "k"() {value = @two::@main} : () -> ()
  "k"() {value = @one::@main} : () -> ()
  tfrt.return
}
`

// symbolsOf lists the compilation units that the kernels of a file refer to.
func symbolsOf(t *testing.T, f *bef.File) (roots []string, offsets []uint32) {
	for _, k := range f.Func("f").Kernels {
		for _, a := range k.Attrs {
			s, err := f.Attrs.Symbol(a.Offset)
			require.NoError(t, err)
			roots = append(roots, fmt.Sprintf("%s %v %d", s.Root, s.Nested, s.ID))
			offsets = append(offsets, a.Offset)
		}
	}
	return roots, offsets
}

func TestW09CompiledModuleBecomesAUnit(t *testing.T) {
	f, err := bef.Decode(assemble(t, "m", compiledModules, false), bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	roots, offsets := symbolsOf(t, f)
	require.Len(t, roots, 3)
	assert.Contains(t, roots[0], "one [main]")
	s, err := f.Attrs.Symbol(offsets[0])
	require.NoError(t, err)
	assert.Contains(t, s.Text, "return")
	require.Len(t, f.Functions, 1, "the functions of the unit are somebody else's")
}

func TestR11TwoUnitsOneTwice(t *testing.T) {
	b := assemble(t, "m", compiledModules, false)
	f, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	roots, offsets := symbolsOf(t, f)
	assert.Equal(t, roots[0], roots[2])
	assert.Equal(t, offsets[0], offsets[2])
	assert.NotEqual(t, roots[0], roots[1])
	text := string(disassemble(t, b, false))
	assert.Equal(t, 1, strings.Count(text, "module @one"))
	assert.Equal(t, 1, strings.Count(text, "module @two"))
}

// W10: names are stored once, in order, so that offsets ascend.
func TestW10StringTable(t *testing.T) {
	b := assemble(t, "m", "func.func @zeta() {\n  \"b\"() : () -> ()\n  \"a\"() : () -> ()\n  \"b\"() : () -> ()\n  tfrt.return\n}\nfunc.func @alpha() {\n  tfrt.return\n}\n", true)
	strs := section(t, b, 0)
	names := strings.Split(strings.TrimSuffix(string(strs), "\x00"), "\x00")
	assert.True(t, slices.IsSorted(names), names)
	assert.Equal(t, names, slices.Compact(slices.Clone(names)))
	assert.Contains(t, names, "alpha")
	assert.Contains(t, names, "a")
}

// section is the body of a section of a file, found without the reader: lengths below 64 are one byte.
func section(t *testing.T, b []byte, id byte) []byte {
	i := bytes.IndexByte(b[3:], id) + 3
	require.Equal(t, 3, i, "the strings come first")
	require.Zero(t, b[4]&0x81)
	return b[5:][:b[4]>>1]
}

func TestR09WithoutOptionalSections(t *testing.T) {
	b := assemble(t, "m", "func.func @f(%a: i32) -> i32 {\n  %b = \"k\"(%a) {x = 7 : i32, y = true} : (i32) -> i32\n  tfrt.return %b : i32\n}\n", true)
	text := string(disassemble(t, b, true))
	assert.Contains(t, text, "Missing AttributeTypes, AttributeNames or RegisterTypes sections.")
	assert.Contains(t, text, "attr0 = -559038737 : i32, attr1 = -559038737 : i32")
	assert.Contains(t, text, "(i32) -> none")
}

// R10: a value with hundreds of users.
func TestR10ManyUsers(t *testing.T) {
	var text strings.Builder
	text.WriteString("func.func @f(%arg0: i32) {\n")
	for range 500 {
		text.WriteString("  \"k\"(%arg0) : (i32) -> ()\n")
	}
	text.WriteString("  tfrt.return\n}\n")
	b := assemble(t, "m", text.String(), false)
	assert.Equal(t, text.String(), string(disassemble(t, b, false)))
	f, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	users := f.Func("f").ArgUsers[0]
	require.Len(t, users, 500)
	assert.True(t, slices.IsSortedFunc(users, func(x, y bef.KernelIndex) int { return int(y) - int(x) }), "the last user comes first")
}

func TestR16Locations(t *testing.T) {
	f, err := bef.Decode(assemble(t, "f.mlir", `func.func @f() {
  "a"() : () -> () loc("x.py":3:4)
  "b"() : () -> () loc("name")
  "c"() : () -> () loc("name"("child.py":5:6))
  "d"() : () -> () loc(callsite("foo" at "bar.py":42:314))
  "e"() : () -> () loc(fused["foo", "x.py":3:4])
  "f"() : () -> () loc(fused["foo", fused["bar", callsite("a" at "b")]])
  tfrt.return
}
`, false), bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	var got []string
	for _, k := range f.Func("f").Kernels {
		got = append(got, f.Locations.At(k.Loc).String())
	}
	assert.Equal(t, []string{"x.py:3:4", `"name"`, `"name"(child.py:5:6)`, `"foo"<-bar.py:42:314`, `fused["foo", x.py:3:4]`, `fused["foo", fused["bar", "a"<-"b"]]`}, got)
}

// R15: arrays, shapes and nested lists of a program are the vectors of the constant pool.
func TestR15PoolOfAProgram(t *testing.T) {
	f, err := bef.Decode(assemble(t, "m", "func.func @f() {\n  \"k\"() {value = [1.0, 2.0]} : () -> ()\n  tfrt.return\n}\n", false), bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, "cccccccc02000000000000000000f03f0000000000000040", fmt.Sprintf("%x", f.Attrs.Data))
	assert.EqualValues(t, 4, f.Func("f").Kernels[0].Attrs[0].Offset)
}
