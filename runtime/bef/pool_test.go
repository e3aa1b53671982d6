package bef_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/bef"
)

// One constant alone in a pool: its offset and the bytes of the section.
func TestPoolVectors(t *testing.T) {
	floats := make([]byte, 0)
	for _, v := range []float32{1, 2, 3, 4} {
		floats = append(floats, bef.Float32(v).Data...)
	}
	for _, c := range []struct {
		name   string
		value  bef.Value
		offset uint32
		bytes  string
	}{
		{"f64 array", bef.Array(bef.F64, append(bef.Float64(1).Data, bef.Float64(2).Data...)), 4,
			"cccccccc 02000000 000000000000f03f 0000000000000040"},
		{"shape", bef.Shape(2, -1, 3), 4,
			"cccccccc 08000c00 24000000 03000000 0200000000000000 ffffffffffffffff 0300000000000000"},
		{"unranked shape", bef.UnrankedShape(), 0, "00000000"},
		{"scalar shape", bef.Shape(), 4, "cccccccc 08000c00 0c000000 00000000"},
		{"dense", bef.Dense(bef.F32, []int64{2, 2}, floats), 4,
			"cccccccc 080a2400 34000000 24000000 04000000 02000000 0200000000000000 0200000000000000 0000803f 00000040 00004040 00008040"},
		{"strings", bef.Strings("hi", "tfrt"), 0,
			"04001400 28000000 02000000 18000000 20000000 cccccc10 02000000 6869 cc10 04000000 74667274"},
		{"nested", bef.List(bef.Int32(1), bef.List(bef.Int32(2), bef.String("s"))), 4,
			"cccccccc 08001400 45000000 02000000 18000000 20000000 cccccc08 01000000 cccccc1e" +
				"04001400 25000000 02000000 18000000 20000000 cccccc08 02000000 cccccc10 01000000 73"},
		{"empty list", bef.List(), 0, "00000000"},
		{"i1 array", bef.List(bef.Bool(true), bef.Bool(false)), 0, "02000000 0100"},
		{"type array", bef.List(bef.TypeValue(bef.F32), bef.TypeValue(bef.I1)), 0, "02000000 0a05"},
		{"string", bef.String("bark"), 0, "04000000 6261726b"},
		{"type", bef.TypeValue(bef.F32), 0, "0a"},
		{"symbol", bef.SymbolRef(bef.Symbol{ID: 1, Root: "k", Nested: []string{"main"}, Text: "xy"}), 0,
			"01 01 01 04 02 6b 6d61696e 7879 00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w bef.PoolWriter
			a, err := w.Add(c.value)
			require.NoError(t, err)
			again, err := w.Add(c.value)
			require.NoError(t, err)
			assert.Equal(t, a, again, "an equal constant is stored once")
			p := w.Pool()
			assert.Equal(t, c.offset, a.Offset)
			assert.Equal(t, c.value.Type, a.Type)
			assert.Equal(t, hex.Dump(unhex(t, c.bytes)), hex.Dump(p.Data))
			back, err := p.Value(a)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint(plain(c.value)), fmt.Sprint(plain(back)))
		})
	}
	assert.EqualValues(t, 136, bef.List().Type)
}

// plain forgets what a file does not keep: which kind of nothing a slice is.
func plain(v bef.Value) string {
	s := fmt.Sprintf("%v %v %v %x %v", v.Type, v.Elem, v.Unranked, v.Data, v.Dims)
	for _, e := range v.Elems {
		s += "(" + plain(e) + ")"
	}
	if v.Symbol != nil {
		s += fmt.Sprintf("%+v", *v.Symbol)
	}
	return s
}

func TestPoolSharesConstants(t *testing.T) {
	var w bef.PoolWriter
	one, _ := w.Add(bef.Int32(1))
	two, _ := w.Add(bef.Int64(1))
	three, _ := w.Add(bef.Int32(1))
	four, _ := w.Add(bef.Bits(bef.UI32, 1))
	assert.Equal(t, one, three)
	assert.NotEqual(t, one.Offset, two.Offset)
	assert.NotEqual(t, one.Offset, four.Offset, "another type is another constant")
}

