package eager

import (
	"fmt"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/verifier"
)

// hloOp makes an op of HLO.
func (rt *Runtime) hloOp(opcode hlo.Opcode, attrs Attrs) (*Op, error) {
	name := opcode.String()
	switch opcode {
	case hlo.OpParameter:
		return nil, async.Errorf(async.InvalidArgument, "a parameter is an operand of a computation, and no op by itself").At(name, async.Location{})
	case hlo.OpConstant:
		return rt.constantOp(attrs)
	}
	key := opText(opcode, &attrs)
	if opcode == hlo.OpRngGetAndUpdateState {
		// Its state is that of one place in a program, so it is the op's own and outlives what caches forget.
		d := &description{rt: rt, opcode: opcode, attrs: attrs}
		only := sync.OnceValues(func() (*plan, error) { return d.prepare(nil) })
		return &Op{rt: rt, name: name, prepare: func(args []hlo.Shape) (*plan, error) {
			if len(args) > 0 {
				return d.prepare(args) // which refuses them
			}
			return only()
		}}, nil
	}
	if op, ok := rt.ops.get(key); ok {
		return op, nil
	}
	want := hlo.Info(opcode).NewAttrs
	if attrs.HLO != nil && (want == nil || fmt.Sprintf("%T", want()) != fmt.Sprintf("%T", attrs.HLO)) {
		return nil, async.Errorf(async.InvalidArgument, "attributes are of type %T", attrs.HLO).At(name, async.Location{})
	}
	d := &description{rt: rt, opcode: opcode, attrs: attrs}
	return rt.ops.put(key, &Op{rt: rt, name: name, key: key, prepare: d.prepare}), nil
}

// MakeOpOf makes the op that an instruction of a module is, to be executed on the instruction's operands.
func (rt *Runtime) MakeOpOf(m hlo.Module, in hlo.Instruction) (*Op, error) {
	a := Attrs{HLO: in.Attrs(), Shape: in.Shape()}
	for id := range in.Callees() {
		callee, err := extract(m, id)
		if err != nil {
			return nil, err
		}
		a.Callees = append(a.Callees, callee)
	}
	for i := range in.NumOperands() {
		a.Operands = append(a.Operands, in.OperandInstr(i).Shape())
	}
	return rt.MakeOp(in.Opcode().String(), a)
}

// opText is the canonical text of an op without the shapes of its operands: what tells it from other ops.
func opText(opcode hlo.Opcode, a *Attrs) []byte {
	b := append(make([]byte, 0, 64), opcode.String()...)
	if a.Shape.IsValid() {
		b = append(b, " -> "...)
		b = a.Shape.AppendText(b, true)
	}
	for _, f := range hlo.AttrFields(a.HLO) {
		if v := f.Value(a.HLO); f.Prints(v) {
			b = append(b, ", "...)
			b = append(b, f.Key...)
			b = append(b, '=')
			b = hlo.AppendAttr(b, v.Addr().Interface())
		}
	}
	for _, c := range a.Callees {
		b = append(b, ", calls "...)
		b = append(b, c.Hash().String()...)
	}
	if a.Operands != nil {
		b = append(b, ", of"...)
		for _, s := range a.Operands {
			b = append(b, ' ')
			b = s.AppendText(b, false)
		}
	}
	return b
}

// description is an op of HLO of which the operands are not known yet.
type description struct {
	rt     *Runtime
	opcode hlo.Opcode
	attrs  Attrs
}

// operands groups the shapes of handles to those of operands.
func (d *description) operands(leaves []hlo.Shape) ([]hlo.Shape, error) {
	if d.attrs.Operands == nil {
		return leaves, nil
	}
	want := leavesOf(d.attrs.Operands...)
	if len(want) != len(leaves) {
		return nil, async.Errorf(async.InvalidArgument, "the operands have %d leaves, got %d tensors", len(want), len(leaves))
	}
	for i := range want {
		if !want[i].Compatible(leaves[i]) {
			return nil, async.Errorf(async.InvalidArgument, "leaf %d of the operands is %v, got %v", i, want[i], leaves[i])
		}
	}
	return d.attrs.Operands, nil
}

// prepare makes the plan for operand leaves.
func (d *description) prepare(leaves []hlo.Shape) (*plan, error) {
	operands, err := d.operands(leaves)
	if err != nil {
		return nil, err
	}
	result, err := d.infer(operands)
	if err != nil {
		return nil, err
	}
	for _, s := range append(operands[:len(operands):len(operands)], result) {
		if !s.IsStatic() {
			return nil, async.Errorf(async.Unimplemented, "dynamic dimensions in %v", s)
		}
	}
	p := &plan{op: d.opcode.String(), in: leaves, out: leavesOf(result)}
	p.step, err = d.step(p, operands, result)
	return p, err
}

