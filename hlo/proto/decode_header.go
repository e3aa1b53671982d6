package proto

import (
	"cmp"

	"github.com/gohalo/halo/hlo"
)

func (d *decoder) schedule(s *scheduleMsg) error {
	if s == nil {
		return nil
	}
	for i, entry := range s.Sequences {
		comp, ok := d.comps[entry.Key]
		if !ok {
			return within(errorf("no computation of id %d", entry.Key), at("sequences", i))
		}
		var sequence []int64
		if entry.Value != nil {
			sequence = entry.Value.IDs
		}
		table := &d.instrs[comp]
		ids := make([]hlo.InstrID, len(sequence))
		once := make([]bool, table.count)
		for k, id := range sequence {
			if ids[k], ok = table.get(id); !ok {
				return within(ruleErrorf("SCH-04", "no instruction of id %d", id), at("sequences", i))
			}
			if once[ids[k]] {
				return within(ruleErrorf("SCH-03", "instruction %d appears more than once in the schedule", id), at("sequences", i))
			}
			once[ids[k]] = true
		}
		if len(ids) != table.count {
			return within(ruleErrorf("SCH-04", "the schedule has %d instructions, expected %d", len(ids), table.count), at("sequences", i))
		}
		if err := d.e.Computation(comp).SetSchedule(ids); err != nil {
			return within(errorf("%v", err), at("sequences", i))
		}
	}
	return nil
}

func (d *decoder) config(msg *moduleMsg) (*hlo.ModuleConfig, error) {
	c := &hlo.ModuleConfig{IsScheduled: msg.Schedule != nil}
	var err error
	if c.FrontendAttributes, err = decodeFrontend(msg.Frontend); err != nil {
		return nil, within(err, "frontend_attributes")
	}
	if p := msg.HostProgramShape; p != nil && (msg.Extra == nil || !msg.Extra.NoEntryLayout) {
		if c.EntryLayout, err = d.programShape(p); err != nil {
			return nil, within(err, "host_program_shape")
		}
	}
	if msg.Alias != nil {
		for _, a := range msg.Alias.Entries {
			c.InputOutputAlias = append(c.InputOutputAlias,
				hlo.Alias{Output: a.Output, Parameter: a.Parameter, ParameterIndex: a.ParameterIndex, Must: a.Kind != mayAlias})
		}
	}
	if msg.Donor != nil {
		for _, e := range msg.Donor.Entries {
			c.BufferDonors = append(c.BufferDonors, hlo.BufferDonor{Parameter: e.Parameter, Index: e.Index})
		}
	}
	c.StackFrames = decodeStackFrames(msg.StackFrames)
	c.Foreign = sharedString(marshal(nil, &msg.foreignMsg))
	if msg.Recovery != nil {
		for i, e := range msg.Recovery.Entries {
			r := hlo.OriginRecovery{Lost: decodeOriginArray(e.Lost), Kept: decodeOriginArray(e.Kept), Text: e.Text}
			if e.Module != nil {
				m, err := decodeModule(e.Module, nil, d.depth+1)
				if err != nil {
					return nil, within(err, at("original_value_recovery_table", i))
				}
				r.Module = &m
			}
			c.OriginRecovery = append(c.OriginRecovery, r)
		}
	}
	for _, a := range msg.Debug {
		attr := hlo.DebugAttribute{Array: decodeOriginArray(a.Array)}
		for _, e := range a.Entries {
			mode := hlo.DebugLogUnset
			if e.LogMode > 0 && int(e.LogMode) < len(mode.EnumNames()) {
				mode = hlo.DebugLogMode(e.LogMode)
			}
			attr.Entries = append(attr.Entries,
				hlo.DebugEntry{LogMode: mode, CallbackID: e.CallbackID, Partitioned: e.Partitioned, OpID: e.OpID})
		}
		c.DebugAttributes = append(c.DebugAttributes, attr)
	}
	if x := msg.Extra; x != nil {
		if x.ReplicaCount < 0 || x.NumPartitions < 0 {
			return nil, within(errorf("%d replicas, %d partitions", x.ReplicaCount, x.NumPartitions), "extra")
		}
		c.ReplicaCount, c.NumPartitions, c.AliasPassthrough, c.UseSPMD = x.ReplicaCount, x.NumPartitions, x.AliasPassthrough, x.UseSPMD
		c.AllowSPMDToParameters, c.AllowSPMDToOutput, c.Unknown = x.SPMDToParameters, x.SPMDToOutput, decodeUnknown(x.Unknown)
	}
	return c, nil
}

// addConfig takes from what stands beside a module what the module does not say. Anything unreadable is something else than a
// configuration.
func addConfig(c *hlo.ModuleConfig, raw rawMsg) {
	var m configMsg
	if unmarshal(raw, &m) != nil || m.ReplicaCount < 0 || m.NumPartitions < 0 {
		return
	}
	c.ReplicaCount, c.NumPartitions = cmp.Or(c.ReplicaCount, m.ReplicaCount), cmp.Or(c.NumPartitions, m.NumPartitions)
	c.UseSPMD, c.AliasPassthrough = c.UseSPMD || m.UseSPMD, c.AliasPassthrough || m.AliasPassthrough
	if c.AllowSPMDToOutput == nil && !isDefault(m.SPMDToOutput) {
		c.AllowSPMDToOutput = m.SPMDToOutput
	}
	if c.AllowSPMDToParameters == nil && !isDefault(m.SPMDToParameters) {
		c.AllowSPMDToParameters = m.SPMDToParameters
	}
}

// isDefault reports whether permissions are the default.
func isDefault(allow []bool) bool { return len(allow) == 1 && !allow[0] }

func (d *decoder) programShape(p *programShapeMsg) (*hlo.ProgramShape, error) {
	s := new(hlo.ProgramShape)
	var err error
	for i, param := range p.Parameters {
		shape, err := d.shape(param)
		if err != nil {
			return nil, within(err, at("parameters", i))
		}
		s.Parameters = append(s.Parameters, shape)
	}
	if s.Result, err = d.shape(p.Result); err != nil {
		return nil, within(err, "result")
	}
	return s, nil
}

func decodeStackFrames(m *stackFramesMsg) *hlo.StackFrames {
	if m == nil || len(m.Frames) == 0 {
		return nil
	}
	f := &hlo.StackFrames{FileNames: m.FileNames, FunctionNames: m.FunctionNames}
	for _, l := range m.Locations {
		f.Locations = append(f.Locations, hlo.FileLocation{
			FileNameID: l.FileNameID, FunctionNameID: l.FunctionNameID, Line: l.Line, EndLine: l.EndLine, Column: l.Column, EndColumn: l.EndColumn,
		})
	}
	for _, s := range m.Frames {
		f.Frames = append(f.Frames, hlo.StackFrame{FileLocationID: s.FileLocationID, ParentFrameID: s.ParentFrameID})
	}
	return f
}
