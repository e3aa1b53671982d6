package parser

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// check completes and checks a draft whose operands, attributes and callees have been read: it gives the shapes that XLA computes
// whatever was written (hlo-text section 5.5), and refuses what XLA's parser refuses (section 5.8). The rest is the verifier's.
type check func(*parser, *scope, *draft)

// checks is indexed by opcode.
var checks [hlo.NumOpcodes]check

func init() {
	for op, c := range map[hlo.Opcode]check{
		hlo.OpSend:                   checkSend,
		hlo.OpSendDone:               checkSendDone,
		hlo.OpRecv:                   checkRecv,
		hlo.OpRecvDone:               checkRecvDone,
		hlo.OpInfeed:                 checkInfeed,
		hlo.OpOutfeed:                checkOutfeed,
		hlo.OpAfterAll:               shapeIsToken,
		hlo.OpAddDependency:          shapeOfOperand0,
		hlo.OpTuple:                  checkTuple,
		hlo.OpGetTupleElement:        checkTupleElement,
		hlo.OpReshape:                checkReshape,
		hlo.OpDynamicReshape:         checkDynamicReshape,
		hlo.OpDynamicSlice:           checkDynamicSlice,
		hlo.OpDynamicUpdateSlice:     checkDynamicUpdateSlice,
		hlo.OpReduce:                 checkReduce,
		hlo.OpReduceWindow:           checkReduceWindow,
		hlo.OpScatter:                checkScatter,
		hlo.OpScan:                   checkScan,
		hlo.OpConditional:            checkConditional,
		hlo.OpConvolution:            checkConvolution,
		hlo.OpBroadcast:              checkBroadcast,
		hlo.OpMap:                    checkMap,
		hlo.OpCompare:                checkCompare,
		hlo.OpCollectivePermute:      checkPermute,
		hlo.OpCollectivePermuteStart: checkPermute,
		hlo.OpAllReduce:              checkGlobalIDs,
		hlo.OpAllReduceStart:         checkGlobalIDs,
		hlo.OpReduceScatter:          checkGlobalIDs,
		hlo.OpCustomCall:             checkCustomCall,
	} {
		checks[op] = c
	}
}

// operand is the shape of operand i.
func (d *draft) operandShape(f *scope, i int) hlo.Shape { return f.b.Shape(d.spec.Operands[i]) }

// setShape gives an instruction the one shape that it can have. A written shape that differs is replaced as XLA does; so many programs
// write send-done with the shape of its data that it is not worth a word there.
func (p *parser) setShape(d *draft, s hlo.Shape) {
	if d.spec.Shape.IsValid() && d.spec.Shape.Equal(s) {
		return
	}
	if p.Warn != nil && d.stated && d.spec.Opcode != hlo.OpSendDone && !d.spec.Shape.Compatible(s) {
		p.warnRule("HALO-REPLACED", d.at, fmt.Sprintf("the shape of %v can only be %v; %v is not looked at", d.spec.Opcode, s, d.spec.Shape))
	}
	d.spec.Shape = p.internShape(s)
}

var u32Scalar = hlo.MakeArray(hlo.U32, nil, nil, hlo.DefaultLayout(0))

func checkSend(p *parser, f *scope, d *draft) {
	p.setShape(d, hlo.MakeTuple(d.operandShape(f, 0), u32Scalar, hlo.MakeToken()))
}

func shapeIsToken(p *parser, _ *scope, d *draft) { p.setShape(d, hlo.MakeToken()) }

func shapeOfOperand0(p *parser, f *scope, d *draft) { p.setShape(d, d.operandShape(f, 0)) }

func checkSendDone(p *parser, f *scope, d *draft) {
	p.checkChannel(f, d)
	p.setShape(d, hlo.MakeToken())
}

// checkChannel compares channel_id with that of the operand, when it is the op that begins the transfer.
func (p *parser) checkChannel(f *scope, d *draft) {
	id := d.spec.Operands[0]
	if f.b.Opcode(id) != hlo.Info(d.spec.Opcode).Pair.Start {
		return
	}
	a, _ := d.spec.Attrs.(*hlo.SendRecvAttrs)
	b, _ := f.b.Attrs(id).(*hlo.SendRecvAttrs)
	if a != nil && b != nil && a.ChannelID != b.ChannelID {
		p.failRule("CHAN-02", d.openAt, "channel_id of %v differs from that of its operand %s", d.spec.Opcode, f.b.Name(id))
	}
}

