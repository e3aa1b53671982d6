package hostprog

import (
	"fmt"
	"slices"
	"strings"
)

// Stream analysis partitions a function's ops into sequences that should run
// one after the other, so that handing work over pays. Ops cost what their
// author says, else a threshold; a path from the function's start stays in a
// stream where it can, and cheap streams are merged until they are worth one.
//
//  1. Forward: every op hangs under the operand with the costliest path. The
//     root stands for the function's start and for its arguments.
//  2. Backward: an op without children begins a stream. Another joins one of
//     its children's: that of the return, else the costliest, after the cheap
//     ones among them were merged.
//
// The result is advice for executors, but tests pin it: ids are given out in
// backward order and those of merged streams stay unused.

// streams is the result for one body.
type streams struct {
	root opStream
	ops  []opStream
}

// opStream is an op's stream, and the streams that begin under the op.
type opStream struct {
	stream   int
	cost     int64 // of the whole stream
	parent   int   // stream under which it begins; -1 for the root's
	children []int
}

// Streams runs the analysis on every function of a program and returns a
// remark for each, followed by one for each of its ops. c names the ops whose
// costs count.
func Streams(p *Program, c Config) []*Diagnostic {
	var remarks []*Diagnostic
	remark := func(op *Op, s opStream) {
		msg := fmt.Sprintf("stream id: %d, stream cost: %d, parent stream: %d", s.stream, s.cost, s.parent)
		if len(s.children) > 0 {
			msg += ", child streams: " + strings.ReplaceAll(fmt.Sprint(s.children), " ", ", ")
		}
		remarks = append(remarks, &Diagnostic{Pos: op.Pos, Severity: SevRemark, Msg: msg})
	}
	for _, f := range p.Functions() {
		if f.Body() == nil {
			continue
		}
		s := analyse(f, f.Body(), c.Ops)
		remark(f, s.root)
		for i, op := range f.Body().Ops {
			remark(op, s.ops[i])
		}
	}
	addSource(remarks, p.src)
	return remarks
}

// analyse finds the streams of a body that belongs to op.
func analyse(op *Op, body *Region, table *OpTable) streams {
	if table == nil {
		table = standard()
	}
	s := analysis{table: table, body: body, index: make(map[*Op]int)}
	s.options(op)
	s.forward()
	s.backward()
	return s.result()
}

// node is an op, or the root at index 0.
type node struct {
	cost, fromRoot int64
	parent         int
	children       []int
	sideUses       []int // users of its values that hang elsewhere
	stream         int
}

type stream struct {
	cost      int64
	hasReturn bool
	sides     []int // streams that use or make its values, where such streams may be merged
	isSide    map[int]bool
	into      int // where it was merged, or itself
	under     int // node under which it was left; -1 for none
	stamp     int // of the last set it was put in
}

type analysis struct {
	table     *OpTable
	body      *Region
	index     map[*Op]int // of nodes
	nodes     []node
	streams   []stream
	threshold int64
	automatic bool
	mergeSide bool
	stamp     int
}

// options are the function's own, else the module's.
func (s *analysis) options(op *Op) {
	f := op
	if !f.IsFunc() {
		// A region has no attributes; the module's count.
		f = nil
	}
	holders := []*Op{f, op.enclosing(moduleOp)}
	s.automatic = true
	for _, h := range holders {
		if h == nil {
			continue
		}
		if v, ok := h.Attrs.Int(attrThreshold); ok {
			s.automatic, s.threshold = v <= 0, v
			break
		}
	}
	for _, h := range holders {
		if h == nil {
			continue
		}
		if v, ok := h.Attrs.Int(attrMergeStreams); ok {
			s.mergeSide = v != 0
			break
		}
	}
}

func (s *analysis) cost(op *Op) int64 {
	if op.Name == returnOp || op.Name == "tfrt.merge.chains" {
		return 1
	}
	if d := s.table.Lookup(op.Name); d != nil && d.Cost {
		if c, ok := op.Attrs.Int(attrCost); ok && c > 0 {
			return c
		}
	}
	if s.automatic {
		return 1
	}
	return s.threshold
}

// producer is the node that makes a value; arguments come from the root.
func (s *analysis) producer(v *Value) int {
	if v.Op == nil {
		return 0
	}
	return s.index[v.Op]
}

func (s *analysis) forward() {
	s.nodes = make([]node, 1, len(s.body.Ops)+1)
	s.nodes[0] = node{cost: 1, fromRoot: 1, parent: -1}
	for i, op := range s.body.Ops {
		n := i + 1
		s.index[op] = n
		nd := node{cost: s.cost(op)}
		nd.fromRoot = nd.cost
		for j, v := range op.Operands {
			p := s.producer(v)
			if j == 0 || s.nodes[p].fromRoot > s.nodes[nd.parent].fromRoot {
				nd.parent = p
			}
			if uses := &s.nodes[p].sideUses; v.Type != chainType && !endsWith(*uses, n) {
				*uses = append(*uses, n)
			}
		}
		if len(op.Operands) > 0 {
			nd.fromRoot += s.nodes[nd.parent].fromRoot
		}
		s.nodes = append(s.nodes, nd)
		p := &s.nodes[nd.parent]
		p.children = append(p.children, n)
		if endsWith(p.sideUses, n) {
			p.sideUses = p.sideUses[:len(p.sideUses)-1]
		}
	}
	if s.automatic {
		s.threshold = 1
		for _, n := range s.nodes {
			s.threshold = max(s.threshold, n.fromRoot)
		}
	}
}

