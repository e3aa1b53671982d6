package proto_test

import (
	"bytes"
	"compress/gzip"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
)

// msg is a message under construction.
type msg []byte

func (m msg) bytes(num protowire.Number, content []byte) msg {
	return protowire.AppendBytes(protowire.AppendTag(m, num, protowire.BytesType), content)
}

func (m msg) text(num protowire.Number, s string) msg { return m.bytes(num, []byte(s)) }

func (m msg) int(num protowire.Number, x int64) msg {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(x))
}

// many is n times a field of content.
func many(n int, num protowire.Number, content []byte) msg {
	one := msg(nil).bytes(num, content)
	return bytes.Repeat(one, n)
}

// nested puts content into a field of itself n times. Lengths are written from the inside out.
func nested(n int, num protowire.Number, before, content msg) msg {
	var tags [][]byte
	size := len(content)
	for range n {
		tag := protowire.AppendVarint(protowire.AppendTag(append(msg(nil), before...), num, protowire.BytesType), uint64(size))
		tags = append(tags, tag)
		size += len(tag)
	}
	out := make(msg, 0, size)
	for i := range tags {
		out = append(out, tags[len(tags)-1-i]...)
	}
	return append(out, content...)
}

var (
	f32   = msg(nil).int(2, int64(hlo.F32))
	tuple = msg(nil).int(2, int64(hlo.TUPLE))
)

// instruction is one of a module of one computation.
func instruction(id int64, op string, shape msg, operands ...int64) msg {
	m := msg(nil).text(1, "x").text(2, op).bytes(3, shape).int(35, id)
	for _, o := range operands {
		m = m.int(36, o)
	}
	return m
}

func computation(id, root int64, instructions ...msg) msg {
	m := msg(nil).text(1, "c").int(5, id).int(6, root)
	for _, in := range instructions {
		m = m.bytes(2, in)
	}
	return m
}

func program(computations ...msg) msg {
	m := msg(nil).text(1, "m").text(2, "c").int(6, int64(len(computations)-1))
	for _, c := range computations {
		m = m.bytes(3, c)
	}
	return m
}

// single is a program of instructions, of which the first is the root.
func single(instructions ...msg) msg { return program(computation(0, 0, instructions...)) }

func zip(t *testing.T, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// decodeBounded decodes, and checks that all memory that was ever taken is within a bound: a message of two bytes may become a struct and
// then another, and the lists of both grow.
func decodeBounded(t *testing.T, b []byte) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := proto.Decode(b)
	runtime.ReadMemStats(&after)
	const times, more = 160, 8 << 20
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(times*len(b)+more), "%d bytes", len(b))
	return err
}

