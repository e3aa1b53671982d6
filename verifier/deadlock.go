package verifier

import (
	"github.com/gohalo/halo/hlo"
)

// Deadlocks between sends, recvs and other collectives of a scheduled module (verifier 8.2). The program runs the same on every device, so
// a send waits for the recv of its partners, which must not stand behind something that waits for all.

// The frontend attributes that describe a transfer.
const (
	sourceTargetPairs = "_xla_send_recv_source_target_pairs"
	pipelineMarker    = "_xla_send_recv_pipeline"
)

// awaiting is what must come next.
type awaiting uint8

const (
	nothing awaiting = iota
	aRecv            // a send is pending
	aSend            // a recv is pending
)

// deadlockWalk runs through the program once.
type deadlockWalk struct {
	r      *run
	stop   bool                // an error was found: what follows says nothing
	quiet  map[hlo.CompID]bool // computations in which nothing is sent, received or waited for
	closed map[hlo.CompID]bool // computations that leave nothing pending when nothing was
	events int
}

// maxEvents bounds the walk: computations that call others twice make programs that are exponentially longer than their text.
const maxEvents = 1 << 20

// waitsForAll marks the collectives that every device must reach. All-reduce and reduce-scatter own a computation, and XLA does not look at
// instructions that do.
func waitsForAll(op hlo.Opcode) bool {
	t := hlo.Info(op).Traits
	return t.Has(hlo.TraitCollective) && t&(hlo.TraitApply|hlo.TraitAsyncStart|hlo.TraitAsyncDone) == 0
}

// mayReduce marks the collectives that own a computation, begun and ended in one step.
func mayReduce(op hlo.Opcode) bool {
	t := hlo.Info(op).Traits
	return t.Has(hlo.TraitCollective|hlo.TraitApply) && !t.Has(hlo.TraitAsyncStart)
}

func (r *run) deadlocks() {
	w := &deadlockWalk{r: r, quiet: make(map[hlo.CompID]bool), closed: make(map[hlo.CompID]bool)}
	t := new(transfers)
	w.computation(r.m.Entry(), t)
	w.end(r.m.Entry(), t)
}

func (w *deadlockWalk) computation(c hlo.Computation, t *transfers) {
	fresh := t.state == nothing
	if w.isQuiet(c) || fresh && w.closed[c.ID()] {
		return
	}
	defer func() {
		if fresh && t.state == nothing && !w.stop {
			w.closed[c.ID()] = true
		}
	}()
	for in := range c.Instructions() {
		if w.stop {
			return
		}
		switch op := in.Opcode(); {
		case in.NumCallees() == 0:
			w.event(in, t)
		case mayReduce(op):
			if w.r.cfg.ReductionDeadlocks && t.state != nothing {
				w.fail(in, "HALO-DEADLOCK", "%v waits for all devices while transfers are pending: %s", op, t)
			}
		default:
			w.callees(in, t)
		}
	}
}

// isQuiet reports whether c and all it calls have no events.
func (w *deadlockWalk) isQuiet(c hlo.Computation) bool {
	if q, ok := w.quiet[c.ID()]; ok {
		return q
	}
	q := true
	for in := range c.Instructions() {
		op := in.Opcode()
		q = q && !isTransfer(op) && !waitsForAll(op) && !mayReduce(op)
		for i := range in.NumCallees() {
			q = q && w.isQuiet(w.r.m.MustComputation(in.Callee(i)))
		}
		if !q {
			break
		}
	}
	w.quiet[c.ID()] = q
	return q
}

// callees goes into what in calls: with the state at hand, or, for a group that runs asynchronously, with a fresh one.
func (w *deadlockWalk) callees(in hlo.Instruction, t *transfers) {
	for id := range in.Callees() {
		c := w.r.m.MustComputation(id)
		if hlo.IsAsync(in.Opcode()) && !hlo.IsExpandable(c) {
			if in.Opcode() != hlo.OpAsyncStart {
				continue
			}
			inner := new(transfers)
			w.computation(c, inner)
			if t.state != nothing && !w.stop {
				w.end(c, inner)
			}
			continue
		}
		w.computation(c, t)
	}
}

