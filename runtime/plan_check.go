package runtime

import "github.com/gohalo/halo/runtime/async"

// CheckPlans simulates every tensor function of the program on its buffer plan and reports the first place where memory
// is used wrongly: a register is read after something else was written over it, a callee's frame or results overlap its
// arguments, or memory of an async operation in flight is touched. A kernel may rely on what the check finds: that its
// outputs are not its inputs, unless it can work in place.
//
// It works on versions: each write gives its bytes a new version, a register remembers the version of its definition, and a
// read wants to find that one. In a loop's body argument i and result i are the same memory. The entry is simulated twice if its metadata
// has aliases: the caller may give the same memory for the two, or not.
//
// Load makes the check of programs whose module was read.
func (p *Program) CheckPlans() error {
	bodies := make(map[*tensorFunction]bool)
	var all []*tensorFunction
	seen := make(map[*tensorFunction]bool)
	var visit func(t *tensorFunction)
	visit = func(t *tensorFunction) {
		if seen[t] {
			return
		}
		seen[t] = true
		all = append(all, t)
		for i := range t.steps {
			for j, c := range t.steps[i].callees {
				if t.steps[i].kind == stepWhile && j == 1 {
					bodies[c] = true
				}
				visit(c)
			}
		}
	}
	for _, f := range p.functions {
		if f.tensor != nil {
			visit(f.tensor)
		}
	}
	for _, t := range all {
		over := map[int64]int64{}
		switch {
		case bodies[t]:
			for i := range t.results {
				over[int64(i)] = int64(i)
			}
		case p.metadata != nil && t.fn.id == p.metadata.Entry:
			for _, a := range p.metadata.Aliases {
				over[int64(a.Param)] = int64(a.Result)
			}
		}
		if !bodies[t] {
			if err := newPlanChecker(t, nil).run(); err != nil {
				return err
			}
		}
		if len(over) > 0 {
			if err := newPlanChecker(t, over).run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flight is an async operation between its start and its done.
type flight struct {
	kernel int32
	writes []region
	reads  []region
}

type planChecker struct {
	t        *tensorFunction
	over     map[int64]int64 // by argument: the result that is the same memory
	versions []int           // of registers
	latest   int
	spaces   map[space]*segments
	flights  []*flight
	events   map[int32]*flight
	step     *step
}

func newPlanChecker(t *tensorFunction, over map[int64]int64) *planChecker {
	return &planChecker{t: t, over: over, versions: make([]int, len(t.regs)), events: make(map[int32]*flight), spaces: make(map[space]*segments)}
}

func (c *planChecker) fail(format string, args ...any) error {
	name, loc := c.t.kernelName(c.step)
	st := async.Errorf(async.Internal, "buffer plan of function %q, kernel %d: "+format, append([]any{c.t.fn.name, c.step.kernel}, args...)...)
	return st.At(name, statusLocation(loc))
}

func (c *planChecker) run() error {
	t := c.t
	c.step = &step{kernel: -1}
	for i := range t.numArgs {
		if m, ok := c.region(int32(i)); ok {
			c.latest++
			c.segments(m.space).set(m.lo, m.hi, c.latest)
			c.versions[i] = c.latest
		}
	}
	next := int32(0)
	for i := range t.steps {
		c.step = &t.steps[i]
		if c.step.kind == stepReturn {
			continue // it comes last, wherever it stands
		}
		if c.step.kernel >= 0 {
			c.skipTo(&next, c.step.kernel)
		}
		if err := c.check(c.step); err != nil {
			return err
		}
	}
	c.step = &step{kind: stepReturn, kernel: -1}
	c.skipTo(&next, int32(len(t.fn.def.Kernels)))
	return c.checkReturn()
}

// skipTo lets the kernels that are no steps, because they have nothing to do, hand on their operand's version.
func (c *planChecker) skipTo(next *int32, kernel int32) {
	for ; *next < kernel; *next++ {
		k := &c.t.fn.def.Kernels[*next]
		for _, out := range k.Results {
			for _, in := range k.Args {
				if c.t.regs[in].Slot == c.t.regs[out].Slot {
					c.versions[out] = c.versions[in]
				}
			}
		}
	}
	*next = kernel + 1
}

func (c *planChecker) check(s *step) error {
	switch s.kind {
	case stepKernel, stepAsyncKernel:
		return c.checkKernel(s)
	case stepCall, stepConditional:
		return c.checkCall(s)
	case stepWhile:
		return c.checkWhile(s)
	case stepAsyncStart:
		return c.checkStart(s)
	case stepAsyncUpdate:
		f := c.events[s.in[0]]
		c.events[s.out[0]] = f
		return c.pin(f, s.in[1:])
	case stepAsyncDone:
		return c.checkDone(s)
	}
	return nil
}

func (c *planChecker) readAll(regs []int32) error {
	for _, r := range regs {
		if err := c.read(r); err != nil {
			return err
		}
	}
	return nil
}

func (c *planChecker) writeAll(regs []int32) error {
	for _, r := range regs {
		if err := c.write(r); err != nil {
			return err
		}
	}
	return nil
}

// checkKernel allows an output to be exactly an input, as kernels that work in place have it, but not to overlap one in
// part, nor another output.
func (c *planChecker) checkKernel(s *step) error {
	if err := c.readAll(s.in); err != nil {
		return err
	}
	mayShare := c.t.fn.program.modules.MayShare
	for i, out := range s.out {
		m, ok := c.region(out)
		if !ok {
			continue
		}
		for j, in := range s.in {
			n, ok := c.region(in)
			switch {
			case !ok || !m.overlaps(n):
			case m != n:
				return c.fail("output register %d in %v overlaps input register %d in %v", out, m, in, n)
			case mayShare != nil && !mayShare(c.t.binding(&c.t.fn.def.Kernels[s.kernel]), i, j):
				return c.fail("output register %d in %v is input register %d, but the kernel cannot work in place", out, m, in)
			}
		}
		for _, other := range s.out[:i] {
			if n, ok := c.region(other); ok && m.overlaps(n) {
				return c.fail("output registers %d and %d overlap in %v", other, out, m)
			}
		}
	}
	return c.writeAll(s.out)
}

// frames returns the memory of the callees.
func (c *planChecker) frames(s *step) []region {
	var list []region
	for i, callee := range s.callees {
		if off := s.control.Frames[i]; callee.frame > 0 {
			list = append(list, region{space{SlotArena, 0}, off, off + callee.frame})
		}
	}
	return list
}

// checkApart checks that what a callee reads, writes and works in do not overlap.
func (c *planChecker) checkApart(in, out []int32, frames []region) error {
	for _, o := range out {
		m, ok := c.region(o)
		if !ok {
			continue
		}
		for _, r := range in {
			if n, ok := c.region(r); ok && n.overlaps(m) {
				return c.fail("argument register %d in %v overlaps result register %d in %v", r, n, o, m)
			}
		}
	}
	for _, regs := range [][]int32{in, out} {
		for _, r := range regs {
			m, ok := c.region(r)
			for _, f := range frames {
				if ok && f.overlaps(m) {
					return c.fail("register %d in %v overlaps a callee's frame in %v", r, m, f)
				}
			}
		}
	}
	return nil
}

func (c *planChecker) clobber(frames []region) error {
	for _, f := range frames {
		if _, err := c.overwrite(f); err != nil {
			return err
		}
	}
	return nil
}

func (c *planChecker) checkCall(s *step) error {
	if err := c.readAll(s.in); err != nil {
		return err
	}
	in, frames := s.in, c.frames(s)
	if s.kind == stepConditional {
		in = in[1:] // the selector is read before anything is written
	}
	if err := c.checkApart(in, s.out, frames); err != nil {
		return err
	}
	if err := c.clobber(frames); err != nil {
		return err
	}
	return c.writeAll(s.out)
}

// checkWhile follows the driver: initial values are copied in order where they are not in their place.
func (c *planChecker) checkWhile(s *step) error {
	for i, out := range s.out {
		if err := c.read(s.in[i]); err != nil {
			return err
		}
		if c.t.regs[s.in[i]].Slot == c.t.regs[out].Slot {
			c.versions[out] = c.versions[s.in[i]]
		} else if err := c.write(out); err != nil {
			return err
		}
	}
	for i, out := range s.out {
		if err := c.read(out); err != nil {
			return c.fail("state %d: initial values overwrite each other", i)
		}
	}
	frames := c.frames(s)
	if err := c.checkApart(nil, s.out, frames); err != nil {
		return err
	}
	if err := c.clobber(frames); err != nil {
		return err
	}
	for i, out := range s.out {
		if handsOn(c.t, s, i) {
			continue
		}
		if err := c.write(out); err != nil {
			return err
		}
	}
	return nil
}

func (c *planChecker) checkStart(s *step) error {
	if err := c.readAll(s.in); err != nil {
		return err
	}
	f := &flight{kernel: s.kernel}
	c.events[s.out[0]] = f
	if s.control.Detached {
		return nil // it has copies
	}
	outputs := make([]int32, len(s.control.Outputs))
	for i, r := range s.control.Outputs {
		outputs[i] = int32(r)
	}
	frames := c.frames(s)
	if err := c.checkApart(s.in, outputs, frames); err != nil {
		return err
	}
	if err := c.clobber(frames); err != nil {
		return err
	}
	if err := c.writeAll(outputs); err != nil {
		return err
	}
	f.writes = frames
	for _, r := range outputs {
		if m, ok := c.region(r); ok {
			f.writes = append(f.writes, m)
		}
	}
	c.flights = append(c.flights, f)
	return c.pin(f, s.in)
}

// pin keeps operands of an operation in flight from being written.
func (c *planChecker) pin(f *flight, regs []int32) error {
	if err := c.readAll(regs); err != nil || f == nil || f.writes == nil {
		return err
	}
	for _, r := range regs {
		m, ok := c.region(r)
		if !ok {
			continue
		}
		for _, w := range f.writes {
			if w.overlaps(m) {
				return c.fail("operand register %d in %v overlaps what the operation writes in %v", r, m, w)
			}
		}
		f.reads = append(f.reads, m)
	}
	return nil
}

func (c *planChecker) checkDone(s *step) error {
	f := c.events[s.in[0]]
	for i, x := range c.flights {
		if x == f {
			c.flights = append(c.flights[:i], c.flights[i+1:]...)
			break
		}
	}
	return c.writeAll(s.out)
}

// checkReturn checks that every result is in its place, or can be copied there in order.
func (c *planChecker) checkReturn() error {
	for _, x := range c.t.copies {
		if err := c.read(x.reg); err != nil {
			return err
		}
		reg := &c.t.regs[x.reg]
		m, ok := c.region(x.reg)
		if reg.Bytes == 0 || ok && m.space == (space{SlotOut, int64(x.result)}) {
			continue // it is there
		}
		if _, err := c.overwrite(region{space{SlotOut, int64(x.result)}, 0, reg.Bytes}); err != nil {
			return err
		}
	}
	for i, r := range c.t.results {
		if c.t.regs[r].Slot == OutSlot(i) {
			if err := c.read(r); err != nil {
				return err
			}
		}
	}
	return nil
}