func TestDenseAlign(t *testing.T) {
	w := bef.PoolWriter{DenseAlign: 64}
	_, err := w.Add(bef.String("before"))
	require.NoError(t, err)
	data := make([]byte, bef.BigDense)
	for i := range data {
		data[i] = byte(i)
	}
	a, err := w.Add(bef.Dense(bef.F32, []int64{bef.BigDense / 4}, data))
	require.NoError(t, err)
	p := w.Pool()
	assert.Equal(t, 64, p.Align)
	d, err := p.Dense(a.Offset)
	require.NoError(t, err)
	assert.Equal(t, data, d.Data)
	assert.Zero(t, (int(a.Offset)+28)%64)
	_, ok := bef.View[float32](d.Data)
	assert.True(t, ok)
}

func TestPoolRefuses(t *testing.T) {
	var w bef.PoolWriter
	deep := bef.Int32(1)
	for range 70 {
		deep = bef.Aggregate(deep)
	}
	for name, v := range map[string]bef.Value{
		"too many elements": bef.Aggregate(make([]bef.Value, 16381)...),
		"too many axes":     bef.Dense(bef.I8, make([]int64, 8190), nil),
		"wrong size":        bef.Dense(bef.F32, []int64{3}, make([]byte, 8)),
		"overflow":          bef.Dense(bef.I8, []int64{math.MaxInt64, math.MaxInt64, 4}, make([]byte, 4)),
		"negative":          bef.Dense(bef.I8, []int64{-1}, nil),
		"extent":            bef.Shape(-2),
		"odd array":         bef.Array(bef.I32, make([]byte, 5)),
		"resource":          {Type: bef.Resource},
		"unknown":           {Type: 99},
		"scalar":            {Type: bef.I32, Data: []byte{1}},
		"no symbol":         {Type: bef.SymbolRefType},
		"deep":              deep,
	} {
		_, err := w.Add(v)
		assert.Error(t, err, name)
	}
	assert.Empty(t, w.Pool().Data)
}

// Payloads that a hostile file may hold.
func TestPoolReadsHostileBytes(t *testing.T) {
	for _, c := range []struct {
		name  string
		t     bef.AttrType
		bytes string
	}{
		{"short scalar", bef.I64, "00000000"},
		{"bool", bef.I1, "02"},
		{"type code", bef.TypeType, "18"},
		{"string length", bef.StringType, "ffffffff 61"},
		{"array length", bef.ArrayOf(bef.I64), "ffffffff 0000000000000000"},
		{"array of bool", bef.ArrayOf(bef.I1), "01000000 07"},
		{"shape alignment", bef.ShapeType, "03000c00 0c000000 00000000"},
		{"shape rank", bef.ShapeType, "08000c00 0c000000 01000000"},
		{"shape extent", bef.ShapeType, "08000c00 14000000 01000000 feffffffffffffff"},
		{"shape end", bef.ShapeType, "08000c00 ff000000 00000000"},
		{"dense zero", bef.DenseType, "00000000"},
		{"dense count", bef.DenseType, "080a1400 14000000 14000000 02000000 00000000"},
		{"dense start", bef.DenseType, "080a1400 14000000 15000000 00000000 00000000"},
		{"dense elem", bef.DenseType, "08181400 15000000 14000000 01000000 00000000 00"},
		{"dense overflow", bef.DenseType, "08062400 24000000 24000000 00000000 02000000 0000000000000080 0200000000000000"},
		{"aggregate count", bef.AggregateType, "04001000 11000000 02000000 11000000 00"},
		{"aggregate offset", bef.AggregateType, "04001000 14000000 01000000 10000000 08000000"},
		{"aggregate type", bef.AggregateType, "04001000 14000000 01000000 11000000 18000000"},
		{"aggregate element past the end", bef.AggregateType, "04001000 15000000 01000000 14000000 cccccc08 01 000000"},
		{"symbol length", bef.SymbolRefType, "00 05 00 05 6b 00"},
		{"symbol end", bef.SymbolRefType, "00 01 00 01 6b 6b 01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := bef.Pool{Data: unhex(t, c.bytes)}
			_, err := p.Value(bef.Attr{Type: c.t})
			var fe *bef.FormatError
			require.ErrorAs(t, err, &fe)
			_, err = p.Value(bef.Attr{Type: c.t, Offset: 1 << 20})
			require.Error(t, err)
		})
	}
}
