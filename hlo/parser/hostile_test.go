package parser_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// bounded parses a text and fails when that allocates more than perByte bytes for each byte of it, or an error is as long as the text.
func bounded(t *testing.T, text string, perByte uint64) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := parser.Parse("hostile.hlo", text)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, perByte*uint64(len(text))+4<<20)
	if err != nil {
		assert.Less(t, len(err.Error()), 200000)
	}
	return err
}

func inEntry(rest string) string {
	return "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  " + rest + "\n}\n"
}

// TestMillionDeep nests a million deep whatever can nest.
func TestMillionDeep(t *testing.T) {
	const n = 1000000
	nest := func(open, core, close string) string {
		return strings.Repeat(open, n) + core + strings.Repeat(close, n)
	}
	for name, text := range map[string]string{
		"operands":     inEntry("ROOT r = f32[] " + nest("negate(", "a", ")")),
		"shape":        inEntry("ROOT r = " + nest("(", "f32[]", ")") + " parameter(1)"),
		"open shape":   inEntry("ROOT r = " + strings.Repeat("(", n)),
		"literal":      inEntry("ROOT r = f32[2] constant(" + nest("{", "1", "}") + ")"),
		"tuple":        inEntry("ROOT r = " + nest("(", "f32[]", ")") + " constant(" + nest("(", "1", ")") + ")"),
		"computations": inEntry("ROOT r = " + nest("f32[] call(), to_apply={ r = ", "f32[] constant(1)", " }")),
		"origin":       inEntry("ROOT r = f32[] negate(a), origin={" + nest("(", "{}", ")") + "}"),
		"sharding":     inEntry("ROOT r = f32[] negate(a), sharding=" + nest("{", "", "}")),
		"backend":      inEntry("ROOT r = f32[] negate(a), backend_config=" + nest("{", "", "}")),
		"frontend":     inEntry("ROOT r = f32[] negate(a), frontend_attributes={a=" + nest("{", "", "}") + "}"),
		"unknown":      inEntry("ROOT r = f32[] negate(a), b=" + nest("{", "", "}")),
		"header":       "HloModule m, entry_computation_layout={(" + nest("(", "f32[]", ")") + ")->f32[]}\nENTRY e { ROOT a = f32[] parameter(0) }",
		"bodies":       strings.Repeat("e {", n),
	} {
		t.Run(name, func(t *testing.T) {
			err := bounded(t, text, 60)
			switch name {
			case "backend", "frontend": // text that nobody looks into
				assert.NoError(t, err)
			default:
				assert.Error(t, err)
			}
		})
	}
}

