package runtime

// What a kernel makes of one of its inputs before it computes, such as the panels of a matrix that it multiplies by, is the same in each round of a loop that hands this
// input on as it got it. So the driver lets it be made when the loop begins, and kept until the loop ends.

// Preparation is what a kernel does with one of its inputs, once for many runs. It runs before the first of them; then each finds in TensorFrame.Kept what it
// has written there. A kernel whose input may change from run to run is not prepared: Kept is nil there, and Run does it all.
type Preparation struct {
	In    int   // the input, and all that Run reads
	Bytes int64 // of Kept
	Run   func(*TensorFrame)
}

// Prepare gives a frame outside of a program memory for p and prepares it, for tests and for calling a kernel by hand.
func (p *Preparation) Prepare(f *TensorFrame) {
	f.kept = AlignedBytes(p.Bytes)
	p.Run(f)
}

const (
	// fewestRounds is how many rounds of a loop pay for a preparation, which takes about as long as the run that it spares half of.
	fewestRounds = 4
	// mostKept is how much is kept for one loop. What is larger is in no cache near a processor, and comes from memory as slowly in any order.
	mostKept = 4 << 20
)

// findPreparations lists the steps of a loop's body that are prepared. Their input is a part of the state that the body hands on where it lies, untouched: nothing in
// a function writes to an argument's memory but as the result of that number, and there is none.
func (s *step) findPreparations(limit int64) {
	if trips := s.control.TripCount; trips != UnknownTripCount && trips < fewestRounds {
		return
	}
	body, left := s.callees[1], min(mostKept, limit)
	for pc := range body.steps {
		p := body.steps[pc].prepare
		if p == nil || p.Bytes > left {
			continue
		}
		slot := body.regs[body.steps[pc].in[p.In]].Slot
		if slot.Kind == SlotArg && body.handsOn(int(slot.Index)) {
			s.prepares = append(s.prepares, int32(pc))
			left -= p.Bytes
		}
	}
}

// handsOn reports whether the function returns argument i as result i, where it lies and as it is.
func (t *tensorFunction) handsOn(i int) bool {
	return t.regs[t.results[i]].Slot == ArgSlot(i) && len(t.outRegs[i]) == 0
}

// keptBytes is what an instance needs for the preparations of a loop.
func (s *step) keptBytes() (n int64) {
	for _, pc := range s.prepares {
		n += alignUp(s.callees[1].steps[pc].prepare.Bytes, BufferAlign)
	}
	return n
}

// prepare prepares steps of a loop's body, whose memory is bound.
func (a *activation) prepare(steps []int32) {
	for _, pc := range steps {
		a.fn.steps[pc].prepare.Run(&a.frames[pc])
	}
}
