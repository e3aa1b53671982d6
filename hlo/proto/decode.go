package proto

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// decoder builds one module out of its message:
//
//  1. computations in the order of the message, each after those it calls, instructions after their operands;
//  2. in each, program order by ascending id, which is the order of insertion in the program that wrote the message;
//  3. schedules, where there are any;
//  4. the header.
type decoder struct {
	e        *hlo.Editor
	payloads [][]byte
	comps    map[int64]hlo.CompID
	instrs   map[hlo.CompID]map[int64]hlo.InstrID // for schedules; ids are unique in their computation
	shapes   shapeCache
	in       instructionMsg // of the instruction at hand; most of its fields are empty, so one serves all
	// What messages read before meant, by their bytes.
	rawShapes map[string]hlo.Shape
	metadatas map[string]*hlo.Metadata
}

// shape decodes the shape of an instruction.
func (d *decoder) shape(raw rawMsg) (hlo.Shape, error) {
	if s, ok := d.rawShapes[string(raw)]; ok {
		return s, nil
	}
	if raw == nil {
		return d.shapes.shape(nil)
	}
	var m shapeMsg
	if err := unmarshal(raw, &m); err != nil {
		return hlo.Shape{}, err
	}
	s, err := d.shapes.shape(&m)
	if err == nil {
		d.rawShapes[string(raw)] = s
	}
	return s, err
}

// rawMetadata decodes the metadata of an instruction.
func (d *decoder) rawMetadata(raw rawMsg) (*hlo.Metadata, error) {
	if md, ok := d.metadatas[string(raw)]; ok {
		return md, nil
	}
	var m metadataMsg
	if err := unmarshal(raw, &m); err != nil {
		return nil, err
	}
	md, err := d.metadata(&m)
	if err == nil {
		d.metadatas[string(raw)] = md
	}
	return md, err
}

func decodeModule(msg *moduleMsg) (hlo.Module, error) {
	d := &decoder{
		e: hlo.NewModule(msg.Name), payloads: msg.Payloads,
		comps: make(map[int64]hlo.CompID), instrs: make(map[hlo.CompID]map[int64]hlo.InstrID),
		rawShapes: make(map[string]hlo.Shape), metadatas: make(map[string]*hlo.Metadata),
	}
	names := make(map[string]hlo.CompID, 1)
	for i, raw := range msg.Computations {
		var c computationMsg
		err := unmarshal(raw, &c)
		if err == nil {
			err = d.computation(&c)
		}
		if err != nil {
			return hlo.Module{}, within(err, at("computations", i))
		}
		if c.Name == msg.EntryName {
			names[c.Name] = d.comps[c.ID]
		}
	}
	entry, ok := d.comps[msg.EntryID]
	if byName, found := names[msg.EntryName]; found && (!ok || msg.EntryID == 0) {
		entry, ok = byName, true
	}
	if !ok {
		return hlo.Module{}, errorf("no entry computation %d (%q)", msg.EntryID, msg.EntryName)
	}
	d.e.SetEntry(entry)
	if err := d.schedule(msg.Schedule); err != nil {
		return hlo.Module{}, within(err, "schedule")
	}
	config, err := d.config(msg)
	if err != nil {
		return hlo.Module{}, err
	}
	d.e.SetConfig(config)
	return d.e.Freeze(), nil
}

func (d *decoder) computation(c *computationMsg) error {
	if _, dup := d.comps[c.ID]; dup {
		return ruleErrorf("STR-02", "two computations of id %d", c.ID)
	}
	b := d.e.NewComputation(c.Name)
	b.SetExecutionThread(cmp.Or(c.ExecutionThread, hlo.MainThread))
	ids := make(map[int64]hlo.InstrID, len(c.Instructions))
	order := make([]protoOrder, 0, len(c.Instructions))
	params := make(map[int64]bool)
	for i, raw := range c.Instructions {
		in := &d.in
		*in = instructionMsg{OperandIDs: in.OperandIDs[:0]}
		err := unmarshal(raw, in)
		if err == nil {
			err = d.instruction(b, in, ids, params)
		}
		if err != nil {
			return within(err, at("instructions", i))
		}
		order = append(order, protoOrder{in.ID, ids[in.ID]})
	}
	for n := range params {
		if n < 0 || n >= int64(len(params)) {
			return errorf("parameter numbers are not 0 to %d", len(params)-1)
		}
	}
	root, ok := ids[c.RootID]
	if !ok {
		return ruleErrorf("STR-03", "no root instruction of id %d", c.RootID)
	}
	id := b.Finish(root)
	d.comps[c.ID] = id
	d.instrs[id] = ids
	if !slices.IsSortedFunc(order, byProtoID) {
		slices.SortFunc(order, byProtoID)
		sorted := make([]hlo.InstrID, len(order))
		for i, o := range order {
			sorted[i] = o.id
		}
		edit := d.e.Computation(id)
		if err := edit.SetSchedule(sorted); err != nil {
			return errorf("%v", err)
		}
		edit.ClearSchedule()
	}
	return nil
}

