package hlo

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The oracle is the simplest thing that can be edited: maps and slices, cloned whole for every version.
type oracleModule struct {
	comps  []*oracleComp // by id; nil: removed
	names  oracleNames
	cnames oracleNames
}

type oracleComp struct {
	name      string
	instrs    map[InstrID]*oracleInstr
	order     []InstrID
	root      InstrID
	next      InstrID
	scheduled bool
}

type oracleInstr struct {
	op       Opcode
	name     string
	size     int64 // of the only dimension of the shape
	operands []InstrID
	control  []InstrID
	callees  []CompID
	config   string
	number   int64
}

func (o *oracleModule) clone() *oracleModule {
	c := &oracleModule{names: o.names.clone(), cnames: o.cnames.clone()}
	for _, x := range o.comps {
		if x == nil {
			c.comps = append(c.comps, nil)
			continue
		}
		y := &oracleComp{name: x.name, instrs: make(map[InstrID]*oracleInstr), order: slices.Clone(x.order), root: x.root, next: x.next, scheduled: x.scheduled}
		for id, in := range x.instrs {
			d := *in
			d.operands, d.control, d.callees = slices.Clone(in.operands), slices.Clone(in.control), slices.Clone(in.callees)
			y.instrs[id] = &d
		}
		c.comps = append(c.comps, y)
	}
	return c
}

// oracleNames is hlo-text section 10.2 word by word.
type oracleNames struct {
	used map[string]map[int64]bool
	next map[string]int64
}

func (n oracleNames) clone() oracleNames {
	c := oracleNames{make(map[string]map[int64]bool), maps.Clone(n.next)}
	for k, v := range n.used {
		c.used[k] = maps.Clone(v)
	}
	return c
}

func (n oracleNames) unique(name string) string {
	root, num, suffixed := name, int64(0), false
	if i := strings.LastIndex(name, "."); i > 0 && i < len(name)-1 {
		if v, err := strconv.ParseInt(name[i+1:], 10, 64); err == nil {
			root, num, suffixed = name[:i], v, true
		}
	}
	if n.used[root] == nil {
		n.used[root] = make(map[int64]bool)
	}
	if n.used[root][num] {
		for n.used[root][n.next[root]] {
			n.next[root]++
		}
		num = n.next[root]
		n.next[root]++
	}
	n.used[root][num] = true
	switch {
	case num != 0:
		return root + "." + strconv.FormatInt(num, 10)
	case suffixed:
		return root + ".0"
	}
	return root
}

func (c *oracleComp) users(id InstrID) []InstrID {
	return c.naming(func(in *oracleInstr) []InstrID { return in.operands }, id)
}

func (c *oracleComp) successors(id InstrID) []InstrID {
	return c.naming(func(in *oracleInstr) []InstrID { return in.control }, id)
}

func (c *oracleComp) naming(edges func(*oracleInstr) []InstrID, id InstrID) []InstrID {
	var l []InstrID
	for u, in := range c.instrs {
		if slices.Contains(edges(in), id) {
			l = append(l, u)
		}
	}
	slices.Sort(l)
	return l
}

func (c *oracleComp) params() []InstrID {
	var l []InstrID
	for id, in := range c.instrs {
		if in.op == OpParameter {
			l = append(l, id)
		}
	}
	sort.Slice(l, func(i, j int) bool {
		x, y := c.instrs[l[i]].number, c.instrs[l[j]].number
		return x < y || x == y && l[i] < l[j]
	})
	return l
}

func shapeOfSize(n int64) Shape { return MakeShape(F32, n) }

