package hlo

// Tombstones is the number of ids that no instruction has any more: the slots that [Editor.Compact] would reclaim.
func (c Computation) Tombstones() int {
	n := c.node()
	return int(n.instrs.n) - int(n.count)
}

// Compact renumbers the instructions of computation id from 0 in program order, and returns the new id of each old one, NoInstr for those
// that had been removed. Do it between passes, when more than half of the ids are tombstones: every instruction is copied, tables keyed by
// id lose their meaning, and the module starts a new lineage, so that Diff refuses to compare across. Handles become stale.
func (e *Editor) Compact(id CompID) []InstrID {
	e.checkWhole("Compact")
	e.settle()
	st := e.Computation(id).state()
	old := st.node
	to := make([]InstrID, old.instrs.n)
	for i := range to {
		to[i] = NoInstr
	}
	nodes := old.computeOrder()
	for i, n := range nodes {
		to[n.id] = InstrID(i)
	}
	renumber := func(ids []InstrID) []InstrID {
		if ids == nil {
			return nil
		}
		out := make([]InstrID, len(ids))
		for i, id := range ids {
			out[i] = to[id]
		}
		return out
	}
	c := st.own()
	for i, n := range nodes {
		m := e.copyInstr(n)
		m.id, m.rank = InstrID(i), uint64(i+1)*rankGap
		m.setOperands(&e.stats, renumber(n.operands()))
		if len(n.control()) > 0 {
			x := m.ownExtra(&e.stats)
			x.control = renumber(x.control)
		}
		nodes[i] = m
	}
	c.instrs = buildTree(e.epoch, nodes)
	info := st.ownInfo()
	info.params = renumber(c.params)
	if c.root != NoInstr {
		c.root = to[c.root]
	}
	c.maxRank = uint64(len(nodes)) * rankGap
	c.idOrder, info.base = true, nil
	e.ownInfo().lineage = lineages.Add(1)
	e.noteEdited()
	e.retire(byCompact)
	e.dropStates()
	return to
}
