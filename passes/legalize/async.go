// Package legalize holds the passes that rewrite what lowering has no form for into what it has.
package legalize

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AsyncToSync makes asynchronous work that cannot overlap synchronous.
var AsyncToSync = &pass.Pass{
	Name:  "async-to-sync",
	Makes: []pass.Phase{pass.Legal},
	Doc: `make chains synchronous when nothing can overlap them

Chains are kept, through tuples and loops too: they really overlap. Only where a done cannot be followed back to a start on every way, or a
start has no done, the start becomes a tuple of its operands, and the done a call. The native pairs (copy-start and so on) become the plain op at the start:

	s = (T, T, u32[]) copy-start(x)      → tuple(copy(x), x, 0)
	d = T copy-done(s)                   → get-tuple-element(s), index=0

In a schedule that has work between the two they stay: they run beside that work. Without a schedule the executor finds by itself what can run
beside the plain op.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		broken, e := carriedChains(m), ctx.Edit(m)
		var all []*asyncRewriter // before anything is edited
		for c := range m.Computations() {
			if !c.Opcodes().Meets(asyncSteps) {
				continue
			}
			r := &asyncRewriter{c: e.Computation(c.ID()), broken: broken, beside: beside(c), callees: make(map[hlo.InstrID]hlo.CompID)}
			for in := range c.PostOrder() {
				if in.Opcode() == hlo.OpAsyncDone {
					if callee, ok := hlo.AsyncCallee(m, in); ok {
						r.callees[in.ID()] = callee.ID()
					}
				}
				if asyncSteps.Has(in.Opcode()) {
					r.steps = append(r.steps, in.ID())
				}
			}
			all = append(all, r)
		}
		for _, r := range all {
			for _, id := range r.steps {
				if err := r.rewrite(ctx, r.c.At(id)); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

// asyncSteps are the opcodes of chains and of native pairs that have a plain form.
var asyncSteps = func() (steps hlo.OpcodeSet) {
	for op := range hlo.Opcode(hlo.NumOpcodes) {
		if hlo.IsAsync(op) || hlo.Info(op).Pair.Plain != hlo.OpInvalid {
			steps = steps.With(hlo.OpcodesOf(op))
		}
	}
	return steps
}()

// asyncRewriter rewrites the asynchronous instructions of one computation.
type asyncRewriter struct {
	c       hlo.CompEdit
	steps   []hlo.InstrID              // of chains, operands before users
	callees map[hlo.InstrID]hlo.CompID // of the dones among them
	broken  map[place]bool             // steps of chains that cannot stay
	beside  map[hlo.InstrID]bool       // native starts that stay
}

// step is an instruction to be replaced. Edits make views stale, so it is a copy.
type step struct {
	hlo.InstrSpec
	id hlo.InstrID
}

func (r *asyncRewriter) rewrite(ctx *pass.Context, in hlo.Instruction) error {
	var value hlo.InstrID
	op := in.Opcode()
	at, pair := step{emit.Again(in), in.ID()}, hlo.Info(op).Pair
	switch {
	case op == hlo.OpAsyncStart || op == hlo.OpAsyncUpdate:
		if !r.broken[placeOf(in)] {
			return nil
		}
		value = r.carryOperands(at)
	case op == hlo.OpAsyncDone:
		if !r.broken[placeOf(in)] {
			return nil
		}
		callee, ok := r.callees[in.ID()]
		if !ok {
			return nil // lowering says what is wrong with it
		}
		value = r.callNow(at, callee)
	case pair.Plain == hlo.OpInvalid: // send and recv have no plain form
		return nil
	case pair.Begins(op):
		if r.beside[in.ID()] {
			return nil
		}
		value = r.plain(at, pair)
	case pair.Ends(op) && r.beside[in.Operand(0)]:
		return nil
	case pair.Ends(op) && pair.Result == hlo.WholeResult:
		value = at.Operands[0]
	case pair.Ends(op):
		value = r.element(at, at.Operands[0], pair.Result)
	default:
		return nil
	}
	if !ctx.Spend(op.String()) {
		return nil
	}
	if hlo.IsAsync(op) {
		ctx.Passed(r.c.At(at.id), "is computed where it is waited for: not every way back from the done leads to a start")
	} else if pair.Begins(op) {
		ctx.Passed(r.c.At(at.id), "is a plain %v: its schedule has no work behind it, or there is none", pair.Plain)
	}
	ctx.Count(op.String(), 1)
	return r.c.ReplaceInstruction(in.ID(), value)
}

func (r *asyncRewriter) insert(before step, op hlo.Opcode, s hlo.Shape, attrs hlo.OpAttrs, operands ...hlo.InstrID) hlo.InstrID {
	return r.c.InsertSpecBefore(before.id, hlo.InstrSpec{Opcode: op, Shape: s, Operands: operands, Attrs: attrs, Position: before.Position}).ID()
}

func (r *asyncRewriter) element(at step, tuple hlo.InstrID, i int) hlo.InstrID {
	return r.insert(at, hlo.OpGetTupleElement, r.c.At(tuple).Shape().Elem(i), &hlo.TupleElementAttrs{Index: int64(i)}, tuple)
}

// plain is the value of a native start with the work done at once: the plain op has the same operands, attributes and callees, and where the
// start gives a tuple, that holds the result, the operands, and zeros for the context.
func (r *asyncRewriter) plain(at step, pair hlo.Pair) hlo.InstrID {
	s, attrs := at.Shape, at.Attrs
	if pair.Result != hlo.WholeResult {
		s = s.Elem(pair.Result)
	}
	if hlo.Info(pair.Plain).NewAttrs == nil {
		attrs = nil
	}
	result := r.c.InsertSpecBefore(at.id, hlo.InstrSpec{Opcode: pair.Plain, Shape: s, Operands: at.Operands,
		Attrs: attrs, Callees: at.Callees, Position: at.Position}).ID()
	if pair.Result == hlo.WholeResult {
		return result
	}
	parts := make([]hlo.InstrID, at.Shape.NumElems())
	parts[pair.Result], parts[1-pair.Result] = result, r.operandsOf(at, at.Shape.Elem(1-pair.Result))
	for i := 2; i < len(parts); i++ {
		parts[i] = r.zeros(at, at.Shape.Elem(i))
	}
	return r.insert(at, hlo.OpTuple, at.Shape, nil, parts...)
}

// beside lists the native starts of a schedule that are followed to a done, with work between the two.
func beside(c hlo.Computation) map[hlo.InstrID]bool {
	if !c.IsScheduled() {
		return nil
	}
	found := map[hlo.InstrID]bool{}
	worked := map[hlo.InstrID]bool{} // starts that have not been waited for: whether there was work since
	for in := range c.Instructions() {
		pair := hlo.Info(in.Opcode()).Pair
		if pair.Plain != hlo.OpInvalid && pair.Ends(in.Opcode()) && in.NumOperands() == 1 {
			if start := in.Operand(0); worked[start] {
				found[start] = true
			}
			delete(worked, in.Operand(0))
			continue
		}
		if isWork(in) {
			for id := range worked {
				worked[id] = true
			}
		}
		if pair.Plain != hlo.OpInvalid && pair.Begins(in.Opcode()) && in.UserCount() == 1 && !in.IsRoot() {
			worked[in.ID()] = false
		}
	}
	return found
}

// isWork reports whether in takes any time.
func isWork(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits&hlo.TraitForwards == 0 && in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpConstant && in.Opcode() != hlo.OpBitcast
}

// operandsOf is the operand of a native start, or a tuple of several. The in-place form of collective-permute has its input first; output and
// offsets follow.
func (r *asyncRewriter) operandsOf(at step, s hlo.Shape) hlo.InstrID {
	a, ok := at.Attrs.(*hlo.CollectivePermuteAttrs)
	if inPlace := ok && a.SliceSizes != nil; inPlace || len(at.Operands) == 1 && !s.IsTuple() {
		return at.Operands[0]
	}
	return r.insert(at, hlo.OpTuple, s, nil, at.Operands...)
}

// zeros is a value of any shape whose elements do not matter.
func (r *asyncRewriter) zeros(at step, s hlo.Shape) hlo.InstrID {
	switch {
	case s.IsTuple():
		var parts []hlo.InstrID
		for i := range s.NumElems() {
			parts = append(parts, r.zeros(at, s.Elem(i)))
		}
		return r.insert(at, hlo.OpTuple, s, nil, parts...)
	case s.IsToken():
		return r.insert(at, hlo.OpAfterAll, s, nil)
	}
	scalar := hlo.MakeArray(s.Type(), nil, nil, hlo.DefaultLayout(0))
	lit, err := hlo.NewLiteral(scalar, make([]byte, s.Type().ByteSize()))
	if err != nil {
		panic(err) // the length is the shape's own
	}
	zero := r.insert(at, hlo.OpConstant, scalar, &hlo.ConstantAttrs{Literal: lit})
	if s.IsScalar() {
		return zero
	}
	return r.insert(at, hlo.OpBroadcast, s, &hlo.BroadcastAttrs{}, zero)
}

// carryOperands makes a tuple of the shape of a start or update: the operands bound so far, and zeros in the place of everything else.
func (r *asyncRewriter) carryOperands(at step) hlo.InstrID {
	own := at.Operands
	var bound []hlo.InstrID
	if at.Opcode == hlo.OpAsyncUpdate {
		previous := r.element(at, own[0], 0)
		if !r.c.At(previous).Shape().IsTuple() {
			bound = append(bound, previous)
		}
		for i := range r.c.At(previous).Shape().NumElems() {
			bound = append(bound, r.element(at, previous, i))
		}
		own = own[1:]
	}
	bound = append(bound, own...)
	// A single operand may stand without a tuple around it.
	parts := bound
	if at.Shape.Elem(0).IsTuple() {
		parts = []hlo.InstrID{r.insert(at, hlo.OpTuple, at.Shape.Elem(0), nil, bound...)}
	}
	for i := 1; i < at.Shape.NumElems(); i++ {
		parts = append(parts, r.zeros(at, at.Shape.Elem(i)))
	}
	return r.insert(at, hlo.OpTuple, at.Shape, nil, parts...)
}

// callNow computes at the done what the chain was to compute.
func (r *asyncRewriter) callNow(at step, callee hlo.CompID) hlo.InstrID {
	bound := r.element(at, at.Operands[0], 0)
	args := []hlo.InstrID{bound}
	if r.c.At(bound).Shape().IsTuple() {
		args = nil
	}
	for i := range r.c.At(bound).Shape().NumElems() {
		args = append(args, r.element(at, bound, i))
	}
	return r.c.InsertSpecBefore(at.id, hlo.InstrSpec{Opcode: hlo.OpCall, Shape: at.Shape, Operands: args,
		Attrs: &hlo.CallAttrs{}, Callees: []hlo.CompID{callee}, Position: at.Position}).ID()
}