// compare demands that c be what the oracle says, in every way a reader can look.
func (o *oracleComp) compare(t require.TestingT, c Computation) {
	require.Equal(t, o.name, c.Name())
	require.Equal(t, len(o.instrs), c.NumInstructions())
	require.Equal(t, o.scheduled, c.IsScheduled())
	require.Equal(t, o.next, c.IDLimit())
	order := []InstrID{}
	for in := range c.Instructions() {
		order = append(order, in.ID())
	}
	require.Equal(t, append([]InstrID{}, o.order...), order)
	if o.scheduled {
		require.Equal(t, order, append([]InstrID{}, c.Schedule()...))
	}
	require.Equal(t, append([]InstrID(nil), o.params()...), append([]InstrID(nil), c.Parameters()...))
	if o.root != NoInstr {
		require.Equal(t, o.root, c.Root().ID())
	}
	for id := range o.next {
		want := o.instrs[id]
		in, ok := c.At(id)
		require.Equal(t, want != nil, ok)
		if !ok {
			continue
		}
		require.Equal(t, want.op, in.Opcode())
		require.Equal(t, want.name, in.Name())
		require.Equal(t, want.size, in.Shape().Dim(0))
		require.Equal(t, append([]InstrID(nil), want.operands...), slices.Collect(in.OperandIDs()))
		require.Equal(t, append([]InstrID(nil), want.control...), slices.Collect(in.ControlPredecessors()))
		require.Equal(t, append([]CompID(nil), want.callees...), slices.Collect(in.Callees()))
		config, _ := in.Attr(KeyBackendConfig)
		if config == nil {
			config = ""
		}
		require.Equal(t, want.config, config)
		require.Equal(t, o.users(id), append([]InstrID(nil), slices.Collect(c.Users(id))...))
		require.Equal(t, o.successors(id), append([]InstrID(nil), slices.Collect(c.ControlSuccessors(id))...))
	}
	require.Len(t, slices.Collect(c.PostOrder()), len(o.instrs))
}

func (o *oracleModule) compare(t require.TestingT, m Module) {
	live := 0
	for id, c := range o.comps {
		got, ok := m.Computation(CompID(id))
		require.Equal(t, c != nil, ok)
		if ok {
			live++
			c.compare(t, got)
		}
	}
	require.Equal(t, live, m.NumComputations())
	require.Len(t, slices.Collect(m.PostOrder()), live)
}

// rebuild makes a module of the same structure with other ids and names.
func (o *oracleModule) rebuild() Module {
	e := NewModule("again")
	comps := make(map[CompID]CompID)
	for id, c := range o.comps {
		if c != nil {
			comps[CompID(id)] = e.AddComputation("x").ID()
		}
	}
	for id, c := range o.comps {
		if c == nil {
			continue
		}
		ce := e.Computation(comps[CompID(id)])
		ids := make(map[InstrID]InstrID)
		for _, in := range c.order {
			n := c.instrs[in]
			spec := InstrSpec{Opcode: n.op, Name: "y", Shape: shapeOfSize(n.size), Common: &Common{BackendConfig: n.config}}
			if n.op == OpParameter {
				spec.Attrs = &ParameterAttrs{Number: n.number}
			}
			for _, to := range n.callees {
				spec.Callees = append(spec.Callees, comps[to])
			}
			ids[in] = ce.AddSpec(spec).ID()
		}
		for _, in := range c.order {
			for _, op := range c.instrs[in].operands {
				ce.Instr(ids[in]).AppendOperand(ids[op])
			}
			for _, p := range c.instrs[in].control {
				ce.Instr(ids[in]).AddControlPredecessor(ids[p])
			}
		}
		ce.SetRoot(ids[c.root])
		if c.scheduled {
			if err := ce.SetSchedule(slices.Collect(ce.View().idsInOrder())); err != nil {
				panic(err)
			}
		}
	}
	return e.Freeze()
}

// ambiguous reports whether two parameters have one number, which ids then tell apart.
func (o *oracleModule) ambiguous() bool {
	for _, c := range o.comps {
		if c == nil {
			continue
		}
		seen := make(map[int64]bool)
		for _, id := range c.params() {
			if n := c.instrs[id].number; seen[n] {
				return true
			} else {
				seen[n] = true
			}
		}
	}
	return false
}

func (c Computation) idsInOrder() iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) {
		for in := range c.Instructions() {
			if !yield(in.ID()) {
				return
			}
		}
	}
}

type version struct {
	m      Module
	o      *oracleModule
	digest Digest
}

