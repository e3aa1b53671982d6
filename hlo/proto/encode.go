package proto

import (
	"github.com/gohalo/halo/hlo"
)

// encoder writes one module.
type encoder struct {
	m      hlo.Module
	filled hlo.Module // m with data in the place of elided constants; zero when there are none, or too many

	shapes   map[hlo.Shape]rawMsg // written before
	metadata map[*hlo.Metadata]rawMsg
	in       instructionMsg // of the instruction at hand
	extra    instructionExtra
	arena    []byte // where messages of instructions are put
}

// raw encodes a message that others will hold.
func (e *encoder) raw(msg any) rawMsg {
	if cap(e.arena)-len(e.arena) < 1<<10 {
		e.arena = make([]byte, 0, min(max(1<<12, 2*cap(e.arena)), 1<<18))
	}
	start := len(e.arena)
	e.arena = marshal(e.arena, msg)
	return e.arena[start:len(e.arena):len(e.arena)]
}

// shape encodes a shape. Most shapes of a module are those of other instructions, too.
func (e *encoder) shape(s hlo.Shape) rawMsg {
	raw, ok := e.shapes[s]
	if !ok {
		raw = e.raw(encodeShape(s))
		e.shapes[s] = raw
	}
	return raw
}

// metadataOf encodes metadata, which instructions share as well.
func (e *encoder) metadataOf(m *hlo.Metadata) rawMsg {
	raw, ok := e.metadata[m]
	if !ok {
		raw = e.raw(encodeMetadata(m))
		e.metadata[m] = raw
	}
	return raw
}

// maxFiller is the greatest number of bytes that are made up for the elided constants of a module.
const maxFiller = 64 << 20

// fillElided makes data for elided constants, since XLA reads no constant without. A mark says that the data is made up.
func (e *encoder) fillElided() {
	size := int64(0)
	for c := range e.m.Computations() {
		for in := range c.Instructions() {
			if l := in.Literal(); l != nil && l.IsElided() {
				if n := l.Shape().ByteSize(); n < maxFiller-size {
					size += n
				} else {
					return
				}
			}
		}
	}
	if size > 0 {
		e.filled = hlo.FillElided(e.m)
	}
}

// Ids of instructions in a message are unique in the module: that of the computation in the upper half.
func instructionID(c hlo.CompID, id hlo.InstrID) int64 { return int64(c)<<32 | int64(id) }

func encodeModule(m hlo.Module) *moduleMsg {
	e := &encoder{m: m, shapes: make(map[hlo.Shape]rawMsg), metadata: make(map[*hlo.Metadata]rawMsg)}
	e.fillElided()
	c := m.Config()
	msg := &moduleMsg{Name: m.Name(), Frontend: encodeFrontend(c.FrontendAttributes)}
	for comp := range e.order() {
		msg.Computations = append(msg.Computations, e.raw(e.computation(comp)))
	}
	if entry := m.Entry(); !entry.IsZero() {
		msg.EntryName, msg.EntryID = entry.Name(), int64(entry.ID())
		msg.HostProgramShape = e.programShape(entry, c.EntryLayout)
		if c.EntryLayout == nil {
			msg.extra().NoEntryLayout = true
		}
	}
	e.schedule(msg, c.IsScheduled)
	if len(c.InputOutputAlias) > 0 {
		msg.Alias = new(aliasMsg)
		for _, a := range c.InputOutputAlias {
			kind := int32(1)
			if a.Must {
				kind = 2
			}
			msg.Alias.Entries = append(msg.Alias.Entries, &aliasEntry{a.Output, a.Parameter, a.ParameterIndex, kind})
		}
	}
	if len(c.BufferDonors) > 0 {
		msg.Donor = new(donorMsg)
		for _, d := range c.BufferDonors {
			msg.Donor.Entries = append(msg.Donor.Entries, &donorEntry{d.Parameter, d.Index})
		}
	}
	msg.StackFrames = encodeStackFrames(c.StackFrames)
	if len(c.OriginRecovery) > 0 {
		msg.Recovery = new(recoveryMsg)
		for _, r := range c.OriginRecovery {
			entry := &recoveryEntry{Lost: encodeOriginArray(&r.Lost), Kept: encodeOriginArray(&r.Kept)}
			if r.Module != nil {
				entry.Module = encodeModule(*r.Module)
			} else {
				entry.Text = r.Text
			}
			msg.Recovery.Entries = append(msg.Recovery.Entries, entry)
		}
	}
	for _, a := range c.DebugAttributes {
		d := &debugMsg{Array: encodeOriginArray(&a.Array)}
		for _, x := range a.Entries {
			d.Entries = append(d.Entries, &debugEntryMsg{LogMode: int32(x.LogMode), CallbackID: x.CallbackID, OpID: x.OpID, Partitioned: x.Partitioned})
		}
		msg.Debug = append(msg.Debug, d)
	}
	if c.ReplicaCount != 0 || c.NumPartitions != 0 || c.AliasPassthrough || c.UseSPMD || len(c.AllowSPMDToParameters)+len(c.AllowSPMDToOutput) > 0 {
		x := msg.extra()
		x.ReplicaCount, x.NumPartitions, x.AliasPassthrough, x.UseSPMD = c.ReplicaCount, c.NumPartitions, c.AliasPassthrough, c.UseSPMD
		x.SPMDToParameters, x.SPMDToOutput = c.AllowSPMDToParameters, c.AllowSPMDToOutput
	}
	return msg
}

