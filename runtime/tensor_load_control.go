package runtime

import (
	"fmt"

	"github.com/gohalo/halo/runtime/bef"
)

// control checks a control kernel: the callees' frames lie in the caller's, and every callee takes and gives what the
// kernel hands it, byte for byte.
func (l *tensorLoader) control(t *tensorFunction, k *bef.Kernel, s *step) error {
	if s.kind == stepAsyncUpdate || s.kind == stepAsyncDone {
		return l.checkEventUser(t, s)
	}
	s.site = int32(t.numSites)
	t.numSites++
	lateFrom := 0
	if s.kind == stepAsyncStart {
		t.numOps++
		if n := l.numArgs(k); len(s.in) < n {
			lateFrom = len(s.in) + 1
		}
	}
	for _, id := range k.Funcs {
		callee, err := l.load(tensorKey{int(id), lateFrom})
		if err != nil {
			return err
		}
		s.callees = append(s.callees, callee)
	}
	if len(s.control.Frames) != len(s.callees) {
		return fmt.Errorf("%d frames for %d functions", len(s.control.Frames), len(s.callees))
	}
	if !s.control.Detached {
		for i, c := range s.callees {
			if off := s.control.Frames[i]; off < 0 || off%BufferAlign != 0 || off > t.frame || c.frame > t.frame-off {
				return fmt.Errorf("frame of function %q, %d bytes at %d, is outside of the caller's %d bytes", c.fn.name, c.frame, off, t.frame)
			}
		}
	}
	switch s.kind {
	case stepCall:
		if err := wantCallees(s, 1); err != nil {
			return err
		}
		return l.checkCall(t, s.callees[0], s.in, s.out)
	case stepWhile:
		if err := l.checkWhile(t, s); err != nil {
			return err
		}
		s.scalar = newScalarLoop(t, s)
		s.findPreparations(l.program.options.maxBytes())
		return nil
	case stepConditional:
		return l.checkConditional(t, s)
	default:
		return l.checkAsyncStart(t, s)
	}
}

func (l *tensorLoader) numArgs(k *bef.Kernel) int {
	if len(k.Funcs) == 0 {
		return 0
	}
	return len(l.program.file.Functions[k.Funcs[0]].Args)
}

func wantCallees(s *step, n int) error {
	if len(s.callees) != n {
		return fmt.Errorf("%d functions, want %d", len(s.callees), n)
	}
	return nil
}

// checkCall checks operands and results against a callee; nil operands or results are not checked.
func (l *tensorLoader) checkCall(t, callee *tensorFunction, in, out []int32) error {
	if len(in) != callee.numArgs || len(out) != len(callee.results) {
		return fmt.Errorf("function %q takes %d arguments and gives %d results, got %d and %d",
			callee.fn.name, callee.numArgs, len(callee.results), len(in), len(out))
	}
	if err := checkOperands(t, callee, in); err != nil {
		return err
	}
	for i, r := range out {
		if got, want := t.regs[r].tensorType(), callee.resultType(i); !got.Equal(want) {
			return fmt.Errorf("result %d is %v, function %q gives %v", i, &got, callee.fn.name, &want)
		}
	}
	return nil
}

func checkOperands(t, callee *tensorFunction, in []int32) error {
	for i, r := range in {
		if got, want := t.regs[r].tensorType(), callee.argType(i); !got.Equal(want) {
			return fmt.Errorf("operand %d is %v, function %q takes %v", i, &got, callee.fn.name, &want)
		}
	}
	return nil
}

func (l *tensorLoader) checkWhile(t *tensorFunction, s *step) error {
	if err := wantCallees(s, 2); err != nil {
		return err
	}
	if len(s.in) != len(s.out) {
		return fmt.Errorf("%d initial values for %d results", len(s.in), len(s.out))
	}
	if s.control.TripCount < UnknownTripCount {
		return fmt.Errorf("trip count %d", s.control.TripCount)
	}
	cond, body := s.callees[0], s.callees[1]
	if len(cond.results) != 1 || cond.resultType(0).Bytes != 1 {
		return fmt.Errorf("condition %q must have one result of one byte", cond.fn.name)
	}
	if len(s.in) != cond.numArgs {
		return fmt.Errorf("condition %q takes %d arguments, the state has %d leaves", cond.fn.name, cond.numArgs, len(s.in))
	}
	if err := checkOperands(t, cond, s.in); err != nil {
		return err
	}
	return l.checkCall(t, body, s.in, s.out)
}