// script is a run of random edits on an Editor and the oracle side by side.
type script struct {
	t        *rapid.T
	e        *Editor
	o        *oracleModule
	versions []version
}

func (s *script) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(s.t, label) }

// comp draws a computation.
func (s *script) comp() (CompEdit, *oracleComp) {
	var live []CompID
	for id, c := range s.o.comps {
		if c != nil {
			live = append(live, CompID(id))
		}
	}
	id := live[s.pick("comp", len(live))]
	return s.e.Computation(id), s.o.comps[id]
}

func (s *script) instr(c *oracleComp) InstrID { return c.order[s.pick("instr", len(c.order))] }

func (s *script) operands(c *oracleComp) []InstrID {
	l := make([]InstrID, s.pick("operands", 4))
	for i := range l {
		l[i] = s.instr(c)
	}
	return l
}

func (s *script) publish() {
	m := s.e.Snapshot()
	s.o.compare(s.t, m)
	s.versions = append(s.versions, version{m, s.o.clone(), m.Digest()})
}

var nameRoots = []string{"a", "b", "a.1", "b.0", "c.x", "a.70", ""}

func (s *script) newInstr(c *oracleComp) (InstrSpec, *oracleInstr) {
	op := []Opcode{OpAbs, OpAdd, OpParameter, OpCall}[s.pick("op", 4)]
	spec := InstrSpec{Opcode: op, Name: nameRoots[s.pick("name", len(nameRoots))], Shape: shapeOfSize(int64(s.pick("size", 3))), Operands: s.operands(c)}
	in := &oracleInstr{op: op, size: spec.Shape.Dim(0), operands: spec.Operands}
	if op == OpParameter {
		in.number = int64(s.pick("number", 3))
		spec.Attrs = &ParameterAttrs{Number: in.number}
	}
	name := spec.Name
	if name == "" {
		name = op.String()
	}
	in.name = s.o.names.unique(name)
	return spec, in
}

