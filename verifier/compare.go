package verifier

import "github.com/gohalo/halo/hlo"

// The comparison of the stated result shape with the inferred one (verifier 5.2.1).

// class says how the two are compared.
type class uint8

const (
	classFree    class = iota // compatible; layouts are up to the instruction
	classNone                 // the op has rules of its own
	classStrict               // the same, element type included
	classMinor                // strict, but of layouts only the order of axes counts
	classInPlace              // strict; inside fusions tiles and memory spaces are free
	classCopy                 // free, but host memory has its own rules
)

var classes = func() (c [hlo.NumOpcodes]class) {
	set := func(k class, ops ...hlo.Opcode) {
		for _, op := range ops {
			c[op] = k
		}
	}
	set(classNone, hlo.OpParameter, hlo.OpIota, hlo.OpRng, hlo.OpRngBitGenerator, hlo.OpRngGetAndUpdateState, hlo.OpBroadcast, hlo.OpReshape,
		hlo.OpDynamicReshape, hlo.OpBitcast, hlo.OpFusion, hlo.OpCustomCall, hlo.OpScan, hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone)
	set(classStrict, hlo.OpCall, hlo.OpConditional, hlo.OpCopyDone, hlo.OpGetTupleElement, hlo.OpOutfeed, hlo.OpOptBarrier, hlo.OpRecvDone,
		hlo.OpSendDone, hlo.OpTuple, hlo.OpWhile)
	set(classMinor, hlo.OpInfeed, hlo.OpConstant, hlo.OpCopyStart, hlo.OpSend, hlo.OpRecv)
	set(classInPlace, hlo.OpDynamicUpdateSlice)
	set(classCopy, hlo.OpCopy)
	return c
}()

// mixes marks the ops whose operands may have floating types of different width in any mode (GEN-05).
var mixes = func() (m [hlo.NumOpcodes]bool) {
	for _, op := range []hlo.Opcode{
		hlo.OpCall, hlo.OpConditional, hlo.OpConstant, hlo.OpConvolution, hlo.OpDot, hlo.OpRaggedDot, hlo.OpScaledDot, hlo.OpAllReduce,
		hlo.OpAllReduceStart, hlo.OpAllReduceDone, hlo.OpAllGather, hlo.OpAllGatherStart, hlo.OpAllGatherDone, hlo.OpAsyncStart,
		hlo.OpAsyncUpdate, hlo.OpAsyncDone, hlo.OpCollectivePermute, hlo.OpCollectivePermuteStart, hlo.OpCollectivePermuteDone,
		hlo.OpCopyStart, hlo.OpCopyDone, hlo.OpCustomCall, hlo.OpDomain, hlo.OpFusion, hlo.OpGetTupleElement, hlo.OpOptBarrier, hlo.OpInfeed,
		hlo.OpOutfeed, hlo.OpParameter, hlo.OpRecv, hlo.OpRecvDone, hlo.OpReducePrecision, hlo.OpReduceWindow, hlo.OpSend, hlo.OpSendDone,
		hlo.OpSort, hlo.OpTuple, hlo.OpWhile,
	} {
		m[op] = true
	}
	return m
}()

// mismatchRules are the rules of ops that have one of their own for a stated shape that is not the inferred one.
var mismatchRules = func() (m [hlo.NumOpcodes]string) {
	for op, rule := range map[hlo.Opcode]string{
		hlo.OpTranspose: "SHP-11", hlo.OpConstant: "CST-02", hlo.OpSetDimensionSize: "DYN-03", hlo.OpDynamicUpdateSlice: "GEN-07",
		hlo.OpCall: "CALL-03", hlo.OpWhile: "WHL-06", hlo.OpConditional: "CND-07", hlo.OpTuple: "TUP-01", hlo.OpOptBarrier: "BAR-01",
		hlo.OpInfeed: "TOK-02", hlo.OpOutfeed: "TOK-04", hlo.OpAddDependency: "TOK-05", hlo.OpAfterAll: "TOK-06", hlo.OpPartitionId: "TOK-06",
		hlo.OpReplicaId: "TOK-06", hlo.OpAllGather: "COLL-06", hlo.OpAllGatherStart: "COLL-06", hlo.OpAllGatherDone: "COLL-07",
		hlo.OpAllReduce: "COLL-08", hlo.OpAllReduceStart: "COLL-08", hlo.OpAllReduceDone: "COLL-09", hlo.OpReduceScatter: "COLL-13",
		hlo.OpAllToAll: "COLL-14", hlo.OpRaggedAllToAll: "COLL-17", hlo.OpCollectiveBroadcast: "COLL-20", hlo.OpCollectivePermute: "CPERM-07",
		hlo.OpCollectivePermuteStart: "CPERM-07", hlo.OpCollectivePermuteDone: "CPERM-07", hlo.OpCopyStart: "PAIR-07", hlo.OpCopyDone: "PAIR-08",
		hlo.OpSend: "PAIR-09", hlo.OpRecv: "PAIR-09", hlo.OpSendDone: "PAIR-10", hlo.OpRecvDone: "PAIR-10", hlo.OpGetDimensionSize: "DYN-01",
		hlo.OpTopk: "RED-18",
	} {
		m[op] = rule
	}
	return m
}()

