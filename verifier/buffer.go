package verifier

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Buffers b(T): values that are written in place, and so may have one writer only (verifier 5.15).

// streamAnnotation marks calls that run on a stream of their own.
const streamAnnotation = "_xla_stream_annotation"

func (r *run) buffers() {
	if !r.hasBuffers {
		return
	}
	for c := range r.m.Computations() {
		if r.isAsyncBody(c.ID()) {
			if root := c.Root(); root.Opcode() == hlo.OpCustomCall && !r.isBad(root) {
				r.bufferCall(root)
			}
			continue
		}
		for in := range c.Instructions() {
			if !r.isBad(in) {
				r.buffer(in)
			}
		}
	}
}

func hasBuffer(s hlo.Shape) bool {
	if s.IsArray() {
		return false
	}
	found := false
	for _, leaf := range s.Leaves {
		found = leaf.IsBuffer()
		if found {
			break
		}
	}
	return found
}

func (r *run) buffer(in hlo.Instruction) {
	if hlo.IsAsync(in.Opcode()) {
		return
	}
	switch in.Opcode() {
	case hlo.OpGetTupleElement, hlo.OpTuple:
	case hlo.OpCustomCall:
		r.bufferCall(in)
	case hlo.OpParameter:
		if in.Computation() == r.m.Entry() && hasBuffer(in.Shape()) {
			r.report(in, "BUF-09", "buffers aren't allowed in this context: entry parameter %v", in.Shape())
			return
		}
		r.oneWriter(in, "BUF-07")
	case hlo.OpWhile:
		r.oneWriter(in, "BUF-07")
	default:
		if hlo.Info(in.Opcode()).Match == hlo.MatchInPlace {
			r.bufferInPlace(in)
			return
		}
		if _, ok := frontendAttrs(in).Get(streamAnnotation); ok && in.Opcode() == hlo.OpCall {
			return
		}
		bad := hasBuffer(in.Shape())
		for o := range in.Operands() {
			bad = bad || hasBuffer(o.Shape())
		}
		if bad {
			r.report(in, "BUF-13", "buffers aren't allowed in this context: %v", in.Opcode())
		}
	}
}

// bufferInPlace checks a dynamic-update-slice, which may write into a buffer and nothing else of one.
func (r *run) bufferInPlace(in hlo.Instruction) {
	for i := 1; i < in.NumOperands(); i++ {
		if hasBuffer(in.OperandInstr(i).Shape()) {
			r.report(in, "BUF-10", "DynamicUpdateSlice operand %d must not be a buffer", i)
			return
		}
	}
	if hasBuffer(in.OperandInstr(0).Shape()) != hasBuffer(in.Shape()) {
		r.report(in, "BUF-10", "DynamicUpdateSlice result must be a buffer exactly if operand 0 is one")
		return
	}
	r.oneWriter(in, "BUF-07")
}

// bufferCall checks a custom-call that may make, take or hand on buffers.
func (r *run) bufferCall(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.CustomCallAttrs](in)
	s := in.Shape()
	switch a.Target {
	case "Pin":
		if in.NumOperands() != 1 || !in.OperandInstr(0).Shape().IsArray() || !s.IsBuffer() || len(a.OutputAliasing) != 1 ||
			!r.same(s.Elem(0), in.OperandInstr(0).Shape(), 0) {
			r.report(in, "BUF-01", "custom-call to Pin must have one array operand, a buffer result of its shape and one alias pair")
			return
		}
	case "CreateBuffer":
		if in.NumOperands() != 0 || !s.IsBuffer() {
			r.report(in, "BUF-02", "custom-call to CreateBuffer must have no operands and a buffer result")
			return
		}
	case "Unpin":
		if in.NumOperands() != 1 || !in.OperandInstr(0).Shape().IsBuffer() || !s.IsArray() || len(a.OutputAliasing) != 1 ||
			!r.same(in.OperandInstr(0).Shape().Elem(0), s, 0) {
			r.report(in, "BUF-03", "custom-call to Unpin must have one buffer operand, an array result of its shape and one alias pair")
		}
		return
	default:
		if !r.bufferAliases(in, a.OutputAliasing) {
			return
		}
	}
	r.oneWriter(in, "BUF-06")
}

