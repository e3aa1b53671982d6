package bef_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/bef"
)

// zoo is a file with one of everything.
func zoo(t testing.TB) *bef.File {
	t.Helper()
	b := bef.NewBuilder()
	i32, ch := b.Type("i32"), b.Type("!tfrt.chain")
	region := b.Function("", bef.Async, []bef.TypeID{i32, ch}, []bef.TypeID{ch, i32, i32})
	region.SetLocation(bef.Location{Kind: bef.UnknownLocation})
	region.Return(1, 0, 0)
	native := b.Function("native_add", bef.Native, []bef.TypeID{i32, i32}, []bef.TypeID{i32})
	sync := b.Function("s", bef.Sync, []bef.TypeID{i32}, []bef.TypeID{i32})
	sync.Return(sync.Kernel(bef.KernelSpec{Name: "add_s", Args: []bef.RegID{0, 0}, Results: []bef.TypeID{i32}})...)
	f := b.Function("main", bef.Async, []bef.TypeID{i32}, []bef.TypeID{i32, i32})
	f.SetLocation(bef.Location{Kind: bef.FusedLocation, Parts: []bef.Location{bef.Named("a"), bef.At("f.mlir", 300, 2)}})
	x := f.Kernel(bef.KernelSpec{Name: "const", Results: []bef.TypeID{i32, ch}, Stream: 3, Loc: bef.Location{Kind: bef.UnknownLocation},
		Attrs: []bef.NamedValue{{Name: "z", Value: bef.List(bef.Int32(1), bef.Strings("a", "b"))}, {Name: "a", Value: bef.Shape(2, -1)},
			{Name: "d", Value: bef.Dense(bef.I1, []int64{2}, []byte{1, 0})}, {Name: "e", Value: bef.Int64s(1, 2)}}})
	y := f.Kernel(bef.KernelSpec{Name: "call", Args: []bef.RegID{x[0], x[1], 0, x[0]}, Funcs: []bef.FuncID{native.ID(), region.ID(), sync.ID()},
		Results: []bef.TypeID{i32}, NonStrict: true,
		Loc: bef.Location{Kind: bef.CallSiteLocation, Parts: []bef.Location{bef.Named("callee"), bef.At("g.mlir", 1, 1)}}})
	f.Kernel(bef.KernelSpec{Name: "sink", Args: y})
	f.Return(y[0], y[0])
	file, err := b.File()
	require.NoError(t, err)
	return file
}

var all = bef.EncodeOptions{Extensions: true}

func seeds(t testing.TB) [][]byte {
	return [][]byte{unhex(t, add7Hex), marshal(t, zoo(t), all), marshal(t, zoo(t), bef.EncodeOptions{NoOptionalSections: true}),
		unhex(t, "0bef00 0000 0100 020200 030200 040200 0500 080200 090200 0a0200")}
}

// Encode and Decode are inverse on what Encode makes.
func TestRoundTrip(t *testing.T) {
	for i, b := range seeds(t) {
		f, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
		require.NoError(t, err, i)
		assert.Equal(t, b, marshal(t, f, all), i)
	}
	f := zoo(t)
	b := marshal(t, f, all)
	g, err := bef.Decode(b, bef.DecodeOptions{})
	require.NoError(t, err)
	assert.Equal(t, f.Functions[3].Kernels, g.Functions[3].Kernels)
	assert.Equal(t, f.Attrs.Types, g.Attrs.Types)
	assert.Equal(t, marshal(t, f, bef.EncodeOptions{NoOptionalSections: true}), marshal(t, g, bef.EncodeOptions{NoOptionalSections: true}),
		"the pool's alignment is known although the section does not say it")
	refs, err := g.NonStrict()
	require.NoError(t, err)
	assert.Equal(t, []bef.KernelRef{{Func: 3, Kernel: 1}}, refs)
	main := g.Func("main")
	assert.Equal(t, `fused["a", f.mlir:300:2]`, g.Locations.At(main.Loc).String())
	assert.Equal(t, `"callee"<-g.mlir:1:1`, g.Locations.At(main.Kernels[1].Loc).String())
	assert.Equal(t, "callee", g.Locations.At(main.Kernels[1].Loc).DebugInfo())
	assert.Zero(t, g.Locations.At(main.Kernels[2].Loc))
	assert.Equal(t, []string{"a", "d", "e", "z"}, []string{main.Kernels[0].Attrs[0].Name, main.Kernels[0].Attrs[1].Name, main.Kernels[0].Attrs[2].Name, main.Kernels[0].Attrs[3].Name})
}

