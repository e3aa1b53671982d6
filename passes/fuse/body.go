package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// bodyMaker makes fused computations, one after the other.
type bodyMaker struct {
	builder  *hlo.ComputationBuilder
	roots    []hlo.InstrID
	inside   []hlo.InstrID // by id: which instruction is it inside; NoInstr: none
	within   []hlo.InstrID // those that are inside
	copies   []hlo.InstrID // the operands of those whose copies are being made
	callees  []hlo.CompID
	operands []hlo.InstrID // of the fusion
	names    hlo.NameRoom
	numbers  []*hlo.ParameterAttrs // by number
}

// fusionList is fusions whose computations are made, in that order. The computation that they are for stays as it is until all are.
type fusionList struct {
	all      pile[madeFusion]
	operands []hlo.InstrID // in room for several
	results  pile[fusionResult]
	released []hlo.InstrID            // what may be left of the groups: it must not stay, since its operands may be defined later then
	replaced []hlo.Replacement        // room
	elements []*hlo.TupleElementAttrs // by number
	next     nextFusions
}

// madeFusion is one of them.
type madeFusion struct {
	place    hlo.InstrID // the instruction that it will stand before
	body     hlo.CompID
	results  uint32 // where theirs end in the list
	operands []hlo.InstrID
	name     string
	shape    hlo.Shape
	attrs    *hlo.FusionAttrs
	common   *hlo.Common
	position hlo.Position
}

// fusionResult is an instruction that a fusion stands for, or a part of it if it has several.
type fusionResult struct {
	root   hlo.InstrID
	common *hlo.Common
}

// emptied is an empty list in the room of l.
func (l *fusionList) emptied() fusionList {
	return fusionList{all: l.all.emptied(), operands: l.operands, results: l.results.emptied(), released: l.released[:0], replaced: l.replaced[:0], elements: l.elements}
}

// The attributes of all fusions.
var (
	loopAttrs  = &hlo.FusionAttrs{Kind: hlo.FusionLoop}
	inputAttrs = &hlo.FusionAttrs{Kind: hlo.FusionInput}
)

// fuse puts the members of a group, or of merged groups with these roots, into a computation of their own. install puts the fusion into their place.
func (f *fuser) fuse(roots []hlo.InstrID) {
	const name = "fused_computation"
	b := &f.bodies
	if b.builder == nil {
		b.builder = f.e.NewComputation(name)
	} else {
		b.builder.Next(name)
	}
	b.builder.SetExecutionThread(f.c.ExecutionThread())
	if len(b.inside) < int(f.c.IDLimit()) {
		b.inside = slices.Repeat([]hlo.InstrID{hlo.NoInstr}, int(f.c.IDLimit()))
	}
	defer b.forgetInside()
	b.roots = roots
	for _, root := range roots {
		f.copyIn(root)
		f.made.releases(f.c.MustAt(root))
	}
	place := f.place(roots[0])
	roots = f.neededOutside(roots)
	l := &f.made
	made := madeFusion{place: place, operands: l.keep(b.operands), attrs: loopAttrs}
	if len(roots) == 1 {
		in := f.c.MustAt(roots[0])
		if f.reduces(in) {
			made.attrs = inputAttrs
		}
		made.body = b.builder.Finish(b.inside[roots[0]])
		made.name, made.shape, made.common, made.position = in.Name(), in.Shape(), in.Common(), in.Position()
		l.results.add(fusionResult{root: roots[0]})
	} else {
		at := f.c.MustAt(place)
		made.shape, made.body = f.finishTuple(roots)
		made.name, made.position = at.Name(), at.Position()
		if c := at.Common(); c != nil && c.Metadata != nil {
			made.common = &hlo.Common{Metadata: c.Metadata}
		}
		for _, root := range roots {
			l.results.add(fusionResult{root, f.c.MustAt(root).Common()})
		}
	}
	made.results = l.results.n
	l.all.add(made)
}

// finishTuple ends the body of a fusion of several roots, whose results are parts of a tuple.
func (f *fuser) finishTuple(roots []hlo.InstrID) (hlo.Shape, hlo.CompID) {
	b := &f.bodies
	shapes := make([]hlo.Shape, len(roots))
	from := len(b.copies)
	for i, root := range roots {
		shapes[i] = f.c.MustAt(root).Shape()
		b.copies = append(b.copies, b.inside[root])
	}
	tuple := hlo.MakeTuple(shapes...)
	root := b.builder.Append(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: tuple, Operands: b.copies[from:]})
	b.copies = b.copies[:from]
	return tuple, b.builder.Finish(root)
}

// copyIn computes an instruction inside of the fusion that is being made, if it belongs there, else makes it a parameter.
func (f *fuser) copyIn(id hlo.InstrID) hlo.InstrID {
	b := &f.bodies
	if to := b.inside[id]; to != hlo.NoInstr {
		return to
	}
	in := f.c.MustAt(id)
	var to hlo.InstrID
	if isMember(f.groups.of(id), b.roots) || cheap(in) {
		to = f.copyMember(in)
	} else {
		to = f.parameter(in)
	}
	b.inside[id] = to
	b.within = append(b.within, id)
	return to
}

