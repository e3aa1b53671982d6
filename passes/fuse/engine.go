package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// engine fuses producers into consumers, one pair at a time, the last consumers first. What it may fuse is its policy.
type engine struct {
	ctx     *pass.Context
	before  hlo.Computation // as it was
	c       hlo.CompEdit
	effects *analysis.SideEffects
	windows *analysis.Windows
	policy  policy

	order     map[hlo.InstrID]int // place in the post order; a fusion is behind all
	queue     []hlo.InstrID       // the last is next
	stays     map[hlo.InstrID]bool
	onAllWays map[[2]hlo.InstrID]bool
	within    map[hlo.InstrID]int // instructions of the fusions made
}

// policy says which pairs are worth it.
type policy struct {
	// duplicate allows copies of what is not expensive for each of several consumers.
	duplicate bool
	// refuses gives the reason not to fuse operand i into a consumer, "" if there is none.
	refuses func(e *engine, consumer hlo.Instruction, i int) string
	// kind is the kind of the fusion.
	kind func(producer, consumer hlo.Instruction) hlo.FusionKind
}

// fuseAll runs a policy over the computations that run by themselves.
func fuseAll(ctx *pass.Context, m hlo.Module, p policy) (hlo.Module, error) {
	e := ctx.Edit(m)
	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		f := &engine{ctx: ctx, before: c, c: e.Computation(c.ID()), effects: effects, windows: analysis.FindWindows(c), policy: p,
			order: map[hlo.InstrID]int{}, stays: map[hlo.InstrID]bool{}, onAllWays: map[[2]hlo.InstrID]bool{}, within: map[hlo.InstrID]int{}}
		for in := range c.PostOrder() {
			f.order[in.ID()] = len(f.queue)
			f.queue = append(f.queue, in.ID())
		}
		if p.duplicate {
			f.findStays() // without copies, each producer waits until its users are one fusion
		}
		if err := f.run(); err != nil {
			return m, err
		}
	}
	return e.Freeze(), nil
}

func (f *engine) run() error {
	for len(f.queue) > 0 {
		id := f.queue[len(f.queue)-1]
		f.queue = f.queue[:len(f.queue)-1]
		if !f.c.Has(id) || !f.consumes(f.c.At(id)) {
			continue
		}
		for _, i := range f.operandsInOrder(id) {
			consumer := f.c.At(id)
			producer := consumer.OperandInstr(i)
			if f.stays[producer.ID()] {
				f.remark(producer, consumer, "it cannot be fused into all of its users")
				continue
			}
			if reason := f.refuses(consumer, i); reason != "" {
				f.remark(producer, consumer, reason)
				continue
			}
			if !f.ctx.Spend("fuse") {
				return nil
			}
			fusion, err := f.fuse(producer, consumer)
			if err != nil {
				return err
			}
			f.ctx.Count("fused", 1)
			f.order[fusion] = len(f.order)
			f.queue = append(f.queue, fusion)
			break
		}
	}
	return nil
}

func (f *engine) remark(producer, consumer hlo.Instruction, reason string) {
	if f.ctx.Remarks() && producer.Opcode() != hlo.OpParameter {
		f.ctx.Missed(producer, "not fused into %%%s: %s", consumer.Name(), reason)
	}
}

// operandsInOrder are the operand numbers of an instruction, the last in the post order first, each value once.
func (f *engine) operandsInOrder(id hlo.InstrID) []int {
	in := f.c.At(id)
	var numbers []int
	seen := map[hlo.InstrID]bool{}
	for i := range in.NumOperands() {
		if o := in.Operand(i); !seen[o] {
			seen[o] = true
			numbers = append(numbers, i)
		}
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return f.order[in.Operand(b)] - f.order[in.Operand(a)] })
	return numbers
}

// consumes reports whether an instruction can take in its operands.
func (f *engine) consumes(in hlo.Instruction) bool {
	if in.Opcode() == hlo.OpFusion {
		return hlo.AttrsOf[hlo.FusionAttrs](in).Kind != hlo.FusionCustom && f.size(in) < maxMembers
	}
	return f.fusible(in)
}

// size is how many instructions a fusion of before or of this session holds.
func (f *engine) size(in hlo.Instruction) int {
	if n, ok := f.within[in.ID()]; ok {
		return n
	}
	return f.c.Editor().View(in.Callee(0)).NumInstructions()
}

// fusible reports whether an op is a function of its operands alone that a fused computation may hold.
func (f *engine) fusible(in hlo.Instruction) bool {
	const no = hlo.TraitControl | hlo.TraitCollective | hlo.TraitSideEffect | hlo.TraitTokens | hlo.TraitRandom | hlo.TraitAsyncStart | hlo.TraitAsyncDone |
		hlo.TraitForwards | hlo.TraitStays
	return hlo.Info(in.Opcode()).Traits&no == 0 && in.Opcode() != hlo.OpParameter && in.Shape().IsArray() && in.Shape().IsStatic() && !f.effects.Of(in)
}

