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

// module is a module of the given name: what the toy passes of these tests change.
func module(t testing.TB, name string) hlo.Module {
	b := hlo.NewBuilder(name)
	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 4))
	m, err := b.Build(b.Negate(x))
	require.NoError(t, err)
	return m
}

// rename is a pass that maps opcodes of the root: a change that hashes see.
func setRoot(name string, to map[hlo.Opcode]hlo.Opcode) *pass.Pass {
	return &pass.Pass{Name: name, Doc: "exchange the op of the root", Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		root := m.Entry().Root()
		op, ok := to[root.Opcode()]
		if !ok || !ctx.Spend(root.Opcode().String()) {
			return m, nil
		}
		e := m.Edit()
		e.Computation(m.Entry().ID()).Instr(root.ID()).SetOpcode(op)
		ctx.Count("ops", 1)
		ctx.Remark(root, "becomes %v", op)
		return e.Freeze(), nil
	}}
}

var (
	negToAbs  = setRoot("neg-to-abs", map[hlo.Opcode]hlo.Opcode{hlo.OpNegate: hlo.OpAbs})
	absToNeg  = setRoot("abs-to-neg", map[hlo.Opcode]hlo.Opcode{hlo.OpAbs: hlo.OpNegate})
	nothing   = setRoot("nothing", nil)
	panicking = &pass.Pass{Name: "panicking", Doc: "fall over", Run: func(*pass.Context, hlo.Module) (hlo.Module, error) { panic("out of cheese") }}
	failing   = &pass.Pass{Name: "failing", Doc: "refuse", Run: func(_ *pass.Context, m hlo.Module) (hlo.Module, error) { return m, errors.New("cannot") }}
	empty     = &pass.Pass{Name: "empty", Doc: "return no module", Run: func(*pass.Context, hlo.Module) (hlo.Module, error) { return hlo.Module{}, nil }}
)

func TestInstrumentsSeeEveryStep(t *testing.T) {
	var log []string
	say := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	r := &pass.Runner{
		Check: func(hlo.Module) error { say("check"); return nil },
		Instruments: []pass.Instrument{{
			Skip:   func(path string) bool { return path == "outer/abs-to-neg" },
			Before: func(path string, _ hlo.Module) { say("before %s", path) },
			After:  func(r pass.Report) { say("after %s changed=%v %v", r.Path, r.Changed(), r.Statistics) },
			Remark: func(r pass.Remark) { say("%s: %v %v %s", r.Pass, r.Kind, r.In.Opcode(), r.Text) },
		}},
	}
	p := pass.Of("outer", nothing, negToAbs, absToNeg)
	m := module(t, "m")
	after, err := r.Run(context.Background(), p, m)
	require.NoError(t, err)
	assert.Equal(t, hlo.OpAbs, after.Entry().Root().Opcode())
	assert.Equal(t, hlo.OpNegate, m.Entry().Root().Opcode(), "the input stays")
	assert.Equal(t, []string{
		"check", "before outer/nothing", "after outer/nothing changed=false map[]",
		"before outer/neg-to-abs", "neg-to-abs: analysis negate becomes abs", "after outer/neg-to-abs changed=true map[ops:1]", "check",
	}, log)
}

func TestFixpoint(t *testing.T) {
	rounds := 0
	r := &pass.Runner{Instruments: []pass.Instrument{{Unstable: func(_ string, n int, _ []pass.Report) { rounds = n }}}}
	m, err := r.Run(context.Background(), pass.Fixpoint("f", negToAbs, nothing), module(t, "m"))
	require.NoError(t, err)
	assert.Equal(t, hlo.OpAbs, m.Entry().Root().Opcode())
	assert.Zero(t, rounds, "it settled")

	// Three ops in a circle: each round makes another module, until one comes back.
	circle := setRoot("circle", map[hlo.Opcode]hlo.Opcode{hlo.OpNegate: hlo.OpAbs, hlo.OpAbs: hlo.OpSign, hlo.OpSign: hlo.OpNegate})
	_, err = r.Run(context.Background(), pass.Fixpoint("f", circle), module(t, "m"))
	require.NoError(t, err)
	assert.Equal(t, 4, rounds, "found when the first module is seen again, not at the limit")

	// A pass that names the module anew each time never repeats; the limit ends it, and says so.
	n := 0
	counting := &pass.Pass{Name: "counting", Doc: "count", Run: func(_ *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := m.Edit()
		n++
		e.Computation(m.Entry().ID()).Instr(m.Entry().Parameter(0).ID()).SetShape(hlo.MakeShape(hlo.F32, int64(n)))
		return e.Freeze(), nil
	}}
	p := pass.Fixpoint("f", counting)
	p.Limit = 7
	_, err = r.Run(context.Background(), p, module(t, "m"))
	require.NoError(t, err)
	assert.Equal(t, 7, rounds)
	assert.Equal(t, 7, n)
}

func TestFailures(t *testing.T) {
	m := module(t, "m")
	for _, c := range []struct {
		bad  *pass.Pass
		want string
	}{
		{panicking, "pass outer/panicking: panic: out of cheese"},
		{failing, "pass outer/failing: cannot"},
		{empty, "pass outer/empty: returned no module"},
	} {
		good, err := (&pass.Runner{}).Run(context.Background(), pass.Of("outer", negToAbs, c.bad), m)
		require.ErrorContains(t, err, c.want)
		var e *pass.Error
		require.ErrorAs(t, err, &e)
		assert.True(t, e.After.IsZero())
		assert.True(t, good == e.Before)
		assert.Equal(t, hlo.OpAbs, good.Entry().Root().Opcode(), "the last good module comes with the error")
	}
	refuse := &pass.Runner{Check: func(m hlo.Module) error {
		if m.Entry().Root().Opcode() == hlo.OpAbs {
			return errors.New("no abs here")
		}
		return nil
	}}
	good, err := refuse.Run(context.Background(), pass.Of("", negToAbs), m)
	require.EqualError(t, err, "after pass neg-to-abs: no abs here")
	assert.True(t, good == m)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = (&pass.Runner{}).Run(ctx, pass.Of("", negToAbs), m)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestFuel(t *testing.T) {
	m := module(t, "m")
	for _, c := range []struct {
		fuel map[string]int
		runs bool
	}{
		{nil, true},
		{map[string]int{"neg-to-abs": 1}, true},
		{map[string]int{"neg-to-abs": 0}, false},
		{map[string]int{"neg-to-abs.negate": 0}, false},
		{map[string]int{"neg-to-abs.other": 0}, true},
	} {
		after, err := (&pass.Runner{Fuel: c.fuel}).Run(context.Background(), pass.Of("", negToAbs), m)
		require.NoError(t, err)
		assert.Equal(t, c.runs, after != m, "%v", c.fuel)
	}
}
