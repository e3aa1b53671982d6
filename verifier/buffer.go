package verifier

import "github.com/gohalo/halo/hlo"

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
	s.Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
		found = leaf.IsBuffer()
		return !found
	})
	return found
}

func (r *run) buffer(in hlo.Instruction) {
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
	case hlo.OpWhile, hlo.OpDynamicUpdateSlice:
		if in.Opcode() == hlo.OpDynamicUpdateSlice {
			for i := range in.NumOperands() {
				if i > 0 && hasBuffer(in.OperandInstr(i).Shape()) {
					r.report(in, "BUF-10", "DynamicUpdateSlice operand %d must not be a buffer", i)
					return
				}
			}
			if hasBuffer(in.OperandInstr(0).Shape()) != hasBuffer(in.Shape()) {
				r.report(in, "BUF-10", "DynamicUpdateSlice result must be a buffer exactly if operand 0 is one")
				return
			}
		}
		r.oneWriter(in, "BUF-07")
	case hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone:
	default:
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
	ok := true
	count := func(matches func(hlo.OutputAlias) bool) int {
		n := 0
		for _, p := range pairs {
			if matches(p) {
				n++
			}
		}
		return n
	}
	for i := range in.NumOperands() {
		in.OperandInstr(i).Shape().Leaves(func(at hlo.ShapeIndex, leaf hlo.Shape) bool {
			if !leaf.IsBuffer() {
				return true
			}
			switch n := count(func(p hlo.OutputAlias) bool {
				return p.Operand == int64(i) && indexText(p.OperandIndex) == indexText(at)
			}); {
			case n == 0:
				r.report(in, "BUF-04", "buffer is used in operands but not in results: operand %d%s", i, indexText(at))
				ok = false
			case n > 1:
				r.report(in, "BUF-04", "buffer is used in results multiple times: operand %d%s", i, indexText(at))
				ok = false
			}
			return ok
		})
		if !ok {
			return false
		}
	}
	in.Shape().Leaves(func(at hlo.ShapeIndex, leaf hlo.Shape) bool {
		if !leaf.IsBuffer() {
			return true
		}
		switch n := count(func(p hlo.OutputAlias) bool { return indexText(p.Output) == indexText(at) }); {
		case n == 0:
			r.report(in, "BUF-05", "buffer is used in results but not in operands: output %s", indexText(at))
			ok = false
		case n > 1:
			r.report(in, "BUF-05", "buffer is used in operands multiple times: output %s", indexText(at))
			ok = false
		}
		return ok
	})
	return ok
}

// oneWriter checks that each buffer in the value of in is written at most once.
func (r *run) oneWriter(in hlo.Instruction, rule string) {
	in.Shape().Leaves(func(at hlo.ShapeIndex, leaf hlo.Shape) bool {
		if leaf.IsBuffer() && r.writers(in, at) > 1 {
			r.report(in, rule, "buffer %%%s%s has more than one writers", in.Name(), indexText(at))
			return false
		}
		return true
	})
}

// writers counts the instructions that may write the part at of the value of in.
func (r *run) writers(in hlo.Instruction, at hlo.ShapeIndex) int {
	n := 0
	for u := range in.Users() {
		switch u.Opcode() {
		case hlo.OpFusion, hlo.OpCall, hlo.OpCustomCall, hlo.OpWhile, hlo.OpConditional, hlo.OpDynamicUpdateSlice:
			n++
		case hlo.OpGetTupleElement:
			if len(at) > 0 && hlo.AttrsOf[hlo.TupleElementAttrs](u).Index == at[0] {
				n += r.writers(u, at[1:])
			}
		case hlo.OpTuple:
			for k := range u.NumOperands() {
				switch {
				case u.Operand(k) != in.ID():
				case u.IsRoot() && r.isLoopBody(u.Computation().ID()):
					n++
				default:
					n += r.writers(u, append(hlo.ShapeIndex{int64(k)}, at...))
				}
			}
		}
		if n > 1 {
			break
		}
	}
	return n
}
