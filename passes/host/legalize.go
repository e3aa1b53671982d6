package host

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// maxMoved bounds how many copies one run moves; each takes a look at the whole module.
const maxMoved = 100

// Legalize keeps copies that change layouts away from the memory of the host.
var Legalize = &pass.Pass{
	Name: "host-offload-legalize",
	Doc: `copy on the device what would be copied on the host

	MoveToDevice(copy(x)) → copy(MoveToDevice(x)), for x on the host

The copy may be behind tuples, loops, calls, barriers, slices and dynamic-slices, which get the layout of x. It moves only if MoveToDevice is all that its value
comes to.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		for range maxMoved {
			after, err := moveOne(ctx, m)
			if err != nil || after == m {
				return m, err
			}
			m = after
		}
		return m, nil
	},
}

// moveOne moves the last copy on the host that can be moved.
func moveOne(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	f := newFlow(m)
	if found, err := f.begin(); !found || err != nil {
		return m, nil // host-offloader says what is wrong
	}
	for _, n := range slices.Backward(f.order) {
		in := f.at(n)
		if in.Opcode() != hlo.OpCopy || !f.computes[n] || !f.isHost(in.OperandInstr(0), nil) {
			continue
		}
		mv := &moving{flow: f, parts: map[node]map[string]hlo.ShapeIndex{}}
		if mv.follow(in, nil) && mv.closed(in) && len(mv.ends) > 0 && ctx.Spend("move") {
			ctx.Count("copies", 1)
			return mv.apply(ctx, in)
		}
	}
	return m, nil
}

// moving is one copy on its way: the parts that get another layout, and the annotations behind which it comes to stand.
type moving struct {
	*flow
	parts map[node]map[string]hlo.ShapeIndex
	order []node
	ends  []hlo.Instruction
}

func (mv *moving) has(in hlo.Instruction, index hlo.ShapeIndex) bool {
	_, ok := mv.parts[nodeOf(in)][index.String()]
	return ok
}

// follow collects what a value comes to. It reports false where that needs the layout that the value has.
func (mv *moving) follow(in hlo.Instruction, index hlo.ShapeIndex) bool {
	n := nodeOf(in)
	if mv.parts[n] == nil {
		mv.parts[n] = map[string]hlo.ShapeIndex{}
		mv.order = append(mv.order, n)
	}
	if mv.has(in, index) {
		return true
	}
	mv.parts[n][index.String()] = slices.Clone(index)
	if in.IsRoot() {
		callers := mv.callers(n.comp)
		if n.comp == mv.m.Entry().ID() || len(callers) != 1 {
			return false
		}
		switch c := callers[0]; {
		case c.Opcode() == hlo.OpWhile && c.Callee(0) == n.comp, c.Opcode() == hlo.OpCall:
			if !mv.follow(c, index) {
				return false
			}
		default:
			return false
		}
	}
	if in.Opcode() == hlo.OpWhile {
		for id := range in.Callees() {
			if len(mv.callers(id)) != 1 || !mv.follow(mv.m.MustComputation(id).Parameter(0), index) {
				return false
			}
		}
	}
	for u := range in.Users() {
		for i, id := range slices.Collect(u.OperandIDs()) {
			if id == in.ID() && !mv.step(u, i, index) {
				return false
			}
		}
	}
	return true
}

// step follows the part at an index of an operand into a user. It reports false where the copy cannot move past the user.
func (mv *moving) step(u hlo.Instruction, operand int, index hlo.ShapeIndex) bool {
	into := movesInto[u.Opcode()]
	return into != nil && into(mv, u, operand, index)
}

// movesInto is step for each op that a copy can move past. It is filled by init, as a step leads to further ones.
var movesInto [hlo.NumOpcodes]func(mv *moving, u hlo.Instruction, operand int, index hlo.ShapeIndex) bool

func init() {
	same := func(mv *moving, u hlo.Instruction, _ int, index hlo.ShapeIndex) bool { return mv.follow(u, index) }
	movesInto = [hlo.NumOpcodes]func(*moving, hlo.Instruction, int, hlo.ShapeIndex) bool{
		hlo.OpTuple: func(mv *moving, u hlo.Instruction, operand int, index hlo.ShapeIndex) bool {
			return mv.follow(u, under(int64(operand), index))
		},
		hlo.OpGetTupleElement: func(mv *moving, u hlo.Instruction, _ int, index hlo.ShapeIndex) bool {
			return hlo.AttrsOf[hlo.TupleElementAttrs](u).Index != index[0] || mv.follow(u, index[1:])
		},
		hlo.OpOptBarrier: same,
		hlo.OpWhile:      same,
		hlo.OpSlice:      func(mv *moving, u hlo.Instruction, _ int, _ hlo.ShapeIndex) bool { return mv.follow(u, nil) },
		hlo.OpDynamicSlice: func(mv *moving, u hlo.Instruction, operand int, _ hlo.ShapeIndex) bool {
			return operand == 0 && mv.follow(u, nil)
		},
		hlo.OpCall: func(mv *moving, u hlo.Instruction, operand int, index hlo.ShapeIndex) bool {
			return len(mv.callers(u.Callee(0))) == 1 && mv.follow(mv.m.MustComputation(u.Callee(0)).Parameter(operand), index)
		},
		hlo.OpCustomCall: func(mv *moving, u hlo.Instruction, _ int, _ hlo.ShapeIndex) bool {
			if !isCall(u, toDevice) {
				return false
			}
			if !slices.ContainsFunc(mv.ends, func(e hlo.Instruction) bool { return nodeOf(e) == nodeOf(u) }) {
				mv.ends = append(mv.ends, u)
			}
			return true
		},
	}
}

// closed reports whether every loop that carries the value hands on that value.
func (mv *moving) closed(in hlo.Instruction) bool {
	for _, n := range mv.order {
		w := mv.at(n)
		if w.Opcode() != hlo.OpWhile {
			continue
		}
		root := mv.m.MustComputation(w.Callee(0)).Root()
		for _, index := range mv.parts[n] {
			if !mv.has(w.OperandInstr(0), index) || !mv.has(root, index) {
				return false
			}
		}
	}
	return true
}

// apply gives the parts the layout that the copy's operand has, and copies behind the annotations.
func (mv *moving) apply(ctx *pass.Context, copied hlo.Instruction) (hlo.Module, error) {
	layout, ok := copied.OperandInstr(0).Shape().WithDefaultLayout().Layout()
	if !ok {
		return mv.m, nil
	}
	e := ctx.Edit(mv.m)
	for _, n := range mv.order {
		if n == nodeOf(copied) {
			continue
		}
		c := e.Computation(n.comp)
		s := c.At(n.in).Shape()
		for _, index := range mv.parts[n] {
			s = withLayout(s, index, layout)
		}
		c.Instr(n.in).SetShape(s)
	}
	for _, end := range mv.ends {
		n := nodeOf(end)
		c := e.Computation(n.comp)
		was := end.Shape()
		spec := emit.Again(copied)
		spec.Shape, spec.Operands, spec.Control = was, []hlo.InstrID{n.in}, nil
		users := slices.Collect(c.Users(n.in))
		made := emit.End(c).Spec(spec)
		for _, u := range users {
			operands := slices.Collect(c.At(u).OperandIDs())
			for i, o := range operands {
				if o == n.in {
					operands[i] = made
				}
			}
			c.Instr(u).SetOperands(operands...)
		}
		if c.Root() == n.in {
			c.SetRoot(made)
		}
		c.Instr(n.in).SetShape(withLayout(was, nil, layout))
		emit.Reorder(c)
	}
	c := e.Computation(copied.Computation().ID())
	if err := c.ReplaceInstruction(copied.ID(), copied.Operand(0)); err != nil {
		return mv.m, err
	}
	return e.Freeze(), nil
}

// withLayout is a shape with another layout of one part.
func withLayout(s hlo.Shape, index hlo.ShapeIndex, l *hlo.Layout) hlo.Shape {
	if len(index) > 0 {
		elems := s.Elems()
		elems[index[0]] = withLayout(elems[index[0]], index[1:], l)
		return hlo.MakeTuple(elems...)
	}
	return s.WithLayout(l)
}