type protoOrder struct {
	proto int64
	id    hlo.InstrID
}

func byProtoID(a, b protoOrder) int { return cmp.Compare(a.proto, b.proto) }

// instruction appends one instruction; ids maps the ids of those before it, params the numbers of parameters seen.
func (d *decoder) instruction(b *hlo.ComputationBuilder, in *instructionMsg, ids map[int64]hlo.InstrID, params map[int64]bool) error {
	op, ok := hlo.OpcodeByName(in.Opcode)
	if !ok {
		return errorf("unknown opcode %q", in.Opcode)
	}
	if _, dup := ids[in.ID]; dup {
		return ruleErrorf("STR-04", "two instructions of id %d", in.ID)
	}
	spec := hlo.InstrSpec{Opcode: op, Name: in.Name}
	var err error
	if spec.Shape, err = d.shape(in.Shape); err != nil {
		return within(err, "shape")
	}
	if spec.Operands, err = d.before(ids, in.OperandIDs, "operand"); err != nil {
		return err
	}
	if spec.Control, err = d.before(ids, in.ControlIDs, "control predecessor"); err != nil {
		return err
	}
	called := in.CalledIDs
	if x := in.Extra; x != nil && op == hlo.OpAsyncDone && len(called) == 0 {
		called = x.CalledIDs
	}
	if spec.Callees, err = lookup(d.comps, called, "called computation", "STR-01"); err != nil {
		return err
	}
	if n := len(spec.Operands); !hlo.Info(op).Arity.Accepts(n) && !hlo.IsAsync(op) {
		return errorf("%v with %d operands", op, n)
	}
	if op == hlo.OpParameter {
		if params[in.ParameterNumber] {
			return errorf("two parameters of number %d", in.ParameterNumber)
		}
		params[in.ParameterNumber] = true
	}
	a := attrDecoder{d: d, in: in, op: op, shape: spec.Shape, operand: func(i int) hlo.Shape {
		if i < len(spec.Operands) {
			return b.Shape(spec.Operands[i])
		}
		return hlo.Shape{}
	}}
	if spec.Attrs, err = a.own(); err != nil {
		return err
	}
	if spec.Common, err = a.common(); err != nil {
		return err
	}
	if x := in.Extra; x != nil {
		spec.Position = hlo.Position{Line: uint32(x.Line), Col: uint32(x.Column)}
	}
	if (op == hlo.OpAsyncUpdate || op == hlo.OpAsyncDone) && len(spec.Operands) > 0 && hlo.IsAsync(b.Opcode(spec.Operands[0])) {
		spec.Callees = nil // the chain has it from its start
	}
	if err := checkCallees(op, len(spec.Callees)); err != nil {
		return err
	}
	ids[in.ID] = b.Append(spec)
	return nil
}

// checkCallees refuses a number of called computations that the opcode cannot have.
func checkCallees(op hlo.Opcode, n int) error {
	roles := hlo.Info(op).Callees
	min, max := 0, len(roles)
	for _, r := range roles {
		if r.List {
			max = n
		} else if !r.Optional {
			min++
		}
	}
	if hlo.IsAsync(op) && op != hlo.OpAsyncStart {
		max = 1
	}
	if n < min || n > max {
		return errorf("%v with %d called computations", op, n)
	}
	return nil
}

