package bef_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/bef"
)

// unhex reads hex digits; blanks and bars are for the eye.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \n\t|", r) {
			return -1
		}
		return r
	}, s))
	require.NoError(t, err)
	return b
}

const add7Hex = `
0b ef 00 00 5c 61 64 64 37 00 69 33 32 00 74 66
72 74 2e 61 64 64 2e 69 33 32 00 74 66 72 74 2e
63 6f 6e 73 74 61 6e 74 2e 69 33 32 00 76 61 6c
75 65 00 01 09 04 cc cc 07 00 00 00 02 06 02 16
09 03 04 01 05 04 10 01 00 00 00 01 00 01 00 05
82 21 04 cc 00 03 01 01 01 03 00 00 00 30 00 01
58 02 00 02 ab ab ab ab cd cd cd cd 00 00 00 00
00 00 00 00 00 00 00 00 02 00 00 00 01 00 00 00
01 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00
02 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00
01 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00
00 00 00 00 01 00 00 00 02 00 00 00 01 00 00 00
08 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00
01 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00
02 00 00 00 06 0c 61 2e 68 6c 6f 00 07 18 01 00
01 01 01 00 02 03 01 00 03 03 08 06 01 00 08 09
06 01 03 28 0a 0a 01 03 00 00 00`

// add7 adds 7 to its argument; the constant is in a stream of its own.
func add7(t testing.TB) *bef.File {
	t.Helper()
	b := bef.NewBuilder()
	i32 := b.Type("i32")
	fn := b.Function("add7", bef.Async, []bef.TypeID{i32}, []bef.TypeID{i32})
	fn.SetLocation(bef.At("a.hlo", 1, 1))
	c := fn.Kernel(bef.KernelSpec{Name: "tfrt.constant.i32", Stream: 1, Results: []bef.TypeID{i32},
		Attrs: []bef.NamedValue{{Name: "value", Value: bef.Int32(7)}}, Loc: bef.At("a.hlo", 2, 3)})
	y := fn.Kernel(bef.KernelSpec{Name: "tfrt.add.i32", Args: []bef.RegID{fn.Arg(0), c[0]}, Results: []bef.TypeID{i32},
		Loc: bef.At("a.hlo", 3, 3)})
	fn.Return(y...)
	f, err := b.File()
	require.NoError(t, err)
	return f
}

func marshal(t testing.TB, f *bef.File, o bef.EncodeOptions) []byte {
	t.Helper()
	b, err := bef.Marshal(f, o)
	require.NoError(t, err)
	return b
}