// Any change of one byte gives an error or a file that can be written again.
func TestEveryCorruption(t *testing.T) {
	for n, b := range seeds(t) {
		bad := bytes.Clone(b)
		accepted := 0
		for i := range bad {
			for v := range 256 {
				if n > 0 && bits.OnesCount8(byte(v)^b[i]) != 1 && !testing.Verbose() {
					continue // all values of the first file, flipped bits of the others
				}
				bad[i] = byte(v)
				if tryDecode(t, bad) {
					accepted++
				}
			}
			bad[i] = b[i]
		}
		for n := range b {
			tryDecode(t, b[:n])
		}
		t.Logf("%d changed files are files", accepted)
	}
}

// tryDecode decodes and, if that works, uses all of the file.
func tryDecode(t testing.TB, b []byte) bool {
	f, err := bef.Decode(b, bef.DecodeOptions{})
	if err != nil {
		var fe *bef.FormatError
		require.ErrorAs(t, err, &fe)
		_ = err.Error()
		_, strict := bef.Decode(b, bef.DecodeOptions{Strict: true})
		require.Error(t, strict)
		return false
	}
	for i := range f.Functions {
		fn := &f.Functions[i]
		f.Locations.At(fn.Loc)
		for k := range fn.Kernels {
			_ = f.Locations.At(fn.Kernels[k].Loc).String()
			for _, a := range fn.Kernels[k].Attrs {
				f.Attrs.Value(a)
			}
		}
	}
	f.NonStrict()
	again, err := bef.Marshal(f, all)
	require.NoError(t, err)
	g, err := bef.Decode(again, bef.DecodeOptions{})
	require.NoError(t, err)
	third, err := bef.Marshal(g, all)
	require.NoError(t, err)
	require.Equal(t, again, third, "what was written once is written the same again")
	require.NoError(t, bef.Disassemble(&bytes.Buffer{}, f))
	return true
}

func FuzzDecode(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tryDecode(t, b)
		for _, g := range []bef.Generation{bef.G1, bef.G1NoStream, bef.G1First} {
			bef.Decode(b, bef.DecodeOptions{Generation: g})
		}
	})
}

