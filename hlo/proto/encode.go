package proto

import "github.com/gohalo/halo/hlo"

// Encode writes the module as an HloModuleProto.
func Encode(m hlo.Module) []byte {
	return newEncoder(m).module()
}

// encoder writes one module: everything once, where it belongs. Parts that instructions have in common are written once and copied.
type encoder struct {
	m         hlo.Module
	program   bool       // see Program.Encode
	filled    hlo.Module // m with data in the place of elided constants; zero when there are none, or too many
	shapes    map[hlo.Shape]rawMsg
	metadata  map[*hlo.Metadata]rawMsg
	shardings map[*hlo.Sharding]rawMsg
	own       map[hlo.OpAttrs]rawMsg
	arena     []byte // where the messages of the maps lie

	// Room used again for every computation or instruction.
	in        instructionMsg
	extra     instructionExtra
	common    commonMsg
	attrs     ownMsg
	comp      computationMsg
	signature programShapeMsg
	scratch   []byte
	ranks     []uint32
}

func newEncoder(m hlo.Module) *encoder {
	return &encoder{
		m: m, shapes: make(map[hlo.Shape]rawMsg), metadata: make(map[*hlo.Metadata]rawMsg), shardings: make(map[*hlo.Sharding]rawMsg),
		own: make(map[hlo.OpAttrs]rawMsg),
	}
}

// keep encodes a message that others will hold.
func keep[T any](e *encoder, msg *T) rawMsg {
	const piece = 1 << 16
	if cap(e.arena)-len(e.arena) < 1<<10 {
		e.arena = make([]byte, 0, min(max(1<<12, 2*cap(e.arena)), piece))
	}
	start := len(e.arena)
	e.arena = marshal(e.arena, msg)
	raw := e.arena[start:len(e.arena):len(e.arena)]
	if cap(e.arena) > piece { // the message did not fit, and takes the rest with it
		e.arena = nil
	}
	return raw
}

// shape encodes a shape.
func (e *encoder) shape(s hlo.Shape) rawMsg {
	raw, ok := e.shapes[s]
	if !ok {
		raw = keep(e, e.shapeMsg(s))
		e.shapes[s] = raw
	}
	return raw
}

func (e *encoder) shapeMsg(s hlo.Shape) *shapeMsg {
	m := &shapeMsg{Type: int32(s.Type())}
	for i := range s.NumElems() {
		m.Tuple = append(m.Tuple, e.shape(s.Elem(i)))
	}
	if !s.IsArray() {
		return m
	}
	m.Dimensions = s.Dimensions()
	if !e.program || !s.IsStatic() {
		m.Dynamic = make([]bool, s.Rank())
	}
	for i := range m.Dynamic {
		m.Dynamic[i] = s.IsDynamicDimension(i)
	}
	if l, ok := s.Layout(); ok {
		m.Layout = encodeLayout(l)
		if e.program && m.Layout.TailPadding == 1 { // none
			m.Layout.TailPadding = 0
		}
	}
	return m
}

// metadataOf encodes the metadata of an instruction.
func (e *encoder) metadataOf(m *hlo.Metadata) rawMsg {
	raw, ok := e.metadata[m]
	if !ok {
		raw = keep(e, encodeMetadata(m))
		e.metadata[m] = raw
	}
	return raw
}

// order is the module's own where callees come before their callers, as readers want it.
func (e *encoder) order() func(yield func(hlo.Computation) bool) {
	seen := make([]bool, e.m.CompIDLimit())
	for c := range e.m.Computations() {
		for in := range c.Instructions() {
			for i := range in.NumCallees() {
				if !seen[in.Callee(i)] {
					return e.m.PostOrder()
				}
			}
		}
		seen[c.ID()] = true
	}
	return e.m.Computations()
}

// module is the message, a moduleMsg.
func (e *encoder) module() []byte {
	b := make([]byte, 0, e.survey())
	m := e.m
	msg := &moduleMsg{Name: m.Name()}
	entry := m.Entry()
	if !entry.IsZero() && !e.program {
		msg.EntryName = entry.Name()
	}
	b = marshal(b, msg)
	for c := range e.order() {
		var start int
		b, start = openMessage(b, moduleComputations)
		b = closeMessage(e.computation(b, c), start)
	}
	b = marshal(b, e.header(entry))
	if !e.program {
		b = append(b, m.Config().Foreign...)
	}
	return b
}

// computation appends instructions after their operands and control predecessors. Their ids say the program order, which readers restore.
func (e *encoder) computation(b []byte, c hlo.Computation) []byte {
	number := e.programIDs(c)
	msg := &e.comp
	*msg = computationMsg{Name: c.Name(), ID: int64(c.ID())}
	if !e.program {
		e.scratch = marshal(e.scratch[:0], e.programShape(c, nil))
		msg.ProgramShape = e.scratch
	}
	if t := c.ExecutionThread(); t != hlo.MainThread {
		msg.ExecutionThread = t
	}
	for comp, id := range e.m.Callers(c.ID()) {
		msg.IsFusion = msg.IsFusion || e.m.MustComputation(comp).MustAt(id).Opcode() == hlo.OpFusion
	}
	if root := c.Root(); !root.IsZero() {
		msg.RootID = number.of(root.ID())
	}
	b = marshal(b, msg)
	for in := range c.PostOrder() {
		var start int
		b, start = openMessage(b, computationInstructions)
		b = closeMessage(e.instruction(b, in, number), start)
	}
	return b
}

