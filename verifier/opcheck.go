package verifier

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// The checks of single instructions.

// opChecks are what an op demands beyond its shape rule. They run when the shape rule holds, and may report several findings.
var opChecks = func() (f [hlo.NumOpcodes]func(*run, hlo.Instruction)) {
	set := func(check func(*run, hlo.Instruction), ops ...hlo.Opcode) {
		for _, op := range ops {
			f[op] = check
		}
	}
	set((*run).reducerTypes, hlo.OpReduce, hlo.OpMap, hlo.OpReduceWindow)
	set((*run).broadcastAxes, hlo.OpBroadcast)
	set((*run).gather, hlo.OpGather)
	set((*run).scatter, hlo.OpScatter)
	set((*run).afterAll, hlo.OpAfterAll)
	set((*run).reshapeBitcast, hlo.OpReshape)
	set((*run).bitcast, hlo.OpBitcast)
	set((*run).call, hlo.OpCall)
	set((*run).while, hlo.OpWhile)
	set((*run).conditional, hlo.OpConditional)
	set((*run).fusion, hlo.OpFusion)
	set((*run).customCall, hlo.OpCustomCall)
	set((*run).asyncStart, hlo.OpAsyncStart)
	set((*run).asyncUpdate, hlo.OpAsyncUpdate)
	set((*run).asyncDone, hlo.OpAsyncDone)
	set((*run).allReduce, hlo.OpAllReduce, hlo.OpAllReduceStart)
	set((*run).permutePairs, hlo.OpCollectivePermute, hlo.OpCollectivePermuteStart)
	return f
}()

func (r *run) instructions() {
	for c := range r.m.Computations() {
		if !r.wanted(c) {
			continue
		}
		for in := range c.Instructions() {
			r.instruction(in)
		}
		r.asyncContents(c)
		if !r.isFused(c.ID()) {
			r.parameterNumbers(c, "HALO-PARAMETERS")
		}
	}
}

func (r *run) instruction(in hlo.Instruction) {
	if r.cfg.Known != nil && r.known(in) {
		return
	}
	op := in.Opcode()
	if in.NumCallees() > 0 && len(hlo.Info(op).Callees) == 0 && !hlo.IsAsync(op) {
		r.report(in, "GEN-01", "Called computations specified for non-caller instruction %%%s, %v", in.Name(), op)
		return
	}
	if r.stated(in) && !r.isBad(in) && !r.fromBad(in) {
		r.op(in)
	}
	r.common(in)
}

// known reports whether the checks of in would find what they found the last time, nothing.
func (r *run) known(in hlo.Instruction) bool {
	info := hlo.Info(in.Opcode())
	if in.NumCallees() > 0 || hlo.IsAsync(in.Opcode()) || info.Pair != (hlo.Pair{}) || info.Traits.Has(hlo.TraitCollective) || !in.Shape().IsArray() || !r.cfg.Known(in) {
		return false
	}
	for i := range in.NumOperands() {
		if !r.cfg.Known(in.OperandInstr(i)) {
			return false
		}
	}
	return true
}

// fromBad reports whether in continues a pair or chain in which something is wrong already: what its shape should be is not known then.
func (r *run) fromBad(in hlo.Instruction) bool {
	if len(r.bad) == 0 {
		return false
	}
	if op := in.Opcode(); op != hlo.OpAsyncUpdate && !hlo.Info(op).Traits.Has(hlo.TraitAsyncDone) {
		return false
	}
	for o := range in.Operands() {
		if at := placeOf(o); r.bad[at] || r.tainted[at] {
			r.tainted[placeOf(in)] = true
			return true
		}
	}
	return false
}

// stated checks the written shape by itself.
func (r *run) stated(in hlo.Instruction) bool {
	s := in.Shape()
	if !s.IsValid() {
		r.report(in, "GEN-06", "the instruction has no shape")
		return false
	}
	if s.IsArray() {
		return r.array(in, s)
	}
	if r.goodTuples[s] {
		return true
	}
	ok := true
	for _, leaf := range s.Leaves {
		if leaf.IsBuffer() {
			r.hasBuffers = true
			leaf = leaf.Elem(0)
		}
		ok = !leaf.IsArray() || r.array(in, leaf)
		if !ok {
			break
		}
	}
	if ok && r.cfg.UnboundedDynamic == nil { // the predicate may answer otherwise for another instruction
		if r.goodTuples == nil {
			r.goodTuples = make(map[hlo.Shape]bool)
		}
		r.goodTuples[s] = true
	}
	return ok
}

