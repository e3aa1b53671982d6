package proto

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
)

// messages are the messages that stand for themselves, or raw in others; the rest is reached from them.
var messages = []reflect.Type{
	reflect.TypeFor[snapshotMsg](), reflect.TypeFor[moduleMsg](), reflect.TypeFor[computationMsg](), reflect.TypeFor[instructionMsg](),
	reflect.TypeFor[attributesMsg](), reflect.TypeFor[instructionExtra](), reflect.TypeFor[shapeMsg](), reflect.TypeFor[programShapeMsg](),
	reflect.TypeFor[metadataMsg](), reflect.TypeFor[literalMsg](), reflect.TypeFor[shardingMsg](), reflect.TypeFor[frontendMsg](),
	reflect.TypeFor[statisticsMsg](), reflect.TypeFor[deviceListMsg](), reflect.TypeFor[iotaGroupsMsg](), reflect.TypeFor[meshGroupsMsg](),
	reflect.TypeFor[withConfigMsg](), reflect.TypeFor[configMsg](),
}

// eachMessage calls f for every message of the schema.
func eachMessage(f func(reflect.Type)) {
	seen := make(map[reflect.Type]bool)
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || t == reflect.TypeFor[hlo.OptInt]() || t == reflect.TypeFor[apart]() || seen[t] {
			return
		}
		seen[t] = true
		f(t)
		for i := range t.NumField() {
			visit(t.Field(i).Type)
		}
	}
	for _, t := range messages {
		visit(t)
	}
}

// fill sets everything in v to something that depends on n, but for messages deeper than depth.
func fill(v reflect.Value, depth int, n *int64) {
	*n++
	if !v.CanInterface() { // embedded
		for i := range v.NumField() {
			fill(v.Field(i), depth, n)
		}
		return
	}
	switch x := v.Addr().Interface().(type) {
	case *hlo.OptInt:
		*x = hlo.SomeInt(*n % 3) // 0, too
		return
	case *rawMsg:
		*x = protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(*n))
		return
	case *varints:
		*x = protowire.AppendVarint(nil, uint64(*n)<<20)
		return
	case *fixed32s:
		*x = protowire.AppendFixed32(nil, uint32(*n))
		return
	case *fixed64s:
		*x = protowire.AppendFixed64(nil, uint64(*n))
		return
	case *apart, *spans:
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(-*n)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Copysign(0, -1))
	case reflect.String:
		v.SetString(fmt.Sprint("s", *n))
	case reflect.Uint8:
		v.SetUint(uint64(*n & 0xff))
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1, n)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Pointer || depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 3, 3))
			for i := range 3 {
				fill(v.Index(i), depth, n)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth, n)
		}
	default:
		panic("a field of type " + v.Type().String())
	}
}

// TestSchema writes and reads every field of every message, alone and with all others.
func TestSchema(t *testing.T) {
	count := 0
	eachMessage(func(typ reflect.Type) {
		count++
		p := planOf(typ).compiled()
		numbers := make(map[protowire.Number]string)
		for _, f := range p.fields {
			assert.Empty(t, numbers[f.num], "%v has two fields of number %d", typ, f.num)
			numbers[f.num] = f.name
			assert.Equal(t, f.offset, p.find(f.num).offset, "%v.%s", typ, f.name)
		}
		assert.Nil(t, p.find(19999))
		n := int64(1)
		want := reflect.New(typ)
		fill(want.Elem(), 2, &n)
		b := p.append(nil, want.UnsafePointer())
		got := reflect.New(typ)
		require.NoError(t, p.read(b, got.UnsafePointer(), 0), "%v", typ)
		assert.Equal(t, want.Interface(), got.Interface())
		assert.Equal(t, b, p.append(nil, got.UnsafePointer()))

		// In two parts, which are merged: lists are twice as long, and everything else is as before.
		require.NoError(t, p.read(b, got.UnsafePointer(), 0), "%v", typ)
		for i := range typ.NumField() {
			if f := want.Elem().Field(i); f.Kind() == reflect.Int64 || f.Kind() == reflect.String {
				assert.Equal(t, f.Interface(), got.Elem().Field(i).Interface(), "%v.%s", typ, typ.Field(i).Name)
			} else if f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Pointer {
				assert.Equal(t, 2*f.Len(), got.Elem().Field(i).Len(), "%v.%s", typ, typ.Field(i).Name)
			}
		}

		zero := reflect.New(typ)
		assert.Empty(t, p.append(nil, zero.UnsafePointer()), "%v without anything", typ)
	})
	assert.Greater(t, count, 60)
}

// TestElementTypesHaveFields holds literalMsg to the types of hlo.
func TestElementTypesHaveFields(t *testing.T) {
	var m literalMsg
	seen := make(map[*[]byte]hlo.PrimitiveType)
	for pt := hlo.PRED; pt < hlo.NumPrimitiveTypes; pt++ {
		f := m.elementField(pt)
		require.Equal(t, pt.IsArray(), f != nil, "%v", pt)
		if f != nil {
			assert.Zero(t, seen[f], "%v", pt)
			seen[f] = pt
		}
	}
}

// TestSpans keeps what a message has no fields for, in order.
func TestSpans(t *testing.T) {
	number := func(b []byte, num protowire.Number, x uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), x)
	}
	var first, second []byte
	first = number(number(first, 9, 1), 14, 2)
	second = number(number(second, 200, 3), 20002, 4)
	b := number(append(number(append([]byte(nil), first...), 35, 7), second...), 35, 8)
	var in instructionMsg
	require.NoError(t, unmarshal(b, &in))
	assert.Equal(t, spans{first, second}, in.Attributes)
	assert.EqualValues(t, 8, in.ID)
}

func TestIDTable(t *testing.T) {
	for name, ids := range map[string][]int64{
		"in a row": {0, 1, 2, 3}, "of another computation": {7 << 32, 7<<32 + 1}, "descending": {9, 8, 7}, "far": {1 << 40, -1, 0, math.MinInt64, math.MaxInt64},
		"negative": {-5, -4, -6}, "gaps": {0, 1000, 2000, 1 << 31, 1 << 33},
	} {
		var tables idTables
		table := tables.make(64 * len(ids))
		for i, id := range ids {
			_, ok := table.get(id)
			assert.False(t, ok, name)
			assert.True(t, table.put(id, hlo.InstrID(i)), name)
			assert.False(t, table.put(id, hlo.InstrID(i)), name)
		}
		for i, id := range ids {
			got, ok := table.get(id)
			assert.True(t, ok, name)
			assert.EqualValues(t, i, got, name)
		}
		for _, id := range []int64{5, -2, 1 << 20, 7<<32 + 2} {
			_, ok := table.get(id)
			assert.False(t, ok, name)
		}
		assert.Equal(t, len(ids), table.count)
	}
}
