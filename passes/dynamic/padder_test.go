package dynamic_test

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

var (
	seeds = flag.Int("seeds", 150, "random modules to pad")
	first = flag.Uint64("first", 0, "the seed of the first")
)

// TestRandomModules pads modules with arrays of dynamic size: they compute the same at sizes below the bounds, and again when simplified.
//
//	go test ./passes/dynamic -run RandomModules -seeds 10000
func TestRandomModules(t *testing.T) {
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }
	padded, cut := 0, 0
	for i := range *seeds {
		seed := *first + uint64(i)
		m, err := hlotest.Dynamic(seed, 6+int(seed%17))
		require.NoError(t, err)
		ref := shadow.NewReference(m, shadow.Config{})
		for _, text := range []string{"dynamic-padder", "fusion-inliner,async-to-sync,call-inliner,dynamic-padder", "dynamic-padder,simplify,dynamic-padder"} {
			p, err := passes.Parse(text)
			require.NoError(t, err)
			after, err := (&pass.Runner{Check: check}).Run(context.Background(), p, m)
			if err == nil {
				err = ref.Compare(context.Background(), after)
			}
			if err == nil && after != m {
				padded++
				for c := range after.Computations() {
					for in := range c.Instructions() {
						if in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).Target == "SliceToDynamic" && !in.IsRoot() {
							cut++
						}
					}
				}
			}
			if !assert.NoError(t, err, "seed %d", seed) {
				t.Fatalf("%s\nbefore:\n%s\nafter:\n%s", text, printer.String(m), printer.String(after))
			}
		}
	}
	t.Logf("%d of %d modules padded, %d arrays cut again", padded, 3**seeds, cut)
}

// TestShapeCheck: sizes that are not known to be equal are refused where that is asked for.
func TestShapeCheck(t *testing.T) {
	for size, want := range map[string]string{"p": "", "q": "the sizes of dimension 0 of its operands are not known to be equal"} {
		m, err := parser.Parse("m.hlo", "HloModule m\nENTRY e {\n  p = f32[<=4] parameter(0)\n  q = f32[<=4] parameter(1)\n  ROOT s = f32[<=4] add(p, "+size+")\n}")
		require.NoError(t, err)
		p, err := passes.Parse("dynamic-padder{shape-check-mode=compile-time}")
		require.NoError(t, err)
		if _, err = (&pass.Runner{}).Run(context.Background(), p, m); want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
}