// endsWith reports whether n, which is greater than all that a list of nodes may hold otherwise, is in it.
func endsWith(list []int, n int) bool { return len(list) > 0 && list[len(list)-1] == n }

// final follows merges, and shortens the way for the next.
func (s *analysis) final(id int) int {
	for s.streams[id].into != id {
		to := &s.streams[id].into
		*to = s.streams[*to].into
		id = *to
	}
	return id
}

// round begins a set of streams; first then reports whether a stream is new to it.
func (s *analysis) round() { s.stamp++ }

func (s *analysis) first(id int) bool {
	if st := &s.streams[id]; st.stamp != s.stamp {
		st.stamp = s.stamp
		return true
	}
	return false
}

// reached says whether streams that cost so much are worth handing over. With
// an automatic threshold the path to the node counts too.
func (s *analysis) reached(n *node, first int64, more ...int64) bool {
	if !s.automatic {
		return first >= s.threshold
	}
	sum := n.fromRoot + first
	for _, c := range more {
		sum += c
	}
	return sum >= s.threshold
}

func (s *analysis) merge(from, to int) {
	f, t := &s.streams[from], &s.streams[to]
	f.into = to
	t.cost += f.cost
	t.hasReturn = t.hasReturn || f.hasReturn
	for _, side := range f.sides {
		s.addSide(to, s.final(side))
	}
	f.sides, f.isSide = nil, nil
}

// addSide records that two streams depend on each other.
func (s *analysis) addSide(a, b int) {
	st := &s.streams[a]
	if a == b || st.isSide[b] {
		return
	}
	if st.isSide == nil {
		st.isSide = make(map[int]bool)
	}
	st.isSide[b] = true
	st.sides = append(st.sides, b)
}

func (s *analysis) backward() {
	for i := len(s.nodes) - 1; i >= 0; i-- {
		n := &s.nodes[i]
		id := -1
		if len(n.children) == 0 {
			id = len(s.streams)
			s.streams = append(s.streams, stream{into: id, under: -1})
		} else {
			id = s.choose(n)
		}
		s.join(i, id)
		for _, c := range n.children {
			if left := s.final(s.nodes[c].stream); left != id {
				s.streams[left].under = i
			}
		}
	}
}

// join puts a node into a stream.
func (s *analysis) join(i, id int) {
	n := &s.nodes[i]
	n.stream = id
	st := &s.streams[id]
	st.cost += n.cost
	if i > 0 && s.body.Ops[i-1].Name == returnOp {
		st.hasReturn = true
	}
	if !s.mergeSide {
		return // not wanted
	}
	for _, u := range n.sideUses {
		other := s.final(s.nodes[u].stream)
		s.addSide(id, other)
		s.addSide(other, id)
	}
}

// choose merges cheap streams of a node's children and picks the one to join.
func (s *analysis) choose(n *node) int {
	var ids []int
	s.round()
	for _, c := range n.children {
		if id := s.final(s.nodes[c].stream); s.first(id) {
			ids = append(ids, id)
		}
	}
	if s.mergeSide && len(ids) > 1 {
		ids = s.mergeSides(n, ids)
	}
	best, withReturn, small := -1, -1, -1
	for _, id := range ids {
		st := &s.streams[id]
		if !s.reached(n, st.cost) {
			if small < 0 || s.reached(n, s.streams[small].cost, st.cost) {
				small = id
			} else {
				s.merge(id, small)
			}
			id, st = small, &s.streams[small]
		}
		if best < 0 || st.cost > s.streams[best].cost {
			best = id
		}
		if st.hasReturn {
			withReturn = id
		}
	}
	if withReturn >= 0 {
		best = withReturn
	}
	if !s.automatic && small >= 0 && small != best && !s.reached(n, s.streams[small].cost) {
		s.merge(small, best)
	}
	return best
}

// mergeSides merges streams that depend on each other and returns those left.
func (s *analysis) mergeSides(n *node, ids []int) []int {
	among := make(map[int]bool, len(ids))
	for _, id := range ids {
		among[id] = true
	}
	for _, id := range ids {
		if s.final(id) != id {
			continue
		}
		var sides []int
		s.round()
		for _, side := range s.streams[id].sides {
			side = s.final(side)
			if side != id && among[side] && s.streams[side].cost < s.threshold && s.first(side) {
				sides = append(sides, side)
			}
		}
		for _, side := range sides {
			if s.reached(n, s.streams[id].cost) {
				break
			}
			s.merge(side, id)
		}
	}
	return slices.DeleteFunc(ids, func(id int) bool { return s.final(id) != id })
}

func (s *analysis) result() streams {
	info := make([]opStream, len(s.nodes))
	for i := range s.nodes {
		n := &s.nodes[i]
		id := s.final(n.stream)
		st := s.streams[id]
		info[i] = opStream{stream: id, cost: st.cost, parent: -1}
		if st.under >= 0 {
			info[i].parent = s.final(s.nodes[st.under].stream)
		}
		s.round()
		for _, c := range n.children {
			if child := s.final(s.nodes[c].stream); child != id && s.first(child) {
				info[i].children = append(info[i].children, child)
			}
		}
	}
	opens := make([]int, len(s.streams)) // the first op of each stream
	for i := len(info) - 1; i >= 0; i-- {
		opens[info[i].stream] = i
	}
	for i := range info {
		slices.SortStableFunc(info[i].children, func(a, b int) int { return opens[a] - opens[b] })
	}
	return streams{root: info[0], ops: info[1:]}
}
