package hlo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seen is a handle to an instruction, and what it said.
type seen struct {
	in   Instruction
	says string
}

// saying is all that an instruction says, but for what only orders say.
func saying(in Instruction) string {
	return fmt.Sprint(in.Name(), in.Opcode(), in.Shape(), in.IsRoot(), slices.Collect(in.OperandIDs()), slices.Collect(in.ControlPredecessors()), slices.Collect(in.Callees()),
		in.Attrs(), in.Common())
}

// looked is what can be seen of a computation, through handles that were taken at once.
type looked struct {
	c            Computation
	handles      []seen
	users, order string
}

func lookAt(c Computation) *looked {
	l := &looked{c: c}
	for in := range c.Instructions() {
		l.handles = append(l.handles, seen{in, saying(in)})
	}
	l.users, l.order = usersOf(c), ordersOf(c)
	return l
}

func usersOf(c Computation) string {
	s := ""
	for in := range c.Instructions() {
		s += fmt.Sprint(in.ID(), slices.Collect(c.Users(in.ID())), in.UserCount(), slices.Collect(c.ControlSuccessors(in.ID())), ";")
	}
	return s
}

func ordersOf(c Computation) string {
	s := fmt.Sprint(c.Root().ID(), c.NumInstructions(), c.Parameters(), c.Name(), ":")
	var last Instruction
	for in := range c.PostOrder() {
		s += fmt.Sprint(in.ID(), " ")
		last = in
	}
	for in := range c.Instructions() {
		s += fmt.Sprint(in.ID(), c.Less(in.ID(), last.ID()), " ")
	}
	return s
}

// same demands that all is as it was. What was not asked for before is asked for now, if late.
func (l *looked) same(t require.TestingT) {
	for _, h := range l.handles {
		require.Equal(t, h.says, saying(h.in), "through a handle from before")
		now := l.c.MustAt(h.in.ID())
		require.Equal(t, h.says, saying(now), "through the computation")
		require.True(t, now == h.in, "handles stay equal")
	}
	require.Equal(t, l.users, usersOf(l.c))
	require.Equal(t, l.order, ordersOf(l.c))
}

// scribble edits a computation at random.
func scribble(r *rand.Rand, c CompEdit) {
	ids := []InstrID{}
	for in := range c.View().Instructions() {
		ids = append(ids, in.ID())
	}
	for range 1 + r.IntN(6) {
		at := ids[r.IntN(len(ids))]
		if !c.Has(at) || at == ids[0] { // no instruction uses itself
			continue
		}
		i := c.Instr(at)
		switch r.IntN(10) {
		case 0:
			i.SetShape(MakeShape(F32, int64(r.IntN(9))))
		case 1:
			if i.NumOperands() > 0 {
				i.SetOperand(r.IntN(i.NumOperands()), ids[0])
			}
		case 2:
			i.SetAttr(KeyBackendConfig, fmt.Sprint(r.IntN(9)))
		case 3:
			i.AddControlPredecessor(ids[0])
		case 4:
			n := c.InsertBefore(at, OpAbs, f32, ids[0]).ID()
			c.ReplaceAllUses(at, n)
		case 5:
			n := c.Add(OpAdd, f32, at, at).ID()
			c.Forward(at, n)
		case 6:
			_ = c.Remove(at)
		case 7:
			for range 6 {
				i.AppendOperand(ids[0])
			}
		case 8:
			for range 40 { // until ranks are dealt anew
				c.InsertBefore(at, OpAbs, f32, ids[0])
			}
		case 9:
			c.SetRoot(at)
		}
	}
}

// TestRewriteKeepsWhatIsRead: within Rewrite everything that was read before the first edit reads the same afterwards, whether or not it was asked for before; what is
// made is what sessions make that copy; and no instruction is copied twice.
func TestRewriteKeepsWhatIsRead(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := chainModule(t, 5+r.IntN(80))
		id, n := m.Entry().ID(), m.NumInstructions()
		o, plain := Own(m), m
		before := m.Digest()
		for range 6 {
			script, reader := r.Uint64(), r.IntN(4)
			apart := func(e *Editor) {
				was := e.ViewModule()
				var l *looked
				late := was.Entry() // nothing is asked of it before it is edited
				handles := slices.Collect(late.Instructions())
				if reader > 0 {
					l = lookAt(was.Entry())
				}
				text := make([]string, len(handles))
				for i, in := range plain.MustComputation(id).byPlace() {
					text[i] = saying(in)
				}
				c := e.Computation(id)
				for step := range 4 {
					scribble(rand.New(rand.NewPCG(script, uint64(step))), c)
					if l != nil {
						l.same(t)
					}
				}
				for i, in := range handles {
					require.Equal(t, text[i], saying(in))
				}
				require.Equal(t, usersOf(plain.MustComputation(id)), usersOf(late))
				require.Equal(t, ordersOf(plain.MustComputation(id)), ordersOf(late))
				require.Equal(t, plain.Hash(), was.Hash())
				require.Equal(t, plain.Digest(), was.Digest())
			}
			if reader == 3 {
				o = o.Edit(func(e *Editor) {
					for step := range 4 {
						scribble(rand.New(rand.NewPCG(script, uint64(step))), e.Computation(id))
					}
				})
			} else {
				o = o.Rewrite(apart)
			}
			e := plain.Edit()
			for step := range 4 {
				scribble(rand.New(rand.NewPCG(script, uint64(step))), e.Computation(id))
			}
			plain = e.Freeze()
			o = o.Edit(func(e *Editor) {
				require.Equal(t, plain.Digest(), e.ViewModule().Digest(), "seed %d", seed)
				require.NoError(t, e.ViewModule().Recheck())
			})
		}
		require.LessOrEqual(t, o.Stats().Instructions, n, "seed %d", seed)
		made := o.Share()
		require.Equal(t, plain.Digest(), made.Digest())
		require.NoError(t, made.Recheck())
		require.Equal(t, before, m.Digest())
	}
}

