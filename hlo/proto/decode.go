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
//
// Messages are read when their turn comes, so that what is in memory beside the bytes and the module is one instruction.
type decoder struct {
	memo
	e        *hlo.Editor
	b        *hlo.ComputationBuilder
	payloads []string
	depth    int // modules around this one
	comps    map[int64]hlo.CompID
	instrs   []idTable // by CompID; ids are unique in their computation
	tables   idTables

	// Room used again for every computation or instruction.
	comp    computationMsg
	in      instructionMsg
	own     instructionExtra
	attrs   attributesMsg
	scratch hlo.Common
	spec    hlo.InstrSpec
	ids     []int64 // of the instructions so far
	params  []int64 // numbers of the parameters so far
}

// maxModules bounds nesting of modules, which may be in the tables of others.
const maxModules = 100

// decodeModule reads a moduleMsg; config is what stands beside it, if anything.
func decodeModule(raw, config rawMsg, depth int) (hlo.Module, error) {
	m, _, err := decodeMessage(raw, config, depth)
	return m, err
}

// decodeMessage is decodeModule for those who want the decoder's tables.
func decodeMessage(raw, config rawMsg, depth int) (hlo.Module, *decoder, error) {
	if depth > maxModules {
		return hlo.Module{}, nil, errorf("modules nest deeper than %d", maxModules)
	}
	var msg moduleMsg
	if err := unmarshal(raw, &msg); err != nil {
		return hlo.Module{}, nil, err
	}
	d := &decoder{
		memo: newMemo(), e: hlo.NewModule(hlo.LegalName(msg.Name)), payloads: msg.Payloads, depth: depth,
		comps: make(map[int64]hlo.CompID),
	}
	const fewBytes = 96 // of an instruction
	d.e.ReserveNames(len(raw) / fewBytes)
	byName := hlo.NoComp
	for i, raw := range elements(raw, moduleComputations) {
		id, err := d.computation(raw)
		if err != nil {
			return hlo.Module{}, nil, within(err, at("computations", i))
		}
		if d.comp.Name == msg.EntryName {
			byName = id
		}
	}
	entry, ok := d.comps[msg.EntryID]
	if !ok {
		entry = byName
	}
	if entry == hlo.NoComp {
		return hlo.Module{}, nil, errorf("no entry computation %d (%q)", msg.EntryID, msg.EntryName)
	}
	d.e.SetEntry(entry)
	if err := d.schedule(msg.Schedule); err != nil {
		return hlo.Module{}, nil, within(err, "schedule")
	}
	c, err := d.config(&msg)
	if err != nil {
		return hlo.Module{}, nil, err
	}
	addConfig(c, config)
	d.e.SetConfig(c)
	return d.e.Freeze(), d, nil
}

func (d *decoder) computation(raw rawMsg) (hlo.CompID, error) {
	c := &d.comp
	*c = computationMsg{}
	if err := unmarshal(raw, c); err != nil {
		return hlo.NoComp, err
	}
	if _, dup := d.comps[c.ID]; dup {
		return hlo.NoComp, ruleErrorf("STR-02", "two computations of id %d", c.ID)
	}
	name := hlo.LegalName(cmp.Or(c.Name, "name")) // text has none without
	if d.b == nil {
		d.b = d.e.NewComputation(name)
	} else {
		d.b.Next(name)
	}
	d.b.SetExecutionThread(cmp.Or(c.ExecutionThread, hlo.MainThread))
	table := d.tables.make(len(raw))
	d.ids = d.ids[:0]
	d.params = d.params[:0]
	for i, raw := range elements(raw, computationInstructions) {
		if err := d.instruction(raw, &table); err != nil {
			return hlo.NoComp, within(err, at("instructions", i))
		}
	}
	if err := d.checkParameters(); err != nil {
		return hlo.NoComp, err
	}
	root, ok := table.get(c.RootID)
	if !ok {
		return hlo.NoComp, ruleErrorf("STR-03", "no root instruction of id %d", c.RootID)
	}
	id := d.b.Finish(root)
	d.comps[c.ID] = id
	d.instrs = append(d.instrs, table) // at id
	if slices.IsSorted(d.ids) {
		return id, nil
	}
	return id, d.programOrder(id)
}

// checkParameters refuses numbers of parameters that are not those from 0.
func (d *decoder) checkParameters() error {
	slices.Sort(d.params)
	for i, n := range d.params {
		if i > 0 && n == d.params[i-1] {
			return errorf("two parameters of number %d", n)
		}
		if n != int64(i) {
			return errorf("parameter numbers are not 0 to %d", len(d.params)-1)
		}
	}
	return nil
}

// programOrder orders the instructions of a computation by their ids in the message.
func (d *decoder) programOrder(id hlo.CompID) error {
	order := make([]hlo.InstrID, len(d.ids))
	for i := range order {
		order[i] = hlo.InstrID(i)
	}
	slices.SortFunc(order, func(a, b hlo.InstrID) int { return cmp.Compare(d.ids[a], d.ids[b]) })
	edit := d.e.Computation(id)
	if err := edit.SetSchedule(order); err != nil {
		return errorf("%v", err)
	}
	edit.ClearSchedule()
	return nil
}