// TestHostile has bytes that no program writes.
func TestHostile(t *testing.T) {
	const deep, lots = 1_000_000, 300_000
	p := instruction(0, "parameter", f32)
	constant := func(shape, literal msg) msg { return instruction(0, "constant", shape).bytes(8, literal) }
	attribute := func(num protowire.Number, content msg) msg { return single(p.bytes(num, content)) }
	packed := func(n int) []byte { return bytes.Repeat([]byte{3}, n) }
	for name, c := range map[string]struct {
		bytes []byte
		want  string // "": it is fine
	}{
		"nothing wrong":       {single(p), ""},
		"cut in a varint":     {append(single(p), 0x28, 0xff), "id: it is cut short"},
		"varint of 11 bytes":  {append(append(single(p), 0x28), bytes.Repeat([]byte{0xff}, 11)...), "variable length integer overflow"},
		"length past the end": {append(single(p), 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f), "name: it is cut short"},
		"field number 0":      {append(single(p), 0x00, 0x00), ": invalid field number"},
		"group without end":   {append(single(p), 0x33), "entryid: unexpected wire type 3"},
		"groups":              {append(single(p), bytes.Repeat([]byte{0xdb, 0x06}, deep)...), "field 107: "},
		"unknown fields":      {single(p.int(6000, 1).bytes(6001, []byte("?"))).int(6000, 2).bytes(6001, []byte("?")), ""},

		"wire type of a name":     {single(p.int(1, 5)), "computations[0].instructions[0].name: unexpected wire type 0"},
		"wire type of an id":      {single(p.text(35, "1")), "computations[0].instructions[0].id: unexpected wire type 2"},
		"wire type of a message":  {single(p.int(40, 5)), "computations[0].instructions[0].sharding: unexpected wire type 0"},
		"wire type of operands":   {single(append(p, protowire.AppendTag(nil, 36, protowire.Fixed32Type)...)), "operandids: unexpected wire type 5"},
		"wire type of statistics": {single(p.bytes(82, msg(nil).bytes(2, msg(nil).int(2, 1)))), "statistics_viz.entries[0].value: unexpected wire type 0"},

		"wire type of a group": {single(p, instruction(1, "all-gather", f32, 0).int(14, 0).bytes(87, msg(nil).int(1, 1))), "collective_device_list.groups[0]: unexpected wire type 0"},

		"operand of itself":      {single(instruction(0, "negate", f32, 0)), "STR-05"},
		"operands in a ring":     {single(instruction(0, "negate", f32, 1), instruction(1, "negate", f32, 0)), "STR-05"},
		"operand from elsewhere": {program(computation(0, 0, p), computation(1, 5, instruction(5, "negate", f32, 0))), "STR-07"},
		"control in a ring":      {single(p.int(37, 1), instruction(1, "negate", f32, 0).int(37, 0)), "STR-05"},
		"call of itself":         {single(instruction(0, "call", f32).int(38, 0)), "STR-01"},
		"calls in a ring":        {program(computation(0, 0, instruction(0, "call", f32).int(38, 1)), computation(1, 9, instruction(9, "call", f32).int(38, 0))), "STR-01"},
		"one id twice":           {single(p, p), "STR-04"},
		"one computation twice":  {program(computation(3, 0, p), computation(3, 0, p)), "STR-02"},
		"no root":                {program(computation(0, 7, p)), "STR-03"},
		"parameters 0 and 2":     {single(p, instruction(1, "parameter", f32).int(9, 2)), "parameter numbers are not 0 to 1"},
		"parameter 0 twice":      {single(p, instruction(1, "parameter", f32)), "two parameters of number 0"},

		"deep shape":            {single(instruction(0, "parameter", nested(deep, 4, tuple, f32))), "tuples nest deeper than 1000"},
		"deep by steps":         {single(steps(400)...), "tuples nest deeper than 1000"},
		"deep sharding":         {attribute(40, nested(deep, 5, msg(nil).int(1, 2), nil)), "tuples nest deeper than 1000"},
		"deep origin":           {attribute(88, msg(nil).bytes(20000, nested(deep, 2, nil, nil))), "messages nest deeper than 1000"},
		"deep literal":          {single(constant(f32, nested(deep, 10, nil, msg(nil).bytes(1, f32)))), "literal.shape: missing"},
		"modules in modules":    {nested(200, 20, nil, nil), "no module in it"},
		"wide shape":            {single(instruction(0, "parameter", append(tuple, many(lots, 4, f32)...))), ""},
		"wide shape of nothing": {single(instruction(0, "parameter", append(tuple, many(lots, 4, nil)...))), "tuple_shapes[0]: element type 0"},
		"many parts":            {single(constant(f32, append(msg(nil).bytes(1, f32), many(lots, 10, nil)...))), "0 bytes of data for f32[]"},
		"many instructions":     {program(append(computation(0, 0, p), many(lots, 2, nil)...)), `unknown opcode ""`},
		"many computations":     {append(program(computation(0, 0, p)), many(lots, 3, nil)...), "STR-02"},
		"many operands":         {single(p, instruction(1, "tuple", tuple).bytes(36, bytes.Repeat([]byte{0}, lots))), ""},
		"many shardings":        {attribute(40, append(msg(nil).int(1, 2), many(lots, 5, nil)...)), ""},
		"many windows":          {single(p, instruction(1, "custom-call", f32, 0).text(28, "f").bytes(15, many(lots, 1, nil))), ""},
		"many origins":          {attribute(88, msg(nil).bytes(20000, many(lots, 2, nil))), ""},
		"many statistics":       {attribute(82, many(lots, 2, nil)), ""},
		"many groups":           {single(p, instruction(1, "all-gather", f32, 0).int(14, 0).bytes(87, many(lots, 1, nil))), ""},
		"many frontends":        {attribute(68, many(lots, 1, nil)), ""},
		"many slices":           {single(p, append(instruction(1, "slice", f32, 0), many(lots, 17, nil)...)), ""},
		"many spatial axes":     {single(p, instruction(1, "convolution", f32, 0, 0).bytes(16, msg(nil).bytes(11, packed(lots)))), "axes"},
		"many pairs":            {single(p, instruction(1, "collective-permute", f32, 0).bytes(52, nil).bytes(52, nil)), ""},
		"metadata in pieces":    {single(append(p, many(lots, 7, msg(nil).int(4, 1))...)), ""},
		"a row of unknown":      {single(append(p, many(lots, 150, nil)...)), ""},
		"one payload for all":   {payloads(1<<20, 2000), ""},

		"2^60 elements":       {single(constant(f32.int(3, 1<<30).int(3, 1<<30), msg(nil).bytes(1, f32.int(3, 1<<30).int(3, 1<<30)))), "0 bytes of data"},
		"dimension of -1":     {single(instruction(0, "parameter", f32.int(3, -1))), "dimension 0 of size -1"},
		"tuple of 4 rows":     {single(instruction(0, "parameter", tuple.int(3, 4))), "tuple with dimensions"},
		"array of shapes":     {single(instruction(0, "parameter", f32.bytes(4, f32))), "array of 1 shapes"},
		"layout of no axes":   {single(instruction(0, "parameter", f32.int(3, 4).bytes(5, nil))), "layout: 0 axes of 1 dimensions"},
		"layout of one axis":  {single(instruction(0, "parameter", f32.int(3, 4).int(3, 4).bytes(5, msg(nil).bytes(1, []byte{0, 0})))), "no permutation"},
		"element type 255":    {single(instruction(0, "parameter", msg(nil).int(2, 255))), "element type 255"},
		"element type -1":     {single(instruction(0, "parameter", msg(nil).int(2, -1))), "element type -1"},
		"sizes within bounds": {single(constant(f32.int(3, 2), msg(nil).bytes(1, f32.int(3, 2)).bytes(8, make([]byte, 8)).int(34, 1))), "sizes [1]"},
		"payload 7":           {attribute(99, msg(nil).int(2, 7)), "no payload 7"},
		"payload -1":          {attribute(99, msg(nil).int(2, -1)), "no payload -1"},
		"tiles of 2^60":       {attribute(40, msg(nil).int(1, 3).int(3, 1<<30).int(3, 1<<30)), "tile dimensions"},

		"gzip, cut":        {zip(t, single(p))[:12], "cut short"},
		"gzip of nothing":  {[]byte{0x1f, 0x8b}, "cut short"},
		"gzip of too much": {zip(t, make([]byte, 300<<20)), "unpacks to more than 268435456 bytes"},
	} {
		err := errorIn(t, name, c.bytes)
		if c.want == "" {
			assert.NoError(t, err, name)
			continue
		}
		if assert.Error(t, err, name) {
			assert.Contains(t, err.Error(), c.want, name)
			assert.Less(t, len(err.Error()), 30_000, name)
		}
	}
}

