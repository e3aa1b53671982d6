package dynamic_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestChecked runs random programs on sizes that do not agree with each other, and sets some sizes that do not fit: a program that was written with checks
// has the results of the one that it was, to the bit, and an error where that has one.
//
//	go test ./passes/dynamic -run Checked -seeds 10000
func TestChecked(t *testing.T) {
	live, err := passes.Parse("call-inliner,dce")
	require.NoError(t, err)
	p, err := passes.Parse("dynamic-padder{checked=true}")
	require.NoError(t, err)
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }
	padded, refused, ran := 0, 0, 0
	for i := range *seeds {
		seed := *first + uint64(i)
		m, err := hlotest.Dynamic(seed, 1+int(seed%9))
		require.NoError(t, err)
		m = withWrongSizes(m, rand.New(rand.NewPCG(seed, 7)))
		m, err = (&pass.Runner{}).Run(t.Context(), live, m)
		require.NoError(t, err)
		after, err := (&pass.Runner{Check: check}).Run(t.Context(), p, m)
		require.NoError(t, err, "seed %d", seed)
		if !strings.Contains(printer.String(after), "kind=kCustom") {
			continue
		}
		padded++
		for round := range uint64(6) {
			args, err := unlikeSizes(m, seed+round)
			require.NoError(t, err)
			want, wrong := eval.Module(context.Background(), m, args, eval.Options{})
			got, err := eval.Module(context.Background(), after, args, eval.Options{})
			same := (err == nil) == (wrong == nil)
			if wrong != nil {
				refused++
			} else if same {
				ran++
				same = slices.EqualFunc(got.Leaves(), want.Leaves(), func(x, y *hlo.Literal) bool {
					return x.Shape().Compatible(y.Shape()) && string(x.Bytes()) == string(y.Bytes())
				})
			}
			if !assert.True(t, same, "seed %d, round %d: %v, want %v", seed, round, err, wrong) {
				t.Fatalf("before:\n%s\nafter:\n%s\n%v\n%v", printer.String(m), printer.String(after), got, want)
			}
		}
	}
	assert.Positive(t, padded)
	assert.Positive(t, refused)
	assert.Positive(t, ran)
	t.Logf("%d of %d modules padded: %d runs, %d errors", padded, *seeds, ran, refused)
}

// withWrongSizes adds to sizes that are set.
func withWrongSizes(m hlo.Module, r *rand.Rand) hlo.Module {
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	for in := range m.Entry().PostOrder() {
		if in.Opcode() == hlo.OpSetDimensionSize && r.IntN(3) == 0 {
			at := emit.Before(c, in)
			c.Instr(in.ID()).SetOperand(1, at.Binary(hlo.OpAdd, in.Operand(1), at.Int(hlo.S32, int64(r.IntN(5)-2))))
		}
	}
	return e.Freeze()
}

// unlikeSizes are arguments of which each has a size of its own, most of the time.
func unlikeSizes(m hlo.Module, seed uint64) (args []*hlo.Literal, err error) {
	for i := range m.Entry().NumParameters() {
		all, err := shadow.Inputs(m, arrays.Random, seed+uint64(i)*(seed>>1&1))
		if err != nil {
			return nil, err
		}
		args = append(args, all[i])
	}
	return args, nil
}
