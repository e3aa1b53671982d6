package host

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// node is an instruction of a module.
type node struct {
	comp hlo.CompID
	in   hlo.InstrID
}

func nodeOf(in hlo.Instruction) node { return node{in.Computation().ID(), in.ID()} }

// slot is an operand of an instruction.
type slot struct {
	user node
	n    int
}

// flow finds out which parts of which values are in the memory of the host. It speaks of the module as it was given; what is to be done
// about it is written down in the other fields.
type flow struct {
	m    hlo.Module
	host map[node]map[string]hlo.ShapeIndex // the parts, by their text
	todo []part

	forwards  map[node]bool // annotations that give way to their operand
	copies    map[node]bool // annotations that become copies
	allocate  map[slot]bool // operands that become buffers without contents
	slices    map[node]bool // slices that become dynamic-slices
	computes  map[node]bool // instructions that run on the host
	allocated []slot        // in order
	order     []node        // of host, as they were found
}

// part is a part of the value of an instruction.
type part struct {
	at    node
	index hlo.ShapeIndex
}

func newFlow(m hlo.Module) *flow {
	return &flow{m: m, host: map[node]map[string]hlo.ShapeIndex{}, forwards: map[node]bool{}, copies: map[node]bool{}, allocate: map[slot]bool{}, slices: map[node]bool{}, computes: map[node]bool{}}
}

func (f *flow) at(n node) hlo.Instruction { return f.m.MustComputation(n.comp).MustAt(n.in) }

// isHost reports whether a part is in the memory of the host.
func (f *flow) isHost(in hlo.Instruction, index hlo.ShapeIndex) bool {
	_, ok := f.host[nodeOf(in)][index.String()]
	return ok
}

// mark puts a part into the memory of the host; what it is handed on to follows in [flow.spread].
func (f *flow) mark(in hlo.Instruction, index hlo.ShapeIndex) {
	n := nodeOf(in)
	if f.host[n] == nil {
		f.host[n] = map[string]hlo.ShapeIndex{}
		f.order = append(f.order, n)
	}
	key := index.String()
	if _, ok := f.host[n][key]; ok {
		return
	}
	f.host[n][key] = slices.Clone(index)
	f.todo = append(f.todo, part{n, f.host[n][key]})
}

// spread follows what is marked to where it is handed on.
func (f *flow) spread() {
	for len(f.todo) > 0 {
		p := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		in := f.at(p.at)
		for user := range in.Users() {
			for i, id := range slices.Collect(user.OperandIDs()) {
				if id == in.ID() {
					f.into(user, i, p.index)
				}
			}
		}
		f.inside(in, p.index)
		if in.IsRoot() {
			f.outOf(in.Computation().ID(), p.index)
		}
	}
}

func under(i int64, index hlo.ShapeIndex) hlo.ShapeIndex {
	return append(hlo.ShapeIndex{i}, index...)
}

// into marks what an instruction makes of an operand that is, or has a part, in the memory of the host.
func (f *flow) into(user hlo.Instruction, operand int, index hlo.ShapeIndex) {
	if on := handsOn[user.Opcode()]; on != nil {
		on(f, user, operand, index)
		return
	}
	f.compute(user)
}

// handsOn marks, for each op that does not compute with the operand, what becomes of the part of it at an index.
var handsOn = [hlo.NumOpcodes]func(f *flow, user hlo.Instruction, operand int, index hlo.ShapeIndex){
	hlo.OpTuple: func(f *flow, user hlo.Instruction, operand int, index hlo.ShapeIndex) {
		f.mark(user, under(int64(operand), index))
	},
	hlo.OpGetTupleElement: func(f *flow, user hlo.Instruction, _ int, index hlo.ShapeIndex) {
		if len(index) > 0 && hlo.AttrsOf[hlo.TupleElementAttrs](user).Index == index[0] {
			f.mark(user, index[1:])
		}
	},
	hlo.OpOptBarrier: passesOn,
	hlo.OpWhile:      passesOn,
	hlo.OpBitcast:    passesOn,
	hlo.OpReshape:    passesOn,
	hlo.OpCall: func(f *flow, user hlo.Instruction, operand int, index hlo.ShapeIndex) {
		f.mark(f.m.MustComputation(user.Callee(0)).Parameter(operand), index)
	},
	hlo.OpConditional: func(f *flow, user hlo.Instruction, operand int, index hlo.ShapeIndex) {
		if operand > 0 {
			f.mark(f.m.MustComputation(user.Callee(operand-1)).Parameter(0), index)
		}
	},
	hlo.OpAsyncStart: func(f *flow, user hlo.Instruction, operand int, index hlo.ShapeIndex) {
		f.mark(user, append(hlo.ShapeIndex{0, int64(operand)}, index...))
		if user.NumCallees() == 1 {
			f.mark(f.m.MustComputation(user.Callee(0)).Parameter(operand), index)
		}
	},
	hlo.OpAsyncUpdate: func(f *flow, user hlo.Instruction, operand int, index hlo.ShapeIndex) {
		if operand == 0 {
			f.mark(user, index)
		}
	},
	hlo.OpAsyncDone: func(f *flow, user hlo.Instruction, _ int, index hlo.ShapeIndex) {
		if len(index) > 0 && index[0] == 1 {
			f.mark(user, index[1:])
		}
	},
	hlo.OpDynamicUpdateSlice: func(f *flow, user hlo.Instruction, operand int, _ hlo.ShapeIndex) {
		if operand <= 1 {
			f.mark(user, nil)
		}
	},
	hlo.OpDynamicSlice: func(*flow, hlo.Instruction, int, hlo.ShapeIndex) {}, // reads a part into the memory of the device
	hlo.OpSlice: func(f *flow, user hlo.Instruction, _ int, _ hlo.ShapeIndex) {
		if slices.ContainsFunc(hlo.AttrsOf[hlo.SliceAttrs](user).Slice, func(d hlo.SliceDim) bool { return d.Stride != 1 }) {
			f.compute(user)
			return
		}
		f.slices[nodeOf(user)] = true
	},
	hlo.OpCustomCall: func(f *flow, user hlo.Instruction, _ int, _ hlo.ShapeIndex) {
		switch hlo.AttrsOf[hlo.CustomCallAttrs](user).Target {
		case toHost:
			f.forwards[nodeOf(user)] = true
			f.mark(user, nil)
		case toDevice:
			f.copies[nodeOf(user)] = true
		}
	},
}