// compare holds the stated shape of in against the inferred one.
func (r *run) compare(in hlo.Instruction, inferred hlo.Shape) bool {
	op, stated := in.Opcode(), in.Shape()
	k := classes[op]
	if k == classNone {
		return true
	}
	if !r.cfg.MixedPrecision && !mixes[op] && !r.onePrecision(in) {
		return false
	}
	if r.agrees(k, in, stated, inferred) {
		return true
	}
	rule := mismatchRules[op]
	layouts := r.cfg.LayoutSensitive && stated.Compatible(inferred)
	switch {
	case k == classCopy && layouts:
		rule = "GEN-08"
	case k == classCopy && r.cfg.LayoutSensitive && crossesHost(stated, inferred):
		rule = "GEN-08"
	case layouts && (k == classStrict || k == classMinor) && stated.EqualExcept(inferred, hlo.IgnoreLayout):
		rule = "LAY-01"
	case rule == "" || stated.EqualExcept(inferred, hlo.Compatible|hlo.IgnoreFPPrecision) && !stated.Compatible(inferred):
		rule = "GEN-06"
	}
	layouts = layouts || rule == "GEN-08"
	also := ""
	if op == hlo.OpDynamicUpdateSlice && stated.IsBuffer() != inferred.IsBuffer() {
		also = ": DynamicUpdateSlice result must be a buffer exactly if operand 0 is one"
	}
	r.report(in, rule, "Expected instruction to have shape equal to %s, actual shape is %s%s", shapeText(inferred, layouts), shapeText(stated, layouts), also)
	return false
}

func shapeText(s hlo.Shape, layout bool) string { return string(s.AppendText(nil, layout)) }

func (r *run) agrees(k class, in hlo.Instruction, stated, inferred hlo.Shape) bool {
	strict := r.cfg.LayoutSensitive
	switch k {
	case classStrict:
		return r.same(stated, inferred, 0)
	case classMinor:
		return r.same(stated, inferred, hlo.MinorToMajorOnly)
	case classInPlace:
		if r.isFused(in.Computation().ID()) {
			return r.same(stated, inferred, hlo.IgnoreMemorySpace|hlo.IgnoreTiles)
		}
		return r.same(stated, inferred, 0)
	case classCopy:
		if strict && crossesHost(stated, inferred) {
			if inHost(stated) {
				return stated.Type() == inferred.Type()
			}
			return stated.EqualExcept(inferred, hlo.IgnoreMemorySpace)
		}
	}
	e := hlo.Compatible
	if r.cfg.MixedPrecision {
		e |= hlo.IgnoreFPPrecision
	}
	return stated.EqualExcept(inferred, hlo.ShapeEq(e))
}

// hostMemory is the memory space of the host.
const hostMemory = 5

func inHost(s hlo.Shape) bool { return memorySpace(s) == hostMemory }

func memorySpace(s hlo.Shape) int64 {
	if l, ok := s.Layout(); ok {
		return l.MemorySpace
	}
	return 0
}

func crossesHost(a, b hlo.Shape) bool { return a.IsArray() && b.IsArray() && inHost(a) != inHost(b) }

// same is the relation of two shapes that must be the same under the configuration.
func (r *run) same(a, b hlo.Shape, e hlo.ShapeEq) bool {
	if r.cfg.LayoutSensitive {
		return a.EqualExcept(b, e)
	}
	return a.EqualExcept(b, e|hlo.Compatible)
}

// onePrecision checks that all floating operands have one type (GEN-05).
func (r *run) onePrecision(in hlo.Instruction) bool {
	seen := hlo.InvalidType
	for i := range in.NumOperands() {
		s := in.OperandInstr(i).Shape()
		if s.IsArray() {
			if t := s.Type(); t.IsFloat() && t != seen {
				if seen != hlo.InvalidType {
					return r.mixed(in, seen, t)
				}
				seen = t
			}
			continue
		}
		ok := true
		s.Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
			if t := leaf.Type(); t.IsFloat() && t != seen {
				if seen != hlo.InvalidType {
					ok = r.mixed(in, seen, t)
					return false
				}
				seen = t
			}
			return true
		})
		if !ok {
			return false
		}
	}
	return true
}

func (r *run) mixed(in hlo.Instruction, a, b hlo.PrimitiveType) bool {
	r.report(in, "GEN-05", "Seen floating point types of different precisions in %%%s: %v and %v, but mixed precision is disallowed", in.Name(), a, b)
	return false
}