// What each rule of validation says.
func TestDecodeErrors(t *testing.T) {
	base := unhex(t, add7Hex)
	put := func(at int, v ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[at:], v); return b }
	}
	for _, c := range []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"empty", func(b []byte) []byte { return nil }, "magic"},
		{"magic", put(0, 0), "magic"},
		{"version", put(2, 1), "Unknown BEF format version detected"},
		{"length runs off", func(b []byte) []byte { return append(b, 0x90, 0x80) }, "integer runs off the end"},
		{"length too long", func(b []byte) []byte {
			return append(b, 0x90, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0)
		}, "integer"},
		{"section too long", put(4, 0x82, 0x82), "BEF file section header corrupted"},
		{"section alignment", put(0x35, 3), "not a power of two"},
		{"kernel count", put(0x3e, 9), "kernel count 9"},
		{"kernel name", put(0x3f, 0x7f), "not in the strings"},
		{"trailing data", put(0x3e, 1), "unexpected data in BEF section"},
		{"type name", put(0x44, 0x2e), "not in the strings"},
		{"unterminated strings", put(0x32, 'x'), "no end"},
		{"function kind", put(0x48, 3), "unknown kind"},
		{"function offset", func(b []byte) []byte { b[0x50] = 0; return b[:0x51] }, "outside of the functions section"},
		{"argument type", put(0x4c, 1), "type 1 of 1"},
		{"registers", put(0x55, 0x7f), "use count"},
		{"uses", put(0x56, 2), "uses"},
		{"no kernels", put(0x59, 0), "without an entry record"},
		{"entry offset", put(0x5a, 4), "entry record is not the first"},
		{"odd kernel offset", put(0x5d, 0x31), "not a multiple of 4"},
		{"decreasing offsets", put(0x60, 0x30), "do not increase"},
		{"operand count", put(0x61, 1), "2 arguments, the table says 1"},
		{"result register", put(0x63, 9), "returned register 9 of 3"},
		{"entry code", put(0x64, 0), "not the entry"},
		{"entry results", put(0x78, 1), "results for 1 arguments"},
		{"trigger register", put(0x84, 2), "trigger"},
		{"argument register", put(0x88, 1), "argument 0 is in register 1"},
		{"trigger user", put(0x8c, 2), "triggered wrongly"},
		{"entry as user", put(0x90, 0), "entry record uses a value"},
		{"user out of range", put(0x90, 9), "users of register 0"},
		{"argument count", put(0x9c, 0xff, 0xff, 0xff, 0xff), "needs"},
		{"used-by count", put(0xac, 0xff, 0xff, 0xff, 0xff), "needs"},
		{"attribute offset", put(0xb0, 4), "outside of the pool"},
		{"kernel code", put(0xbc, 2), "kernel code 2 of 2"},
		{"written twice", put(0xe0, 1), "written twice"},
		{"argument", put(0xdc, 3), "argument register 3 of 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := bef.Decode(c.edit(bytes.Clone(base)), bef.DecodeOptions{})
			require.ErrorContains(t, err, c.want)
		})
	}
	for _, at := range []int{0x03, 0x3c, 0x41, 0x45, 0x4f} {
		_, err := bef.Decode(put(at, 0x70)(bytes.Clone(base)), bef.DecodeOptions{})
		require.ErrorContains(t, err, "missing")
	}
	twice := append(bytes.Clone(base), 2, 2, 0)
	_, err := bef.Decode(twice, bef.DecodeOptions{Strict: true})
	require.ErrorContains(t, err, "repeated")
	_, err = bef.Decode(base, bef.DecodeOptions{MaxBytes: 100})
	require.ErrorContains(t, err, "at most 100")
}