func passesOn(f *flow, user hlo.Instruction, _ int, index hlo.ShapeIndex) { f.mark(user, index) }

// compute marks an instruction that runs on the host, since it reads the memory of it. Instructions that only move or order values run nowhere.
func (f *flow) compute(in hlo.Instruction) {
	const not = hlo.TraitSideEffect | hlo.TraitTokens | hlo.TraitControl | hlo.TraitCollective | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	if !in.Shape().IsArray() || hlo.Info(in.Opcode()).Traits&not != 0 || in.Computation().ExecutionThread() == hostThread {
		return
	}
	f.computes[nodeOf(in)] = true
	f.mark(in, nil)
}

// inside marks the parameters of what a loop runs.
func (f *flow) inside(in hlo.Instruction, index hlo.ShapeIndex) {
	if in.Opcode() != hlo.OpWhile {
		return
	}
	for id := range in.Callees() {
		f.mark(f.m.MustComputation(id).Parameter(0), index)
	}
}

// outOf marks what the callers of a computation get from its root.
func (f *flow) outOf(comp hlo.CompID, index hlo.ShapeIndex) {
	for _, caller := range f.callers(comp) {
		switch caller.Opcode() {
		case hlo.OpCall, hlo.OpConditional:
			f.mark(caller, index)
		case hlo.OpWhile:
			if caller.Callee(0) == comp {
				f.mark(caller, index)
			}
		case hlo.OpAsyncStart:
			f.mark(caller, under(1, index))
		}
	}
}

func (f *flow) callers(comp hlo.CompID) (all []hlo.Instruction) {
	for c, id := range f.m.Callers(comp) {
		all = append(all, f.m.MustComputation(c).MustAt(id))
	}
	return all
}

// demand makes an operand be in the memory of the host, where a block of it is written there: back to a broadcast, whose contents do not
// matter since every block that is read has been written before, or to a buffer.
func (f *flow) demand(user hlo.Instruction, operand int, index hlo.ShapeIndex) error {
	in := user.OperandInstr(operand)
	if f.isHost(in, index) {
		return nil
	}
	switch in.Opcode() {
	case hlo.OpGetTupleElement:
		f.mark(in, index)
		return f.demand(in, 0, under(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index, index))
	case hlo.OpTuple:
		f.mark(in, index)
		return f.demand(in, int(index[0]), index[1:])
	case hlo.OpOptBarrier, hlo.OpWhile, hlo.OpDynamicUpdateSlice:
		f.mark(in, index)
		return f.demand(in, 0, index)
	case hlo.OpParameter:
		return f.demandParameter(in, index)
	}
	if source := through(in); len(index) == 0 && (source.Opcode() == hlo.OpBroadcast || isCall(source, buffer)) {
		s := slot{nodeOf(user), operand}
		if !f.allocate[s] {
			f.allocate[s] = true
			f.allocated = append(f.allocated, s)
		}
		return nil
	}
	if isCall(in, toHost) {
		return nil // becomes a copy
	}
	return fmt.Errorf("host-offloader: %%%s is written to by block in the memory of the host, but comes from %v %%%s; want a broadcast, a buffer, or a parameter there",
		user.Name(), in.Opcode(), in.Name())
}

func (f *flow) demandParameter(in hlo.Instruction, index hlo.ShapeIndex) error {
	n, _ := in.ParameterNumber()
	comp := in.Computation().ID()
	if comp == f.m.Entry().ID() {
		if layout := f.m.Config().EntryLayout; layout == nil || !isHostShape(layout.Parameters[n], index) {
			return fmt.Errorf("host-offloader: parameter %d of the program is written to by block in the memory of the host, but is not there: its layout says no S(%s)",
				n, strconv.Itoa(hostSpace))
		}
		f.mark(in, index)
		return nil
	}
	f.mark(in, index)
	for _, caller := range f.callers(comp) {
		operand := int(n)
		switch caller.Opcode() {
		case hlo.OpWhile:
			f.mark(caller, index)
		case hlo.OpConditional:
			operand = slices.Index(slices.Collect(caller.Callees()), comp) + 1
		case hlo.OpCall:
		default:
			continue
		}
		if err := f.demand(caller, operand, index); err != nil {
			return err
		}
	}
	return nil
}

// through looks through copies, and annotations for the host.
func through(in hlo.Instruction) hlo.Instruction {
	for in.Opcode() == hlo.OpCopy || isCall(in, toHost) {
		in = in.OperandInstr(0)
	}
	return in
}

// isHostShape reports whether a part of a shape says that it is in the memory of the host.
func isHostShape(s hlo.Shape, index hlo.ShapeIndex) bool {
	leaf, ok := s.Sub(index)
	if !ok {
		return false
	}
	l, ok := leaf.Layout()
	return ok && l.MemorySpace == hostSpace
}
