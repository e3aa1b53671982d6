package hlo

import (
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryAttributeHasText gives every attribute of every op a value and expects AppendAttr to know its type.
func TestEveryAttributeHasText(t *testing.T) {
	for op := range Opcodes {
		if Info(op).NewAttrs == nil {
			continue
		}
		a := Info(op).NewAttrs()
		for _, f := range AttrFields(a) {
			v := reflect.ValueOf(a).Elem().Field(f.Index)
			switch p := v.Addr().Interface().(type) {
			case **Literal:
				*p = NewTupleLiteral()
			case **Domain:
				*p = &Domain{Entry: &Sharding{}, Exit: &Sharding{}}
			default:
				if v.Kind() == reflect.Pointer {
					v.Set(reflect.New(v.Type().Elem()))
				}
			}
			assert.NotPanics(t, func() { AppendAttr(nil, v.Addr().Interface()) }, "%v %s", op, f.Key)
		}
	}
}

func TestQuoted(t *testing.T) {
	for s, want := range map[string]string{
		"":                 `""`,
		"plain":            `"plain"`,
		"a\"b'c\\d":        `"a\"b\'c\\d"`,
		"line\n\r\tend":    `"line\n\r\tend"`,
		"\x00\x1f\x7f\xff": `"\000\037\177\377"`,
		"é":                `"\303\251"`,
	} {
		assert.Equal(t, want, string(AppendQuoted(nil, s)))
	}
}

func TestIsDictionary(t *testing.T) {
	for _, s := range []string{"{}", "{abc: 123}", `{"}"}`, "{{a}, {{b}}}", " {} ", `{"\"}"}`, "{'}"} {
		assert.True(t, isDictionary(s), s)
		assert.Equal(t, s, string(AppendDictOrQuoted(nil, s)))
	}
	for _, s := range []string{"", "{", "}", "{{}", "{}}", "{}a", "a{}", `{"}`, `{"\`, "{} // x"} {
		assert.False(t, isDictionary(s), s)
	}
}

// TestShortFloat expects six digits, and more where six are another number.
func TestShortFloat(t *testing.T) {
	for _, c := range []struct {
		x    float64
		bits int
		want string
	}{
		{0.001, 64, "0.001"}, {0.1, 64, "0.1"}, {float64(float32(0.1)), 32, "0.1"}, {1e-5, 64, "1e-05"}, {1.0 / 3, 64, "0.3333333333333333"},
		{float64(float32(1) / 3), 32, "0.33333334"}, {123456789, 64, "123456789"}, {1e100, 64, "1e+100"}, {0, 64, "0"}, {math.Inf(1), 64, "inf"},
		{math.NaN(), 64, "nan"}, {math.Copysign(0, -1), 64, "-0"},
	} {
		got := string(appendShortFloat(nil, c.x, c.bits))
		assert.Equal(t, c.want, got)
		back, err := strconv.ParseFloat(got, c.bits)
		require.NoError(t, err)
		assert.True(t, back == c.x || c.x != c.x)
	}
}

// TestFloatElements reads back what literals write of floats: the shorter of two precisions if it is exact.
func TestFloatElements(t *testing.T) {
	for _, c := range []struct {
		x    float32
		want string
	}{{0.1, "0.1"}, {1e5, "100000"}, {1e6, "1e+06"}, {99999, "99999"}, {-7, "-7"}, {16777216, "16777216"}, {0.33333334, "0.333333343"}, {1e-45, "1.4013e-45"}} {
		got := string(appendFloat32(nil, math.Float32bits(c.x)))
		assert.Equal(t, c.want, got)
		back, err := strconv.ParseFloat(got, 32)
		require.NoError(t, err)
		assert.Equal(t, c.x, float32(back))
	}
}

func TestListed(t *testing.T) {
	mesh := &Mesh{Axes: []MeshAxis{{"x", 2}, {"y", 4}}}
	for _, c := range []struct {
		groups *ReplicaGroups
		want   string
	}{
		{nil, "{}"},
		{&ReplicaGroups{Lists: [][]int64{{1, 0}}}, "{{1,0}}"},
		{&ReplicaGroups{Iota: &IotaTile{Reshape: []int64{4}}, Groups: 2, GroupSize: 2}, "{{0,1},{2,3}}"},
		{&ReplicaGroups{Iota: &IotaTile{Reshape: []int64{2, 2}, Transpose: []int{1, 0}}, Groups: 2, GroupSize: 2}, "{{0,2},{1,3}}"},
		{&ReplicaGroups{Mesh: mesh, Axes: []AxisRef{{Axis: 1}}}, "{{0,1,2,3},{4,5,6,7}}"},
		{&ReplicaGroups{Mesh: mesh, Axes: []AxisRef{{Axis: 0}}}, "{{0,4},{1,5},{2,6},{3,7}}"},
		{&ReplicaGroups{Mesh: mesh, Axes: []AxisRef{{Axis: 1, PreSize: 2, Size: 2, IsSub: true}, {Axis: 0}}}, "{{0,4,1,5},{2,6,3,7}}"},
		{&ReplicaGroups{Mesh: &Mesh{Maximal: true, MaximalDevice: 3}}, "{{3}}"},
		// what makes no sense, or is too much, stays as it is
		{&ReplicaGroups{Iota: &IotaTile{Reshape: []int64{1 << 40}}, Groups: 1, GroupSize: 1 << 40}, "[1,1099511627776]<=[1099511627776]"},
		{&ReplicaGroups{Mesh: mesh, Axes: []AxisRef{{Axis: 1, PreSize: 3, Size: 2, IsSub: true}}}, "mesh['x'=2,'y'=4] {'y':(3)2}"},
	} {
		assert.Equal(t, c.want, c.groups.Listed().String())
	}
	split := (&ReplicaGroups{Mesh: mesh, Axes: []AxisRef{{Axis: 1, PreSize: 2, Size: 2, IsSub: true}, {Axis: 0}}}).WithoutSubAxes()
	assert.Equal(t, "mesh['x'=2,'y:(1)2'=2,'y:(2)2'=2] {'y:(2)2','x'}", split.String())
	assert.Equal(t, "{{0,4,1,5},{2,6,3,7}}", split.Listed().String())
}