func TestOptionalSectionsAreIgnoredWhenWrong(t *testing.T) {
	b := unhex(t, add7Hex)
	b[0xfe] = 24 // an attribute type that there is not
	var warnings []error
	f, err := bef.Decode(b, bef.DecodeOptions{Warn: func(err error) { warnings = append(warnings, err) }})
	require.NoError(t, err)
	assert.False(t, f.Typed)
	assert.Len(t, warnings, 1)
	assert.Equal(t, "value", f.Functions[0].Kernels[0].Attrs[0].Name, "the others still count")

	f, err = bef.Decode(marshal(t, add7(t), bef.EncodeOptions{NoOptionalSections: true}), bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.False(t, f.Typed)
	assert.Equal(t, bef.NoType, f.Functions[0].Registers[0].Type)
	assert.Equal(t, bef.Attr{}, f.Functions[0].Kernels[0].Attrs[0])
}

// A cycle can only be had in bytes: a kernel that waits for itself never runs.
func TestCycle(t *testing.T) {
	f := add7(t)
	k := &f.Functions[0].Kernels[1]
	k.Args[1] = k.Results[0]
	k.Users[0] = []bef.KernelIndex{1}
	f.Functions[0].Kernels[0].Users[0] = nil
	f.Functions[0].Registers[1].Uses = 0
	f.Functions[0].Registers[2].Uses = 2
	require.ErrorContains(t, bef.Check(f), "only 1 of 2 kernels can ever run")
}

func TestUnalignedInput(t *testing.T) {
	data := make([]byte, 64)
	b := bef.NewBuilder()
	fn := b.Function("f", bef.Async, nil, nil)
	fn.Kernel(bef.KernelSpec{Name: "k", Attrs: []bef.NamedValue{{Name: "v", Value: bef.Dense(bef.F64, []int64{8}, data)}}})
	fn.Return()
	f, err := b.File()
	require.NoError(t, err)
	enc := marshal(t, f, bef.EncodeOptions{})
	for shift := range 8 {
		buf := append(make([]byte, shift), enc...)
		f, err := bef.Decode(buf[shift:], bef.DecodeOptions{})
		require.NoError(t, err)
		d, err := f.Attrs.Dense(f.Functions[0].Kernels[0].Attrs[0].Offset)
		require.NoError(t, err)
		v, ok := bef.View[float64](d.Data)
		assert.True(t, ok)
		assert.Len(t, v, 8)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zoo.bef")
	require.NoError(t, os.WriteFile(path, marshal(t, zoo(t), all), 0o644))
	m, err := bef.Open(path, bef.DecodeOptions{})
	require.NoError(t, err)
	assert.Equal(t, marshal(t, zoo(t), all), marshal(t, m.File, all))
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	_, err = bef.Open(filepath.Join(t.TempDir(), "none"), bef.DecodeOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, err = bef.Open(path, bef.DecodeOptions{})
	var fe *bef.FormatError
	require.ErrorAs(t, err, &fe)
}

// A file of generation G1 by hand: seven header words, a table with streams,
// positions, and a string whose length is written before it, backwards.
func TestLegacy(t *testing.T) {
	u32 := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return
	}
	section := func(id byte, body []byte) []byte {
		n := len(body) << 1
		return append([]byte{id, byte(n>>7) | 0x80, byte(n & 0x7F)}, body...)
	}
	records := append(u32(0xABABABAB, 0xCDCDCDCD, 0, 0, 0, 1, 0 /* special */, 1, 0, 1), u32(0, 3, 0, 1, 0, 0, 1 /* non-strict */, 4)...)
	b := []byte{0x0B, 0xEF, 0}
	b = append(b, section(0, []byte("a.mlir\x00"))...)
	b = append(b, section(1, []byte{0, 1, 1, 0, 5, 3})...)
	b = append(b, section(2, []byte("f\x00k\x00"))...)
	b = append(b, section(3, []byte{0xCC, 0xCC, 0xCC, 2, 'h', 'i'})...)
	b = append(b, section(4, []byte{1, 2})...)
	b = append(b, section(5, []byte{0})...)
	b = append(b, section(6, []byte{1, 0, 0, 0, 0, 0})...)
	head := append([]byte{0, 0, 2, 0, 0, 0, 40, 0, 7}, 0xCC, 0xCC, 0xCC)
	b = append(b, section(7, append(head, records...))...)
	f, err := bef.Decode(b, bef.DecodeOptions{Generation: bef.G1})
	require.NoError(t, err)
	k := f.Functions[0].Kernels[0]
	assert.EqualValues(t, 7, k.Stream)
	assert.Equal(t, "a.mlir:5:3", f.Locations.At(k.Loc).String())
	text, err := f.Attrs.Text(4)
	require.NoError(t, err)
	assert.Equal(t, "hi", string(text))
	refs, err := f.NonStrict()
	require.NoError(t, err)
	assert.Equal(t, []bef.KernelRef{{}}, refs)
	_, err = bef.Marshal(f, bef.EncodeOptions{})
	assert.Error(t, err)
	_, err = bef.Decode(b, bef.DecodeOptions{})
	assert.Error(t, err, "the version byte does not tell, the content does")
}

// large is a program of many functions of many kernels.
func large(t testing.TB, functions, kernels int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := bef.NewBuilder()
	i32 := b.Type("i32")
	for n := range functions {
		fn := b.Function(fmt.Sprint("f", n), bef.Async, []bef.TypeID{i32, i32}, []bef.TypeID{i32})
		last := fn.Arg(1)
		for k := range kernels {
			last = fn.Kernel(bef.KernelSpec{Name: "tfrt.add.i32", Args: []bef.RegID{last, bef.RegID(r.IntN(k + 2))}, Results: []bef.TypeID{i32},
				Attrs: []bef.NamedValue{{Name: "value", Value: bef.Int32(int32(r.IntN(100)))}}, Loc: bef.At("a.mlir", k+1, 3)})[0]
		}
		fn.Return(last)
	}
	f, err := b.File()
	require.NoError(t, err)
	return marshal(t, f, bef.EncodeOptions{})
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range [][2]int{{1000, 10}, {100, 1000}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			data := large(b, size[0], size[1])
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bef.Decode(data, bef.DecodeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	f, err := bef.Decode(large(b, 100, 1000), bef.DecodeOptions{})
	require.NoError(b, err)
	data := marshal(b, f, bef.EncodeOptions{})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bef.Marshal(f, bef.EncodeOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