// errorIn is the error, with the rule that it names.
func errorIn(t *testing.T, name string, b []byte) error {
	if strings.HasPrefix(name, "gzip") {
		_, err := proto.Decode(b)
		return err
	}
	err := decodeBounded(t, b)
	if e, ok := err.(*proto.FormatError); ok && e.Rule != "" {
		return &proto.FormatError{Where: e.Where, Msg: e.Rule + " " + e.Msg}
	}
	return err
}

// payloads is a module that has one payload of so many bytes, to which n instructions refer.
func payloads(size, n int) msg {
	instructions := make([]msg, n)
	for i := range instructions {
		instructions[i] = instruction(int64(i), "parameter", f32).int(9, int64(i)).bytes(99, msg(nil).int(2, 0))
	}
	return single(instructions...).bytes(22, make([]byte, size))
}

// steps are parameters of tuples, each of them by n deeper than the one before, which it contains.
func steps(n int) []msg {
	var all []msg
	shape := f32
	for i := range int64(4) {
		shape = nested(n, 4, tuple, shape)
		all = append(all, instruction(i, "parameter", shape).int(9, i))
	}
	return all
}

// TestCut decodes every beginning of a module, and the module with every byte changed.
func TestCut(t *testing.T) {
	data := proto.Encode(parse(t))
	for n := range data {
		if m, err := proto.Decode(data[:n]); err == nil {
			printer.String(m)
		}
	}
	for i := range data {
		for _, x := range []byte{1, 0x80, 0xff} {
			changed := bytes.Clone(data)
			changed[i] ^= x
			if m, err := proto.Decode(changed); err == nil {
				proto.Encode(m)
			}
		}
	}
}