var edits = []func(s *script, c CompEdit, o *oracleComp){
	func(s *script, c CompEdit, o *oracleComp) { // shape
		id, n := s.instr(o), int64(s.pick("size", 3))
		c.Instr(id).SetShape(shapeOfSize(n))
		o.instrs[id].size = n
	},
	func(s *script, c CompEdit, o *oracleComp) { // operand
		id, to := s.instr(o), s.instr(o)
		if ops := o.instrs[id].operands; len(ops) > 0 {
			k := s.pick("k", len(ops))
			c.Instr(id).SetOperand(k, to)
			ops[k] = to
		} else {
			c.Instr(id).AppendOperand(to)
			o.instrs[id].operands = append(ops, to)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // operands
		id, to := s.instr(o), s.operands(o)
		c.Instr(id).SetOperands(to...)
		o.instrs[id].operands = slices.Clone(to)
	},
	func(s *script, c CompEdit, o *oracleComp) { // append operand
		id, to := s.instr(o), s.instr(o)
		c.Instr(id).AppendOperand(to)
		o.instrs[id].operands = append(o.instrs[id].operands, to)
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove operand
		id := s.instr(o)
		if ops := o.instrs[id].operands; len(ops) > 0 {
			k := s.pick("k", len(ops))
			c.Instr(id).RemoveOperand(k)
			o.instrs[id].operands = slices.Delete(ops, k, k+1)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // add
		spec, in := s.newInstr(o)
		require.Equal(s.t, o.next, c.AddSpec(spec).ID())
		o.instrs[o.next] = in
		o.order = append(o.order, o.next)
		o.next++
	},
	func(s *script, c CompEdit, o *oracleComp) { // insert
		at := s.instr(o)
		spec, in := s.newInstr(o)
		require.Equal(s.t, o.next, c.InsertSpecBefore(at, spec).ID())
		o.instrs[o.next] = in
		o.order = slices.Insert(o.order, slices.Index(o.order, at), o.next)
		o.next++
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove
		id := s.instr(o)
		wants := len(o.users(id)) == 0 && len(o.successors(id)) == 0 && o.root != id && o.instrs[id].op != OpParameter
		require.Equal(s.t, wants, c.Remove(id) == nil)
		if wants {
			o.remove(id)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove a parameter
		params := o.params()
		if len(params) == 0 {
			return
		}
		k := s.pick("param", len(params))
		id := params[k]
		wants := len(o.users(id)) == 0 && len(o.successors(id)) == 0 && o.root != id
		require.Equal(s.t, wants, c.RemoveParameter(k) == nil)
		if wants {
			o.remove(id)
			for i, p := range slices.Delete(params, k, k+1) {
				if i >= k {
					o.instrs[p].number = int64(i)
				}
			}
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // replace all uses
		a, b := s.instr(o), s.instr(o)
		n := 0
		if a != b {
			for _, u := range o.users(a) {
				if u == b {
					continue
				}
				n++
				for i, x := range o.instrs[u].operands {
					if x == a {
						o.instrs[u].operands[i] = b
					}
				}
			}
			if o.root == a {
				o.root = b
			}
		}
		require.Equal(s.t, n, c.ReplaceAllUses(a, b))
	},
	func(s *script, c CompEdit, o *oracleComp) { // root
		o.root = s.instr(o)
		c.SetRoot(o.root)
	},
	func(s *script, c CompEdit, o *oracleComp) { // schedule
		o.order = rapid.Permutation(o.order).Draw(s.t, "schedule")
		o.scheduled = true
		require.NoError(s.t, c.SetSchedule(o.order))
	},
	func(s *script, c CompEdit, o *oracleComp) { // no schedule
		o.scheduled = false
		c.ClearSchedule()
	},
	func(s *script, c CompEdit, o *oracleComp) { // control edge
		id, p := s.instr(o), s.instr(o)
		in := o.instrs[id]
		if k := slices.Index(in.control, p); k >= 0 {
			c.Instr(id).RemoveControlPredecessor(p)
			in.control = slices.Delete(in.control, k, k+1)
		} else {
			c.Instr(id).AddControlPredecessor(p)
			in.control = append(in.control, p)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // instruction name
		id, name := s.instr(o), nameRoots[s.pick("name", len(nameRoots)-1)]
		c.Instr(id).SetName(name)
		if in := o.instrs[id]; in.name != name {
			in.name = s.o.names.unique(name)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // attribute
		id, v := s.instr(o), []string{"", "x", "y"}[s.pick("config", 3)]
		c.Instr(id).SetAttr(KeyBackendConfig, v)
		o.instrs[id].config = v
	},
	func(s *script, c CompEdit, o *oracleComp) { // opcode
		id := s.instr(o)
		if in := o.instrs[id]; in.op != OpParameter {
			in.op = []Opcode{OpAbs, OpNegate, OpCall}[s.pick("op", 3)]
			c.Instr(id).SetOpcode(in.op)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // new computation
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
	func(s *script, c CompEdit, o *oracleComp) { // call
		id := s.instr(o)
		to, _ := s.comp()
		c.Instr(id).SetCallees(to.ID())
		o.instrs[id].callees = []CompID{to.ID()}
	},
	func(s *script, c CompEdit, o *oracleComp) { // replace an instruction
		a, b := s.instr(o), s.instr(o)
		err := c.ReplaceInstruction(a, b)
		if a == b || o.instrs[a].op == OpParameter || slices.Contains(o.instrs[b].operands, a) {
			require.Equal(s.t, a == b, err == nil)
			return
		}
		require.NoError(s.t, err)
		for _, in := range o.instrs {
			for i, x := range in.operands {
				if x == a {
					in.operands[i] = b
				}
			}
		}
		for _, u := range o.successors(a) {
			l := o.instrs[u].control
			l = slices.DeleteFunc(l, func(x InstrID) bool { return x == a })
			if u != b && !slices.Contains(l, b) {
				l = append(l, b)
			}
			o.instrs[u].control = l
		}
		for _, p := range o.instrs[a].control {
			if l := &o.instrs[b].control; p != b && !slices.Contains(*l, p) {
				*l = append(*l, p)
			}
		}
		if o.root == a {
			o.root = b
		}
		o.remove(a)
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove a computation
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
	func(s *script, c CompEdit, o *oracleComp) { s.publish() },
	func(s *script, c CompEdit, o *oracleComp) { // rollback
		v := s.versions[s.pick("version", len(s.versions))]
		s.e.Rollback(v.m)
		require.False(s.t, s.e.Changed(v.m))
		s.o = v.o.clone()
	},
	func(s *script, c CompEdit, o *oracleComp) { // next session
		m := s.e.Freeze()
		if s.pick("look", 2) == 1 { // looking fills caches, which editing then builds on
			s.o.compare(s.t, m)
		}
		s.e = m.Edit()
	},
	func(s *script, c CompEdit, o *oracleComp) { o.compare(s.t, c.View()) },
	func(s *script, c CompEdit, o *oracleComp) { // users in the session
		id := s.instr(o)
		require.Equal(s.t, o.users(id), append([]InstrID(nil), slices.Collect(c.Users(id))...))
	},
}

func (c *oracleComp) remove(id InstrID) {
	delete(c.instrs, id)
	c.order = slices.DeleteFunc(c.order, func(x InstrID) bool { return x == id })
}

// TestEditsAgainstOracle: random edit scripts do what they do to a deep clone, and no published version ever changes.
func TestEditsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &script{t: t, e: NewModule("m"), o: &oracleModule{
			names:  oracleNames{make(map[string]map[int64]bool), make(map[string]int64)},
			cnames: oracleNames{make(map[string]map[int64]bool), make(map[string]int64)},
		}}
		id := s.e.AddComputation("c").ID()
		s.e.Computation(id).Add(OpAbs, shapeOfSize(1))
		s.e.Computation(id).SetRoot(0)
		s.o.comps = []*oracleComp{{
			name: s.o.cnames.unique("c"), order: []InstrID{0}, next: 1,
			instrs: map[InstrID]*oracleInstr{0: {op: OpAbs, size: 1, name: s.o.names.unique("abs")}},
		}}
		s.publish()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			c, o := s.comp()
			edits[s.pick("edit", len(edits))](s, c, o)
		}
		s.publish()
		for i, v := range s.versions {
			v.o.compare(t, v.m)
			require.Equal(t, v.digest, digestAfresh(v.m), "version %d", i)
			if again := v.o.rebuild(); !v.o.ambiguous() {
				require.Equal(t, again.Hash(), v.m.Hash())
				require.True(t, again.Equal(v.m))
			}
			require.Equal(t, v.m.Hash() == s.versions[0].m.Hash(), v.m.Equal(s.versions[0].m))
			require.Equal(t, v.digest == s.versions[0].digest, v.m.Digest() == s.versions[0].digest)
		}
		s.diffs()
	})
}

// diffs: what Diff lists between the first and the last version is what the oracle sees.
func (s *script) diffs() {
	first, last := s.versions[0], s.versions[len(s.versions)-1]
	got := make(map[string]bool)
	for ch := range last.m.Diff(first.m) {
		if ch.Kind >= InstructionAdded {
			got[fmt.Sprint(ch.Comp, ch.Instr, ch.Kind)] = true
		}
	}
	want := make(map[string]bool)
	for id, y := range last.o.comps {
		if id >= len(first.o.comps) || y == nil || first.o.comps[id] == nil {
			continue
		}
		x := first.o.comps[id]
		for in := range max(x.next, y.next) {
			a, b := x.instrs[in], y.instrs[in]
			var kind ChangeKind
			switch {
			case a == nil && b == nil:
				continue
			case a == nil:
				kind = InstructionAdded
			case b == nil:
				kind = InstructionRemoved
			case fmt.Sprint(*a) == fmt.Sprint(*b):
				continue
			default:
				kind = InstructionChanged
			}
			want[fmt.Sprint(CompID(id), in, kind)] = true
		}
	}
	require.Equal(s.t, want, got)
}
