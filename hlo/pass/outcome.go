package pass

import (
	"context"

	"github.com/gohalo/halo/hlo"
)

// Outcome is what became of an instruction of the first module.
type Outcome struct {
	// Events happened to it, and to what took its place, in order.
	Events []Event
	// Now is what computes its value in the last module: the instruction itself if it is still there, or what stands for it. Several, when a
	// computation was copied into several places; none, when the value is not needed any more.
	Now []hlo.Instruction
}

// maxFollowed bounds how many instructions that stand for one are followed.
const maxFollowed = 16

// whereabouts is an instruction at a step of the history.
type whereabouts struct {
	comp  hlo.CompID
	instr hlo.InstrID
	step  int
}

// Outcome follows an instruction of the first module forwards to last, the module that the run ended with.
func (h *History) Outcome(ctx context.Context, last hlo.Module, comp hlo.CompID, instr hlo.InstrID) (f Outcome, err error) {
	work := []whereabouts{{comp, instr, 0}}
	known := map[whereabouts]bool{}
	for n := 0; len(work) > 0 && n < maxFollowed; n++ {
		w := work[0]
		work = work[1:]
		next, gone, err := h.follow(ctx, &f, w)
		if err != nil {
			return f, err
		}
		for _, to := range next {
			if !known[to] {
				known[to] = true
				work = append(work, to)
			}
		}
		if in, ok := at(last, w.comp, w.instr); ok && !gone {
			f.Now = append(f.Now, in)
		}
	}
	return f, nil
}

// follow adds what happened to an instruction until it was removed, and returns what took its place then.
func (h *History) follow(ctx context.Context, f *Outcome, w whereabouts) (next []whereabouts, gone bool, err error) {
	for i := w.step; i < len(h.steps); i++ {
		s := h.steps[i]
		was, had := at(s.Before, w.comp, w.instr)
		is, has := at(s.After, w.comp, w.instr)
		if !had || has && sameText(was, is) {
			continue
		}
		var e Event
		if _, still := s.After.Computation(w.comp); !still {
			e, i = h.copied(w, i, was)
		}
		if e.Path == "" {
			if e, err = h.locate(ctx, s, w.comp, w.instr); err != nil {
				return nil, false, err
			}
		}
		if e.Kind == Made {
			continue
		}
		f.Events = append(f.Events, e)
		if !has {
			for _, o := range e.Others {
				next = append(next, whereabouts{o.Computation().ID(), o.ID(), i + 1})
			}
			return next, true, nil
		}
	}
	return nil, false, nil
}

// copied looks for the step, up to the one in which a computation went, that put copies of one of its instructions elsewhere. Without one
// the event has no path, and the step is the last.
func (h *History) copied(w whereabouts, last int, was hlo.Instruction) (Event, int) {
	for i := w.step; i <= last; i++ {
		if all := copies(h.steps[i], was); len(all) > 0 {
			return Event{Kind: Copied, Path: h.steps[i].Path, Pass: h.steps[i].Pass, Old: was, Others: all}, i
		}
	}
	return Event{}, last
}

// copies are the instructions that a step made after one of another computation: they have its opcode and its position in the text.
func copies(s Report, was hlo.Instruction) (all []hlo.Instruction) {
	if !was.Position().IsKnown() || !s.After.SameLineage(s.Before) {
		return nil
	}
	for ch := range s.After.Diff(s.Before) {
		in := ch.NewInstr
		if ch.Kind == hlo.InstructionAdded && ch.Comp != was.Computation().ID() && in.Opcode() == was.Opcode() && in.Position() == was.Position() {
			all = append(all, in)
		}
	}
	return all
}
