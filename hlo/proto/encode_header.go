package proto

import "github.com/gohalo/halo/hlo"

// header is what of a module stands behind its computations.
func (e *encoder) header(entry hlo.Computation) *moduleMsg {
	c := e.m.Config()
	msg := &moduleMsg{Frontend: encodeFrontend(c.FrontendAttributes)}
	if !entry.IsZero() {
		msg.EntryID = int64(entry.ID())
		if !e.program || c.EntryLayout != nil && !c.EntryLayout.Equal(entry.Signature()) {
			msg.HostProgramShape = e.programShape(entry, c.EntryLayout)
		}
		if !e.program && c.EntryLayout == nil {
			msg.extra().NoEntryLayout = true
		}
	}
	e.schedule(msg, c.IsScheduled)
	if len(c.InputOutputAlias) > 0 {
		msg.Alias = new(aliasMsg)
		for _, a := range c.InputOutputAlias {
			kind := mayAlias
			if a.Must {
				kind = mustAlias
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
	if !e.program {
		e.provenance(msg, c)
	}
	if c.ReplicaCount != 0 || c.NumPartitions != 0 || c.AliasPassthrough || c.UseSPMD || len(c.AllowSPMDToParameters)+len(c.AllowSPMDToOutput)+len(c.Unknown) > 0 {
		x := msg.extra()
		x.ReplicaCount, x.NumPartitions, x.AliasPassthrough, x.UseSPMD = c.ReplicaCount, c.NumPartitions, c.AliasPassthrough, c.UseSPMD
		x.SPMDToParameters, x.SPMDToOutput, x.Unknown = c.AllowSPMDToParameters, c.AllowSPMDToOutput, encodeUnknown(c.Unknown)
	}
	return msg
}

// provenance is where a module comes from.
func (e *encoder) provenance(msg *moduleMsg, c *hlo.ModuleConfig) {
	msg.StackFrames = encodeStackFrames(c.StackFrames)
	if len(c.OriginRecovery) > 0 {
		msg.Recovery = new(recoveryMsg)
		for _, r := range c.OriginRecovery {
			entry := &recoveryEntry{Lost: encodeOriginArray(&r.Lost), Kept: encodeOriginArray(&r.Kept)}
			if r.Module != nil {
				entry.Module = newEncoder(*r.Module).module()
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
}

func (m *moduleMsg) extra() *moduleExtraMsg {
	if m.Extra == nil {
		m.Extra = new(moduleExtraMsg)
	}
	return m.Extra
}

// programShape describes a computation, until it describes another.
func (e *encoder) programShape(c hlo.Computation, layout *hlo.ProgramShape) *programShapeMsg {
	m := &e.signature
	*m = programShapeMsg{Parameters: m.Parameters[:0], Names: m.Names[:0]}
	for i := range c.NumParameters() {
		m.Names = append(m.Names, c.Parameter(i).Name())
	}
	s := c.Signature()
	if layout != nil {
		s = *layout
	}
	for _, p := range s.Parameters {
		m.Parameters = append(m.Parameters, e.shape(p))
	}
	if s.Result.IsValid() {
		m.Result = e.shape(s.Result)
	}
	return m
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
		number := e.programIDs(c)
		s := new(sequenceMsg)
		for in := range c.Instructions() {
			s.IDs = append(s.IDs, number.of(in.ID()))
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
