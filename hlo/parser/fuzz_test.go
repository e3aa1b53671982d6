package parser_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// seeds are small texts that between them use every part of the language.
var seeds = []string{
	"",
	"HloModule m",
	"HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, replica_count=2\nENTRY e {\n  p = (f32[2]{0}) parameter(0)\n  ROOT r = (f32[2]{0}) copy(p)\n}\n",
	"plus { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }\nENTRY e { x = f32[4,8] parameter(0) z = f32[] constant(0) ROOT r = f32[4] reduce(x, z), to_apply=plus, dimensions={1} }",
	"r = f32[8] add(f32[8] x, f32[8] y)",
	"f32[2] map(f32[2]), dimensions={0}, to_apply={ p = f32[] parameter(0) ROOT n = f32[] negate(p) }",
	"HloModule overlap\nENTRY main {\n  a = f32[16] parameter(0)\n  go = ((f32[16], f32[16]), f32[16], u32[]) multiply-start(a, a), async_execution_thread=\"side\"\n  ROOT out = f32[16] multiply-done(go)\n}",
	"HloModule m\nENTRY e {\n  f-go = ((), (), s32[]) dot-start(), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  l = f32[4,8] parameter(0)\n  f-l = ((f32[4,8]), (), s32[]) dot-update(f-go, l)\n  ROOT d = f32[4,8] dot-done(f-l)\n}",
	"HloModule m\nENTRY e {\n  t = (f32[2], (s32[], pred[])) parameter(0)\n  ROOT x = s32[] negate(t#1#0), metadata={op_name=\"a\\tb\" source_line=3}, backend_config={\"a\": [1, '}']}\n}",
	"HloModule m\nENTRY e {\n  ROOT c = (c64[], bf16[2], s4[0], f8e4m3fn[1,2]) constant(((1, nan(0x3)), {...}, {}, { {-inf, 3} }))\n}",
	"HloModule m\nENTRY e {\n  p = f32[8,8]{1,0:T(8,128)(2,1)E(4)S(1)} parameter(0), sharding={devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual,replicated}}, parameter_replication={true}\n  q = (f32[2]) custom-call(p), custom_call_target=\"t\", sharding={{mesh['x'=2,'y'=4], [{'x'}, {'y':(2)2, ?}], replicated={'y':(1)2}}}, origin={({\"a\" {1}})}, statistics={visualizing_index=0,nan=1.5}\n  ROOT a = f32[8,8] all-reduce(p), replica_groups=mesh['x'=2] {'x'}, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n}",
	"HloModule m\n\nFileNames\n1 \"a\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\nENTRY e {\n  ROOT p = f32[] parameter(0), metadata={stack_frame_id=1}\n}",
	"HloModule m, origin_recovery_table={\n  {\"a\"} : {\"b\" {0}},\n  \"HloModule r ENTRY e { ROOT p = f32[] parameter(0) }\"\n}, debug_attributes={ {\"a\"}:({log_mode=default,callback_id=5}) }\nENTRY e { ROOT p = f32[] parameter(0) }",
	"HloModule m\nENTRY e {\n  p = f32[1,4,4,2] parameter(0)\n  k = f32[3,3,2,2] parameter(1)\n  ROOT c = convolution(p, k), window={size=3x3 pad=1_1x1_1 rhs_dilate=1x1}, dim_labels=b01f_01io->b01f, operand_precision={high,default}\n}",
}

// FuzzParse checks that no text makes the parser panic or hang, that errors are what they should be, and that a position is in the text.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := parser.Config{MaxConstantBytes: 1 << 20, MaxDepth: 256}
		m, err := c.Parse("fuzz.hlo", text)
		if err == nil {
			require.False(t, m.IsZero())
			require.False(t, m.Entry().Root().IsZero())
			return
		}
		var list parser.ErrorList
		require.True(t, errors.As(err, &list))
		require.NotEmpty(t, list)
		for _, e := range list {
			require.Positive(t, e.Line)
			require.Positive(t, e.Col)
			require.NotEmpty(t, e.Msg)
			require.LessOrEqual(t, e.Caret, len(e.Source)+1)
		}
	})
}

// FuzzFragments checks the readers of stand-alone pieces.
func FuzzFragments(f *testing.F) {
	for _, s := range []string{
		"f32[2,<=3,?]{2,1,0:T(8,128)(2,1)L(2)#(u32)*(u16)E(4)S(1)SC(0:1,2)M(8)}", "{devices=[2,4]<=[8] shard_as 3}", "{{0,1},{2}}",
		"[2,4]<=[4,2]T(1,0)", "size=3x3 stride=2x2", "b01f_01io->b01f", "0_0_1x2_3", "{({\"a\"},{})}", "{a=\"b\",c={d}}",
		"{visualizing_index=1,x=2}", "{true,false}", "{mesh['x'=2], [{'x'}]}", "mesh['x'=2], device_ids=(1,0) {'x'}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parser.ParseShape(text)
		parser.ParseShapeList(text)
		parser.ParseLayout(text)
		parser.ParseSharding(text)
		parser.ParseReplicaGroups(text)
		parser.ParseWindow(text)
		parser.ParseConvDims(text)
		parser.ParsePadding(text)
		parser.ParseOrigin(text)
		parser.ParseFrontendAttributes(text)
		parser.ParseStatistics(text)
		parser.ParseBools(text)
	})
}
