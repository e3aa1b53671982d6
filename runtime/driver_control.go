package runtime

import "fmt"

// control runs a step that is not a plain kernel. It leaves the place to go on in f.top and its pc.
func (f *fiber) control(a *activation, s *step) outcome {
	switch s.kind {
	case stepReturn:
		return f.leave(a)
	case stepCall:
		return f.call(a, s, 0, s.in)
	case stepWhile:
		return f.while(a, s)
	case stepConditional:
		return f.conditional(a, s)
	case stepAsyncKernel:
		return f.asyncKernel(a, s)
	case stepAsyncStart:
		return f.asyncStart(a, s)
	case stepAsyncUpdate:
		return f.asyncUpdate(a, s)
	case stepAsyncDone:
		return f.asyncDone(a, s)
	case stepAwaitArgument:
		return f.awaitArgument(a, s)
	case stepNotify:
		f.notify(a, s.notices, false)
		a.pc++
		return proceed
	case stepSegmentEnd:
		if m := a.meter; m != nil && m.on {
			m.end()
		}
		return ended
	}
	panic(fmt.Sprintf("runtime: step of kind %d", s.kind))
}

const returned = 1 // phase of a step whose callee has returned

// call runs callee number i of a step on the registers in.
func (f *fiber) call(a *activation, s *step, i int, in []int32) outcome {
	child := a.sites[s.site].children[i]
	if a.phase == returned {
		a.takeEvents(child, s.out)
		f.run.takeFailures(a, child, s.out)
		if f.run.update != nil && s.kind == stepConditional {
			f.part(a)
		}
		a.phase = 0
		a.pc++
		return proceed
	}
	for i, r := range s.out {
		child.bindOut(i, a.regs[r].Data)
	}
	a.phase = returned
	f.enter(a, child, in)
	if a.often {
		child.runsOften()
	}
	if child.fn.runs != nil && !f.run.stepwise && f.run.stop.Load() == nil {
		if !f.straight(child) {
			return proceed // with the rest of the callee
		}
		f.top, a.phase = a, 0
		a.pc++
	}
	return proceed
}

// conditional runs the branch that the first operand selects: a predicate (true is branch 0), or an index, where
// everything out of range means the last branch.
func (f *fiber) conditional(a *activation, s *step) outcome {
	selector := a.regs[s.in[0]].Data
	branch := len(s.callees) - 1
	if len(selector) == 1 {
		if selector[0] != 0 {
			branch = 0
		}
	} else if i := int32(nativeEndian.Uint32(selector)); i >= 0 && int(i) < branch {
		branch = int(i)
	}
	if a.phase == returned {
		branch = int(a.iter) // the selector's memory may have been used again
	}
	a.iter = int64(branch)
	first := 1
	for _, n := range s.control.Counts[:branch] {
		first += n
	}
	return f.call(a, s, branch, s.in[first:first+s.control.Counts[branch]])
}

const (
	whileCondition = 1 // phases of a loop: the condition is running
	whileBody      = 2
)

// while runs a loop on its results' memory: they are the state, and body and condition work on it where it lies. So both
// are bound when the loop begins, and an iteration moves nothing but the fiber.
func (f *fiber) while(a *activation, s *step) outcome {
	children := a.sites[s.site].children
	cond, body := children[0], children[1]
	trips := s.control.TripCount
	switch a.phase {
	case 0:
		a.placeState(s)
		a.iter = 0
		failed := f.run.moveFailures(a, s.in, s.out)
		if s.scalar != nil && !f.run.stepwise && !failed && s.scalar.program() != nil {
			return f.scalarLoop(a, s)
		}
		a.bindLoop(s, cond, body)
		if cond.fn.runs != nil && body.fn.runs != nil && !f.run.stepwise && f.run.stop.Load() == nil {
			return f.straightLoop(a, cond, body, trips)
		}
		if trips != UnknownTripCount {
			break
		}
		a.phase = whileCondition
		f.again(a, cond, s.out)
		return proceed
	case whileCondition:
		if f.breaks() {
			f.run.markUnfinished(a, s.out)
			return a.finishLoop()
		}
		if f.run.failedResult(cond, 0) {
			f.run.markFailed(a, s.out)
			return a.finishLoop()
		}
		if a.pred[0] == 0 {
			return a.finishLoop()
		}
		a.phase = whileBody
		f.again(a, body, s.out)
		return proceed
	case whileBody:
		a.takeEvents(body, s.out)
		f.run.takeFailures(a, body, s.out)
		if f.breaks() {
			f.run.markUnfinished(a, s.out)
			return a.finishLoop()
		}
		if f.run.update != nil {
			f.part(a)
		}
		a.iter++
		if n := f.run.rounds; n != nil {
			n.Add(1)
		}
		if trips == UnknownTripCount {
			a.phase = whileCondition
			f.again(a, cond, s.out)
			return proceed
		}
	}
	if a.iter >= trips {
		return a.finishLoop()
	}
	a.phase = whileBody
	f.again(a, body, s.out)
	return proceed
}

// placeState brings the initial values of a loop to its state's memory.
func (a *activation) placeState(s *step) {
	for i, r := range s.out {
		src, dst := a.regs[s.in[i]].Data, a.regs[r].Data
		if !sameMemory(src, dst) {
			copy(dst, src)
		}
		if a.events != nil {
			a.events[r] = a.events[s.in[i]]
		}
	}
}

// bindLoop binds condition and body to the state's memory.
func (a *activation) bindLoop(s *step, cond, body *activation) {
	for i, r := range s.out {
		dst := a.regs[r].Data
		cond.bindArg(i, dst)
		body.bindArg(i, dst)
		body.bindOut(i, dst)
	}
	cond.bindOut(0, a.pred[:])
	cond.runsOften()
	body.runsOften()
	body.prepare(s.prepares)
}

// runsOften prepares a, whose memory is known, for being run many times.
func (a *activation) runsOften() {
	a.often = true
	a.bindStretches()
}

// again makes child, which is bound already, the top activation. Only events change between its executions.
func (f *fiber) again(a, child *activation, in []int32) {
	a.passEvents(child, in)
	if f.run.stop.Load() != nil {
		f.run.passFailures(a, child, in)
	}
	child.begin()
	child.meterBegins()
	f.top = child
}

func (a *activation) finishLoop() outcome {
	a.phase = 0
	a.pc++
	return proceed
}
