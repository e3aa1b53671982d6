package bef_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
)

// vbr is an integer as the format writes it.
func vbr(v uint64) []byte {
	b := []byte{byte(v & 0x7F)}
	for v >>= 7; v > 0; v >>= 7 {
		b = append([]byte{byte(v) | 0x80}, b...)
	}
	return b
}

// parts are the sections of a file with one function, for tests to spoil one at a time: f(x) = k(x), with kernels "k", type "t".
type parts struct {
	strings, attrs, kernels, types, index []byte
	location, uses, table, results        []byte
	words                                 []uint32
	rest                                  []byte // sections after
}

// one is that function: registers 0 = x and 1 = k(x).
func one() *parts {
	return &parts{
		strings: []byte("f\x00k\x00t\x00"),
		kernels: []byte{1, 2}, types: []byte{1, 4},
		index:    []byte{1, 0, 0, 0, 1, 0, 1, 0},
		location: []byte{0}, uses: []byte{2, 1, 1}, table: []byte{2, 0, 0, 0, 44, 1, 0}, results: []byte{1},
		words: []uint32{
			0xABABABAB, 0xCDCDCDCD, 0, 0, 0, 2, 0, 1, 2, 0, 1, // the entry: trigger without users, x used by kernel 1
			0, 0xFFFFFFFE, 1, 0, 0, 1, 0, 0, 1, // k
		},
	}
}

func section(id byte, body []byte) []byte {
	return append(append([]byte{id}, vbr(uint64(len(body))<<1)...), body...)
}

