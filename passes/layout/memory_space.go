package layout

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// MemorySpacePropagation tells fusions in which memory their arrays are.
var MemorySpacePropagation = &pass.Pass{
	Name: "memory-space-propagation",
	Doc: `give what is inside of fusions the memory spaces of their operands and results

From the operand of a fusion the space goes to the parameter, to tuples of it and their elements, and into fusions inside; from the result to the root, and on the same ways. A result of a fusion inside
that shares memory with an operand is where that is. Split configurations go along.`,
	About: []hlo.Opcode{hlo.OpFusion},
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		p := &propagation{ctx: ctx, m: m, e: ctx.Edit(m), fusions: map[hlo.CompID]fusion{}, done: map[value]bool{}}
		var outer []fusion
		for c := range m.Computations() {
			for in := range c.Calls() {
				if in.Opcode() == hlo.OpFusion {
					p.fusions[in.Callee(0)] = fusion{c, in}
					outer = append(outer, fusion{c, in})
				}
			}
		}
		for _, f := range outer {
			if _, nested := p.fusions[f.c.ID()]; nested {
				continue // it is reached from outside
			}
			for i := range f.in.NumOperands() {
				for index, leaf := range f.in.OperandInstr(i).Shape().Leaves {
					p.enter(f, i, index, leaf)
				}
			}
			for index, leaf := range f.in.Shape().Leaves {
				p.leave(f, index, leaf)
			}
		}
		return p.e.Freeze(), nil
	},
}

type fusion struct {
	c  hlo.Computation
	in hlo.Instruction
}

// value is a part of an instruction's value.
type value struct {
	c     hlo.CompID
	id    hlo.InstrID
	index string
}

type propagation struct {
	ctx     *pass.Context
	m       hlo.Module
	e       *hlo.Editor
	fusions map[hlo.CompID]fusion // the one that calls each computation
	done    map[value]bool
}

// enter gives a part of an operand's parameter the space of like.
func (p *propagation) enter(f fusion, operand int, index hlo.ShapeIndex, like hlo.Shape) {
	c := p.m.MustComputation(f.in.Callee(0))
	p.reach(c, c.Parameter(operand), index, like)
}

// leave gives a part of the root the space of like.
func (p *propagation) leave(f fusion, index hlo.ShapeIndex, like hlo.Shape) {
	c := p.m.MustComputation(f.in.Callee(0))
	p.reach(c, c.Root(), index, like)
}

// reach gives the value that is at a part of an instruction the space of like, wherever it is, from where it is made on.
func (p *propagation) reach(c hlo.Computation, in hlo.Instruction, index hlo.ShapeIndex, like hlo.Shape) {
	index = slices.Clone(index)
	for in.Opcode() == hlo.OpTuple || in.Opcode() == hlo.OpGetTupleElement {
		if in.Opcode() == hlo.OpTuple {
			in, index = in.OperandInstr(int(index[0])), index[1:]
		} else {
			in, index = in.OperandInstr(0), slices.Insert(index, 0, hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		}
	}
	p.spread(c, in, index, like)
}

// spread goes on from a part of an instruction that has the value.
func (p *propagation) spread(c hlo.Computation, in hlo.Instruction, index hlo.ShapeIndex, like hlo.Shape) {
	at := value{c.ID(), in.ID(), index.String()}
	if p.done[at] {
		return
	}
	p.done[at] = true
	p.mark(c, in, index, like)
	if in.Opcode() == hlo.OpFusion {
		p.leave(fusion{c, in}, index, like)
	}
	if f, fused := p.fusions[c.ID()]; fused && in.IsRoot() {
		if _, nested := p.fusions[f.c.ID()]; nested {
			p.reach(f.c, f.in, index, like)
		}
	}
	for u := range in.Users() {
		for i := range u.NumOperands() {
			if u.Operand(i) != in.ID() {
				continue
			}
			switch {
			case u.Opcode() == hlo.OpTuple:
				p.spread(c, u, slices.Insert(slices.Clone(index), 0, int64(i)), like)
			case u.Opcode() == hlo.OpGetTupleElement && index[0] == hlo.AttrsOf[hlo.TupleElementAttrs](u).Index:
				p.spread(c, u, index[1:], like)
			case u.Opcode() == hlo.OpFusion:
				p.enter(fusion{c, u}, i, index, like)
				for _, a := range hlo.AttrsOf[hlo.FusionAttrs](u).OutputAliasing {
					if a.Operand == int64(i) && slices.Equal(a.OperandIndex, index) {
						p.reach(c, u, a.Output, like)
					}
				}
			}
		}
	}
}

// mark gives a part of an instruction's shape the space.
func (p *propagation) mark(c hlo.Computation, in hlo.Instruction, index hlo.ShapeIndex, like hlo.Shape) {
	to := p.e.Computation(c.ID()).Instr(in.ID())
	now, ok := to.Shape().Sub(index)
	if !ok || !now.IsArray() {
		return
	}
	var space hlo.Layout
	if l, ok := like.Layout(); ok {
		space = *l
	}
	own := *hlo.DefaultLayout(now.Rank())
	if l, ok := now.Layout(); ok {
		own = *l
	}
	if own.MemorySpace == space.MemorySpace && slices.EqualFunc(own.SplitConfigs, space.SplitConfigs, sameSplit) || !p.ctx.Spend("space") {
		return
	}
	own.MemorySpace, own.SplitConfigs = space.MemorySpace, space.SplitConfigs
	to.SetShape(withPart(to.Shape(), index, now.WithLayout(&own)))
	p.ctx.Count("values", 1)
}

func sameSplit(a, b hlo.SplitConfig) bool {
	return a.Dimension == b.Dimension && slices.Equal(a.Indices, b.Indices)
}

// withPart is a shape with another part at an index.
func withPart(s hlo.Shape, index hlo.ShapeIndex, part hlo.Shape) hlo.Shape {
	if len(index) == 0 {
		return part
	}
	elems := s.Elems()
	elems[index[0]] = withPart(elems[index[0]], index[1:], part)
	return hlo.MakeTuple(elems...)
}
