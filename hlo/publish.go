package hlo

// Snapshot publishes the current state and goes on under a fresh epoch: later edits copy their path again. Handles stay valid. It
// costs the same whatever the size of the module.
func (e *Editor) Snapshot() Module {
	e.check()
	e.settle()
	e.publishAll()
	if e.root.epoch == e.epoch {
		e.epoch = epochs.Add(1) // retired before anybody sees the module
	}
	return Module{e.root}
}

// Rollback returns to m, a snapshot or the module the session started from. All handles become stale.
func (e *Editor) Rollback(m Module) {
	e.check()
	e.retire(byRollback)
	e.publishAll()
	e.epoch = epochs.Add(1)
	e.root = m.m
	e.dropStates()
	e.forgetCalls()
	if e.isFork() {
		e.fork.rolledBack = true
	}
}

// dropStates forgets what is known of computations; handles must be stale.
func (e *Editor) dropStates() {
	e.first = compState{e: e}
	if t := e.side; t != nil {
		*t = sideTables{calls: t.calls}
	}
}

// Freeze publishes the final state and ends the session: every later call on it or its handles panics. When nothing was edited, the
// result is the module that the session started from. Within [Owned.Edit] it ends the handles alone, and gives a view.
func (e *Editor) Freeze() Module {
	e.check()
	apart := e.aside.on
	e.endApart()
	e.settle()
	if e.isFork() {
		panic("hlo: Freeze of a fork; Join it to the session it came from")
	}
	if e.owned {
		e.endHandles(byFreeze)
		if apart {
			e.setApart() // whoever goes on may read what is given out now
		}
		return e.ViewModule()
	}
	e.publishAll()
	m := Module{e.root}
	e.end(byFreeze)
	return m
}

// FreezeUnlessEqual is Freeze for sessions that may have undone what they did: when the content is exactly that of base, the result is
// base, so that m2 != m tells again whether anything changed. It digests what was edited.
func (e *Editor) FreezeUnlessEqual(base Module) Module {
	m := e.Freeze()
	if m != base && m.SameLineage(base) && m.Digest() == base.Digest() {
		return base
	}
	return m
}

// end retires the session for good and lets go of the module.
func (e *Editor) end(why ending) {
	e.retire(why)
	e.epoch, e.root, e.side, e.fork, e.shown, e.aside = 0, nil, nil, nil, nil, asideState{}
	e.slab, e.slabLeft = nil, 0
	if e.first.node != nil {
		e.first = compState{e: e}
	}
}

// Changed reports whether the session holds another version than m.
func (e *Editor) Changed(m Module) bool {
	e.check()
	e.settle()
	return e.root != m.m
}

// ViewModule is the module as it is now, to read, on the terms of [CompEdit.View]: of computations that the session has written to, it
// has views. When nothing was edited, it is the version that the session started from, and when nothing was edited since it was last asked for,
// the same as then.
func (e *Editor) ViewModule() Module {
	e.check()
	e.settle()
	if e.root.epoch < e.firstEpoch() {
		return Module{e.root}
	}
	if e.shown != nil && e.at.writes == e.writes && e.at.looks == e.looks {
		return Module{e.shown}
	}
	v := e.root.cloneTo(new(smallModule), e.epoch, new(CopyStats))
	epoch := epochs.Add(1) // the table is the view's alone
	for _, id := range e.root.order {
		c := e.root.comps.get(uint32(id))
		to := v.comps.slot(epoch, new(CopyStats), uint32(id))
		if c.epoch >= e.firstEpoch() { // then it may be edited
			*to = e.Computation(id).View().c
		}
	}
	info := *v.moduleInfo
	info.epoch, v.epoch, v.moduleInfo = epoch, epoch, &info
	e.shown, e.at.writes, e.at.looks = v, e.writes, e.looks
	return Module{v}
}

// Shows reports whether m is the module as it is now: what ViewModule would give out.
func (e *Editor) Shows(m Module) bool { return e.ViewModule() == m }

// Stats is what the session has copied so far. It may be called after the end.
func (e *Editor) Stats() CopyStats { return e.stats }