func TestWholeFile(t *testing.T) {
	want := unhex(t, add7Hex)
	require.Len(t, want, 267)
	assert.Equal(t, hex.Dump(want), hex.Dump(marshal(t, add7(t), bef.EncodeOptions{})))
	assert.Len(t, marshal(t, add7(t), bef.EncodeOptions{NoOptionalSections: true}), 242)

	f, err := bef.Decode(want, bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.True(t, f.Typed)
	assert.Equal(t, hex.Dump(want), hex.Dump(marshal(t, f, bef.EncodeOptions{})))
	fn := f.Func("add7")
	require.NotNil(t, fn)
	require.Len(t, fn.Kernels, 2)
	assert.Equal(t, []bef.KernelIndex{0}, fn.TriggerUsers)
	assert.Equal(t, [][]bef.KernelIndex{{1}}, fn.ArgUsers)
	constant := fn.Kernels[0]
	assert.Equal(t, bef.Attr{Name: "value", Offset: 0, Type: bef.I32}, constant.Attrs[0])
	v, err := f.Attrs.Int32(constant.Attrs[0].Offset)
	require.NoError(t, err)
	assert.EqualValues(t, 7, v)
	assert.Equal(t, "a.hlo:2:3", f.Locations.At(constant.Loc).String())
	assert.Equal(t, "a.hlo:1:1", f.Locations.At(fn.Loc).String())
}

func TestEmptyFile(t *testing.T) {
	f, err := bef.NewBuilder().File()
	require.NoError(t, err)
	want := unhex(t, "0b ef 00 | 00 00 | 01 00 | 02 02 00 | 03 02 00 | 04 02 00 | 05 00 | 08 02 00 | 09 02 00 | 0a 02 00")
	assert.Equal(t, hex.Dump(want), hex.Dump(marshal(t, f, bef.EncodeOptions{})))
	back, err := bef.Decode(want, bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, want, marshal(t, back, bef.EncodeOptions{}))
}

// A value used by kernels 3 3 4 5 6 7 lists them backwards; the trigger does not.
func TestUserOrder(t *testing.T) {
	b := bef.NewBuilder()
	i32 := b.Type("i32")
	fn := b.Function("f", bef.Async, nil, nil)
	one := func() bef.RegID {
		return fn.Kernel(bef.KernelSpec{Name: "one", Results: []bef.TypeID{i32}})[0]
	}
	x, y := one(), one()
	for range 5 {
		args := []bef.RegID{x, y}
		if len(fn.Kernel(bef.KernelSpec{Name: "use", Args: args, Results: []bef.TypeID{i32}})) == 0 {
			t.Fatal("no result")
		}
		y = x
	}
	fn.Return()
	f, err := b.File()
	require.NoError(t, err)
	got := f.Functions[0]
	assert.Equal(t, []bef.KernelIndex{0, 1}, got.TriggerUsers)
	assert.Equal(t, []bef.KernelIndex{6, 6, 5, 5, 4, 4, 3, 3, 2}, got.Kernels[0].Users[0])
	assert.Equal(t, []bef.KernelIndex{2}, got.Kernels[1].Users[0])
}

func TestMarshalRefuses(t *testing.T) {
	for name, breakIt := range map[string]func(*bef.File){
		"code":       func(f *bef.File) { f.Functions[0].Kernels[0].Code = 9 },
		"argument":   func(f *bef.File) { f.Functions[0].Kernels[1].Args[0] = 9 },
		"users":      func(f *bef.File) { f.Functions[0].Kernels[0].Users[0] = nil },
		"uses":       func(f *bef.File) { f.Functions[0].Registers[2].Uses = 7 },
		"trigger":    func(f *bef.File) { f.Functions[0].TriggerUsers = nil },
		"result":     func(f *bef.File) { f.Functions[0].ResultRegs[0] = 9 },
		"type":       func(f *bef.File) { f.Functions[0].Registers[0].Type = 9 },
		"NUL":        func(f *bef.File) { f.Kernels[0] = "a\x00b" },
		"attribute":  func(f *bef.File) { f.Functions[0].Kernels[0].Attrs[0].Offset = 4 },
		"twice":      func(f *bef.File) { f.Functions[0].Kernels[1].Results[0] = 1 },
		"two names":  func(f *bef.File) { f.Functions = append(f.Functions, bef.Function{Name: "add7", Kind: bef.Native}) },
		"sync order": func(f *bef.File) { fn := &f.Functions[0]; fn.Kind = bef.Sync; fn.ResultRegs[0] = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			f := add7(t)
			breakIt(f)
			var buf bytes.Buffer
			err := bef.Encode(&buf, f, bef.EncodeOptions{})
			var fe *bef.FormatError
			require.ErrorAs(t, err, &fe)
			assert.Zero(t, buf.Len())
		})
	}
}

func TestExtensions(t *testing.T) {
	f := add7(t)
	producer := bef.Producer{Tool: "halo", Version: "1", Module: "m", Layout: "G2"}
	refs := []bef.KernelRef{{Func: 0, Kernel: 1}}
	f.Extensions = []bef.Section{producer.Section(), bef.NonStrictSection(refs),
		{ID: 0x90, Align: 64, Data: []byte("aligned")}}

	assert.Equal(t, unhex(t, add7Hex), marshal(t, f, bef.EncodeOptions{}), "extensions are written only on demand")
	b := marshal(t, f, bef.EncodeOptions{Extensions: true})
	g, err := bef.Decode(b, bef.DecodeOptions{})
	require.NoError(t, err)
	assert.Equal(t, b, marshal(t, g, bef.EncodeOptions{Extensions: true}))
	gotProducer, ok := g.Producer()
	assert.True(t, ok)
	assert.Equal(t, producer, gotProducer)
	gotRefs, err := g.NonStrict()
	require.NoError(t, err)
	assert.Equal(t, refs, gotRefs)
	assert.Equal(t, []byte("aligned"), g.Extension(0x90))

	for _, bad := range []string{"02 00 02 00 01", "01 00 00", "01 00 03", "01 01 01", "01 00"} {
		g.Extensions = []bef.Section{{ID: bef.KernelFlagsSection, Data: unhex(t, bad)}}
		_, err := g.NonStrict()
		assert.Error(t, err, bad)
	}
}
