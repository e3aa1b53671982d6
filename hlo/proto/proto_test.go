package proto_test

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/printer"
)

// module has something of most parts of the messages.
const module = `HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, replica_count=2, num_partitions=3, allow_spmd_sharding_propagation_to_output={true}, frontend_attributes={k="v"},
debug_attributes={
  {"c"}:({log_mode=fusion_debugger,op_id=0})
}

plus { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }
wrapped { w = f32[4]{0} parameter(0) x = f32[4]{0} negate(w) ROOT y = f32[4]{0} negate(x) }, execution_thread="side"
ENTRY e {
  p = f32[4]{0:T(8)S(1)} parameter(0), sharding={mesh['x'=2,'y'=2], [{'x', ?}], unreduced=max{'y'}, metadata={{op_name="s"}}}
  q = f32[<=4,?]{0,1} parameter(1), sharding={devices=[2,1,2]<=[4] last_tile_dims={unreduced} metadata={}}
  k = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, -nan(0x7)}})
  n = s4[3] constant({-8, 7, 1})
  t = (pred[], c64[2]) constant((true, {(1, 2), (3, inf)}))
  big = f32[100] constant({...})
  z = f32[] constant(0)
  go = ((f32[4]), f32[4], u32[]) async-start(p), async_execution_thread="side", calls=wrapped
  up = ((f32[4]), f32[4], u32[]) async-update(go), output_to_operand_aliasing={{2}: (0, {2})}
  dn = f32[4] async-done(up), metadata={op_type="t" metadata_payload="\000\377"}
  r = f32[] reduce(dn, z), dimensions={0}, to_apply=plus
  d = f32[] domain(r), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}
  cc = (f32[4], s32[]) custom-call(dn, k), custom_call_target="f", operand_layout_constraints={f32[4]{0}, f32[2,3]{1,0}}, literal=(s32[2]{0} {1, 2}), origin={({"a"}, {"b" {1}})}, backend_config={raw}
  sr = (f32[4], u32[], token[]) custom-call(), custom_call_target="g"
  ROOT o = (f32[4], f32[]) tuple(dn, d), origin={({}, {"c" {0}})}, statistics={visualizing_index=0,max=1.5}
}`

func parse(t testing.TB) hlo.Module {
	m, err := parser.Parse("module", module)
	require.NoError(t, err)
	return m
}

// TestLossless takes a module through bytes.
func TestLossless(t *testing.T) {
	m := parse(t)
	data := proto.Encode(m)
	back, err := proto.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, text(t, m, printer.Long), text(t, back, printer.Long))
	assert.Equal(t, data, proto.Encode(back))
	for in := range back.Entry().Instructions() {
		original, ok := m.Entry().ByName(in.Name())
		require.True(t, ok)
		assert.Equal(t, original.Position(), in.Position())
	}
}

// TestForms wraps a module in all the ways that files hold one.
func TestForms(t *testing.T) {
	m := parse(t)
	want := text(t, m, printer.Long)
	wrap := func(b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
	}
	data := proto.Encode(m)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := w.Write(wrap(data))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	snapshot := proto.EncodeSnapshot(&proto.Snapshot{Module: m, Platform: "cpu"})
	for name, b := range map[string][]byte{
		"module": data, "HloProto": wrap(data), "HloSnapshot": wrap(wrap(data)), "gzip": zipped.Bytes(), "snapshot": snapshot,
	} {
		back, err := proto.Decode(b)
		require.NoError(t, err, name)
		assert.Equal(t, want, text(t, back, printer.Long), name)
	}
}

func TestSnapshot(t *testing.T) {
	arg, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2).WithDefaultLayout(), float32(1), float32(math.Inf(-1)))
	require.NoError(t, err)
	result := hlo.NewTupleLiteral(arg, arg)
	s := &proto.Snapshot{Module: parse(t), Arguments: []*hlo.Literal{arg, result}, Result: result, Platform: "cpu"}
	back, err := proto.DecodeSnapshot(proto.EncodeSnapshot(s))
	require.NoError(t, err)
	assert.Equal(t, "cpu", back.Platform)
	require.Len(t, back.Arguments, 2)
	assert.True(t, arg.Equal(back.Arguments[0]))
	assert.True(t, result.Equal(back.Result))
	_, err = proto.DecodeSnapshot([]byte{0x1a, 0x00})
	assert.ErrorContains(t, err, "no module")
}

