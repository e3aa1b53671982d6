package hlo

import (
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
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

func (c *oracleComp) remove(id InstrID) {
	delete(c.instrs, id)
	c.order = slices.DeleteFunc(c.order, func(x InstrID) bool { return x == id })
}

// replaceAllUses makes b stand for a, but in b itself, and returns how many instructions that changes.
func (c *oracleComp) replaceAllUses(a, b InstrID) (n int) {
	if a == b {
		return 0
	}
	for _, u := range c.users(a) {
		if u == b {
			continue
		}
		n++
		for i, x := range c.instrs[u].operands {
			if x == a {
				c.instrs[u].operands[i] = b
			}
		}
	}
	if c.root == a {
		c.root = b
	}
	return n
}

// replaceInstruction makes b stand for a everywhere and removes a. It reports whether it may.
func (c *oracleComp) replaceInstruction(a, b InstrID) bool {
	if a == b || c.instrs[a].op == OpParameter || slices.Contains(c.instrs[b].operands, a) {
		return a == b
	}
	c.replaceAllUses(a, b)
	for _, u := range c.successors(a) {
		l := c.instrs[u].control
		l = slices.DeleteFunc(l, func(x InstrID) bool { return x == a })
		if u != b && !slices.Contains(l, b) {
			l = append(l, b)
		}
		c.instrs[u].control = l
	}
	for _, p := range c.instrs[a].control {
		if l := &c.instrs[b].control; p != b && !slices.Contains(*l, p) {
			*l = append(*l, p)
		}
	}
	c.remove(a)
	return true
}

// removeUnused removes those of ids that nobody uses, and then what they alone used, but no instructions of the opcode keeps.
func (c *oracleComp) removeUnused(ids []InstrID, keeps Opcode) {
	for _, id := range ids {
		in := c.instrs[id]
		if in == nil || in.op == OpParameter || in.op == keeps || c.root == id || len(c.users(id)) > 0 || len(in.control)+len(c.successors(id)) > 0 {
			continue
		}
		c.remove(id)
		c.removeUnused(in.operands, keeps)
	}
}

// live lists the ids of the computations.
func (o *oracleModule) live() (ids []CompID) {
	for id, c := range o.comps {
		if c != nil {
			ids = append(ids, CompID(id))
		}
	}
	return ids
}
