package hlo

import (
	"fmt"
	"slices"
	"sort"
)

// SetSchedule makes ids, which must name every instruction once, the program order and execution order. Whether operands come before
// their users is for the verifier to say. Instructions that keep their order relative to most others are not copied.
func (c CompEdit) SetSchedule(ids []InstrID) error {
	st := c.state()
	cn := st.node
	if len(ids) != int(cn.count) {
		return fmt.Errorf("hlo: schedule of %q names %d instructions, it has %d", cn.name, len(ids), cn.count)
	}
	seen := make([]bool, cn.instrs.n)
	nodes := make([]*instrNode, len(ids))
	for i, id := range ids {
		n := cn.instrs.get(uint32(id))
		if n == nil {
			return fmt.Errorf("hlo: schedule of %q names instruction %d, which does not exist", cn.name, id)
		}
		if seen[id] {
			return fmt.Errorf("hlo: schedule of %q names %s twice", cn.name, n.name)
		}
		seen[id] = true
		nodes[i] = n
	}
	if !slices.IsSortedFunc(nodes, byRank) {
		st.reorder(nodes)
	}
	if !cn.scheduled {
		st.own().scheduled = true
	}
	return nil
}

// ClearSchedule says that program order is no longer an execution order. The order itself stays.
func (c CompEdit) ClearSchedule() {
	if st := c.state(); st.node.scheduled {
		st.own().scheduled = false
	}
}

// reorder gives ranks that ascend along nodes. Instructions on a longest ascending subsequence keep theirs; the others are dealt
// ranks in between. Where they do not fit, all are dealt anew.
func (st *compState) reorder(nodes []*instrNode) {
	c := st.own()
	if st.began = nil; st.order != nil {
		st.order = nil
	}
	ranks := make([]uint64, len(nodes))
	if !dealRanks(nodes, ascending(nodes), ranks) {
		for i := range ranks {
			ranks[i] = uint64(i+1) * rankGap
		}
	}
	base := &orderBase{limit: InstrID(c.instrs.n), ids: make([]InstrID, len(nodes))}
	for i, n := range nodes {
		base.ids[i] = n.id
		st.setRank(n.id, ranks[i])
	}
	c.maxRank = 0
	if len(ranks) > 0 {
		c.maxRank = ranks[len(ranks)-1]
	}
	st.ownInfo().base = base
	c.idOrder = slices.IsSorted(base.ids)
}

// ascending marks a longest subsequence of nodes with ascending ranks: tails[k] ends the best subsequence of length k+1 so far, and
// prev links it back.
func ascending(nodes []*instrNode) []bool {
	var tails []int
	prev := make([]int, len(nodes))
	for i, n := range nodes {
		k := sort.Search(len(tails), func(k int) bool { return nodes[tails[k]].rank >= n.rank })
		prev[i] = -1
		if k > 0 {
			prev[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	keep := make([]bool, len(nodes))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = prev[i] {
			keep[i] = true
		}
	}
	return keep
}

// dealRanks fills ranks: those of kept nodes stay, runs of others share the gap they stand in. It reports whether all fit.
func dealRanks(nodes []*instrNode, keep []bool, ranks []uint64) bool {
	low := uint64(0)
	for i := 0; i < len(nodes); {
		if keep[i] {
			low = nodes[i].rank
			ranks[i] = low
			i++
			continue
		}
		j := i
		for j < len(nodes) && !keep[j] {
			j++
		}
		step := uint64(rankGap)
		if j < len(nodes) {
			step = (nodes[j].rank - low) / uint64(j-i+1)
		}
		if step == 0 {
			return false
		}
		for k := i; k < j; k++ {
			low += step
			ranks[k] = low
		}
		i = j
	}
	return true
}