func (l *tensorLoader) checkConditional(t *tensorFunction, s *step) error {
	if len(s.callees) == 0 || len(s.control.Counts) != len(s.callees) || len(s.in) == 0 {
		return fmt.Errorf("%d branches with %d argument counts and %d operands", len(s.callees), len(s.control.Counts), len(s.in))
	}
	switch n := t.regs[s.in[0]].Bytes; {
	case n == 1 && len(s.callees) == 2: // pred: true comes first
	case n == 4:
	default:
		return fmt.Errorf("selector of %d bytes for %d branches", n, len(s.callees))
	}
	rest := s.in[1:]
	for i, c := range s.callees {
		n := s.control.Counts[i]
		if n < 0 || n > len(rest) {
			return fmt.Errorf("branch %d takes %d of %d operands", i, n, len(rest))
		}
		if err := l.checkCall(t, c, rest[:n], s.out); err != nil {
			return fmt.Errorf("branch %d: %w", i, err)
		}
		rest = rest[n:]
	}
	if len(rest) != 0 {
		return fmt.Errorf("%d operands belong to no branch", len(rest))
	}
	return nil
}

func (l *tensorLoader) checkAsyncStart(t *tensorFunction, s *step) error {
	if err := wantCallees(s, 1); err != nil {
		return err
	}
	callee := s.callees[0]
	if len(s.in) > callee.numArgs {
		return fmt.Errorf("%d operands, function %q takes %d", len(s.in), callee.fn.name, callee.numArgs)
	}
	if err := checkOperands(t, callee, s.in); err != nil {
		return err
	}
	if len(s.out) != 1 || t.regs[s.out[0]].Slot.Kind != SlotNone {
		return fmt.Errorf("the result of a start must be one register without memory")
	}
	outputs := s.control.Outputs
	if s.control.Detached {
		if len(outputs) != 0 {
			return fmt.Errorf("a detached start names %d output registers", len(outputs))
		}
		return nil
	}
	if len(outputs) != len(callee.results) {
		return fmt.Errorf("%d output registers, function %q gives %d results", len(outputs), callee.fn.name, len(callee.results))
	}
	for i, r := range outputs {
		want := callee.resultType(i)
		if r >= len(t.regs) {
			return fmt.Errorf("output %d: register %d of %d", i, r, len(t.regs))
		}
		if got := t.regs[r].tensorType(); !got.Equal(want) {
			return fmt.Errorf("output %d: register %d is %v, function %q gives %v", i, r, &got, callee.fn.name, &want)
		}
		if kind := t.regs[r].Slot.Kind; kind == SlotArg || kind == SlotConst {
			return fmt.Errorf("output %d: register %d lives in %v", i, r, t.regs[r].Slot)
		}
	}
	return nil
}

// checkEventUser checks what can be known of an update or done: that its first operand may be an event. Which start it
// comes from is known when it runs.
func (l *tensorLoader) checkEventUser(t *tensorFunction, s *step) error {
	if len(s.in) == 0 || t.regs[s.in[0]].Slot.Kind != SlotNone {
		return fmt.Errorf("the first operand must be the event of a start")
	}
	if s.kind == stepAsyncDone && len(s.in) != 1 {
		return fmt.Errorf("a done has one operand, got %d", len(s.in))
	}
	if s.kind == stepAsyncUpdate && (len(s.out) != 1 || t.regs[s.out[0]].Slot.Kind != SlotNone) {
		return fmt.Errorf("the result of an update must be one register without memory")
	}
	return nil
}
