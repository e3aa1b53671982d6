package bef_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/bef"
)

// What a strict reader refuses and another accepts.
func TestStrict(t *testing.T) {
	base := unhex(t, add7Hex)
	for name, edit := range map[string]func([]byte) []byte{
		"padding of a section":  func(b []byte) []byte { b[0x36] = 0; return b },
		"redundant leading 80":  func(b []byte) []byte { return append(b[:0xfa:0xfa], append([]byte{8, 0x80, 6}, b[0xfc:]...)...) },
		"location tag":          func(b []byte) []byte { b[0xee] = 9; return b },
		"location string":       func(b []byte) []byte { b[0xef] = 60; return b },
		"alignment above eight": func(b []byte) []byte { return append(b, 0x90, 1, 16, 0xcc, 0xcc) },
	} {
		b := edit(bytes.Clone(base))
		if name == "alignment above eight" {
			for len(b)%16 != 0 {
				b = append(b, 0xcc)
			}
		}
		_, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
		assert.Error(t, err, name)
		f, err := bef.Decode(b, bef.DecodeOptions{})
		require.NoError(t, err, name)
		_ = f.Locations.At(f.Functions[0].Loc).String()
	}
}

// Lookups of locations are bounded however records nest.
func TestHostileLocations(t *testing.T) {
	deep := bytes.Repeat([]byte{4, 1}, 1000)
	wide := append([]byte{4, 0xBF, 0x40}, make([]byte, 8192)...)
	for _, records := range [][]byte{deep, wide, {3}, {1, 0}, {2, 5}, {4, 0x7F}, bytes.Repeat([]byte{3}, 1000)} {
		l := bef.Locations{Records: records}
		assert.Zero(t, l.At(0), "%d bytes", len(records))
		assert.Zero(t, l.At(1<<30))
	}
	l := bef.Locations{Records: []byte{4, 2, 0, 0}}
	assert.Equal(t, "fused[unknown, unknown]", l.At(0).String())
}

// Many names that all point into one long string are no quadratic work, and
// lists of lists that share their tails none that is exponential.
func TestHostileSharing(t *testing.T) {
	long := append(bytes.Repeat([]byte{'a'}, 1<<17), 0)
	section := func(id byte, body []byte) []byte {
		n := len(body) << 1
		return append([]byte{id, byte(n>>21) | 0x80, byte(n>>14) | 0x80, byte(n>>7) | 0x80, byte(n & 0x7F)}, body...)
	}
	n := 1 << 17
	kernels := []byte{byte(n>>14) | 0x80, byte(n>>7) | 0x80, byte(n & 0x7F)}
	for i := range n {
		kernels = append(kernels, byte(i>>14)|0x80, byte(i>>7)|0x80, byte(i&0x7F))
	}
	b := []byte{0x0B, 0xEF, 0}
	b = append(b, section(0, long)...)
	b = append(b, section(2, kernels)...)
	b = append(b, section(3, []byte{0})...)
	b = append(b, section(4, []byte{0})...)
	b = append(b, section(5, nil)...)
	f, err := bef.Decode(b, bef.DecodeOptions{})
	require.NoError(t, err)
	assert.Len(t, f.Kernels, n)

	// Each list of two points at the next one twice, one byte apart.
	var pool []byte
	const lists = 40
	for i := range lists {
		at := uint32(0x14)
		left := uint32(lists-i)*0x18 + 0x20
		pool = append(pool, 8, 0, 0x14, 0, byte(left), byte(left>>8), 0, 0, 2, 0, 0, 0, byte(at+4), 0, 0, 0, byte(at+4), 0, 0, 0, 0xcc, 0xcc, 0xcc, 30)
	}
	pool = append(pool, make([]byte, 64)...)
	p := bef.Pool{Data: pool}
	_, err = p.Value(bef.Attr{Type: bef.AggregateType})
	assert.Error(t, err)
}

// Random programs survive bytes, with and without what is optional.
func TestRandomFiles(t *testing.T) {
	for seed := range uint64(200) {
		f := randomFile(t, rand.New(rand.NewPCG(seed, 7)))
		for _, o := range []bef.EncodeOptions{{}, {Extensions: true}, {NoOptionalSections: true}} {
			b := marshal(t, f, o)
			g, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
			require.NoError(t, err)
			require.Equal(t, b, marshal(t, g, o), "seed %d", seed)
			if !o.NoOptionalSections {
				require.Equal(t, fmt.Sprintf("%+v", f.Functions), fmt.Sprintf("%+v", g.Functions), "seed %d", seed)
				require.Equal(t, fmt.Sprintf("%+v", f.Attrs), fmt.Sprintf("%+v", g.Attrs), "seed %d", seed)
			}
		}
	}
}

