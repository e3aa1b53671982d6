package passes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passtest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// manualProgram has two manual computations, along different axes, whose bodies are equal and say how a value is split along a third. Parts say whether
// they come out of a tuple.
func manualProgram(name string, tuples bool) string {
	var b strings.Builder
	b.WriteString("HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=2, \"y\"=2, \"z\"=2]>}}\n")
	for _, axis := range []string{"x", "y"} {
		fmt.Fprintf(&b, "%s_%s {\n  p = f32[4,8] parameter(0)\n", name, axis)
		b.WriteString("  s = f32[4,8] sine(p), frontend_attributes={xla.sdy.sharding=\"#sdy.sharding_per_value<[<@mesh, [{}, {\\\"z\\\"}]>]>\"}\n")
		b.WriteString("  ROOT r = f32[4,8] multiply(s, p)\n}\n")
	}
	b.WriteString("ENTRY main {\n  x = f32[8,8] parameter(0)\n")
	from := "x"
	for _, axis := range []string{"x", "y"} {
		shape, part := "f32[4,8]", "l_"+axis
		if tuples {
			shape, part = "(f32[4,8])", "g_"+axis
		}
		attrs := fmt.Sprintf("_shardings=\"#sdy.sharding_per_value<[<@mesh, [{\\\"%s\\\"}, {}]>]>\",xla.sdy.manual_axes=\"#sdy<manual_axes{\\\"%[1]s\\\"}>\"}", axis)
		fmt.Fprintf(&b, "  l_%s = %s custom-call(%s), custom_call_target=\"xla.sdy.GlobalToLocalShape\", frontend_attributes={xla.sdy.in%s\n", axis, shape, from, attrs)
		if tuples {
			fmt.Fprintf(&b, "  g_%s = f32[4,8] get-tuple-element(l_%[1]s), index=0\n", axis)
		}
		fmt.Fprintf(&b, "  c_%s = f32[4,8] call(%s), to_apply=%s_%[1]s\n", axis, part, name)
		from = "o_" + axis
		root := ""
		if axis == "y" {
			root = "ROOT "
		}
		fmt.Fprintf(&b, "  %s%s = f32[8,8] custom-call(c_%s), custom_call_target=\"xla.sdy.LocalToGlobalShape\", frontend_attributes={xla.sdy.out%s\n", root, from, axis, attrs)
	}
	b.WriteString("}\n")
	return b.String()
}

// TestManualBodies holds what passes do with bodies of manual computations: what sdy-import makes of a value inside is the sharding of one device's part, by
// whatever name the body goes and whichever pass came before.
func TestManualBodies(t *testing.T) {
	for _, name := range []string{"xla.sdy.manual_computation_body", "xla.sdy.inlinable_manual_computation_body", "f"} {
		for _, tuples := range []bool{false, true} {
			m, err := parser.Parse("m", manualProgram(name, tuples))
			require.NoError(t, err)
			for _, before := range []string{"", "call-inliner,", "call-inliner{share},", "O2,", "O3,", "flatten-call-graph,", "computation-deduplicator,", "call-marker,call-inliner,"} {
				p, err := passes.Parse(before + "sdy-import")
				require.NoError(t, err)
				after := passtest.Apply(t, p, m, verifier.Config{})
				found := map[string]bool{}
				for c := range after.Computations() {
					for in := range c.Instructions() {
						if in.Opcode() == hlo.OpSine {
							require.NotNil(t, in.Common().Sharding)
							found[in.Common().Sharding.String()] = true
						}
					}
				}
				assert.Equal(t, map[string]bool{
					"{devices=[1,2,2,2]<=[4,2]T(1,0) last_tile_dims={manual, replicated}}":     true,
					"{devices=[1,2,2,2]<=[2,2,2]T(2,1,0) last_tile_dims={manual, replicated}}": true,
				}, found, "%s %v %s:\n%s", name, tuples, before, printer.String(after))
			}
		}
	}
}
