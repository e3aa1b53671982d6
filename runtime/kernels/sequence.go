package kernels

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// sequence runs a fusion whose body is more than one loop as the kernels of its parts, which pass arrays through scratch memory. Only
// what a part cannot compute on the fly becomes an array: the operands of ops that are not elementwise, their results, and the roots.
type sequence struct {
	values []seqValue
	parts  []seqPart
	staged []stagedRoot
	states sync.Pool
}

// stagedRoot is a result that is computed in scratch memory and copied at the end: its memory may be that of an operand that is read later.
type stagedRoot struct {
	value, result int
}

// seqValue is an array inside of the fusion.
type seqValue struct {
	in       hlo.Instruction
	typ      runtime.TensorType
	place    place
	constant []byte
	lastUse  int
}

// seqPart is one kernel of the sequence, or a tile program.
type seqPart struct {
	bound   runtime.Bound
	in      []int // values
	out     int
	scratch section
}

// sequencer builds a sequence.
type sequencer struct {
	s      *site
	q      *sequence
	index  map[hlo.InstrID]int // of materialised values
	apart  map[hlo.InstrID]bool
	rolled map[hlo.InstrID]hlo.Instruction // rotations that tile programs read, and what they rotate
	shared []analysis.Sharing
	places scratchIntervals
}

// maxSequence bounds the body of a fusion that is taken apart.
const maxSequence = 1000

func fusedSequence(s *site) (runtime.Bound, bool) {
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || comp.NumInstructions() > maxSequence || !isStatic(comp) {
		return runtime.Bound{}, false
	}
	roots, ok := sequenceRoots(comp)
	if !ok {
		return runtime.Bound{}, false
	}
	b := &sequencer{s: s, q: &sequence{}, apart: make(map[hlo.InstrID]bool), rolled: make(map[hlo.InstrID]hlo.Instruction)}
	for in := range comp.Instructions() {
		if r, ok := analysis.FindRoll(in); ok && tile.Supports(in.Shape().Type()) {
			b.rolled[in.ID()] = r.Array
		} else if in.Shape().IsArray() && !mayBeTile(in) {
			b.apart[in.ID()] = true
		}
	}
	for range maxSequence {
		done, ok := b.try(comp, roots)
		if !ok {
			return runtime.Bound{}, false
		}
		if done {
			q := b.q
			q.states.New = func() any { return &seqState{} }
			return runtime.Bound{Run: q.run, Small: q.small(), Later: q.later, Scratch: b.places.size, Code: q.code(), CodeDiffers: q.codeDiffers()}, true
		}
	}
	return runtime.Bound{}, false
}

// mayBeTile reports whether a tile program may compute an op on the fly.
func mayBeTile(in hlo.Instruction) bool {
	const may = hlo.TraitElementwise | hlo.TraitForwards | hlo.TraitReindexes | hlo.TraitNullaryValue
	if p, ok := analysis.FindPoints(in); ok {
		return p.Run == 1 // lines have a kernel
	}
	return hlo.Info(in.Opcode()).Traits&may != 0
}

// isStatic reports whether every value has a size to plan with; what has not is for the evaluator.
func isStatic(c hlo.Computation) bool {
	for in := range c.Instructions() {
		if !in.Shape().IsStatic() {
			return false
		}
	}
	return true
}

// sequenceRoots are the arrays that the fusion returns, each an instruction of its own that is not a parameter.
func sequenceRoots(c hlo.Computation) ([]hlo.Instruction, bool) {
	root := c.Root()
	roots := []hlo.Instruction{root}
	if root.Opcode() == hlo.OpTuple {
		roots = nil
		for o := range root.Operands() {
			roots = append(roots, o)
		}
	}
	for i, r := range roots {
		if !r.Shape().IsArray() || r.Opcode() == hlo.OpParameter || r.Opcode() == hlo.OpConstant {
			return nil, false
		}
		for _, x := range roots[:i] {
			if x.ID() == r.ID() {
				return nil, false
			}
		}
	}
	return roots, len(roots) > 0
}