// instruction appends an instruction, its attributes last.
func (e *encoder) instruction(b []byte, in hlo.Instruction, number programIDs) []byte {
	msg := &e.in
	*msg = instructionMsg{
		Name: in.Name(), Opcode: in.Opcode().String(), ID: number.of(in.ID()), Shape: e.shape(in.Shape()),
		OperandIDs: msg.OperandIDs[:0], ControlIDs: msg.ControlIDs[:0], CalledIDs: msg.CalledIDs[:0],
	}
	e.extra = instructionExtra{CalledIDs: e.extra.CalledIDs[:0]}
	for i := range in.NumOperands() {
		msg.OperandIDs = append(msg.OperandIDs, number.of(in.Operand(i)))
	}
	if in.NumControlPredecessors() > 0 {
		for id := range in.ControlPredecessors() {
			msg.ControlIDs = append(msg.ControlIDs, number.of(id))
		}
	}
	if in.NumCallees() > 0 || in.Opcode() == hlo.OpAsyncUpdate {
		e.callees(in)
	}
	common := e.commonOf(in)
	if common != nil && common.Metadata != nil {
		msg.Metadata = e.metadataOf(common.Metadata)
	}
	b = instructions.marshal(b, msg)
	if p := in.Position(); p.IsKnown() && !e.program || len(e.extra.CalledIDs) > 0 {
		e.extra.Line, e.extra.Column = int64(p.Line), int64(p.Col)
		var start int
		b, start = openMessage(b, instructionExtras)
		b = closeMessage(extras.marshal(b, &e.extra), start)
	}
	if attrs := in.Attrs(); attrs != nil {
		b = e.ownAttributes(b, in, attrs)
	}
	if common != nil {
		e.encodeCommon(&e.common, common, in.Shape())
		b = commons.marshal(b, &e.common)
	}
	return b
}

// commonOf is the attributes that any instruction may have, of which a program needs few.
func (e *encoder) commonOf(in hlo.Instruction) *hlo.Common {
	c := in.Common()
	if c == nil || !e.program {
		return c
	}
	kept := hlo.Common{Sharding: c.Sharding, ParameterReplication: c.ParameterReplication, ResultAccuracy: c.ResultAccuracy}
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitTokens) {
		kept.FrontendAttributes = c.FrontendAttributes // sends and recvs keep there who talks to whom
	}
	if in.Opcode() == hlo.OpCustomCall {
		kept.BackendConfig, kept.FrontendAttributes = c.BackendConfig, c.FrontendAttributes
	}
	if in.Opcode() == hlo.OpParameter && in.Computation().ID() == e.m.Entry().ID() {
		kept.Metadata, kept.FrontendAttributes = c.Metadata, c.FrontendAttributes
	}
	return &kept
}

// callees lists the computations that in calls.
func (e *encoder) callees(in hlo.Instruction) {
	called := &e.in.CalledIDs
	if in.Opcode() == hlo.OpAsyncDone {
		called = &e.extra.CalledIDs // XLA has none on a done, and would look for a start among its operands
	}
	for i := range in.NumCallees() {
		*called = append(*called, int64(in.Callee(i)))
	}
	if in.Opcode() == hlo.OpAsyncUpdate && in.NumCallees() == 0 {
		// XLA has the computation on every update.
		if c, ok := hlo.AsyncCallee(e.m, in); ok {
			*called = append(*called, int64(c.ID()))
		}
	}
}

// ownAttributes appends the attributes of the opcode.
func (e *encoder) ownAttributes(b []byte, in hlo.Instruction, attrs hlo.OpAttrs) []byte {
	if l := in.Literal(); l != nil { // may be large
		var filled *hlo.Literal
		if l.IsElided() && !e.filled.IsZero() {
			filled = e.filled.MustComputation(in.Computation().ID()).MustAt(in.ID()).Literal()
		}
		b, start := openMessage(b, ownLiteral)
		return closeMessage(marshal(b, e.literal(l, filled)), start)
	}
	raw, ok := e.own[attrs]
	if !ok {
		e.attrs = ownMsg{}
		e.encodeOwn(&e.attrs, attrs)
		raw = keep(e, &e.attrs)
		e.own[attrs] = raw
	}
	return append(b, raw...)
}

// programIDs are the ids that the instructions of a computation have in a message: they ascend in program order. They are unique in the
// module, the computation being in the upper half.
type programIDs struct {
	comp  hlo.CompID
	ranks []uint32 // by InstrID
}

// programIDs numbers the instructions of a computation, until it numbers those of another.
func (e *encoder) programIDs(c hlo.Computation) programIDs {
	e.ranks = append(e.ranks[:0], make([]uint32, c.IDLimit())...)
	n := uint32(0)
	for in := range c.Instructions() {
		e.ranks[in.ID()] = n
		n++
	}
	return programIDs{c.ID(), e.ranks}
}

func (p programIDs) of(id hlo.InstrID) int64 { return int64(p.comp)<<32 | int64(p.ranks[id]) }