func (p *parts) body() []byte {
	b := bytes.Join([][]byte{p.location, p.uses, p.table, p.results}, nil)
	for len(b)%4 != 0 {
		b = append(b, 0xCC)
	}
	for _, w := range p.words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func (p *parts) file() []byte {
	b := []byte{0x0B, 0xEF, 0}
	b = append(b, section(0, p.strings)...)
	if p.attrs != nil {
		b = append(b, section(1, p.attrs)...)
	}
	b = append(b, section(2, p.kernels)...)
	b = append(b, section(3, p.types)...)
	b = append(b, section(4, p.index)...)
	b = append(b, section(5, p.body())...)
	return append(b, p.rest...)
}

// TestRules breaks every rule of validation once at least, and expects to be told. Rules about what is accepted all the same, and those that need
// more than bytes, are in the tests after this one.
func TestRules(t *testing.T) {
	_, err := bef.Decode(one().file(), bef.DecodeOptions{Strict: true})
	require.NoError(t, err)
	seen := make(map[string]bool)
	for _, c := range []struct {
		rule   string
		spoil  func(p *parts) []byte // the file, or nil: that of p
		want   string
		strict bool
	}{
		{rule: "V01", spoil: func(p *parts) []byte { return []byte{0x0B} }, want: "magic"},
		{rule: "V01", spoil: func(p *parts) []byte { return []byte{0x0B, 0xEE, 0} }, want: "magic"},
		{rule: "V01", spoil: func(p *parts) []byte { return []byte{0x0B, 0xEF, 1} }, want: "Unknown BEF format version detected"},
		{rule: "V02", spoil: func(p *parts) []byte { return append(p.file(), 0x90) }, want: "runs off the end"},
		{rule: "V02", spoil: func(p *parts) []byte { return append(p.file(), 0x90, 0x81, 0x80) }, want: "runs off the end"},
		{rule: "V02", spoil: func(p *parts) []byte {
			return append(append(append(p.file(), 0x90), bytes.Repeat([]byte{0x80}, 11)...), 0)
		}, want: "more than 10 bytes"},
		{rule: "V02", spoil: func(p *parts) []byte {
			return append(append(append(p.file(), 0x90, 0x82), bytes.Repeat([]byte{0x80}, 8)...), 0)
		}, want: "overflows 64 bits"},
		{rule: "V03", spoil: func(p *parts) []byte { return append(p.file(), 0x90, 1) }, want: "section alignment: missing byte"},
		{rule: "V03", spoil: func(p *parts) []byte { return append(p.file(), 0x90, 1, 6) }, want: "not a power of two"},
		{rule: "V03", spoil: func(p *parts) []byte { return append(p.file(), 0x90, 1, 0) }, want: "not a power of two"},
		{rule: "V03", spoil: func(p *parts) []byte { return append(p.file(), 0x90, 1, 128) }, want: "padding: missing byte"},
		{rule: "V03", spoil: func(p *parts) []byte {
			return append(append(p.file(), 0x90, 1, 16), bytes.Repeat([]byte{0xCC}, 15-(len(p.file())+2)%16)...)
		}, want: "not a power of two that can be met", strict: true},
		{rule: "V04", spoil: func(p *parts) []byte { return append(p.file(), 0x90, 4, 0) }, want: "BEF file section header corrupted"},
		{rule: "V05", spoil: func(p *parts) []byte { return append(p.file(), section(3, p.types)...) }, want: "repeated", strict: true},
		{rule: "V05", spoil: func(p *parts) []byte { return []byte{0x0B, 0xEF, 0} }, want: "missing"},
		{rule: "V06", spoil: func(p *parts) []byte {
			b := append(p.file(), 0x90, 1, 8)
			for len(b)%8 != 0 || b[len(b)-1] == 8 {
				b = append(b, 0)
			}
			return b
		}, want: "is not cc", strict: true},
		{rule: "V07", spoil: func(p *parts) []byte { p.strings[5] = 'x'; return nil }, want: "last string has no end"},
		{rule: "V07", spoil: func(p *parts) []byte { p.kernels[1] = 6; return nil }, want: "not in the strings"},
		{rule: "V09", spoil: func(p *parts) []byte { p.kernels[0] = 2; return nil }, want: "kernel count 2"},
		{rule: "V09", spoil: func(p *parts) []byte { p.types = append(p.types, 0); return nil }, want: "unexpected data in BEF section"},
		{rule: "V11", spoil: func(p *parts) []byte { p.index[0] = 2; return nil }, want: "function count 2"},
		{rule: "V11", spoil: func(p *parts) []byte { p.index[1] = 3; return nil }, want: "unknown kind 3"},
		{rule: "V11", spoil: func(p *parts) []byte { p.index = []byte{1, 0, 0x90, 0x80, 0x80, 0x80, 0, 0, 0, 0}; return nil }, want: "does not fit in 32 bits"},
		{rule: "V12", spoil: func(p *parts) []byte { p.index[4] = 9; return nil }, want: "argument count 9"},
		{rule: "V12", spoil: func(p *parts) []byte { p.index[6] = 9; return nil }, want: "result count 9"},
		{rule: "V12", spoil: func(p *parts) []byte { p.index[5] = 1; return nil }, want: "type 1 of 1"},
		{rule: "V13", spoil: func(p *parts) []byte { p.index[3] = 6; return nil }, want: "not in the strings"},
		{rule: "V13", spoil: func(p *parts) []byte { p.index = append(append([]byte{2}, p.index[1:]...), 1, 0, 0, 0, 0); return nil }, want: `two functions are named "f"`},
		{rule: "V14", spoil: func(p *parts) []byte { p.index[2] = 100; return nil }, want: "outside of the functions section"},
		{rule: "V14", spoil: func(p *parts) []byte {
			p.index = append(append([]byte{2}, p.index[1:]...), 0, 0, 2, 1, 0, 1, 0)
			return nil
		}, want: "two functions have their body at 0"},
		{rule: "V15", spoil: func(p *parts) []byte { p.location = []byte{0x90, 0x80, 0x80, 0x80, 0}; return nil }, want: "function location 4294967296 does not fit"},
		{rule: "V16", spoil: func(p *parts) []byte { p.uses = vbr(1 << 20); return nil }, want: "register count 1048576"},
		{rule: "V16", spoil: func(p *parts) []byte { p.uses = []byte{2, 1, 2}; return nil }, want: "register 1 has 1 uses, the file says 2"},
		{rule: "V17", spoil: func(p *parts) []byte { p.table = []byte{0}; return nil }, want: "without an entry record"},
		{rule: "V17", spoil: func(p *parts) []byte { p.table = vbr(1 << 20); return nil }, want: "kernel count 1048576"},
		{rule: "V18", spoil: func(p *parts) []byte { p.table[4] = 45; return nil }, want: "not a multiple of 4"},
		{rule: "V18", spoil: func(p *parts) []byte { p.table[4] = 0; return nil }, want: "do not increase"},
		{rule: "V18", spoil: func(p *parts) []byte { p.table[1] = 4; return nil }, want: "entry record is not the first"},
		{rule: "V18", spoil: func(p *parts) []byte { p.table = []byte{2, 0, 0, 0, 0x81, 0, 1, 0}; return nil }, want: "kernel record 1 does not fit"},
		{rule: "V18", spoil: func(p *parts) []byte { p.table[4] = 40; return nil }, want: "kernel record 0 needs"},
		{rule: "V19", spoil: func(p *parts) []byte { p.table = append(p.table[:6:6], vbr(1<<31)...); return nil }, want: "stream id 2147483648 exceeds 31 bits"},
		{rule: "V20", spoil: func(p *parts) []byte { p.results[0] = 2; return nil }, want: "returned register 2 of 2"},
		{rule: "V20", spoil: func(p *parts) []byte { p.words, p.results = nil, nil; return nil }, want: "result"},
		{rule: "V21", spoil: func(p *parts) []byte {
			p.location = []byte{0x81, 0}
			b := p.body()[:13]
			p2 := one()
			file := p2.file()
			file = file[:len(file)-len(p2.body())-3]
			return append(file, section(5, b)...)
		}, want: "padding: missing byte"},
		{rule: "V22", spoil: func(p *parts) []byte { p.words = p.words[:14]; return nil }, want: "kernel record 1 does not fit"},
		{rule: "V22", spoil: func(p *parts) []byte { p.words[13] = 0xFFFFFFFF; return nil }, want: "kernel record 1 needs"},
		{rule: "V22", spoil: func(p *parts) []byte {
			p.words[16], p.words[13], p.words[14], p.words[15] = 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF
			return nil
		}, want: "kernel record 1 needs 21474836481 words"},
		{rule: "V22", spoil: func(p *parts) []byte { p.words[17] = 0xFFFFFFFF; return nil }, want: "kernel record 1 needs"},
		{rule: "V23", spoil: func(p *parts) []byte { p.words[0] = 0; return nil }, want: "not the entry"},
		{rule: "V23", spoil: func(p *parts) []byte { p.words[1] = 0; return nil }, want: "not the entry"},
		{rule: "V23", spoil: func(p *parts) []byte { p.words[5] = 1; return nil }, want: "1 results for 1 arguments"},
		{rule: "V23", spoil: func(p *parts) []byte { p.words[8] = 1; return nil }, want: "trigger's register is 1 of 2"},
		{rule: "V23", spoil: func(p *parts) []byte { p.words[9] = 1; return nil }, want: "argument 0 is in register 1"},
		{rule: "V24", spoil: func(p *parts) []byte { p.words[11] = 1; return nil }, want: "kernel code 1 of 1"},
		{rule: "V24", spoil: func(p *parts) []byte { p.words[18] = 2; return nil }, want: "argument register 2 of 2"},
		{rule: "V24", spoil: func(p *parts) []byte { p.words[19] = 2; return nil }, want: "result register 2 of 2"},
		{rule: "V24", spoil: func(p *parts) []byte { p.words[10] = 2; return nil }, want: "users of register 0"},
		{rule: "V24", spoil: func(p *parts) []byte { p.words[10] = 0; return nil }, want: "entry record uses a value"},
		{rule: "V24", spoil: func(p *parts) []byte { p.words[15] = 1; p.words = append(p.words[:19:19], 1, 1); return nil }, want: "function id 1 of 1"},
		{rule: "V25", spoil: func(p *parts) []byte { p.table[5] = 2; return nil }, want: "1 arguments, the table says 2"},
		{rule: "V26", spoil: func(p *parts) []byte { p.words[14] = 1; p.words = append(p.words[:19:19], 0, 1); return nil }, want: "attribute offset 0 outside of the pool"},
		{rule: "V27", spoil: func(p *parts) []byte { p.words[19] = 0; return nil }, want: "register 0 is written twice"},
		{rule: "V27", spoil: func(p *parts) []byte { p.uses, p.words[8] = []byte{3, 1, 1, 0}, 3; return nil }, want: "register 2 is never written"},
		{rule: "V28", spoil: func(p *parts) []byte {
			p.words[7] = 0
			p.words = append(p.words[:10:10], p.words[11:]...)
			p.table[4] = 40
			return nil
		}, want: ""},
		{rule: "V28", spoil: func(p *parts) []byte { p.words[17] = 1; p.words = append(p.words, 1); return nil }, want: "users of register 1 are not the kernels that read it"},
		{rule: "V29", spoil: func(p *parts) []byte { p.uses[1] = 2; return nil }, want: "register 0 has 1 uses, the file says 2"},
		{rule: "V30", spoil: func(p *parts) []byte {
			p.words[6], p.table[4] = 1, 48
			p.words = append(p.words[:10:10], append([]uint32{1, 1}, p.words[11:]...)...)
			return nil
		}, want: "0 kernels have no operands, 1 are triggered"},
		{rule: "V31", spoil: func(p *parts) []byte {
			p.words[18], p.words[17] = 1, 1
			p.words = append(p.words, 1)
			p.words = append(append(p.words[:7:7], 0, 2, 0), p.words[11:]...)
			p.table[4], p.uses = 40, []byte{2, 0, 2}
			return nil
		}, want: "only 0 of 1 kernels can ever run"},
		{rule: "V32", spoil: func(p *parts) []byte { p.index[1], p.results[0], p.uses = 2, 0, []byte{2, 2, 0}; return nil }, want: "Invalid SyncBEFFunction"},
		{rule: "V32", spoil: func(p *parts) []byte {
			p.index = []byte{1, 2, 0, 0, 1, 0, 2, 0, 0}
			p.results, p.uses = []byte{1, 1}, []byte{2, 1, 2}
			return nil
		}, want: "Invalid SyncBEFFunction"},
		{rule: "V42", spoil: func(p *parts) []byte { return append(p.file(), append(section(6, nil), section(7, []byte{5})...)...) }, want: "tag", strict: true},
		{rule: "V42", spoil: func(p *parts) []byte {
			return append(p.file(), append(section(6, []byte("x")), section(7, []byte{0})...)...)
		}, want: "no end", strict: true},
		{rule: "V42", spoil: func(p *parts) []byte {
			return append(p.file(), append(section(6, nil), section(7, bytes.Repeat([]byte{4, 1}, 100))...)...)
		}, want: "", strict: true},
		{rule: "V43", spoil: func(p *parts) []byte {
			return append(p.file(), append(section(6, []byte("x\x00")), section(7, append([]byte{1, 0}, append(vbr(1<<32), 0)...))...)...)
		}, want: "", strict: true},
	} {
		seen[c.rule] = true
		p := one()
		b := c.spoil(p)
		if b == nil {
			b = p.file()
		}
		_, err := bef.Decode(b, bef.DecodeOptions{Strict: c.strict})
		if assert.Error(t, err, "%s: want %q", c.rule, c.want) {
			assert.ErrorContains(t, err, c.want, c.rule)
			var fe *bef.FormatError
			assert.ErrorAs(t, err, &fe, c.rule)
		}
		if c.strict {
			f, err := bef.Decode(b, bef.DecodeOptions{})
			if assert.NoError(t, err, "%s is a rule of strict readers", c.rule) {
				_ = f.Locations.At(0).String()
			}
		}
	}
	elsewhere := map[string]string{
		"V08": "TestNamesAreShownEscaped", "V10": "TestRulesOfLoading", "V33": "TestRulesOfLoading",
		"V34": "TestPoolReadsHostileBytes", "V35": "TestPoolReadsHostileBytes", "V36": "TestPoolReadsHostileBytes", "V37": "TestPoolReadsHostileBytes",
		"V38": "TestPoolReadsHostileBytes", "V39": "TestPoolReadsHostileBytes", "V40": "TestPoolReadsHostileBytes", "V41": "TestPoolReadsHostileBytes",
		"V44": "TestOptionalSectionsAreIgnoredWhenWrong", "V45": "TestDecodedSizeIsBounded",
	}
	for n := range 45 {
		rule := fmt.Sprintf("V%02d", n+1)
		assert.True(t, seen[rule] || elsewhere[rule] != "", "nothing breaks %s", rule)
	}
}

// V08: a name may be any bytes; what people see is escaped.
func TestNamesAreShownEscaped(t *testing.T) {
	p := one()
	p.strings = []byte("\x1b\x00\xff\x00\n\x00")
	f, err := bef.Decode(p.file(), bef.DecodeOptions{})
	require.NoError(t, err)
	assert.Equal(t, "\xff", f.Kernels[0])
	var b strings.Builder
	require.NoError(t, bef.Disassemble(&b, f))
	for _, r := range strings.ReplaceAll(b.String(), "\n", "") {
		assert.True(t, r >= ' ' && r != 0xFFFD, "%q in %q", r, b.String())
	}
	assert.NotContains(t, b.String(), "\x1b")
	p.results[0] = 9
	_, err = bef.Decode(p.file(), bef.DecodeOptions{})
	require.ErrorContains(t, err, `"\x1b"`)
}

// Rules that need a registry: unknown kernels (V10) and native functions (V13), synchronous functions of kernels that are not (V32), calls of the wrong
// arity (V33).
func TestRulesOfLoading(t *testing.T) {
	load := func(p *parts, register func(*runtime.Registry)) error {
		f, err := bef.Decode(p.file(), bef.DecodeOptions{})
		require.NoError(t, err)
		reg := runtime.NewRegistry()
		register(reg)
		_, err = runtime.Load(f, reg, runtime.LoadOptions{})
		return err
	}
	identity := runtime.Params2(func(x runtime.Argument[int32], y runtime.Result[int32]) error { y.Set(x.Ref()); return nil })
	require.NoError(t, load(one(), func(reg *runtime.Registry) { reg.Kernel("k", identity) }))
	require.ErrorContains(t, load(one(), func(*runtime.Registry) {}), "unknown kernel name 'k'")
	native := one()
	native.index = []byte{1, 1, 0, 0, 1, 0, 1, 0}
	require.ErrorContains(t, load(native, func(reg *runtime.Registry) { reg.Kernel("k", identity) }), "unable to find native function in global registry")
	sync := one()
	sync.index[1] = 2
	require.Error(t, load(sync, func(reg *runtime.Registry) { reg.Kernel("k", identity) }))
	call := one()
	call.words[15] = 1
	call.words = append(call.words[:19:19], 0, 1)
	two := identity
	two.Signature = nil
	two.Check = func(u *runtime.KernelUse) error { return u.Funcs[0].CheckCall(u.NumArgs+1, u.NumResults) }
	require.Error(t, load(call, func(reg *runtime.Registry) { reg.Kernel("k", two) }))
}

// V45: what is decoded takes memory in proportion to the file, however counts and names are chosen.
func TestDecodedSizeIsBounded(t *testing.T) {
	for name, b := range map[string][]byte{
		"many functions": func() []byte {
			p := one()
			p.strings, p.index = []byte("f\x00k\x00t\x00"), vbr(20000)
			for range 20000 {
				p.index = append(p.index, 1, 0, 1, 0, 0) // all of the empty name
			}
			return p.file()
		}(),
		"many registers": func() []byte {
			p := one()
			p.uses = append(vbr(50000), make([]byte, 50000)...)
			return p.file()
		}(),
		"many kernels": func() []byte {
			p := one()
			p.table = append(vbr(30000), make([]byte, 90000)...)
			return p.file()
		}(),
	} {
		limit := 64*len(b) + 1<<20
		got := testing.Benchmark(func(tb *testing.B) {
			tb.ReportAllocs()
			for tb.Loop() {
				_, _ = bef.Decode(b, bef.DecodeOptions{})
			}
		}).AllocedBytesPerOp()
		assert.LessOrEqual(t, got, int64(limit), "%s: %d bytes in the file", name, len(b))
	}
}