// try builds the sequence with what is known to stand apart. If an instruction turns out to need its operands as arrays, it is noted, and
// done is false.
func (b *sequencer) try(comp hlo.Computation, roots []hlo.Instruction) (done, ok bool) {
	b.q.values, b.q.parts, b.q.staged = nil, nil, nil
	b.index = make(map[hlo.InstrID]int)
	b.places = scratchIntervals{}
	arrays := make(map[hlo.InstrID]bool)
	for _, r := range roots {
		arrays[r.ID()] = true
	}
	order := slices.Collect(comp.PostOrder())
	for _, in := range order {
		if b.apart[in.ID()] || !in.Shape().IsArray() && !in.IsRoot() {
			if !in.Shape().IsArray() {
				return false, false
			}
			arrays[in.ID()] = true
			for o := range in.Operands() {
				arrays[o.ID()] = true
			}
		}
		if x, ok := b.rolled[in.ID()]; ok && b.computes(x) {
			arrays[x.ID()] = true // else it would be computed once for each rotation
		}
	}
	for _, in := range order {
		if !in.Shape().IsArray() || !arrays[in.ID()] && in.Opcode() != hlo.OpParameter {
			continue
		}
		v := seqValue{in: in, typ: tensorType(in.Shape()), lastUse: -1}
		switch in.Opcode() {
		case hlo.OpParameter:
			n, is := arrayParameters(in)
			if !is {
				return false, false
			}
			v.place = place{kind: inInput, index: n}
		case hlo.OpConstant:
			l := in.Literal()
			if l == nil || l.IsElided() {
				return false, false
			}
			v.constant = append(runtime.AlignedBytes(int64(len(l.Bytes())))[:0], l.Bytes()...)
		default:
			if !b.part(in, arrays) {
				if !b.materialiseRolls(in, arrays) {
					b.apart[in.ID()] = true
				}
				return false, true
			}
		}
		b.index[in.ID()] = len(b.q.values)
		b.q.values = append(b.q.values, v)
	}
	b.place(roots)
	return true, true
}

// computes reports whether an instruction does more than to hand on elements of its operand.
func (b *sequencer) computes(in hlo.Instruction) bool {
	_, rolls := b.rolled[in.ID()]
	return !rolls && !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitReindexes)
}

// materialiseRolls sets apart the rotations that in needs beside arrays, and reports whether there are any.
func (b *sequencer) materialiseRolls(in hlo.Instruction, arrays map[hlo.InstrID]bool) bool {
	n := len(b.rolled)
	seen := make(map[hlo.InstrID]bool)
	var visit func(x hlo.Instruction)
	visit = func(x hlo.Instruction) {
		if seen[x.ID()] {
			return
		}
		seen[x.ID()] = true
		if _, ok := b.rolled[x.ID()]; ok {
			delete(b.rolled, x.ID())
			b.apart[x.ID()] = true
		}
		for o := range x.Operands() {
			if !arrays[o.ID()] {
				visit(o)
			}
		}
	}
	visit(in)
	return len(b.rolled) < n
}