func (f *fuser) copyMember(in hlo.Instruction) hlo.InstrID {
	b := &f.bodies
	turns, from := rolls(in), len(b.copies)
	for i := range in.NumOperands() {
		if !turns {
			b.copies = append(b.copies, f.copyIn(in.Operand(i)))
			continue
		}
		o := in.OperandInstr(i)
		b.copies = append(b.copies, f.copyIn(o.Operand(0)))
		last := len(b.copies) - 1
		b.copies[last] = b.copy(o, b.copies[last:])
	}
	to := b.copy(in, b.copies[from:])
	b.copies = b.copies[:from]
	return to
}

// copy appends an instruction with other operands.
func (b *bodyMaker) copy(in hlo.Instruction, operands []hlo.InstrID) hlo.InstrID {
	b.callees = slices.AppendSeq(b.callees[:0], in.Callees())
	return b.builder.AppendSpec(&hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Operands: operands,
		Callees: b.callees, Common: in.Common(), Position: in.Position()})
}

// parameter makes an instruction an operand of the fusion.
func (f *fuser) parameter(in hlo.Instruction) hlo.InstrID {
	b := &f.bodies
	n := len(b.operands)
	if n == len(b.numbers) {
		b.numbers = append(b.numbers, &hlo.ParameterAttrs{Number: int64(n)})
	}
	b.operands = append(b.operands, in.ID())
	return b.builder.AppendSpec(&hlo.InstrSpec{Opcode: hlo.OpParameter, Name: b.names.Join("param_", in.Name()), Shape: in.Shape(), Attrs: b.numbers[n]})
}

// forgetInside ends the making of a fusion.
func (b *bodyMaker) forgetInside() {
	for _, id := range b.within {
		b.inside[id] = hlo.NoInstr
	}
	b.within, b.operands = b.within[:0], b.operands[:0]
}

// keep copies a list of operands.
func (l *fusionList) keep(list []hlo.InstrID) []hlo.InstrID {
	if cap(l.operands)-len(l.operands) < len(list) {
		l.operands = make([]hlo.InstrID, 0, max(len(list), min(2*cap(l.operands), 1024)))
	}
	from := len(l.operands)
	l.operands = append(l.operands, list...)
	return slices.Clip(l.operands[from:])
}

// install puts the fusions in the place of what they compute.
func (f *fuser) install() error {
	l := &f.made
	if l.all.n == 0 {
		return nil
	}
	ce := f.e.Computation(f.c.ID())
	l.replaced = slices.Grow(l.replaced, int(l.results.n))
	next := uint32(0) // of the results
	for i := range l.all.n {
		if i%hlo.NodesAhead == 0 {
			f.ahead(ce, i)
		}
		made := l.all.at(i)
		spec := hlo.InstrSpec{Opcode: hlo.OpFusion, Name: l.next.names[i%hlo.NodesAhead], NameHash: l.next.hashes[i%hlo.NodesAhead], Shape: made.shape, Attrs: made.attrs,
			Operands: made.operands, Callees: []hlo.CompID{made.body}, Common: made.common, Position: made.position}
		l.stands(ce, ce.InsertSpecBefore(made.place, spec).ID(), made, next)
		next = made.results
	}
	if err := ce.ReplaceInstructions(l.replaced); err != nil {
		return err
	}
	pass.ReleaseAll(ce, l.released)
	return nil
}

// releases notes what may be left of a group with this root, which has just been copied.
func (l *fusionList) releases(root hlo.Instruction) {
	l.released = append(l.released, root.ID())
	for k := range root.NumOperands() {
		l.released = append(l.released, root.Operand(k))
	}
}

// nextFusions is what is known of the next ones.
type nextFusions struct {
	names  [hlo.NodesAhead]string
	hashes [hlo.NodesAhead]uint64
	places [2 * hlo.NodesAhead]hlo.InstrID // and what is before these
}

// ahead names some fusions, from number i on, and reads what they will stand before, and what is before that: of a large computation no cache has it any more, and memory gives several
// places at once as fast as one.
func (f *fuser) ahead(ce hlo.CompEdit, i uint32) {
	next, n := &f.made.next, min(hlo.NodesAhead, f.made.all.n-i)
	for k := range n {
		made := f.made.all.at(i + k)
		next.names[k] = f.bodies.names.Join(made.name, "_fusion")
		next.hashes[k] = hlo.HashName(next.names[k])
		next.places[2*k], next.places[2*k+1] = made.place, made.place-min(made.place, 1)
	}
	ce.Ahead(next.places[:2*n])
	f.e.NamesAhead(next.hashes[:n])
}

// stands has a fusion stand for its results, from that of number first on.
func (l *fusionList) stands(ce hlo.CompEdit, fusion hlo.InstrID, made *madeFusion, first uint32) {
	if made.results == first+1 {
		l.replaced = append(l.replaced, hlo.Replacement{Old: l.results.at(first).root, New: fusion})
		return
	}
	for i := first; i < made.results; i++ {
		r, n := l.results.at(i), int(i-first)
		if n == len(l.elements) {
			l.elements = append(l.elements, &hlo.TupleElementAttrs{Index: int64(n)})
		}
		part := ce.InsertSpecBefore(made.place, hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: ce.Instr(r.root).Shape(), Attrs: l.elements[n],
			Operands: []hlo.InstrID{fusion}, Common: r.common})
		l.replaced = append(l.replaced, hlo.Replacement{Old: r.root, New: part.ID()})
	}
}