// infer applies the shape rule.
func (d *description) infer(operands []hlo.Shape) (hlo.Shape, error) {
	c := hlo.ShapeContext{Op: d.opcode, Operands: operands, Attrs: d.attrs.HLO, Stated: d.attrs.Shape.WithDefaultLayout(), MixedPrecision: true, FlatAsync: true}
	if c.Attrs == nil {
		if makeAttrs := hlo.Info(d.opcode).NewAttrs; makeAttrs != nil {
			c.Attrs = makeAttrs()
		}
	}
	for _, m := range d.attrs.Callees {
		c.Callees = append(c.Callees, m.Entry().Signature())
	}
	shape, err := hlo.InferShape(&c)
	if err != nil {
		return hlo.Shape{}, async.Errorf(async.InvalidArgument, "%w", err)
	}
	if c.Stated.IsValid() {
		if !shape.EqualExcept(c.Stated, hlo.Compatible|hlo.IgnoreFPPrecision) {
			return hlo.Shape{}, async.Errorf(async.InvalidArgument, "the stated shape is %v, inferred is %v", c.Stated, shape)
		}
		shape = c.Stated
	}
	return shape.WithDefaultLayout(), nil
}

// step chooses the path.
func (d *description) step(p *plan, operands []hlo.Shape, result hlo.Shape) (step, error) {
	switch d.opcode {
	case hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone:
		return d.asyncStep(operands, result)
	}
	if hlo.Info(d.opcode).Traits.Has(hlo.TraitForwards) {
		return d.forwarding(operands)
	}
	m, err := d.module(operands, result)
	if err != nil {
		return nil, err
	}
	traits := hlo.Info(d.opcode).Traits
	if traits.Has(hlo.TraitControl) || d.rt.general && traits&(hlo.TraitAsyncStart|hlo.TraitAsyncDone) == 0 {
		return d.rt.programStep(m)
	}
	return d.rt.kernelStep(p, m)
}

// module is a module with the op for its root and its operands for parameters.
func (d *description) module(operands []hlo.Shape, result hlo.Shape) (hlo.Module, error) {
	b := hlo.NewBuilder("eager")
	spec := hlo.OpSpec{Opcode: d.opcode, Shape: result, Attrs: d.attrs.HLO}
	for i, s := range operands {
		spec.Operands = append(spec.Operands, b.Parameter(fmt.Sprintf("p%d", i), s.WithDefaultLayout()))
	}
	for _, callee := range d.attrs.Callees {
		id, err := insert(b.Editor(), callee, callee.Entry().ID(), make(map[hlo.CompID]hlo.CompID))
		if err != nil {
			return hlo.Module{}, err
		}
		spec.Callees = append(spec.Callees, id)
	}
	m, err := b.Build(b.Emit(spec))
	if err != nil {
		return hlo.Module{}, async.Errorf(async.InvalidArgument, "%w", err)
	}
	if !isHalf(d.opcode) {
		if err := verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err(); err != nil {
			return hlo.Module{}, async.Errorf(async.InvalidArgument, "%w", err)
		}
	}
	return m, nil
}

// isHalf reports whether an op begins or ends something in a program. A pair that is taken apart does not verify, and need not: each half is an
// op here.
func isHalf(op hlo.Opcode) bool {
	switch op {
	case hlo.OpSend, hlo.OpSendDone, hlo.OpRecv, hlo.OpRecvDone:
		return true
	}
	return hlo.Info(op).Traits&(hlo.TraitAsyncStart|hlo.TraitAsyncDone) != 0
}

// extract makes a module of a computation and what it calls.
func extract(m hlo.Module, id hlo.CompID) (hlo.Module, error) {
	if m.Entry().ID() == id {
		return m, nil
	}
	c, _ := m.Computation(id)
	ed := hlo.NewModule(c.Name())
	entry, err := insert(ed, m, id, make(map[hlo.CompID]hlo.CompID))
	if err != nil {
		return hlo.Module{}, err
	}
	ed.SetEntry(entry)
	cfg := *ed.Config()
	s := ed.View(entry).Signature()
	cfg.EntryLayout = &s
	ed.SetConfig(&cfg)
	return ed.Freeze(), nil
}

// insert copies a computation of a module, after those that it calls, into a session of another.
func insert(ed *hlo.Editor, m hlo.Module, id hlo.CompID, done map[hlo.CompID]hlo.CompID) (hlo.CompID, error) {
	if to, ok := done[id]; ok {
		return to, nil
	}
	c, ok := m.Computation(id)
	if !ok {
		return hlo.NoComp, async.Errorf(async.InvalidArgument, "module %s has no computation %d", m.Name(), id)
	}
	for in := range c.Instructions() {
		for callee := range in.Callees() {
			if _, err := insert(ed, m, callee, done); err != nil {
				return hlo.NoComp, err
			}
		}
	}
	cb := ed.NewComputation(c.Name())
	cb.SetExecutionThread(c.ExecutionThread())
	ids := make(map[hlo.InstrID]hlo.InstrID)
	for in := range c.PostOrder() {
		spec := hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Common: in.Common()}
		for o := range in.OperandIDs() {
			spec.Operands = append(spec.Operands, ids[o])
		}
		for p := range in.ControlPredecessors() {
			spec.Control = append(spec.Control, ids[p])
		}
		for callee := range in.Callees() {
			spec.Callees = append(spec.Callees, done[callee])
		}
		ids[in.ID()] = cb.Append(spec)
	}
	done[id] = cb.Finish(ids[c.Root().ID()])
	return done[id], nil
}