// TestElementTypes takes a constant of every element type through bytes, with a layout that is not row-major.
func TestElementTypes(t *testing.T) {
	for pt := hlo.PRED; pt < hlo.NumPrimitiveTypes; pt++ {
		if !pt.IsArray() {
			continue
		}
		s := hlo.MakeShape(pt, 2, 3).WithLayout(&hlo.Layout{MinorToMajor: []int64{0, 1}})
		data := make([]byte, s.ByteSize())
		for i := range data {
			data[i] = byte(i) & byte(1<<min(pt.Bits(), 8)-1)
			if pt.IsSigned() && pt.Bits() < 8 {
				data[i] = byte(int8(data[i]<<(8-pt.Bits())) >> (8 - pt.Bits()))
			}
			if pt == hlo.PRED {
				data[i] = byte(i % 2)
			}
		}
		l, err := hlo.NewLiteral(s, data)
		require.NoError(t, err)
		back, err := proto.DecodeSnapshot(proto.EncodeSnapshot(&proto.Snapshot{Module: parse(t), Result: l}))
		require.NoError(t, err, "%v", pt)
		assert.True(t, l.Equal(back.Result), "%v: %v became %v", pt, l, back.Result)
	}
}

// TestMalformed expects every error to name the field.
func TestMalformed(t *testing.T) {
	field := func(num protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
	}
	number := func(num protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	shape := field(3, join(number(2, uint64(hlo.F32))))
	parameter := join(field(1, []byte("p")), field(2, []byte("parameter")), shape)
	program := func(instrs ...[]byte) []byte {
		comp := field(1, []byte("e"))
		for _, in := range instrs {
			comp = append(comp, field(2, in)...)
		}
		return join(field(1, []byte("m")), field(2, []byte("e")), field(3, comp))
	}
	_, err := proto.Decode(program(parameter))
	require.NoError(t, err)
	graph := field(1, join(field(1, []byte("x")), field(2, []byte("Placeholder"))))
	negate := func(parts ...[]byte) []byte {
		return join(field(1, []byte("n")), field(2, []byte("negate")), number(35, 1), join(parts...))
	}
	for want, b := range map[string][]byte{
		"no module in it": []byte("HloModule m"),
		"no module in it: it is a SavedModel, a graph of TensorFlow. HLO of a function is f.experimental_get_compiler_ir(*args)(stage='hlo_serialized') in Python, where f is a tf.function with jit_compile=True, and an XlaCallModule of the graph has StableHLO in its attribute 'module'": join(
			number(1, 1), field(2, join(field(1, nil), field(2, graph)))),
		"no module in it: it is a graph of TensorFlow. HLO of a function is f.experimental_get_compiler_ir(*args)(stage='hlo_serialized') in Python, where f is a tf.function with jit_compile=True": graph,
		"computations[0].instructions[1]: unknown opcode \"nope\"":      program(parameter, join(field(2, []byte("nope")), shape)),
		"computations[0].instructions[0]: unknown opcode \"nope\"":      program(join(field(2, []byte("nope")), shape)),
		"computations[0].instructions[1].shape: missing":                program(parameter, negate()),
		"computations[0].instructions[1]: no operand of id 7 before it": program(parameter, negate(shape, number(36, 7))),
		"computations[0].instructions[1]: negate with 0 operands":       program(parameter, negate(shape)),
		"computations[0].instructions[1]: two instructions of id 0":     program(parameter, parameter),
		"computations[0].instructions[1].shape: element type 99":        program(parameter, negate(field(3, number(2, 99)), number(36, 0))),
		"computations[0].instructions[1].sharding: sharding type 42":    program(parameter, negate(shape, number(36, 0), field(40, number(1, 42)))),
		"computations[0].instructions[1].literal: missing":              program(parameter, join(field(2, []byte("constant")), number(35, 1), shape)),
	} {
		_, err := proto.Decode(b)
		var format *proto.FormatError
		require.ErrorAs(t, err, &format, want)
		assert.Equal(t, "malformed HLO proto: "+want, err.Error())
	}
	// Constants without data are elided ones: TensorFlow's stage optimized_hlo_proto_serialized has none.
	m, err := proto.Decode(program(join(field(1, []byte("c")), field(2, []byte("constant")), shape, field(8, field(1, shape[2:])))))
	require.NoError(t, err)
	assert.True(t, m.Entry().Root().Literal().IsElided())
}

func FuzzDecode(f *testing.F) {
	f.Add(proto.Encode(parse(f)))
	f.Add(proto.EncodeSnapshot(&proto.Snapshot{Module: parse(f)}))
	for _, file := range corpus() {
		if data, err := os.ReadFile(file); err == nil && len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := proto.Decode(data)
		if err != nil {
			return
		}
		printer.String(m)
		first := proto.Encode(m)
		back, err := proto.Decode(first)
		require.NoError(t, err)
		require.Equal(t, first, proto.Encode(back))
	})
}