// TestRepeated has fields that occur more often than once: the last number or name counts, messages are merged, lists joined.
func TestRepeated(t *testing.T) {
	in := msg(nil).text(1, "first").text(1, "last").text(2, "negate").text(2, "parameter").int(35, 9).int(35, 0).
		bytes(3, msg(nil).int(2, int64(hlo.F32)).int(3, 4)).bytes(3, msg(nil).int(3, 5)).
		bytes(7, msg(nil).text(2, "op").int(4, 1)).bytes(7, msg(nil).int(4, 2)).
		bytes(40, msg(nil).int(1, 3).int(3, 2)).bytes(40, msg(nil).bytes(3, []byte{1}).bytes(4, []byte{0}).int(4, 1)).
		bytes(68, msg(nil).bytes(1, msg(nil).text(1, "k").text(2, "v"))).bytes(68, msg(nil).bytes(1, msg(nil).text(1, "a")).bytes(1, msg(nil).text(1, "k").text(2, "w")))
	m, err := proto.Decode(single(in))
	require.NoError(t, err)
	assert.Contains(t, text(t, m, printer.Config{}),
		`%last = f32[4,5] parameter(0), sharding={devices=[2,1]0,1}, frontend_attributes={a="",k="w"}, metadata={op_name="op" source_line=2}`)
}

// TestAsXLA has what XLA takes for something else than it seems.
func TestAsXLA(t *testing.T) {
	p := msg(nil).text(1, "1p%").text(2, "parameter").bytes(3, f32)
	alias := func(kind int64) msg { return msg(nil).bytes(1, msg(nil).int(2, 0).int(4, kind)) }
	for _, c := range []struct {
		name, want string
		bytes      msg
	}{
		{"names are made legal", "\nENTRY %_a (_p_: f32[]) -> f32[] {\n  ROOT %_p_ = f32[] parameter(0)", program(msg(nil).text(1, "-a").bytes(2, p))},
		{"so is that of the module", "HloModule _x_, ", program(msg(nil).text(1, "c").bytes(2, p)).text(1, "9x{")},
		{"a computation without a name", "\nENTRY %name.1 ", program(msg(nil).bytes(2, p), msg(nil).int(5, 1).bytes(2, p))},
		{"a kind of alias is must", "{ {}: (0, {}, must-alias) }", single(p).bytes(8, alias(0))},
		{"unless it is may", "{ {}: (0, {}, may-alias) }", single(p).bytes(8, alias(1))},
		{"the entry has the id that is not there", "ENTRY %c.1 ", program(computation(0, 0, p.int(35, 0)), computation(1, 0, p)).int(6, 1)},
		{"reduction of a named sharding", "[{'x'}], unreduced=max{'y'}}", single(p.bytes(40, msg(nil).bytes(14, msg(nil).
			bytes(2, msg(nil).bytes(1, msg(nil).text(1, "x").int(2, 2)).bytes(1, msg(nil).text(1, "y").int(2, 2))).
			bytes(3, msg(nil).bytes(1, nil).int(2, 1)).bytes(5, msg(nil).int(1, 1)).int(8, 1))))},
	} {
		m, err := proto.Decode(c.bytes)
		if assert.NoError(t, err, c.name) {
			assert.Contains(t, text(t, m, printer.Config{}), c.want, c.name)
			data := proto.Encode(m)
			back, err := proto.Decode(data)
			require.NoError(t, err, c.name)
			assert.Equal(t, data, proto.Encode(back), c.name)
		}
	}
}