func (m *moduleMsg) extra() *moduleExtraMsg {
	if m.Extra == nil {
		m.Extra = new(moduleExtraMsg)
	}
	return m.Extra
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

func (e *encoder) programShape(c hlo.Computation, layout *hlo.ProgramShape) *programShapeMsg {
	s := c.Signature()
	if layout != nil {
		s = *layout
	}
	var names []string
	for i := range c.NumParameters() {
		names = append(names, c.Parameter(i).Name())
	}
	return encodeProgramShape(s, names)
}

// computation writes instructions after their operands and control predecessors. Their ids say the program order, which readers restore.
func (e *encoder) computation(c hlo.Computation) *computationMsg {
	msg := &computationMsg{Name: c.Name(), ID: int64(c.ID()), ProgramShape: e.programShape(c, nil)}
	if t := c.ExecutionThread(); t != hlo.MainThread {
		msg.ExecutionThread = t
	}
	for comp, id := range e.m.Callers(c.ID()) {
		msg.IsFusion = msg.IsFusion || e.m.MustComputation(comp).MustAt(id).Opcode() == hlo.OpFusion
	}
	number := programIDs(c)
	for in := range c.PostOrder() {
		msg.Instructions = append(msg.Instructions, e.raw(e.instruction(in, number)))
	}
	if root := c.Root(); !root.IsZero() {
		msg.RootID = number(root.ID())
	}
	return msg
}

// programIDs maps instructions to ids that ascend in program order.
func programIDs(c hlo.Computation) func(hlo.InstrID) int64 {
	at := make([]uint32, c.IDLimit())
	n := uint32(0)
	for in := range c.Instructions() {
		at[in.ID()] = n
		n++
	}
	return func(id hlo.InstrID) int64 { return instructionID(c.ID(), hlo.InstrID(at[id])) }
}

func (e *encoder) schedule(msg *moduleMsg, scheduled bool) {
	if scheduled {
		msg.Schedule = new(scheduleMsg)
	}
	for c := range e.m.Computations() {
		if !c.IsScheduled() {
			continue
		}
		if msg.Schedule == nil {
			msg.Schedule = new(scheduleMsg)
		}
		number := programIDs(c)
		s := new(sequenceMsg)
		for in := range c.Instructions() {
			s.IDs = append(s.IDs, number(in.ID()))
		}
		msg.Schedule.Sequences = append(msg.Schedule.Sequences, &sequenceEntry{int64(c.ID()), s})
	}
}

func encodeStackFrames(f *hlo.StackFrames) *stackFramesMsg {
	if f == nil {
		return nil
	}
	m := &stackFramesMsg{FileNames: f.FileNames, FunctionNames: f.FunctionNames}
	for _, l := range f.Locations {
		m.Locations = append(m.Locations, &fileLocationMsg{l.FileNameID, l.FunctionNameID, l.Line, l.Column, l.EndLine, l.EndColumn})
	}
	for _, s := range f.Frames {
		m.Frames = append(m.Frames, &stackFrameMsg{s.FileLocationID, s.ParentFrameID})
	}
	return m
}

// instruction makes the message of in; the next one is made in the same place.
func (e *encoder) instruction(in hlo.Instruction, number func(hlo.InstrID) int64) *instructionMsg {
	msg := &e.in
	*msg = instructionMsg{
		Name: in.Name(), Opcode: in.Opcode().String(), ID: number(in.ID()), Shape: e.shape(in.Shape()),
		OperandIDs: msg.OperandIDs[:0], ControlIDs: msg.ControlIDs[:0], CalledIDs: msg.CalledIDs[:0],
	}
	if p := in.Position(); p.IsKnown() {
		e.extra = instructionExtra{Line: int64(p.Line), Column: int64(p.Col)}
		msg.Extra = &e.extra
	}
	for i := range in.NumOperands() {
		msg.OperandIDs = append(msg.OperandIDs, number(in.Operand(i)))
	}
	if in.NumControlPredecessors() > 0 {
		for id := range in.ControlPredecessors() {
			msg.ControlIDs = append(msg.ControlIDs, number(id))
		}
	}
	called := &msg.CalledIDs
	if in.Opcode() == hlo.OpAsyncDone && in.NumCallees() > 0 {
		called = &msg.extra().CalledIDs // XLA has none on a done, and would look for a start among its operands
	}
	for i := range in.NumCallees() {
		*called = append(*called, int64(in.Callee(i)))
	}
	if in.Opcode() == hlo.OpAsyncUpdate && in.NumCallees() == 0 {
		// XLA has the computation on every update.
		if c, ok := hlo.AsyncCallee(e.m, in); ok {
			msg.CalledIDs = append(msg.CalledIDs, int64(c.ID()))
		}
	}
	encodeOwn(msg, in.Attrs())
	if l := msg.Literal; l != nil && l.Elided && !e.filled.IsZero() {
		msg.Literal = encodeLiteral(e.filled.MustComputation(in.Computation().ID()).MustAt(in.ID()).Literal())
		msg.Literal.Elided = true
	}
	encodeCommon(msg, in.Common(), msg.extra)
	if c := in.Common(); c != nil {
		if c.Metadata != nil {
			msg.Metadata = e.metadataOf(c.Metadata)
		}
		msg.Origin = encodeOrigin(c.Origin, in.Shape())
	}
	return msg
}

func (m *instructionMsg) extra() *instructionExtra {
	if m.Extra == nil {
		m.Extra = new(instructionExtra)
	}
	return m.Extra
}