// TestForXLA checks what XLA insists on although nothing depends on it: data of elided constants, windows of ops that may have one.
func TestForXLA(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
plus { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }
ENTRY e { k = f32[1000] constant({...}) z = f32[] constant(0) ROOT r = f32[1000] reduce-window(k, z), to_apply=plus }`)
	require.NoError(t, err)
	data := proto.Encode(m)
	assert.Greater(t, len(data), 4000, "no data for the elided constant")
	const window = 15
	assert.Contains(t, string(data), string(protowire.AppendBytes(protowire.AppendTag(nil, window, protowire.BytesType), nil)))
	back, err := proto.Decode(data)
	require.NoError(t, err)
	k, _ := back.Entry().ByName("k")
	assert.True(t, k.Literal().IsElided())
	assert.Equal(t, text(t, m, printer.Long), text(t, back, printer.Long))
}

// TestCarriedDone has a chain that comes out of a tuple: XLA ends when it reads a done with a computation there, and the computation is kept
// where it does not look.
func TestCarriedDone(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
wrapped { ROOT w = f32[4] parameter(0) }
ENTRY e {
  p = f32[4] parameter(0)
  go = ((f32[4]), f32[4], s32[]) async-start(p), calls=wrapped
  state = (f32[4], ((f32[4]), f32[4], s32[])) tuple(p, go)
  chain = ((f32[4]), f32[4], s32[]) get-tuple-element(state), index=1
  up = ((f32[4]), f32[4], s32[]) async-update(chain), calls=wrapped
  one = f32[4] async-done(up), calls=wrapped
  other = ((f32[4]), f32[4], s32[]) get-tuple-element(state), index=1
  two = f32[4] async-done(other), calls=wrapped
  ROOT both = (f32[4], f32[4]) tuple(one, two)
}`)
	require.NoError(t, err)
	data := proto.Encode(m)
	const (
		computations, instructions, opcode, calledIDs = 3, 2, 2, 38
	)
	fields := func(b []byte, visit func(protowire.Number, []byte)) {
		for len(b) > 0 {
			number, kind, n := protowire.ConsumeTag(b)
			require.GreaterOrEqual(t, n, 0)
			b = b[n:]
			if kind == protowire.BytesType {
				value, _ := protowire.ConsumeBytes(b)
				visit(number, value)
			}
			b = b[protowire.ConsumeFieldValue(number, kind, b):]
		}
	}
	dones := 0
	fields(data, func(n protowire.Number, computation []byte) {
		if n != computations {
			return
		}
		fields(computation, func(n protowire.Number, instruction []byte) {
			if n != instructions {
				return
			}
			name, called := "", false
			fields(instruction, func(n protowire.Number, value []byte) {
				called = called || n == calledIDs
				if n == opcode {
					name = string(value)
				}
			})
			if name == "async-done" {
				dones++
				assert.False(t, called)
			}
		})
	})
	assert.Equal(t, 2, dones)
	back, err := proto.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, text(t, m, printer.Long), text(t, back, printer.Long))
}