// bufferAliases checks that each buffer that goes in comes out once, and the other way round.
func (r *run) bufferAliases(in hlo.Instruction, pairs []hlo.OutputAlias) bool {
	inputs, outputs := make(map[bufferIndex]int, len(pairs)), make(map[string]int, len(pairs))
	for _, p := range pairs {
		inputs[bufferIndex{p.Operand, indexText(p.OperandIndex)}]++
		outputs[indexText(p.Output)]++
	}
	ok := true
	for i := range in.NumOperands() {
		for at, leaf := range in.OperandInstr(i).Shape().Leaves {
			if leaf.IsBuffer() {
				ok = r.once(in, inputs[bufferIndex{int64(i), indexText(at)}], "BUF-04", "operands", "results", fmt.Sprintf("operand %d%s", i, indexText(at)))
			}
			if !ok {
				break
			}
		}
		if !ok {
			return false
		}
	}
	for at, leaf := range in.Shape().Leaves {
		if leaf.IsBuffer() {
			ok = r.once(in, outputs[indexText(at)], "BUF-05", "results", "operands", "output "+indexText(at))
		}
		if !ok {
			break
		}
	}
	return ok
}

// once checks that a buffer here has one partner there.
func (r *run) once(in hlo.Instruction, n int, rule, here, there, what string) bool {
	switch {
	case n == 0:
		r.report(in, rule, "buffer is used in %s but not in %s: %s", here, there, what)
	case n > 1:
		r.report(in, rule, "buffer is used in %s multiple times: %s", there, what)
	}
	return n == 1
}

// oneWriter checks that each buffer in the value of in is written at most once.
func (r *run) oneWriter(in hlo.Instruction, rule string) {
	for at, leaf := range in.Shape().Leaves {
		if leaf.IsBuffer() && r.writers(in, at) > 1 {
			r.report(in, rule, "an HLO buffer value has more than one writers (or unpins): %%%s%s", in.Name(), indexText(at))
			break
		}
	}
}

// writers counts the instructions that may write the part at of the value of in; more than 1 counts as 2.
func (r *run) writers(in hlo.Instruction, at hlo.ShapeIndex) int {
	u := r.bufferUses(in)
	n := u.writers
	if len(at) > 0 {
		for _, gte := range u.elements[at[0]] {
			n += r.writers(gte, at[1:])
		}
	}
	for _, t := range u.tuples {
		if n > 1 {
			break
		}
		for _, k := range r.slots(t)[in.ID()] {
			n += r.writers(t, append(hlo.ShapeIndex{k}, at...))
		}
	}
	return min(n, 2)
}

// uses sorts the users of a value: those that write it whole, those that take an element, and tuples that it goes on in.
type uses struct {
	writers  int
	elements map[int64][]hlo.Instruction
	tuples   []hlo.Instruction
}

func (r *run) bufferUses(in hlo.Instruction) *uses {
	if u, ok := r.uses[placeOf(in)]; ok {
		return u
	}
	u := new(uses)
	for user := range in.Users() {
		switch op := user.Opcode(); op {
		default:
			info := hlo.Info(op)
			if info.Match == hlo.MatchInPlace || info.Traits.Has(hlo.TraitControl) && !hlo.IsAsync(op) {
				u.writers++
			}
		case hlo.OpFusion, hlo.OpCustomCall:
			u.writers++
		case hlo.OpGetTupleElement:
			if u.elements == nil {
				u.elements = make(map[int64][]hlo.Instruction)
			}
			k := hlo.AttrsOf[hlo.TupleElementAttrs](user).Index
			u.elements[k] = append(u.elements[k], user)
		case hlo.OpTuple:
			if user.IsRoot() && r.isLoopBody(user.Computation().ID()) {
				u.writers += len(r.slots(user)[in.ID()])
			} else {
				u.tuples = append(u.tuples, user)
			}
		}
	}
	if r.uses == nil {
		r.uses = make(map[place]*uses)
	}
	r.uses[placeOf(in)] = u
	return u
}

// slots says where in a tuple each operand is.
func (r *run) slots(tuple hlo.Instruction) map[hlo.InstrID][]int64 {
	if s, ok := r.tupleSlots[placeOf(tuple)]; ok {
		return s
	}
	s := make(map[hlo.InstrID][]int64, tuple.NumOperands())
	for k := range tuple.NumOperands() {
		s[tuple.Operand(k)] = append(s[tuple.Operand(k)], int64(k))
	}
	if r.tupleSlots == nil {
		r.tupleSlots = make(map[place]map[hlo.InstrID][]int64)
	}
	r.tupleSlots[placeOf(tuple)] = s
	return s
}
