package host

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// Offloader gives values that are annotated for it the memory space of the host.
var Offloader = &pass.Pass{
	Name: "host-offloader",
	Doc: `put annotated values into the memory of the host: S(5) in their layouts

MoveToHost becomes a copy to the host, and MoveToDevice one back. In front of a dynamic-update-slice, whose array is then on the host, MoveToHost goes: the block is written
there. The array must come from a broadcast, which becomes a buffer without contents, or from one; a part of it that is read has to be written before. Parameters of the
program whose layout says S(5) are on the host, too. From there the memory space goes through tuples, loops, calls and branches. A slice of what is on the host becomes a
dynamic-slice, which reads into the memory of the device, and other instructions that read the host's memory get the frontend attribute _xla_compute_type="host".`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		f := newFlow(m)
		found, err := f.begin()
		if err != nil || !found || !ctx.Spend("offload") {
			return m, err
		}
		e := ctx.Edit(m)
		ctx.Count("values", int64(len(f.order)))
		if err := (&applying{flow: f, e: e}).apply(); err != nil {
			return m, err
		}
		return e.Freeze(), nil
	},
}

// begin finds where values get to the host, and follows them. It reports whether there is anything to do.
//
//  1. Parameters of the program, and results of what runs on the host if nothing else is done with them than to annotate them.
//  2. Annotations whose value is only written by block into arrays: these arrays.
//  3. The other annotations, which become copies.
func (f *flow) begin() (found bool, err error) {
	entry := f.m.Entry()
	if layout := f.m.Config().EntryLayout; layout != nil {
		for i, s := range layout.Parameters {
			for index, leaf := range s.Leaves {
				if isHostShape(leaf, nil) {
					f.mark(entry.Parameter(i), index)
				}
			}
		}
	}
	found = len(f.order) > 0
	f.spread()
	var annotations []hlo.Instruction
	for c := range f.m.PostOrder() {
		for in := range c.Instructions() {
			switch {
			case isCall(in, toHost):
				annotations = append(annotations, in)
				found = true
			case isCall(in, toDevice):
				found = true
				f.forwards[nodeOf(in)] = !f.copies[nodeOf(in)]
			case in.Opcode() == hlo.OpAsyncStart && hlo.AttrsOf[hlo.AsyncStartAttrs](in).ExecutionThread == hostThread:
				f.fromHost(in)
			}
		}
	}
	f.spread()
	for _, in := range annotations {
		updates := f.updates(in, nil)
		if len(updates) == 0 {
			continue
		}
		f.forwards[nodeOf(in)] = true
		for _, u := range updates {
			if err := f.demand(u, 0, nil); err != nil {
				return true, err
			}
			f.mark(u, nil)
		}
	}
	f.spread()
	for _, in := range annotations {
		if !f.forwards[nodeOf(in)] {
			f.copies[nodeOf(in)] = true
			f.mark(in, nil)
			f.spread() // further annotations of the same value give way
		}
	}
	return found, nil
}

// updates lists the dynamic-update-slices that are all that a value is used for, as a block, perhaps reshaped; none if there is another use.
func (f *flow) updates(in hlo.Instruction, all []hlo.Instruction) []hlo.Instruction {
	if in.IsRoot() || in.UserCount() == 0 {
		return nil
	}
	for u := range in.Users() {
		switch {
		case u.Opcode() == hlo.OpDynamicUpdateSlice && u.Operand(1) == in.ID() && u.Operand(0) != in.ID():
			if !slices.ContainsFunc(all, func(o hlo.Instruction) bool { return o.ID() == u.ID() }) {
				all = append(all, u)
			}
		case u.Opcode() == hlo.OpBitcast || u.Opcode() == hlo.OpReshape:
			more := f.updates(u, all)
			if len(more) == 0 {
				return nil
			}
			all = more
		default:
			return nil
		}
	}
	return all
}

// fromHost leaves results of what runs on the host there, if annotations are all that use them.
func (f *flow) fromHost(start hlo.Instruction) {
	var done hlo.Instruction
	for u := range start.Users() {
		if u.Opcode() != hlo.OpAsyncDone || !done.IsZero() {
			return
		}
		done = u
	}
	if done.IsZero() || start.NumCallees() != 1 {
		return
	}
	root := f.m.MustComputation(start.Callee(0)).Root()
	for index, leaf := range done.Shape().Leaves {
		if leaf.IsArray() && onlyAnnotated(done, index) {
			f.mark(done, index)
			f.mark(start, under(1, index))
			f.mark(root, index)
		}
	}
}

// onlyAnnotated reports whether a part of a value is used, and by nothing but MoveToHost.
func onlyAnnotated(in hlo.Instruction, index hlo.ShapeIndex) bool {
	if in.IsRoot() {
		return false
	}
	some := false
	for u := range in.Users() {
		switch {
		case len(index) == 0 && isCall(u, toHost):
			some = true
		case len(index) > 0 && u.Opcode() == hlo.OpGetTupleElement:
			if hlo.AttrsOf[hlo.TupleElementAttrs](u).Index != index[0] {
				continue
			}
			if !onlyAnnotated(u, index[1:]) {
				return false
			}
			some = true
		default:
			return false
		}
	}
	return some
}
