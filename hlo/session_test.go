package hlo

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sessionEdits concern the whole module, or end the session and begin another one.
var sessionEdits = []func(s *script){
	func(s *script) { // new computation
		if len(s.o.comps) > 4 {
			return
		}
		b := s.e.NewComputation("c")
		n := &oracleComp{instrs: make(map[InstrID]*oracleInstr)}
		var last []InstrID
		for range 1 + s.pick("length", 40) {
			in := &oracleInstr{op: OpAbs, size: 1, operands: last}
			id := b.Append(InstrSpec{Opcode: OpAbs, Shape: shapeOfSize(1), Operands: last})
			n.instrs[id], n.order, n.next, n.root = in, append(n.order, id), id+1, id
			last = []InstrID{id}
		}
		for _, id := range n.order {
			n.instrs[id].name = s.o.names.unique("abs")
		}
		n.name = s.o.cnames.unique("c")
		require.Equal(s.t, CompID(len(s.o.comps)), b.Finish(NoInstr))
		s.o.comps = append(s.o.comps, n)
	},
	func(s *script) { // remove a computation
		c, _ := s.comp()
		live, called := 0, false
		for _, x := range s.o.comps {
			if x == nil {
				continue
			}
			live++
			for _, in := range x.instrs {
				called = called || slices.Contains(in.callees, c.ID())
			}
		}
		if live == 1 {
			return
		}
		id := c.ID()
		if called {
			require.Panics(s.t, func() { s.e.RemoveComputation(id) })
			return
		}
		s.e.RemoveComputation(id)
		s.o.comps[id] = nil
		require.Panics(s.t, func() { c.SetRoot(0) })
	},
	func(s *script) { // rollback
		v := s.versions[s.pick("version", len(s.versions))]
		s.e.Rollback(v.m)
		require.False(s.t, s.e.Changed(v.m))
		s.o = v.o.clone()
	},
	func(s *script) { // next session
		m := s.e.Freeze()
		if s.pick("look", 2) == 1 { // looking fills caches, which editing then builds on
			s.o.compare(s.t, m)
		}
		s.e = m.Edit()
	},
	func(s *script) { // did anything change?
		v := s.versions[s.pick("version", len(s.versions))]
		m := s.e.FreezeUnlessEqual(v.m)
		require.Equal(s.t, m == v.m, m.Digest() == v.m.Digest())
		s.o.compare(s.t, m)
		if m == v.m {
			s.o = v.o.clone() // ids and names that were given and taken back are free again
		}
		s.e = m.Edit()
	},
	func(s *script) { // a session beside the others
		if len(s.sessions) < 3 {
			v := s.versions[s.pick("version", len(s.versions))]
			s.sessions = append(s.sessions, &script{world: s.world, e: v.m.Edit(), o: v.o.clone(), lent: NoComp})
		}
	},
	func(s *script) { // handed on by moves
		o := s.e.Own().Move()
		copies := o.Stats().Copies()
		o = o.Move().Edit(func(e *Editor) {
			s.e = e
			for range s.pick("edits", 4) {
				s.localStep(s.pick("edit", len(localEdits)))
			}
		})
		require.GreaterOrEqual(s.t, o.Stats().Copies(), copies)
		s.e = o.Share().Edit()
	},
	(*script).fork,
}

// fork lets sessions of their own edit some computations, and joins some of them in some order.
func (s *script) fork() {
	ids := rapid.Permutation(s.o.live()).Draw(s.t, "lent")
	ids = ids[:1+s.pick("forks", len(ids))]
	children := make([]*script, len(ids))
	for i, e := range s.e.Fork(ids...) {
		children[i] = &script{world: s.world, e: e, o: s.o.clone(), lent: ids[i]}
	}
	for range s.pick("edits", 12) {
		children[s.pick("fork", len(children))].localStep(s.pick("edit", len(localEdits)))
	}
	children = rapid.Permutation(children).Draw(s.t, "joined")
	children = children[:s.pick("joins", len(children)+1)]
	var joined []*Editor
	for _, c := range children {
		joined = append(joined, c.e)
		s.o.join(c.o, c.lent)
	}
	require.NoError(s.t, s.e.Join(joined...))
}

// join takes over computation id from a fork. What got a name there gets it here, if it is still free.
func (o *oracleModule) join(fork *oracleModule, id CompID) {
	c, base := fork.comps[id], o.comps[id]
	for in := range c.next {
		n := c.instrs[in]
		if n == nil {
			continue
		}
		if old := base.instrs[in]; old == nil || old.name != n.name {
			n.name = o.names.unique(n.name)
		}
	}
	o.comps[id] = c
}