// TestHugeShapes has shapes of 2^60 elements and more in every place that could count them out.
func TestHugeShapes(t *testing.T) {
	const huge, side = "1152921504606846976", "1073741824"
	for name, c := range map[string]struct{ rest, want string }{
		"parameter":    {"ROOT r = f32[" + huge + "] parameter(1)", ""},
		"overflow":     {"ROOT r = f32[" + huge + "," + huge + "," + huge + "] parameter(1)", ""},
		"elided":       {"ROOT r = f32[" + side + "," + side + "] constant({...})", ""},
		"zero":         {"ROOT r = f32[" + side + "," + side + "] constant(0)", "too large"},
		"short":        {"ROOT r = f32[" + huge + "] constant({1, 2})", "expects 1152921504606846976 elements"},
		"short rows":   {"ROOT r = f32[" + side + "," + side + "] constant({{1}})", "expects 1073741824 elements"},
		"custom":       {`ROOT r = f32[] custom-call(), custom_call_target="t", literal=f32[` + huge + "]{0} {1}", "expects"},
		"broadcast":    {"ROOT r = f32[" + huge + "] broadcast(a), dimensions={}", ""},
		"inferred":     {"b = f32[" + side + "] broadcast(a), dimensions={} ROOT r = concatenate(b, b), dimensions={0}", ""},
		"reshape":      {"b = f32[" + side + "," + side + "] broadcast(a), dimensions={} ROOT r = f32[" + huge + "] reshape(b)", ""},
		"rank":         {"ROOT r = f32[" + strings.Repeat("1,", 100000) + "1] parameter(1)", ""},
		"number":       {"ROOT r = f32[] parameter(" + huge + ")", "out of range"},
		"size":         {"ROOT r = f32[99999999999999999999] parameter(1)", "64 bits"},
		"iota groups":  {"ROOT r = f32[] all-reduce(a), replica_groups=[" + side + ",1]<=[" + side + "], to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = add(x, y) }", ""},
		"iota":         {"ROOT r = f32[] negate(a), sharding={devices=[" + side + "]<=[" + side + "]}", ""},
		"replicated":   {"ROOT r = f32[] negate(a), sharding={devices=[32768,32768]<=[32768,32768]T(1,0) last_tile_dim_replicate}", ""},
		"subgroups":    {"ROOT r = f32[] negate(a), sharding={devices=[32768,2,16384]<=[16384,2,32768]T(2,1,0) last_tile_dims={replicated,manual}}", "too large"},
		"mesh":         {"ROOT r = f32[] negate(a), sharding={mesh['x'=" + side + ",'y'=" + side + "], []}", ""},
		"mesh ids":     {"ROOT r = f32[] negate(a), sharding={mesh['x'=32768,'y'=32768], device_ids=([32768,32768]T(1,0)), []}", ""},
		"element":      {"t = (f32[]) tuple(a) ROOT r = f32[] negate(t#" + huge + ")", "out of bounds"},
		"replication":  {"ROOT r = (f32[], f32[]) parameter(1), parameter_replication={true}", "leaf buffers"},
		"wide pattern": {"ROOT r = f32[] reduce-window(a, a), window={size=" + strings.Repeat("1x", 50000) + "1}, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = add(x, y) }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := bounded(t, inEntry(c.rest), 400)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}

// TestOneLine reads modules of some megabytes in one line: of many instructions, of one string, of one literal, of one mistake.
func TestOneLine(t *testing.T) {
	const n = 40000
	wide := strings.Repeat("0,", 40*n)
	for name, c := range map[string]struct{ text, want string }{
		"instructions": {inEntry(strings.Repeat(`b = f32[] negate(a), metadata={op_name="x"} `, 1) + numbered(n, "c", `f32[] negate(a), metadata={op_name="x"}`) + "ROOT r = f32[] negate(a)"), ""},
		"computations": {"HloModule m " + numbered(n, "f", "") + "ENTRY e { ROOT a = f32[] parameter(0) }", ""},
		"string":       {inEntry(`ROOT r = f32[] negate(a), metadata={op_name="` + strings.Repeat("x y ", 20*n) + `"}`), ""},
		"literal":      {inEntry("ROOT r = s8[" + "1600000] constant({" + wide[:len(wide)-1] + "})"), ""},
		"open string":  {inEntry(`ROOT r = f32[] negate(a), metadata={op_name="` + strings.Repeat("x y ", 20*n)), "string does not end"},
		"words":        {strings.Repeat("word ", 20*n), "expects"},
		"commas":       {inEntry("ROOT r = f32[] negate(a" + strings.Repeat(",", 20*n) + ")"), "expects an operand"},
		"faults":       {inEntry(numbered(n, "b", "f32[] negate(q)")), "instruction does not exist"},
		"attributes":   {inEntry("ROOT r = f32[] negate(a)" + strings.Repeat(", x=1", 20*n)), "unexpected attribute"},
		"quotes":       {inEntry(`ROOT r = f32[] custom-call(), custom_call_target="` + strings.Repeat(`\"`, 20*n) + `"`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.text
			if !strings.Contains(name, "open") {
				text = strings.ReplaceAll(text, "\n", " ")
			}
			err := bounded(t, text, 400)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}

// numbered is n definitions of what rest says, or n computations when it says nothing.
func numbered(n int, name, rest string) string {
	var b strings.Builder
	digits := []byte("000000")
	for range n {
		b.WriteString(name)
		b.Write(digits)
		if rest == "" {
			b.WriteString(" { ROOT a = f32[] parameter(0) } ")
		} else {
			b.WriteString(" = " + rest + " ")
		}
		for i := len(digits) - 1; ; i-- {
			if digits[i]++; digits[i] <= '9' {
				break
			}
			digits[i] = '0'
		}
	}
	return b.String()
}
