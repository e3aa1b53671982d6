package pass_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// negations is a module of n negations in a row.
func negations(t testing.TB, n int) hlo.Module {
	b := hlo.NewBuilder("negations")
	v := b.Parameter("x", hlo.MakeShape(hlo.F32, 4))
	for range n {
		v = b.Negate(v)
	}
	m, err := b.Build(v)
	require.NoError(t, err)
	return m
}

// config is a pass that writes its number into every instruction.
func config(k int, lent bool) *pass.Pass {
	name := fmt.Sprintf("config-%d", k)
	var value any = name // made once, so that benchmarks do not measure it
	return &pass.Pass{Name: name, Doc: "write", Lent: lent, Local: func(_ *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		ids := make([]hlo.InstrID, 0, c.View().NumInstructions())
		for in := range c.View().Instructions() {
			ids = append(ids, in.ID())
		}
		for _, id := range ids {
			c.Instr(id).SetAttr(hlo.KeyBackendConfig, value)
		}
		return nil
	}}
}

// ask is a pass that looks at what the session of a chain has copied.
func ask(to *hlo.CopyStats) *pass.Pass {
	return &pass.Pass{Name: "ask", Doc: "count", Own: func(_ *pass.Context, o hlo.Owned[hlo.Module]) (hlo.Owned[hlo.Module], error) {
		*to = o.Stats()
		return o.Move(), nil
	}}
}

// TestChainCopiesOnce: eight passes that write to every instruction copy each once, not each once a pass, unless somebody looks.
func TestChainCopiesOnce(t *testing.T) {
	const n, passes = 2000, 8
	m := negations(t, n)
	count := func(lent bool, r *pass.Runner) (copied hlo.CopyStats, after hlo.Module) {
		p := pass.Of("")
		for k := range passes {
			p.Then(pass.Of("", config(k, lent)))
		}
		p.Then(pass.Of("", ask(&copied)))
		after, err := r.Run(t.Context(), p, m)
		require.NoError(t, err)
		return copied, after
	}
	once, owned := count(true, &pass.Runner{})
	assert.Equal(t, n+1, once.Instructions)
	assert.Equal(t, 1, once.Computations)
	assert.Equal(t, 1, once.Modules)
	assert.Equal(t, (n+1+31)/32, once.Leaves)
	assert.Equal(t, 1, once.AttrSets, "the parameter's; the others had none")

	// An instrument holds every version, as it was.
	sum := 0
	var versions []hlo.Module
	looks := &pass.Runner{Instruments: []pass.Instrument{{After: func(rep pass.Report) {
		sum += rep.Copied.Instructions
		versions = append(versions, rep.After)
	}}}}
	_, seen := count(true, looks)
	assert.Equal(t, passes*(n+1), sum)
	assert.Equal(t, seen.Digest(), owned.Digest())
	for k, v := range versions[:passes] {
		got, _ := v.Entry().Root().Attr(hlo.KeyBackendConfig)
		assert.Equal(t, fmt.Sprintf("config-%d", k), got)
	}

	// Passes that read a version while they edit get one, and end the chain.
	_, plain := count(false, &pass.Runner{})
	assert.Equal(t, seen.Digest(), plain.Digest())
	_, had := m.Entry().Root().Attr(hlo.KeyBackendConfig)
	assert.False(t, had, "the input stays")
}

// TestFixpointOwns: rounds of a fixpoint are a chain too, and it settles.
func TestFixpointOwns(t *testing.T) {
	m := negations(t, 100)
	var copied hlo.CopyStats
	rounds := 0
	first := &pass.Pass{Name: "first", Doc: "count rounds", Lent: true, Local: func(_ *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		if rounds++; rounds < 4 {
			c.Instr(c.Root()).SetAttr(hlo.KeyBackendConfig, fmt.Sprint(rounds))
		}
		return nil
	}}
	after, err := (&pass.Runner{}).Run(t.Context(), pass.Of("").Then(pass.Fixpoint("f", first, config(7, true))).Then(pass.Of("", ask(&copied))), m)
	require.NoError(t, err)
	assert.Equal(t, 4, rounds)
	assert.Equal(t, 101, copied.Instructions)
	got, _ := after.Entry().Root().Attr(hlo.KeyBackendConfig)
	assert.Equal(t, "config-7", got)
}

// TestChainFails: the module that a pass of a chain was given is known when it fails, though nobody looked before.
func TestChainFails(t *testing.T) {
	m := negations(t, 3)
	broken := func(fail func() error) *pass.Pass {
		return &pass.Pass{Name: "broken", Doc: "fail in the middle", Lent: true, Local: func(_ *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
			c.Instr(c.Root()).SetAttr(hlo.KeyBackendConfig, "half done")
			return fail()
		}}
	}
	for want, fail := range map[string]func() error{
		"cannot":               func() error { return errors.New("cannot") },
		"panic: out of cheese": func() error { panic("out of cheese") },
	} {
		good, err := (&pass.Runner{}).Run(context.Background(), pass.Of("", config(1, true), config(2, true), broken(fail)), m)
		require.ErrorContains(t, err, "pass broken: "+want)
		var e *pass.Error
		require.ErrorAs(t, err, &e)
		assert.True(t, good == e.Before)
		got, _ := good.Entry().Root().Attr(hlo.KeyBackendConfig)
		assert.Equal(t, "config-2", got)
	}

	// A pass that holds on to a view though it says that it does not is run on a version instead.
	holds := &pass.Pass{Name: "holds", Doc: "read what it has edited", Lent: true, Local: func(_ *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			c.Instr(in.ID()).SetAttr(hlo.KeyBackendConfig, in.Opcode().String())
		}
		return nil
	}}
	after, err := (&pass.Runner{}).Run(t.Context(), pass.Of("", config(1, true), holds), m)
	require.NoError(t, err)
	got, _ := after.Entry().Root().Attr(hlo.KeyBackendConfig)
	assert.Equal(t, "negate", got)
}

// BenchmarkChain is eight passes over 50,000 instructions: owned by passes that read what they edit anew, and by passes that read it as it was; and looked at.
func BenchmarkChain(b *testing.B) {
	m := negations(b, 50_000)
	look := []pass.Instrument{{After: func(pass.Report) {}}}
	for _, run := range []struct {
		name        string
		lent        bool
		instruments []pass.Instrument
	}{{"owned", true, nil}, {"kept", false, nil}, {"looked", false, look}} {
		p := pass.Of("")
		for k := range 8 {
			p.Then(pass.Of("", config(k, run.lent)))
		}
		b.Run(run.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (&pass.Runner{Instruments: run.instruments}).Run(b.Context(), p, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