func randomFile(t *testing.T, r *rand.Rand) *bef.File {
	b := bef.NewBuilder()
	var types []bef.TypeID
	for i := range 1 + r.IntN(4) {
		types = append(types, b.Type(fmt.Sprint("t", i)))
	}
	some := func(most int) (list []bef.TypeID) {
		for range r.IntN(most) {
			list = append(list, types[r.IntN(len(types))])
		}
		return
	}
	for i := range r.IntN(6) {
		name := fmt.Sprint("f", i)
		if r.IntN(3) == 0 {
			name = ""
		}
		if r.IntN(5) == 0 {
			b.Function(name, bef.Native, some(4), some(3))
			continue
		}
		args, results := some(4), some(3)
		var regs, want int
		fn := b.Function(name, bef.Async, args, results)
		regs, want = len(args), len(results)
		fn.SetLocation(randomLocation(r, 3))
		for k := range r.IntN(12) {
			spec := bef.KernelSpec{Name: fmt.Sprint("k", r.IntN(5)), Results: some(4), Stream: uint32(r.IntN(300)), NonStrict: r.IntN(9) == 0, Loc: randomLocation(r, 3)}
			for range r.IntN(4) {
				if regs > 0 {
					spec.Args = append(spec.Args, bef.RegID(r.IntN(regs)))
				}
			}
			for a := range r.IntN(3) {
				spec.Attrs = append(spec.Attrs, bef.NamedValue{Name: fmt.Sprint("a", k%3, a), Value: randomValue(r, 4)})
			}
			for range r.IntN(2) {
				spec.Funcs = append(spec.Funcs, bef.FuncID(r.IntN(i+1)))
			}
			regs += len(fn.Kernel(spec))
		}
		if regs == 0 && want > 0 {
			regs += len(fn.Kernel(bef.KernelSpec{Name: "k", Results: types[:1]}))
		}
		var ret []bef.RegID
		for range want {
			ret = append(ret, bef.RegID(r.IntN(regs)))
		}
		fn.Return(ret...)
	}
	f, err := b.File()
	require.NoError(t, err)
	return f
}

func randomLocation(r *rand.Rand, depth int) bef.Location {
	switch kind := bef.LocationKind(r.IntN(6)); {
	case kind == bef.FileLocation:
		return bef.At(fmt.Sprint("f", r.IntN(3)), r.IntN(1000), r.IntN(300))
	case kind == bef.NamedLocation:
		l := bef.Named(fmt.Sprint("n", r.IntN(3)))
		l.Parts = []bef.Location{{Kind: bef.UnknownLocation}}
		return l
	case kind > bef.NamedLocation && depth > 0:
		l := bef.Location{Kind: kind}
		for range 2 {
			part := randomLocation(r, depth-1)
			if part.Kind == bef.NoLocation {
				part.Kind = bef.UnknownLocation
			}
			l.Parts = append(l.Parts, part)
		}
		return l
	case kind == bef.NoLocation:
		return bef.Location{}
	}
	return bef.Location{Kind: bef.UnknownLocation}
}

func randomValue(r *rand.Rand, depth int) bef.Value {
	scalars := []bef.AttrType{bef.UI8, bef.I1, bef.I8, bef.I16, bef.I32, bef.I64, bef.F32, bef.F64, bef.C64, bef.C128, bef.BF16, bef.TypeType, bef.QI32, bef.F8E5M2}
	elem := scalars[r.IntN(len(scalars))]
	data := func(n int) []byte { return bytes.Repeat([]byte{1}, n*elem.Size()) }
	switch r.IntN(8) {
	case 0:
		return bef.String("text"[:r.IntN(5)])
	case 1:
		return bef.Array(elem, data(r.IntN(4)))
	case 2:
		return bef.Shape(2, int64(r.IntN(3))-1)
	case 3:
		return bef.UnrankedShape()
	case 4:
		n := r.IntN(5)
		return bef.Dense(elem, []int64{int64(n)}, data(n))
	case 5:
		if depth == 0 {
			break
		}
		var list []bef.Value
		for range r.IntN(4) {
			list = append(list, randomValue(r, depth-1))
		}
		return bef.List(list...)
	case 6:
		return bef.SymbolRef(bef.Symbol{ID: uint64(r.IntN(300)), Root: "root", Nested: []string{"n"}[:r.IntN(2)], Text: "text"})
	}
	return bef.Value{Type: elem, Data: data(1)}
}
