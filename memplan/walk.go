package memplan

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/origin"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/runtime/kernels"
)

// walk follows an execution through the functions of a program, each call in its place.
type walk struct {
	r      *Report
	p      *runtime.Program
	m      hlo.Module
	finder *origin.Finder
	plans  map[int]*runtime.FunctionPlan
}

// maxSteps bounds the steps of a report: functions that call each other twice double at each level.
const maxSteps = 1 << 18

// held is a register's life within its function, in steps of the report.
type held struct {
	first, last int
	keeper      int // kernel that reads it last; the number of kernels for the return
	made        int // kernel that computes it, -1 for arguments
}

// function adds the steps of a function whose frame is at base.
func (w *walk) function(f *runtime.Function, base int64, via *hlo.Instruction) error {
	plan := w.plans[f.ID()]
	def := &w.p.File().Functions[f.ID()]
	comp, ok := w.m.ComputationByName(f.Location().Name)
	if plan == nil || !ok {
		return fmt.Errorf("function %q has no plan", f.Name())
	}
	n := len(def.Kernels)
	from, until := make([]int, n+1), make([]int, n+1) // steps of each kernel; what it calls included
	names := make([]hlo.Instruction, n+1)
	scratch := map[int]int64{}
	for _, s := range f.StepsOf() {
		if s.Kernel >= 0 {
			scratch[s.Kernel] = s.Scratch
		}
	}
	controls := map[int]*runtime.Control{}
	for i := range plan.Controls {
		controls[plan.Controls[i].Kernel] = &plan.Controls[i]
	}
	for k := range def.Kernels {
		names[k] = w.instruction(f, comp, k)
		from[k] = len(w.r.Steps)
		w.step(names[k], scratch[k])
		if c := controls[k]; c != nil {
			for i, callee := range def.Kernels[k].Funcs {
				if err := w.call(f, &def.Kernels[k], c, i, int(callee), base, names[k]); err != nil {
					return err
				}
			}
		}
		until[k] = len(w.r.Steps) - 1
	}
	names[n] = comp.Root()
	from[n] = len(w.r.Steps)
	w.step(comp.Root(), 0)
	until[n] = from[n]
	w.buffers(plan, def, from, until, names, base, via == nil)
	return nil
}

func (w *walk) call(_ *runtime.Function, _ *bef.Kernel, c *runtime.Control, i, callee int, base int64, in hlo.Instruction) error {
	fn := w.p.Functions()[callee]
	if c.Detached {
		w.r.Detached = append(w.r.Detached, Detached{in.Name(), fn.DetachedBytes()})
		return nil
	}
	if len(w.r.Steps) > maxSteps {
		w.r.Cut = true
		return nil
	}
	return w.function(fn, base+c.Frames[i], &in)
}

func (w *walk) step(in hlo.Instruction, scratch int64) {
	w.r.Steps = append(w.r.Steps, Step{Index: len(w.r.Steps), Name: in.Name(), Computation: in.Computation().Name(), Scratch: scratch})
}

// instruction is what kernel k of a function belongs to: the instruction that it is, or that it copies something for.
func (w *walk) instruction(f *runtime.Function, comp hlo.Computation, k int) hlo.Instruction {
	if in, ok := kernels.KernelInstruction(f, w.p, k); ok {
		return in
	}
	file := w.p.File()
	if in, ok := comp.ByName(file.Locations.At(file.Functions[f.ID()].Kernels[k].Loc).Name); ok {
		return in
	}
	return comp.Root()
}

// buffers adds the values of a function that has been walked through.
func (w *walk) buffers(plan *runtime.FunctionPlan, def *bef.Function, from, until []int, names []hlo.Instruction, base int64, entry bool) {
	n := len(def.Kernels)
	lives := make([]held, len(plan.Registers))
	for i := range lives {
		lives[i] = held{first: from[0], last: from[0], keeper: -1, made: -1}
	}
	read := func(r bef.RegID, k int) {
		if l := &lives[r]; until[k] >= l.last {
			l.last, l.keeper = until[k], k
		}
	}
	for k := range def.Kernels {
		for _, r := range def.Kernels[k].Results {
			lives[r] = held{first: from[k], last: until[k], keeper: k, made: k}
		}
		for _, r := range def.Kernels[k].Args {
			read(r, k)
		}
	}
	for _, r := range def.ResultRegs {
		read(r, n)
	}
	w.chains(plan, def, from, lives, read)
	if entry {
		w.copiedResults(plan, def, until[n], lives, names)
	}
	next := chain(plan, def)
	for r := range plan.Registers {
		slot := plan.Registers[r].Slot
		kind := kindOf(slot, entry, def, r)
		if kind == "" || next.joined[r] {
			continue
		}
		b := Buffer{Kind: kind, Bytes: align(plan.Registers[r].Bytes), First: lives[r].first, Last: lives[r].last}
		switch kind {
		case Temporary:
			b.Offset = base + slot.Index
		case Constant:
			b.Offset = slot.Index
			fallthrough
		default:
			b.Bytes = plan.Registers[r].Bytes
		}
		keeper := lives[r].keeper
		b.Origin = w.made(lives[r].made, r, names, def)
		for o := next.of[r]; o >= 0; o = next.of[o] {
			if kind == Temporary {
				b.Bytes = max(b.Bytes, align(plan.Registers[o].Bytes))
			}
			if lives[o].last >= b.Last {
				b.Last, keeper = lives[o].last, lives[o].keeper
			}
			if k := lives[o].made; k >= 0 && names[k].Name() != b.Name {
				b.Others = append(b.Others, names[k].Name())
			}
		}
		switch {
		case keeper == n:
			b.Keeper = "return"
		case keeper >= 0:
			b.Keeper = names[keeper].Name()
		}
		w.r.Buffers = append(w.r.Buffers, b)
	}
}