func (r *run) array(in hlo.Instruction, s hlo.Shape) bool {
	if l, ok := s.Layout(); ok && len(l.MinorToMajor) != s.Rank() {
		r.report(in, "GEN-04", "Instruction has mismatched minor-to-major size and dimension size: %v", s)
		return false
	}
	if !s.IsStatic() && s.HasUnbounded() && (r.cfg.UnboundedDynamic == nil || !r.cfg.UnboundedDynamic(in)) {
		r.report(in, "GEN-03", "Unbounded dynamism is disabled for instruction: %%%s = %v", in.Name(), in.Shape())
		return false
	}
	return true
}

// op applies the shape rule, compares, and does what is left.
func (r *run) op(in hlo.Instruction) {
	op := in.Opcode()
	info := hlo.Info(op)
	if info.Traits.Has(hlo.TraitCollective) && !r.groups(in) {
		return
	}
	c := r.context(in)
	inferred, err := hlo.InferShape(c)
	if err != nil {
		r.reportShape(in, err)
		return
	}
	if !r.compare(in, inferred) {
		return
	}
	if info.Traits.Has(hlo.TraitElementwise) && len(c.Operands) == 2 && !r.noBroadcast(in) {
		return
	}
	if info.Traits.Has(hlo.TraitApply) {
		r.pureCallees(in)
	}
	if check := opChecks[op]; check != nil {
		check(r, in)
	}
	r.beyond(in)
}

// context fills the shape context for in; it is good until the next call.
func (r *run) context(in hlo.Instruction) *hlo.ShapeContext {
	op := in.Opcode()
	r.operands = r.operands[:0]
	for i := range in.NumOperands() { // by index, here and below: an iterator allocates
		r.operands = append(r.operands, in.OperandInstr(i).Shape())
	}
	r.callees = r.callees[:0]
	switch op {
	case hlo.OpAsyncUpdate, hlo.OpAsyncDone:
		if id, ok := r.chainCallee(in); ok {
			r.callees = append(r.callees, r.signature(id))
		}
	default:
		for i := range in.NumCallees() {
			r.callees = append(r.callees, r.signature(in.Callee(i)))
		}
	}
	r.ctx = hlo.ShapeContext{
		Op: op, Operands: r.operands, Attrs: in.Attrs(), Callees: r.callees, Stated: in.Shape(), MixedPrecision: r.cfg.MixedPrecision,
		LayoutSensitive: r.cfg.LayoutSensitive, FlatAsync: r.cfg.Profile == Doc, Defined: r.executable(r.cfg.Defined),
	}
	if hlo.Info(op).Traits.Has(hlo.TraitCollective) {
		r.ctx.GroupSize = r.groupSize(in)
	}
	return &r.ctx
}

// pureCallees warns of what has no defined meaning in computations that are applied to elements: effects, since how often and in what order
// they happen is open, and arrays, since elements are scalars. Scans apply their computation to slices.
func (r *run) pureCallees(in hlo.Instruction) {
	for i := range in.NumCallees() {
		id := in.Callee(i)
		if seen := &r.applied[id]; !*seen {
			*seen = true
			effect, array := false, in.Opcode() == hlo.OpScan
			for f := range r.m.MustComputation(id).Instructions() {
				if !effect && sideEffect(f) && f.NumCallees() == 0 {
					effect = true
					r.warn(f, "HALO-EFFECTS", "computation %%%s is applied to elements by %%%s and has a side effect, %v", f.Computation().Name(), in.Name(), f.Opcode())
				}
				if !array && f.Shape().IsArray() && !f.Shape().IsScalar() {
					array = true
					r.warn(f, "HALO-SCALARS", "computation %%%s is applied to elements by %%%s and has an array in it, %v", f.Computation().Name(), in.Name(), f.Shape())
				}
			}
		}
	}
}