func checkRecv(p *parser, _ *scope, d *draft) {
	if !d.spec.Shape.IsTuple() || d.spec.Shape.NumElems() == 0 {
		p.failAt(d.at, "recv must have a non-empty tuple shape")
	}
	p.setShape(d, hlo.MakeTuple(d.spec.Shape.Elem(0), u32Scalar, hlo.MakeToken()))
}

func checkRecvDone(p *parser, f *scope, d *draft) {
	s := d.operandShape(f, 0)
	if !s.IsTuple() || s.NumElems() == 0 {
		p.failAt(d.openAt, "the operand of recv-done must be a non-empty tuple, but has shape %v", s)
	}
	p.checkChannel(f, d)
	p.setShape(d, hlo.MakeTuple(s.Elem(0), hlo.MakeToken()))
}

func checkInfeed(p *parser, _ *scope, d *draft) {
	if !d.spec.Shape.IsTuple() || d.spec.Shape.NumElems() == 0 {
		p.failAt(d.at, "infeed must have a non-empty tuple shape")
	}
	p.setShape(d, hlo.MakeTuple(d.spec.Shape.Elem(0), hlo.MakeToken()))
}

func checkOutfeed(p *parser, f *scope, d *draft) {
	if a := d.spec.Attrs.(*hlo.OutfeedAttrs); !a.Shape.IsValid() {
		b := *a
		b.Shape = d.operandShape(f, 0)
		d.spec.Attrs = &b
	}
	p.setShape(d, hlo.MakeToken())
}

func checkTuple(p *parser, _ *scope, d *draft) {
	if s := d.spec.Shape; !s.IsTuple() {
		p.failAt(d.at, "a tuple must have a tuple shape, but has %v", s)
	} else if n := len(d.spec.Operands); n != s.NumElems() {
		p.failAt(d.openAt, "expects %d operands, but has %d operands", s.NumElems(), n)
	}
}

func checkTupleElement(p *parser, f *scope, d *draft) {
	s := d.operandShape(f, 0)
	i := d.spec.Attrs.(*hlo.TupleElementAttrs).Index
	if !d.stated && (!s.IsTuple() || i < 0 || i >= int64(s.NumElems())) {
		p.failAt(d.openAt, "get-tuple-element has no element %d of shape %v", i, s)
	}
	if origin := elementOrigin(f, d.spec.Operands[0], i); origin != nil && (d.spec.Common == nil || d.spec.Common.Origin == nil) {
		var c hlo.Common // what the draft has may be shared
		if d.spec.Common != nil {
			c = *d.spec.Common
		}
		c.Origin = origin
		d.spec.Common = &c
	}
}

// elementOrigin is the origin that an element of a value takes over unless it has its own: where a tuple instruction made the value, that
// of the instruction which the element is.
func elementOrigin(f *scope, tuple hlo.InstrID, i int64) *hlo.Origin {
	if f.b.Opcode(tuple) != hlo.OpTuple {
		return nil
	}
	if elems := f.b.Operands(tuple); i >= 0 && i < int64(len(elems)) {
		if c := f.b.Common(elems[i]); c != nil {
			return c.Origin
		}
	}
	return nil
}