// refuses gives the reason not to fuse operand i of a consumer into it.
func (f *engine) refuses(consumer hlo.Instruction, i int) string {
	producer := consumer.OperandInstr(i)
	switch {
	case !f.consumes(consumer):
		return "its user is not fusible"
	case !f.fusible(producer) || producer.Opcode() == hlo.OpFusion:
		return "it is not fusible"
	case producer.NumControlPredecessors()+producer.NumControlSuccessors() > 0:
		return "a control dependency keeps it in its place"
	case producer.IsRoot():
		return "it is the result of the computation"
	case f.windows.Narrows(producer.ID(), consumer.ID()):
		return "it would wait for a done that it does not need, or a start for it"
	case duplicates(producer, consumer) && (!f.policy.duplicate || expensive(producer)) && !alwaysCopied(producer):
		return "it has other users, and would be computed again"
	}
	if reason := f.refusesInPlace(producer, consumer); reason != "" {
		return reason
	}
	if f.policy.refuses == nil {
		return ""
	}
	return f.policy.refuses(f, consumer, i)
}

// duplicates reports whether the producer has users beside the consumer.
func duplicates(producer, consumer hlo.Instruction) bool {
	for u := range producer.Users() {
		if u.ID() != consumer.ID() {
			return true
		}
	}
	return false
}

// alwaysCopied reports whether a value is larger than what it is computed from, so that each user better computes it.
func alwaysCopied(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpBroadcast ||
		in.Opcode() == hlo.OpConvert && in.OperandInstr(0).Shape().Type().Bits() < in.Shape().Type().Bits()
}

// findStays notes the values that are not fused at all: they read more than they are, and cannot be fused into all of their users along all paths.
func (f *engine) findStays() {
	for in := range f.before.PostOrder() {
		for producer := range in.Operands() {
			if f.stays[producer.ID()] || atMostUnary(producer) {
				continue
			}
			var read int64
			seen := map[hlo.InstrID]bool{}
			for o := range producer.Operands() {
				if !seen[o.ID()] {
					seen[o.ID()] = true
					read += o.Shape().ByteSize()
				}
			}
			if read > producer.Shape().ByteSize() && !f.fusesOnAllWays(producer, in, 0) {
				f.stays[producer.ID()] = true
			}
		}
	}
}

// atMostUnary reports whether an instruction reads at most one array of its own rank.
func atMostUnary(in hlo.Instruction) bool {
	if !in.Shape().IsArray() {
		return false
	}
	n := 0
	for o := range in.Operands() {
		small := o.Opcode() == hlo.OpBroadcast || o.Opcode() == hlo.OpIota || o.Opcode() == hlo.OpConstant && o.Shape().NumElements() == 1
		if !small && o.Shape().IsArray() && o.Shape().Rank() >= in.Shape().Rank() {
			n++
		}
	}
	return n <= 1
}

// maxPath bounds the paths that are looked at; a longer one is none.
const maxPath = 32

// fusesOnAllWays reports whether a producer can be fused into a consumer with all that lies between them.
func (f *engine) fusesOnAllWays(producer, consumer hlo.Instruction, depth int) bool {
	if producer.ID() == consumer.ID() {
		return true
	}
	key := [2]hlo.InstrID{producer.ID(), consumer.ID()}
	if known, ok := f.onAllWays[key]; ok {
		return known
	}
	ok := depth < maxPath && f.consumes(consumer)
	for i := 0; ok && i < consumer.NumOperands(); i++ {
		operand := consumer.OperandInstr(i)
		if operand.ID() != producer.ID() && !f.reaches(producer, operand) {
			continue
		}
		ok = !f.stays[operand.ID()] && f.refuses(consumer, i) == "" && f.fusesOnAllWays(producer, operand, depth+1)
	}
	f.onAllWays[key] = ok
	return ok
}

// reaches reports whether to depends on from. A search that takes too long ends with yes.
func (f *engine) reaches(from, to hlo.Instruction) bool {
	least := f.order[from.ID()]
	seen := map[hlo.InstrID]bool{}
	for todo := []hlo.Instruction{to}; len(todo) > 0; {
		in := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for o := range in.Operands() {
			if o.ID() == from.ID() || len(seen) > maxPath {
				return true
			}
			if !seen[o.ID()] && f.order[o.ID()] > least {
				seen[o.ID()] = true
				todo = append(todo, o)
			}
		}
	}
	return false
}