func (w *deadlockWalk) event(in hlo.Instruction, t *transfers) {
	op := in.Opcode()
	if w.events++; w.events > maxEvents {
		w.r.warn(in, "DEAD-09", "the program is too long to look for deadlocks to its end")
		w.stop = true
		return
	}
	switch {
	case isTransfer(op):
		if hlo.AttrsOf[hlo.SendRecvAttrs](in).IsHostTransfer {
			return
		}
		if _, ok := frontendAttrs(in).Get(pipelineMarker); ok {
			return
		}
		x, ok := w.transfer(in)
		switch {
		case !ok:
			w.stop = true
		case op == hlo.OpSend:
			w.add(x, t, aRecv, &t.sends, aSend, &t.recvs)
		default:
			w.add(x, t, aSend, &t.recvs, aRecv, &t.sends)
		}
	case waitsForAll(op) && t.state != nothing:
		w.fail(in, "DEAD-06", "Expected send and recv instructions to have the same source-target pairs, but could not match some instructions. Introducing the following instruction will cause a deadlock: %%%s; pending: %s", in.Name(), t)
	}
}

func (w *deadlockWalk) fail(in hlo.Instruction, rule, format string, args ...any) {
	w.r.report(in, rule, format, args...)
	w.stop = true
}

// add handles a send (or recv) x: mine are the pending ones of its kind, which wait in state expect; theirs are the others, in state other.
func (w *deadlockWalk) add(x transfer, t *transfers, expect awaiting, mine *pending, other awaiting, theirs *pending) {
	switch t.state {
	case nothing:
		t.state = expect
	case expect:
		if !mine.fits(x) {
			rule, want := "DEAD-04", "recv"
			if expect == aSend {
				rule, want = "DEAD-05", "send"
			}
			w.fail(x.in, rule, "Expected %s, but found %v %%%s; pending: %s", want, x.in.Opcode(), x.in.Name(), t)
			return
		}
		mine.add(x)
		return
	case other:
		if theirs.meet(x.text) {
			if theirs.n == 0 {
				t.state = nothing
			}
			return
		}
	}
	mine.joined = nil
	mine.add(x)
}

// end checks what is left at the end of a program.
func (w *deadlockWalk) end(c hlo.Computation, t *transfers) {
	if w.stop || t.state == nothing {
		return
	}
	sends, recvs := t.sends.left(), t.recvs.left()
	switch {
	case len(sends) > 0 && len(recvs) > 0:
		w.fail(sends[0], "DEAD-09", "Deadlock detected at the end of %%%s: %s match nothing", c.Name(), t)
	case len(sends) > 0:
		w.fail(sends[0], "DEAD-07", "Expected recv to match send %%%s at the end of %%%s", sends[0].Name(), c.Name())
	case len(recvs) > 0:
		w.fail(recvs[0], "DEAD-08", "Expected send to match recv %%%s at the end of %%%s", recvs[0].Name(), c.Name())
	}
}

// transfer reads the pairs of a send or recv.
func (w *deadlockWalk) transfer(in hlo.Instruction) (transfer, bool) {
	text, ok := frontendAttrs(in).Get(sourceTargetPairs)
	if !ok {
		w.r.report(in, "DEAD-01", "Instruction %%%s does not have source-target pairs attribute %s", in.Name(), sourceTargetPairs)
		return transfer{}, false
	}
	pairs, ok := parsePairs(text)
	switch {
	case !ok:
		w.r.report(in, "DEAD-01", "Instruction %%%s does not have source-target pairs attribute that can be read: %q", in.Name(), text)
	case cyclic(pairs):
		w.r.report(in, "DEAD-02", "Expected send and recv instructions to have non-cyclical source-target pairs, got %s", text)
		ok = false
	case !uniquePairs(pairs):
		w.r.report(in, "DEAD-03", "Expected send and recv instructions to have unique source and target pairs, got %s", text)
		ok = false
	}
	return transfer{in, text, pairs}, ok
}