// part appends the part that computes in: a tile program if that is possible, else a kernel on arrays, for which in has to be noted.
func (b *sequencer) part(in hlo.Instruction, arrays map[hlo.InstrID]bool) bool {
	p := seqPart{out: len(b.q.values)}
	if !b.apart[in.ID()] && !b.transposesArray(in) {
		program, ok := compileRoots(b.s.m, []hlo.Instruction{in}, func(x hlo.Instruction) (int, bool) {
			i, ok := b.index[x.ID()]
			if !ok || x.Opcode() == hlo.OpConstant && x.Shape().IsScalar() {
				return 0, false
			}
			k := slices.Index(p.in, i)
			if k < 0 {
				k = len(p.in)
				p.in = append(p.in, i)
			}
			return k, true
		})
		if !ok {
			return false
		}
		p.bound = runTiles(program)
	} else {
		var ins []runtime.TensorType
		for o := range in.Operands() {
			i, ok := b.index[o.ID()]
			if !ok {
				return false
			}
			p.in = append(p.in, i)
			ins = append(ins, b.q.values[i].typ)
		}
		binding, err := runtime.NewBinding("hlo."+in.Opcode().String(), "", ins, []runtime.TensorType{tensorType(in.Shape())})
		if err != nil {
			return false
		}
		if p.bound, err = choose(&site{m: b.s.m, in: in, b: binding, reg: b.s.reg}); err != nil || p.bound.RunAsync != nil {
			return false
		}
	}
	for _, i := range p.in {
		b.q.values[i].lastUse = len(b.q.parts)
	}
	b.q.parts = append(b.q.parts, p)
	return true
}

// transposesArray reports whether a part is a transpose of what is an array anyway: its own kernel goes through squares of memory, where a tile would go line by line.
func (b *sequencer) transposesArray(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpTranspose {
		return false
	}
	_, ok := b.index[in.Operand(0)]
	return ok
}

// place finds room for every array and every kernel's scratch memory.
func (b *sequencer) place(roots []hlo.Instruction) {
	q := b.q
	for i, r := range roots {
		v := b.index[r.ID()]
		if b.overwrites(i, v) {
			q.values[v].lastUse = len(q.parts)
			q.staged = append(q.staged, stagedRoot{v, i})
			continue
		}
		q.values[v].place = place{kind: inOutput, index: i}
	}
	for k := range q.parts {
		p := &q.parts[k]
		v := &q.values[p.out]
		if v.place.kind == inInput { // not placed yet: parts never compute parameters
			v.place = place{kind: inScratch, section: b.places.take(v.typ.Bytes, k, max(k, v.lastUse))}
		}
		p.scratch = b.places.take(p.bound.Scratch, k, k)
	}
}

// overwrites reports whether a result may have the memory of an operand that parts behind its own read. A loop over all results reads an element for all of
// them before it writes one; parts do so one after the other.
func (b *sequencer) overwrites(result, value int) bool {
	if b.shared == nil {
		b.shared = analysis.Shareable(b.s.m, b.s.in)
	}
	own := slices.IndexFunc(b.q.parts, func(p seqPart) bool { return p.out == value })
	for _, s := range b.shared {
		if s.Result != result {
			continue
		}
		for _, p := range b.q.parts[own+1:] {
			for _, v := range p.in {
				if at := b.q.values[v].place; at.kind == inInput && at.index == s.Operand && b.q.values[v].in.Opcode() == hlo.OpParameter {
					return true
				}
			}
		}
	}
	return false
}

func tensorType(s hlo.Shape) runtime.TensorType {
	return runtime.TensorType{Type: uint8(s.Type()), Dims: s.Dimensions(), Bytes: s.ByteSize()}
}

// scratchIntervals lays out scratch memory for values that live from one step to another.
type scratchIntervals struct {
	size  int64
	taken []scratchInterval
}

type scratchInterval struct {
	section
	from, to int
}

// take finds the lowest place that is free from step from to step to.
func (p *scratchIntervals) take(bytes int64, from, to int) section {
	if bytes == 0 {
		return section{}
	}
	at := int64(0)
	for moved := true; moved; {
		moved = false
		for _, t := range p.taken {
			if t.from <= to && from <= t.to && at < t.at+t.bytes && t.at < at+bytes {
				at = (t.at + t.bytes + runtime.BufferAlign - 1) &^ (runtime.BufferAlign - 1)
				moved = true
			}
		}
	}
	s := section{at, bytes}
	p.taken = append(p.taken, scratchInterval{s, from, to})
	p.size = max(p.size, at+bytes)
	return s
}