// byPlace is the instructions in program order.
func (c Computation) byPlace() []Instruction { return slices.Collect(c.Instructions()) }

// TestRewriteEnds: what was read dies with the edit, if it was edited, and with the first Freeze.
func TestRewriteEnds(t *testing.T) {
	m := chainModule(t, 3)
	id := m.Entry().ID()
	touch := func(e *Editor, s int64) { e.Computation(id).Instr(1).SetShape(MakeShape(F32, s)) }
	o := Own(m).Edit(func(e *Editor) { touch(e, 8) })
	var was Module
	o = o.Rewrite(func(e *Editor) {
		was = e.ViewModule()
		in := was.Entry().MustAt(1)
		touch(e, 9)
		assert.Equal(t, MakeShape(F32, 8), in.Shape())
		second := e.Freeze()
		assert.Panics(t, func() { in.Shape() })
		assert.Panics(t, func() { was.Entry().Name() })
		touch(e, 10)
		assert.Equal(t, MakeShape(F32, 9), second.Entry().MustAt(1).Shape())
		was = second
	})
	assert.Panics(t, func() { was.Entry().Name() })
	assert.Equal(t, 1, o.Stats().Instructions)
	assert.Equal(t, MakeShape(F32, 10), o.Share().Entry().MustAt(1).Shape())
}

// TestRewriteAndPublish: what a snapshot or a fork has shown is not written to any more.
func TestRewriteAndPublish(t *testing.T) {
	m := chainModule(t, 40)
	id := m.Entry().ID()
	touch := func(e *Editor, s int64) {
		for i := range InstrID(30) {
			e.Computation(id).Instr(i).SetShape(MakeShape(F32, s))
		}
	}
	o := Own(m).Edit(func(e *Editor) { touch(e, 7) })
	var shown, base Module
	o = o.Rewrite(func(e *Editor) { touch(e, 8); shown = e.Snapshot(); touch(e, 9) })
	o = o.Rewrite(func(e *Editor) { touch(e, 10) })
	o = o.Rewrite(func(e *Editor) {
		touch(e, 11)
		f := e.Fork(id)
		base = f[0].Base()
		f[0].Computation(id).Instr(1).SetShape(MakeShape(F32, 12))
		assert.NoError(t, e.Join(f...))
	})
	o = o.Rewrite(func(e *Editor) { touch(e, 13) })
	assert.Equal(t, MakeShape(F32, 8), shown.Entry().MustAt(1).Shape())
	assert.Equal(t, MakeShape(F32, 11), base.Entry().MustAt(1).Shape())
	assert.Equal(t, MakeShape(F32, 13), o.Share().Entry().MustAt(1).Shape())
}

// TestTryOnView: a session on a view makes versions that share nodes with the one that is lent. What is asked of them takes none of these nodes away from it.
func TestTryOnView(t *testing.T) {
	m := chainModule(t, 40)
	id := m.Entry().ID()
	touch := func(e *Editor, s int64) {
		for i := range InstrID(40) {
			e.Computation(id).Instr(i).SetShape(MakeShape(F32, s))
		}
	}
	ask := func(m Module) {
		m.Hash()
		m.Digest()
		for in := range m.Entry().Instructions() {
			in.LocalHash()
		}
	}
	o := Own(m).Edit(func(e *Editor) { touch(e, 7) })
	o = o.Rewrite(func(e *Editor) {
		try := e.ViewModule().Edit()
		try.Computation(id).Instr(3).SetShape(MakeShape(F32, 1))
		ask(try.ViewModule())
		tried := try.Freeze()
		ask(tried)
		try = tried.Edit()
		try.Computation(id).Instr(4).SetShape(MakeShape(F32, 2))
		try.Computation(id).SetName("tried")
		ask(try.Freeze())
		touch(e, 8)
	})
	assert.Equal(t, 40, o.Stats().Instructions)
	made := o.Share()
	assert.NoError(t, made.Recheck())
	for in := range made.Entry().Instructions() {
		assert.Equal(t, "f32[8]", in.Shape().String())
	}
}