// instruction appends one instruction; table maps the ids of those before it.
func (d *decoder) instruction(raw rawMsg, table *idTable) error {
	in := &d.in
	*in = instructionMsg{
		OperandIDs: in.OperandIDs[:0], ControlIDs: in.ControlIDs[:0], CalledIDs: in.CalledIDs[:0], Attributes: in.Attributes[:0],
	}
	if err := instructions.unmarshal(raw, in); err != nil {
		return err
	}
	op, ok := hlo.OpcodeByName(in.Opcode)
	if !ok {
		return errorf("unknown opcode %q", in.Opcode)
	}
	if !table.put(in.ID, hlo.InstrID(len(d.ids))) {
		return ruleErrorf("STR-04", "two instructions of id %d", in.ID)
	}
	d.ids = append(d.ids, in.ID)
	spec := &d.spec
	spec.Opcode, spec.Name, spec.Position = op, hlo.LegalName(in.Name), hlo.Position{}
	var err error
	if spec.Shape, err = d.shape(in.Shape); err != nil {
		return within(err, "shape")
	}
	if spec.Operands, err = d.before(spec.Operands[:0], in.OperandIDs, table, "operand"); err != nil {
		return err
	}
	if spec.Control, err = d.before(spec.Control[:0], in.ControlIDs, table, "control predecessor"); err != nil {
		return err
	}
	if in.Extra != nil {
		if err := d.extra(op); err != nil {
			return within(err, "extra")
		}
	}
	if spec.Callees, err = d.called(spec.Callees[:0], in.CalledIDs); err != nil {
		return err
	}
	if n := len(spec.Operands); !hlo.Info(op).Arity.Accepts(n) && !hlo.IsAsync(op) {
		return errorf("%v with %d operands", op, n)
	}
	if err := d.describe(); err != nil {
		return err
	}
	if (op == hlo.OpAsyncUpdate || op == hlo.OpAsyncDone) && len(spec.Operands) > 0 && hlo.IsAsync(d.b.Opcode(spec.Operands[0])) {
		spec.Callees = spec.Callees[:0] // the chain has it from its start
	}
	if err := checkCallees(op, len(spec.Callees)); err != nil {
		return err
	}
	d.b.AppendSpec(spec)
	return nil
}

// extra reads what is our own of an instruction.
func (d *decoder) extra(op hlo.Opcode) error {
	x := &d.own
	*x = instructionExtra{}
	if err := extras.unmarshal(d.in.Extra, x); err != nil {
		return err
	}
	d.spec.Position = hlo.Position{Line: uint32(x.Line), Col: uint32(x.Column)}
	if op == hlo.OpAsyncDone && len(d.in.CalledIDs) == 0 {
		d.in.CalledIDs = x.CalledIDs
	}
	return nil
}

// describe reads the attributes of an instruction, of which the rest is known.
func (d *decoder) describe() error {
	in, spec := &d.in, &d.spec
	a := attrDecoder{d: d, in: &d.attrs, op: spec.Opcode, shape: spec.Shape}
	for i, id := range spec.Operands[:min(len(spec.Operands), len(a.operands))] {
		a.operands[i] = d.b.Shape(id)
	}
	read, err := d.attributes(&a, in.Attributes)
	if err != nil {
		return err
	}
	metadata, err := d.metadataOf(in.Metadata)
	if err != nil {
		return within(err, "metadata")
	}
	spec.Attrs, spec.Common = read.own, d.merged(read.common, metadata)
	if p, ok := read.own.(*hlo.ParameterAttrs); ok {
		d.params = append(d.params, p.Number)
	}
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

// before appends instructions of the same computation to list.
func (d *decoder) before(list []hlo.InstrID, protoIDs []int64, table *idTable, what string) ([]hlo.InstrID, error) {
	for _, p := range protoIDs {
		id, ok := table.get(p)
		if !ok || int(id) == len(d.ids)-1 {
			return nil, d.notBefore(p, what)
		}
		list = append(list, id)
	}
	return list, nil
}

func (d *decoder) notBefore(p int64, what string) error {
	for i := range d.instrs {
		if _, there := d.instrs[i].get(p); there {
			return ruleErrorf("STR-07", "%s %d is in another computation", what, p)
		}
	}
	return ruleErrorf("STR-05", "no %s of id %d before it", what, p)
}

// called appends computations to list.
func (d *decoder) called(list []hlo.CompID, protoIDs []int64) ([]hlo.CompID, error) {
	for _, p := range protoIDs {
		id, ok := d.comps[p]
		if !ok {
			return nil, ruleErrorf("STR-01", "no called computation of id %d before it", p)
		}
		list = append(list, id)
	}
	return list, nil
}

// payload is the bytes of a payload, which may stand in the module's table.
func (d *decoder) payload(p *payloadMsg) (string, error) {
	if !p.ID.Set {
		return p.Value, nil
	}
	if p.ID.Value < 0 || p.ID.Value >= int64(len(d.payloads)) {
		return "", errorf("no payload %d", p.ID.Value)
	}
	return d.payloads[p.ID.Value], nil
}
