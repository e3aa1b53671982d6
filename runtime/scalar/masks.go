package scalar

import "slices"

// A choice between floats is made where the floats are: its test becomes a mask of ones or zeros among the float registers, made once for all
// choices by the same test. Choices between integers stay with the flags.

// maskKey is a mask that there is already.
type maskKey struct {
	test   Value
	region *region
	width  uint8
}

// masker replaces selects by blends.
type masker struct {
	b     *Builder
	users [][]Value
	float []int8 // more than 0: a float to most of those who make or use it
	masks map[maskKey]Value
	// behind holds the masks to be put into a region behind each of its nodes, and None is in front of all, the last first.
	behind map[*region]map[Value][]Value
	at     map[*branchNode]Value // where each branch is
}

// makeMasks replaces the tests of choices between floats.
func (b *Builder) makeMasks() {
	m := &masker{b: b, users: make([][]Value, len(b.nodes)), float: make([]int8, len(b.nodes)), masks: make(map[maskKey]Value),
		behind: make(map[*region]map[Value][]Value), at: make(map[*branchNode]Value)}
	var selects []Value
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.op == opSelect4 || n.op == opSelect8 {
			selects = append(selects, Value(i))
		}
		if n.op == opBranch {
			m.at[n.branch] = Value(i)
		}
		for _, a := range n.args {
			if a != None {
				m.users[a] = append(m.users[a], Value(i))
			}
		}
	}
	if len(selects) == 0 {
		return
	}
	for range 3 { // a choice between choices learns from them
		for v := range m.float {
			m.float[v] = m.vote(Value(v))
		}
	}
	for _, v := range selects {
		n := b.nodes[v]
		test := n.args[0]
		single := n.op == opSelect4 && infos[b.nodes[test].op].choice != 0 && len(m.users[test]) == 1
		if m.float[v] <= 0 || single || len(b.nodes) >= maxNodes {
			continue
		}
		b.nodes[v].args[0] = m.mask(test, n.region, n.width)
		b.nodes[v].op += opBlend4 - opSelect4
	}
	for r, behind := range m.behind {
		r.insert(behind)
	}
}

// insert puts nodes behind others.
func (r *region) insert(behind map[Value][]Value) {
	nodes := make([]Value, 0, len(r.nodes)+len(behind))
	put := func(v Value) {
		for _, x := range slices.Backward(behind[v]) {
			nodes = append(nodes, x)
		}
	}
	put(None)
	for _, v := range r.nodes {
		nodes = append(nodes, v)
		put(v)
	}
	r.nodes = nodes
}

// vote asks those who make and use a value what it is.
func (m *masker) vote(v Value) int8 {
	n := &m.b.nodes[v]
	sum := 0
	ask := func(r role, other Value) {
		switch {
		case r == roleFloat || r == roleAny && m.float[other] > 0:
			sum++
		case r == roleInt || r == roleAny && m.float[other] < 0:
			sum--
		}
	}
	if n.op < numOps {
		ask(rolesOf[n.op].d, v)
	}
	if n.op == opSelect4 || n.op == opSelect8 {
		for _, a := range n.args[1:] {
			ask(roleAny, a)
		}
	}
	for _, u := range m.users[v] {
		user := &m.b.nodes[u]
		r := rolesOf[user.op]
		for k, r := range [...]role{r.a, r.b, r.c} {
			if user.args[k] == v {
				ask(r, u)
			}
		}
	}
	return int8(max(-1, min(sum, 1)))
}

// mask is the mask of a test, for use in region r.
func (m *masker) mask(test Value, r *region, width uint8) Value {
	home := m.b.nodes[test].region
	at := r
	for ; at != nil && at != home; at = at.outer {
	}
	if at == nil { // a variable of another region
		at = r
	}
	k := maskKey{test, at, width}
	if v, ok := m.masks[k]; ok {
		return v
	}
	m.b.nodes = append(m.b.nodes, node{op: opMask, width: 8, args: [3]Value{test, None, None}, m: int32(width), region: at})
	v := Value(len(m.b.nodes) - 1)
	first := None
	if at == home {
		switch n := &m.b.nodes[test]; {
		case n.branch != nil:
			first = m.at[n.branch] // the branch whose result the test is
		case n.op != opVar:
			first = test
		}
	}
	if m.behind[at] == nil {
		m.behind[at] = make(map[Value][]Value)
	}
	m.behind[at][first] = append(m.behind[at][first], v)
	m.masks[k] = v
	return v
}