// before finds instructions of the same computation.
func (d *decoder) before(ids map[int64]hlo.InstrID, protoIDs []int64, what string) ([]hlo.InstrID, error) {
	found, err := lookup(ids, protoIDs, what, "STR-05")
	if err == nil {
		return found, nil
	}
	for _, p := range protoIDs {
		if _, here := ids[p]; here {
			continue
		}
		for _, other := range d.instrs {
			if _, there := other[p]; there {
				return nil, ruleErrorf("STR-07", "%s %d is in another computation", what, p)
			}
		}
	}
	return nil, err
}

func lookup[ID any](table map[int64]ID, protoIDs []int64, what, rule string) ([]ID, error) {
	if len(protoIDs) == 0 {
		return nil, nil
	}
	ids := make([]ID, len(protoIDs))
	for i, p := range protoIDs {
		id, ok := table[p]
		if !ok {
			return nil, ruleErrorf(rule, "no %s of id %d before it", what, p)
		}
		ids[i] = id
	}
	return ids, nil
}

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
		ids, err := lookup(d.instrs[comp], sequence, "instruction", "SCH-04")
		if err != nil {
			return within(err, at("sequences", i))
		}
		once := make(map[hlo.InstrID]bool, len(ids))
		for k, id := range ids {
			if once[id] {
				return within(ruleErrorf("SCH-03", "instruction %d appears more than once in the schedule", sequence[k]), at("sequences", i))
			}
			once[id] = true
		}
		if n := len(d.instrs[comp]); len(ids) != n {
			return within(ruleErrorf("SCH-04", "the schedule has %d instructions, expected %d", len(ids), n), at("sequences", i))
		}
		if err := d.e.Computation(comp).SetSchedule(ids); err != nil {
			return within(errorf("%v", err), at("sequences", i))
		}
	}
	return nil
}

func (d *decoder) config(msg *moduleMsg) (*hlo.ModuleConfig, error) {
	c := &hlo.ModuleConfig{IsScheduled: msg.Schedule != nil, FrontendAttributes: decodeFrontend(msg.Frontend)}
	var err error
	if p := msg.HostProgramShape; p != nil && (msg.Extra == nil || !msg.Extra.NoEntryLayout) {
		if c.EntryLayout, err = d.programShape(p); err != nil {
			return nil, within(err, "host_program_shape")
		}
	}
	if msg.Alias != nil {
		for _, a := range msg.Alias.Entries {
			c.InputOutputAlias = append(c.InputOutputAlias,
				hlo.Alias{Output: a.Output, Parameter: a.Parameter, ParameterIndex: a.ParameterIndex, Must: a.Kind == 2})
		}
	}
	if msg.Donor != nil {
		for _, e := range msg.Donor.Entries {
			c.BufferDonors = append(c.BufferDonors, hlo.BufferDonor{Parameter: e.Parameter, Index: e.Index})
		}
	}
	c.StackFrames = decodeStackFrames(msg.StackFrames)
	if msg.Recovery != nil {
		for i, e := range msg.Recovery.Entries {
			r := hlo.OriginRecovery{Lost: decodeOriginArray(e.Lost), Kept: decodeOriginArray(e.Kept), Text: e.Text}
			if e.Module != nil {
				m, err := decodeModule(e.Module)
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
		c.ReplicaCount, c.NumPartitions, c.AliasPassthrough, c.UseSPMD = x.ReplicaCount, x.NumPartitions, x.AliasPassthrough, x.UseSPMD
		c.AllowSPMDToParameters, c.AllowSPMDToOutput = x.SPMDToParameters, x.SPMDToOutput
	}
	return c, nil
}

func (d *decoder) programShape(p *programShapeMsg) (*hlo.ProgramShape, error) {
	s := new(hlo.ProgramShape)
	var err error
	for i, param := range p.Parameters {
		shape, err := d.shapes.shape(param)
		if err != nil {
			return nil, within(err, at("parameters", i))
		}
		s.Parameters = append(s.Parameters, shape)
	}
	if s.Result, err = d.shapes.shape(p.Result); err != nil {
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

// payload is the bytes of a payload, which may stand in the module's table.
func (d *decoder) payload(p *payloadMsg) ([]byte, error) {
	if !p.ID.Set {
		return p.Value, nil
	}
	if p.ID.Value < 0 || p.ID.Value >= int64(len(d.payloads)) {
		return nil, errorf("no payload %d", p.ID.Value)
	}
	return d.payloads[p.ID.Value], nil
}
