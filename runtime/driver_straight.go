package runtime

// A function that consists of plain kernels needs no driver: nothing in it can suspend, so whoever calls it runs it as a
// Go loop on the spot. Small loop bodies, conditions and branches are of that kind, and there the way through the
// driver would cost more than the kernels.

// straightKernels returns the kernels of a function that has only such, up to its return; else nil.
func straightKernels(steps []step) []TensorKernel {
	last := len(steps) - 1
	runs := make([]TensorKernel, last)
	for i := range runs {
		if steps[i].kind != stepKernel {
			return nil
		}
		runs[i] = steps[i].run
	}
	return runs
}

// straight runs the kernels of a, whose arguments and results are bound, and returns from it. It reports false if the run
// has failed, here or elsewhere; f.top and its pc then tell where to go on, carefully. The caller has told the meter.
func (f *fiber) straight(a *activation) bool {
	f.top = a
	if a.meter != nil && a.meter.on {
		return f.straightTimed(a)
	}
	if a.often && len(a.fn.stretches) > 0 {
		if !f.stretch(a, 0) {
			return false
		}
		a.finish()
		return true
	}
	stop := &f.run.stop
	frames := a.frames
	for pc, run := range a.fn.runs {
		a.pc = pc
		if stop.Load() != nil {
			return false
		}
		if err := run(&frames[pc]); err != nil {
			f.failKernel(err)
			a.pc++
			return false
		}
	}
	a.copyResults()
	return true
}

// straightLoop runs a loop whose condition and body are straight. The loop's own activation is a.
// If it fails in the middle, the driver goes on with the phase and the iteration that it was in.
func (f *fiber) straightLoop(a, cond, body *activation, trips int64) outcome {
	stop, rounds := &f.run.stop, f.run.rounds
	for {
		if trips != UnknownTripCount {
			if a.iter >= trips {
				break
			}
		} else {
			a.phase = whileCondition
			cond.meterBegins()
			if !f.straight(cond) {
				return proceed
			}
			if a.pred[0] == 0 {
				break
			}
		}
		a.phase = whileBody
		if stop.Load() != nil { // a condition and a body without kernels are a loop too
			f.top = body
			body.begin()
			return proceed
		}
		body.meterBegins()
		if !f.straight(body) {
			return proceed
		}
		a.iter++
		if rounds != nil {
			rounds.Add(1)
		}
	}
	f.top = a
	return a.finishLoop()
}