// noBroadcast checks that no operand of an elementwise op is stretched (ELT-12).
func (r *run) noBroadcast(in hlo.Instruction) bool {
	s := in.Shape()
	for i := range in.NumOperands() {
		if o := in.OperandInstr(i).Shape(); !o.EqualExcept(s, hlo.Compatible|hlo.IgnoreElementType) {
			r.report(in, "ELT-12", "Implicit broadcast is not allowed in HLO. Found different shapes for %%%s: %v, operand %d is %v", in.Name(), s, i, o)
			return false
		}
	}
	return true
}

// reducerTypes compares operand types with parameter types exactly, where precision may not mix (RED-07).
func (r *run) reducerTypes(in hlo.Instruction) {
	if r.cfg.MixedPrecision || in.NumCallees() == 0 {
		return
	}
	f := r.signature(in.Callee(0))
	for i := range in.NumOperands() {
		o := in.OperandInstr(i).Shape()
		if i < len(f.Parameters) && f.Parameters[i].Type() != o.Type() {
			r.report(in, "RED-07", "Shape mismatch between to_apply computation parameter and operand %d in %%%s: %v and %v", i, in.Name(), f.Parameters[i], o)
			return
		}
	}
}

func (r *run) broadcastAxes(in hlo.Instruction) {
	axes := hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions
	for i, axis := range axes {
		if slices.Contains(axes[:i], axis) {
			r.report(in, "HALO-BROADCAST", "broadcast sends two axes of its operand to axis %d", axis)
			return
		}
		if r.cfg.BroadcastDimensionsOrder && i > 0 && axes[i-1] > axis {
			r.report(in, "SHP-05", "Broadcast dimensions should be ordered, got %v", axes)
			return
		}
	}
}

func (r *run) afterAll(in hlo.Instruction) {
	for o := range in.Operands() {
		if !o.Shape().IsToken() {
			r.warn(in, "HALO-TOKENS", "after-all orders nothing with operand %%%s, which is %v and not a token", o.Name(), o.Shape())
		}
	}
}

func (r *run) bitcast(in hlo.Instruction) {
	if !r.cfg.LayoutSensitive || in.NumOperands() != 1 {
		return
	}
	from := in.OperandInstr(0)
	a, b := from.Shape(), in.Shape()
	x, y := r.cfg.ShapeSize(a), r.cfg.ShapeSize(b)
	relaxed := r.cfg.BitcastDifferentSize && a.IsStatic() && b.IsStatic() && DenseSize(a) == DenseSize(b)
	if x != y && !relaxed {
		r.report(in, "SHP-12", "Bitcast cannot have different shape sizes of output (%d) and operand (%d) (%v) (%v)", y, x, b, a)
		return
	}
	if a.IsArray() && b.IsArray() && inHost(a) != inHost(b) {
		for from.Opcode() == hlo.OpCopy {
			from = from.OperandInstr(0)
		}
		if from.Opcode() != hlo.OpConstant {
			r.report(in, "SHP-13", "Bitcast cannot have different memory spaces of output (%d) and operand (%d)", memorySpace(b), memorySpace(a))
		}
	}
}

func (r *run) gather(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	if r.executable(r.cfg.BatchingAxes) && len(a.OperandBatchingDims) > 0 {
		r.batching(in, 1, a.OperandBatchingDims, a.StartIndicesBatchingDims)
	}
}

func (r *run) scatter(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	if r.executable(r.cfg.BatchingAxes) && len(a.InputBatchingDims) > 0 {
		r.batching(in, in.NumOperands()/2, a.InputBatchingDims, a.ScatterIndicesBatchingDims)
	}
}

// batching checks the batching axes of gather and scatter, which XLA leaves unchecked: they have no other role, and those of the operand and
// of the indices agree in size. The shape rule has seen that all of them exist.
func (r *run) batching(in hlo.Instruction, indices int, axes, indexAxes []int64) {
	if err := hlo.CheckBatching(in); err != nil {
		r.report(in, "HALO-BATCHING", "%v", err)
		return
	}
	x, index := in.OperandInstr(0).Shape(), in.OperandInstr(indices).Shape()
	for k, axis := range axes {
		at := indexAxes[k]
		if n, m := x.Dim(int(axis)), index.Dim(int(at)); n != m && n != hlo.UnboundedSize && m != hlo.UnboundedSize {
			r.report(in, "HALO-BATCHING", "batching axis %d of operand 0 has size %d, batching axis %d of the indices has size %d: %v and %v", axis, n, at, m, x, index)
			return
		}
	}
}