// TestForeign keeps what text has no words for.
func TestForeign(t *testing.T) {
	devices := msg(nil).int(1, 1).int(2, 2).bytes(3, msg(nil).bytes(1, []byte{0, 1}))
	foreign := msg(nil).bytes(10, msg(nil).int(1, 3)).int(11, 1).bytes(12, msg(nil).int(1, 4)).bytes(13, nil).bytes(14, nil).bytes(14, msg(nil).int(1, 4)).
		bytes(15, devices).int(16, 1).text(21, "gpu").int(23, 0)
	p := instruction(0, "parameter", f32)
	m, err := proto.Decode(append(single(p), foreign...))
	require.NoError(t, err)
	assert.Equal(t, string(foreign), m.Config().Foreign)
	data := proto.Encode(m)
	assert.Contains(t, string(data), string(foreign))
	back, err := proto.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, m.Digest(), back.Digest())
}

// TestWithConfig has a module with what it is compiled for, and with other things in that place.
func TestWithConfig(t *testing.T) {
	m := single(instruction(0, "parameter", f32))
	config := msg(nil).bytes(1, nil).int(2, 42).int(4, 3).int(5, 2).int(7, 1).int(17, 1).int(27, 1).int(33, 0).text(13, "gpu")
	got, err := proto.Decode(msg(nil).bytes(1, m).bytes(2, config))
	require.NoError(t, err)
	assert.Contains(t, text(t, got, printer.Config{}), "alias_passthrough_params=true")
	c := got.Config()
	assert.Equal(t, []int64{3, 2}, []int64{c.ReplicaCount, c.NumPartitions})
	assert.True(t, c.UseSPMD)
	assert.Equal(t, []bool{true}, c.AllowSPMDToOutput)
	assert.Nil(t, c.AllowSPMDToParameters)
	for name, b := range map[string]msg{
		"nothing": nil, "schedule": msg(nil).int(1, 0).bytes(2, msg(nil).int(1, 7)), "garbage": msg("???"), "counts of another type": msg(nil).text(4, "4"),
	} {
		got, err := proto.Decode(msg(nil).bytes(1, m).bytes(2, b))
		require.NoError(t, err, name)
		assert.Zero(t, got.Config().ReplicaCount, name)
	}
}

// TestLenient keeps what the lenient reader of text kept.
func TestLenient(t *testing.T) {
	const source = "HloModule m, new_header={1}\n\nENTRY e {\n  ROOT p = f32[] parameter(0), new_attribute=x\n}\n"
	m, err := parser.Config{Lenient: true}.Parse("m", source)
	require.NoError(t, err)
	require.Len(t, m.Config().Unknown, 1)
	back, err := proto.Decode(proto.Encode(m))
	require.NoError(t, err)
	assert.Equal(t, m.Config().Unknown, back.Config().Unknown)
	assert.Equal(t, text(t, m, printer.Config{}), text(t, back, printer.Config{}))
}

// TestNotANumber takes payloads of NaN and signs of zero through bytes, in attributes.
func TestNotANumber(t *testing.T) {
	nan := math.Float64frombits(0x7ff8000000000123)
	m := msg(nil).bytes(2, msg(nil).text(1, "s"))
	stat := protowire.AppendFixed64(protowire.AppendTag(msg(nil).text(1, "t"), 2, protowire.Fixed64Type), math.Float64bits(nan))
	zero := protowire.AppendFixed64(protowire.AppendTag(msg(nil).text(1, "z"), 2, protowire.Fixed64Type), 1<<63)
	mod, err := proto.Decode(single(instruction(0, "parameter", f32).bytes(82, m.bytes(2, stat).bytes(2, zero))))
	require.NoError(t, err)
	back, err := proto.Decode(proto.Encode(mod))
	require.NoError(t, err)
	s := back.Entry().Root().Common().Statistics.Entries
	require.Len(t, s, 3)
	assert.Equal(t, math.Float64bits(nan), math.Float64bits(s[1].Value))
	assert.True(t, math.Signbit(s[2].Value))
}
