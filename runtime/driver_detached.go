package runtime

// Detached async ops: a start that runs again before the done of the last one, as in a pipelined loop, has each time an instance with memory of its own.

// detach makes or reuses a detached op: its operands, results, frame and scratch are in memory of its own.
func (r *tensorRun) detach(site *site, s *step) (*asyncOp, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var op *asyncOp
	if n := len(site.free); n > 0 {
		op, site.free = site.free[n-1], site.free[:n-1]
	} else {
		var err error
		if op, err = r.newDetached(site, s); err != nil {
			return nil, err
		}
	}
	r.detached = append(r.detached, op)
	return op, nil
}

func (r *tensorRun) newDetached(site *site, s *step) (*asyncOp, error) {
	callee := s.callees[0]
	l := callee.detached()
	offsets, scratch := l.offsets, l.scratch
	mem, err := r.host.allocator.Allocate(l.size, BufferAlign)
	if err != nil {
		return nil, err
	}
	r.blocks = append(r.blocks, mem)
	op := &asyncOp{step: s, callee: callee, site: site}
	b := instanceBuilder{run: r, scratch: mem[scratch:], owner: op}
	b.fiber(&op.fiber, callee, mem[:callee.frame:callee.frame], op)
	if r.meter != nil {
		op.fiber.base.each(func(a *activation) { a.attach(r.meter) }, func(*fiber) {})
	}
	op.outs = op.fiber.base.outs
	op.args = make([][]byte, callee.numArgs)
	for i := range op.args {
		op.args[i] = mem[offsets[i]:][:callee.argType(i).Bytes]
	}
	for i := range op.outs {
		op.fiber.base.bindOut(i, mem[offsets[callee.numArgs+i]:][:callee.resultType(i).Bytes])
	}
	return op, nil
}

// reattach takes a detached op back after its done.
func (r *tensorRun) reattach(op *asyncOp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, d := range r.detached {
		if d == op {
			last := len(r.detached) - 1
			r.detached[i] = r.detached[last]
			r.detached = r.detached[:last]
			break
		}
	}
	op.site.free = append(op.site.free, op)
}
