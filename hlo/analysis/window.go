package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// Windows answers the one question that a pass has to ask before it makes one instruction of two, or moves one: would this narrow a chain?
//
// The window of an instruction is the set of dones that come before it, and of starts that come after it: by the order of a schedule if the
// computation has one, else by what depends on what. While a chain is under way, what lies in its window can run. Two instructions
// with the same window may become one; if one of them comes after a done that the other does not need, the other would wait for it,
// and if a start needs one of them only, the start would wait for the other.
//
// It speaks of one computation as it was when it was looked at. Windows are nil, and nothing narrows, where no chains are.
type Windows struct {
	of            idmap.Map[hlo.InstrID, Window]
	steps         idmap.Set[hlo.InstrID]
	chains        []chainSteps
	before, after *sets // of dones, and of starts
}

// chainSteps is a chain that begins and ends in the computation: the numbers of its start and its done in the sets.
type chainSteps struct {
	begin       hlo.InstrID
	start, done int
}

// Window is a set of chains' steps. Those of one computation may be compared.
type Window struct{ dones, starts numberSet }

// IsStart reports whether in begins asynchronous work, or gives it an operand that it was waiting for.
func IsStart(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitAsyncStart) || in.Opcode() == hlo.OpAsyncUpdate
}

// IsDone reports whether in waits for asynchronous work.
func IsDone(in hlo.Instruction) bool { return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitAsyncDone) }

// steps are the opcodes of the instructions of chains.
var steps = hlo.OpcodesWith(hlo.TraitAsyncStart | hlo.TraitAsyncDone).With(hlo.OpcodesOf(hlo.OpAsyncUpdate))

// FindWindows looks at every edge of a computation, if it has chains.
func FindWindows(c hlo.Computation) *Windows {
	if !c.Opcodes().Meets(steps) {
		return nil
	}
	var starts, dones []hlo.InstrID
	for in := range c.Instructions() {
		if IsStart(in) {
			starts = append(starts, in.ID())
		}
		if IsDone(in) {
			dones = append(dones, in.ID())
		}
	}
	if len(starts)+len(dones) == 0 {
		return nil
	}
	slices.Reverse(starts) // an instruction comes before all from some number on, and sets are small that have all up to some number
	w := new(Windows)
	for _, id := range dones {
		w.steps.Add(id)
	}
	var number idmap.Map[hlo.InstrID, int]
	for i, id := range starts {
		w.steps.Add(id)
		number.Set(id, i)
	}
	for k, id := range dones {
		step := c.MustAt(id)
		for step = step.OperandInstr(0); step.Opcode() == hlo.OpAsyncUpdate; {
			step = step.OperandInstr(0)
		}
		if i, ok := number.Lookup(step.ID()); ok {
			w.chains = append(w.chains, chainSteps{step.ID(), i, k})
		}
	}
	d := FindDependencies(c)
	var before, after []numberSet
	before, w.before = d.reached(dones, d.before, c.IsScheduled(), false)
	after, w.after = d.reached(starts, d.after, c.IsScheduled(), true)
	for i, in := range d.Order {
		w.of.Set(in.ID(), Window{before[i], after[i]})
	}
	return w
}

// Narrows reports whether computing a and b as one instruction, or a where b is, would narrow a chain. An instruction that it does not know
// is in no window.
func (w *Windows) Narrows(a, b hlo.InstrID) bool {
	if w == nil || a == b {
		return false
	}
	wa, knownA := w.of.Lookup(a)
	wb, knownB := w.of.Lookup(b)
	return knownA && knownB && wa != wb
}

// Of is the window of an instruction of the computation as it was looked at: computing two as one narrows a chain unless theirs are the same.
func (w *Windows) Of(id hlo.InstrID) Window {
	if w == nil {
		return Window{}
	}
	of, _ := w.of.Lookup(id)
	return of
}

// Delays reports whether computing a where b is would narrow a chain: a would wait for a done that it does not need, or a start for a. It is
// the question of who lets b stand for a, and [Windows.Narrows] that of who joins the two, or puts the work of a into b.
func (w *Windows) Delays(a, b hlo.InstrID) bool {
	if w == nil || a == b {
		return false
	}
	wa, knownA := w.of.Lookup(a)
	wb, knownB := w.of.Lookup(b)
	return knownA && knownB && !(w.before.subset(wb.dones, wa.dones) && w.after.subset(wb.starts, wa.starts))
}

// Postpones reports whether running b only after a, which it does not need, would narrow a chain: b, or what needs it, would wait for a done, or a start
// that needs b would wait for a. Orders for which it is false change no window.
func (w *Windows) Postpones(a, b hlo.Instruction) bool {
	if w == nil {
		return false
	}
	wa, knownA := w.of.Lookup(a.ID())
	wb, knownB := w.of.Lookup(b.ID())
	if !knownA || !knownB {
		return false
	}
	return IsDone(a) || IsStart(b) || !w.before.subset(wa.dones, wb.dones) || !w.after.subset(wb.starts, wa.starts)
}

// Beside lists the starts of the chains beside which an instruction can run: it needs none of their dones, and none of their starts needs it.
// Moved away, it would not hide them any more.
func (w *Windows) Beside(id hlo.InstrID) (starts []hlo.InstrID) {
	if w == nil || w.steps.Has(id) {
		return nil
	}
	x, known := w.of.Lookup(id)
	if !known {
		return nil
	}
	for _, c := range w.chains {
		if !w.after.has(x.starts, c.start) && !w.before.has(x.dones, c.done) {
			starts = append(starts, c.begin)
		}
	}
	return starts
}

// Stands notes that a new instruction is where an old one was.
func (w *Windows) Stands(now, old hlo.InstrID) {
	if w == nil {
		return
	}
	if x, ok := w.of.Lookup(old); ok {
		w.of.Set(now, x)
	}
}

// IsStep reports whether an instruction is a start, an update or a done.
func (w *Windows) IsStep(id hlo.InstrID) bool { return w != nil && w.steps.Has(id) }

// reached gives every position the set of the marked instructions that it comes after, by edges or, if scheduled, by place; back looks from
// the end.
func (d *Dependencies) reached(marked []hlo.InstrID, e edges, scheduled, back bool) ([]numberSet, *sets) {
	bit := make([]int32, len(d.Order)) // by position: one past the number of what is marked
	for i, id := range marked {
		bit[d.at[id]] = int32(i) + 1
	}
	sets := newSets(len(marked))
	of := make([]numberSet, len(d.Order))
	var last numberSet
	for k := range d.Order {
		i := k
		if back {
			i = len(d.Order) - 1 - k
		}
		if scheduled {
			of[i] = last
			if b := bit[i]; b > 0 {
				last = sets.with(last, int(b)-1)
			}
			continue
		}
		var set numberSet
		for _, j := range e.from(i) {
			set = sets.union(set, of[j])
			if b := bit[j]; b > 0 {
				set = sets.with(set, int(b)-1)
			}
		}
		of[i] = set
	}
	return of, sets
}