// copiedResults adds the results of the program that are arguments or lie in the frame: they are copied to where the caller wants them at the end.
func (w *walk) copiedResults(plan *runtime.FunctionPlan, def *bef.Function, end int, lives []held, names []hlo.Instruction) {
	for i, r := range def.ResultRegs {
		if reg := &plan.Registers[r]; reg.Slot != runtime.OutSlot(i) && reg.Bytes > 0 {
			w.r.Buffers = append(w.r.Buffers, Buffer{Origin: w.made(lives[r].made, int(r), names, def), Kind: Result, Bytes: reg.Bytes, First: end, Last: end, Keeper: "return"})
		}
	}
}

// kindOf is the kind of the buffer that a slot is in; "" for memory that belongs to a caller or that is none.
func kindOf(s runtime.Slot, entry bool, def *bef.Function, r int) string {
	switch s.Kind {
	case runtime.SlotArena:
		return Temporary
	case runtime.SlotConst:
		return Constant
	case runtime.SlotArg:
		if entry && r < len(def.Args) {
			return Argument
		}
	case runtime.SlotOut:
		if entry {
			return Result
		}
	}
	return ""
}

// made is the origin of what kernel k, or the caller, puts in a register.
func (w *walk) made(k, r int, names []hlo.Instruction, def *bef.Function) origin.Origin {
	if k >= 0 {
		return w.finder.Of(names[k])
	}
	comp := names[len(names)-1].Computation()
	leaf := r
	for i := range comp.NumParameters() {
		p := comp.Parameter(i)
		if leaf < p.Shape().NumLeaves() {
			return w.finder.Of(p)
		}
		leaf -= p.Shape().NumLeaves()
	}
	return w.finder.Of(comp.Root())
}

// chains lets the operands and results of asynchronous operations live until the done: it follows the event from kernel to kernel.
func (w *walk) chains(plan *runtime.FunctionPlan, def *bef.Function, from []int, lives []held, read func(bef.RegID, int)) {
	for i := range plan.Controls {
		c := &plan.Controls[i]
		if len(c.Outputs) == 0 && !w.isStart(def, c.Kernel) {
			continue
		}
		start := &def.Kernels[c.Kernel]
		bound := append([]bef.RegID(nil), start.Args...)
		for _, o := range c.Outputs {
			lives[o].first = from[c.Kernel]
		}
		if len(start.Results) == 0 {
			continue
		}
		event := start.Results[0]
		for k := c.Kernel + 1; k < len(def.Kernels); k++ {
			next := &def.Kernels[k]
			if len(next.Args) == 0 || next.Args[0] != event {
				continue
			}
			if w.p.File().Kernels[next.Code] == "hlo.async-update" {
				bound, event = append(bound, next.Args[1:]...), next.Results[0]
				continue
			}
			for _, r := range bound {
				read(r, k)
			}
			break
		}
	}
}

func (w *walk) isStart(def *bef.Function, k int) bool {
	return w.p.File().Kernels[def.Kernels[k].Code] == "hlo.async-start"
}

// links are registers that are the same storage, one after the other.
type links struct {
	of     []int  // the next register in the storage of each, -1 if there is none
	joined []bool // it has one before it
}

// chain finds the registers that a kernel computes where one of its operands is.
func chain(plan *runtime.FunctionPlan, def *bef.Function) links {
	l := links{of: make([]int, len(plan.Registers)), joined: make([]bool, len(plan.Registers))}
	for i := range l.of {
		l.of[i] = -1
	}
	for k := range def.Kernels {
		for _, r := range def.Kernels[k].Results {
			slot := plan.Registers[r].Slot
			if slot.Kind == runtime.SlotNone {
				continue
			}
			for _, a := range def.Kernels[k].Args {
				if plan.Registers[a].Slot == slot && plan.Registers[a].Bytes > 0 {
					last := int(a)
					for l.of[last] >= 0 {
						last = l.of[last]
					}
					if last != int(r) && !l.joined[r] {
						l.of[last], l.joined[r] = int(r), true
					}
					break
				}
			}
		}
	}
	return l
}