// distinct drops repeated ids; those left keep their order.
func distinct(ids []hlo.InstrID) []hlo.InstrID {
	if len(ids) <= 16 {
		kept := ids[:0]
		for _, id := range ids {
			if !slices.Contains(kept, id) {
				kept = append(kept, id)
			}
		}
		return kept
	}
	seen := make(map[hlo.InstrID]bool, len(ids))
	return slices.DeleteFunc(ids, func(id hlo.InstrID) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// sameCount checks that two arrays have as many elements, unless an unbounded dimension leaves that open.
func (p *parser) sameCount(d *draft, rule string, operand hlo.Shape) {
	s := d.spec.Shape
	if operand.HasUnbounded() {
		return
	}
	if !s.IsArray() || !operand.IsArray() || s.NumElements() != operand.NumElements() {
		p.failRule(rule, d.at, "expects the same number of elements in result shape %s and operand shape %s", s.AppendText(nil, false), operand.AppendText(nil, false))
	}
}

func checkReshape(p *parser, f *scope, d *draft) { p.sameCount(d, "SHP-07", d.operandShape(f, 0)) }

func checkDynamicReshape(p *parser, f *scope, d *draft) {
	if len(d.spec.Operands) == 0 {
		p.failAt(d.openAt, "DynamicReshape requires at least one operand.")
	}
	p.sameCount(d, "SHP-08", d.operandShape(f, 0))
	if len(d.spec.Operands)-1 != d.spec.Shape.Rank() {
		p.failRule("SHP-08", d.openAt, "expects one dim size operand per result dimension; got %d for %d result dimensions", len(d.spec.Operands)-1, d.spec.Shape.Rank())
	}
}

// checkIndices checks the index operands from first on: one vector, or a scalar for each dimension of operand 0.
func (p *parser) checkIndices(f *scope, d *draft, rule string, first int) {
	n := len(d.spec.Operands)
	if n < first {
		p.failRule(rule, d.openAt, "Wrong number of operands.")
	}
	if n == first+1 && d.operandShape(f, first).Rank() == 1 {
		return
	}
	s := d.operandShape(f, 0)
	if s.IsBuffer() {
		s = s.Elem(0)
	}
	if n != first+s.Rank() {
		p.failRule(rule, d.openAt, "Wrong number of operands.")
	}
}

func checkDynamicSlice(p *parser, f *scope, d *draft) { p.checkIndices(f, d, "SHP-17", 1) }

func checkDynamicUpdateSlice(p *parser, f *scope, d *draft) { p.checkIndices(f, d, "SHP-18", 2) }

func checkReduce(p *parser, _ *scope, d *draft) {
	if len(d.spec.Operands)%2 != 0 {
		p.failRule("RED-01", d.openAt, "expects an even number of operands, but has %d operands", len(d.spec.Operands))
	}
}

func checkReduceWindow(p *parser, f *scope, d *draft) {
	checkReduce(p, f, d)
	if len(d.spec.Operands) == 0 {
		p.failAt(d.openAt, "expects at least 2 operands, but has 0 operands")
	}
}

func checkScatter(p *parser, _ *scope, d *draft) {
	if len(d.spec.Operands)%2 == 0 {
		p.failRule("SHP-20", d.openAt, "expects an odd number of operands, but has %d operands", len(d.spec.Operands))
	}
}

func checkScan(p *parser, _ *scope, d *draft) {
	n := len(d.spec.Operands)
	if want := p.ed.View(d.callees[0]).NumParameters(); n != want {
		p.failRule("RED-19", d.openAt, "expects %d operands, but has %d operands", want, n)
	}
	if carries := d.spec.Attrs.(*hlo.ScanAttrs).NumCarries; carries < 0 || carries > int64(n) {
		p.failAt(d.openAt, "num_carries is %d, but there are %d operands", carries, n)
	}
}

// checkConditional demands the two named branches of a pred, or the list of an s32.
func checkConditional(p *parser, f *scope, d *draft) {
	if len(d.spec.Operands) == 0 {
		p.failAt(d.openAt, "conditional requires at least one operand")
	}
	s := d.operandShape(f, 0)
	if !s.IsScalar() {
		p.failRule("CND-01", d.openAt, "The first operand must be a scalar, but has shape %v", s)
	}
	const listed, named = 1, 2 // bits of how the branches are spelled
	var want uint32
	switch s.Type() {
	case hlo.PRED:
		want = named
	case hlo.S32:
		want = listed
	default:
		p.failRule("CND-03", d.openAt, "The first operand must be a scalar of PRED or S32, but has shape %v", s)
	}
	switch listing := d.spelled&1 != 0; {
	case want == named && listing:
		p.failRule("CND-02", d.attrsAt, "unexpected attribute \"branch_computations\": the branches of a pred are true_computation and false_computation")
	case want == listed && !listing && d.spelled != 0:
		p.failAt(d.attrsAt, "unexpected attribute \"true_computation\": the branches of an s32 are branch_computations")
	}
	for i, key := range []string{"true_computation", "false_computation"} {
		if want == named && (len(d.callees) <= i || d.callees[i] == hlo.NoComp) {
			p.mustHave(d, key)
		}
	}
	if want == listed && len(d.callees) == 0 {
		p.mustHave(d, "branch_computations")
	}
	if len(d.spec.Operands)-1 != len(d.callees) {
		p.failRule("CND-04", d.openAt, "expects one operand for each of %d branches besides the first, but has %d operands", len(d.callees), len(d.spec.Operands))
	}
}

func checkConvolution(p *parser, _ *scope, d *draft) {
	if n := len(d.spec.Operands); n < 2 {
		p.failAt(d.openAt, "expects at least 2 operands, but has %d operands", n)
	}
}

func checkBroadcast(p *parser, f *scope, d *draft) {
	// The wrapped op of a sugared start has its attributes already read.
	a, _ := d.spec.Attrs.(*hlo.BroadcastAttrs)
	if d.seenOwn == 0 && (a == nil || len(a.Dimensions) == 0) && !d.operandShape(f, 0).IsScalar() {
		p.mustHave(d, "dimensions")
	}
}

// checkMap fills in the dimensions, which are always all of them.
func checkMap(_ *parser, _ *scope, d *draft) {
	a := d.spec.Attrs.(*hlo.MapAttrs)
	if rank := d.spec.Shape.Rank(); len(a.Dimensions) != rank {
		all := make([]int64, rank)
		for i := range all {
			all[i] = int64(i)
		}
		d.spec.Attrs = &hlo.MapAttrs{Dimensions: all}
	}
}

// checkCompare turns an order into a type, and drops a type that is the operand's own.
func checkCompare(p *parser, f *scope, d *draft) {
	a := *d.spec.Attrs.(*hlo.CompareAttrs)
	own := hlo.DefaultCompareType(d.operandShape(f, 0).Type())
	switch {
	case a.Order == hlo.OrderUnset:
	case a.Type != hlo.CompareDefault:
		p.failAt(d.attrsAt, "type and order exclude each other")
	case a.Order == hlo.OrderPartial:
		a.Type = hlo.CompareFloat
	case own == hlo.CompareFloat:
		a.Type = hlo.CompareTotalOrder
	}
	a.Order = hlo.OrderUnset
	if a.Type == own {
		a.Type = hlo.CompareDefault
	}
	if old := d.spec.Attrs.(*hlo.CompareAttrs); a != *old {
		d.spec.Attrs = &a
	}
}

func checkPermute(p *parser, _ *scope, d *draft) {
	a := d.spec.Attrs.(*hlo.CollectivePermuteAttrs)
	for _, pair := range a.SourceTargetPairs {
		if len(pair) != 2 {
			p.failAt(d.attrsAt, "expects 'source_target_pairs=' to be a list of pairs")
		}
	}
	if len(a.SliceSizes) > 0 && len(d.spec.Operands) != 4 {
		p.failRule("CPERM-05", d.openAt, "%v with slice_sizes must have exactly four operands, but has %d", d.spec.Opcode, len(d.spec.Operands))
	}
}

func checkGlobalIDs(p *parser, _ *scope, d *draft) {
	bad := false
	switch a := d.spec.Attrs.(type) {
	case *hlo.AllReduceAttrs:
		bad = a.UseGlobalDeviceIDs && !a.ChannelID.Set && a.Mode == hlo.ModeUnset
	case *hlo.ReduceScatterAttrs:
		bad = a.UseGlobalDeviceIDs && !a.ChannelID.Set && a.Mode == hlo.ModeUnset
	}
	if bad {
		p.failRule("COLL-01", d.attrsAt, "Cannot have use_global_device_ids=true without channel_id")
	}
}

func checkCustomCall(p *parser, f *scope, d *draft) {
	a := d.spec.Attrs.(*hlo.CustomCallAttrs)
	if a.OperandLayouts == nil {
		return
	}
	shapes := a.OperandLayouts.Shapes
	if len(shapes) != len(d.spec.Operands) {
		p.failRule("CC-01", d.attrsAt, "Expected %d operand layout constraints, %d given", len(d.spec.Operands), len(shapes))
	}
	for i, s := range shapes {
		if !s.HasLayout() && !isToken(s) {
			p.failRule("CC-01", d.attrsAt, "operand layout constraint %d %v does not have a layout", i, s)
		}
		if o := d.operandShape(f, i); !s.Compatible(o) {
			p.failRule("CC-01", d.attrsAt, "operand layout constraint %d %v is not compatible with operand shape %v", i, s, o)
		}
	}
	if s := d.spec.Shape; !s.HasLayout() && !isToken(s) {
		p.failAt(d.attrsAt, "Layout must be set on layout-constrained custom call")
	}
}

// isToken reports whether s has nothing that a layout could be of.
func isToken(s hlo.Shape) bool { return s.IsToken() || s.IsOpaque() }
