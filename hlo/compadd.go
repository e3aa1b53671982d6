package hlo

import (
	"fmt"
	"slices"
)

// InstrSpec says what instruction to make. Slices are copied.
type InstrSpec struct {
	Opcode   Opcode
	Name     string // made unique in the module; "": the mnemonic
	NameHash uint64 // [HashName] of Name, where it is known already; 0: it is not
	Shape    Shape
	Operands []InstrID
	Attrs    OpAttrs // nil: none; kept, and must not be written afterwards
	Common   *Common // nil: none; likewise
	Callees  []CompID
	Control  []InstrID // control predecessors
	Position Position
}

// Add appends an instruction to the program order, and so to the schedule, if any. Its name is the mnemonic made unique, and its
// attributes the defaults of the op; [CompEdit.AddSpec] says all at once.
func (c CompEdit) Add(op Opcode, s Shape, operands ...InstrID) InstrEdit {
	return c.AddSpec(InstrSpec{Opcode: op, Shape: s, Operands: operands, Attrs: defaultAttrs(op)})
}

// AddSpec appends an instruction to the program order, and so to the schedule, if any.
func (c CompEdit) AddSpec(spec InstrSpec) InstrEdit {
	st := c.live()
	st.check(&spec)
	n := st.newInstr(&spec)
	if o := st.order; o != nil {
		o.pred.Set(n.id, o.last)
		o.last = n.id
	}
	cn := st.node
	cn.maxRank += rankGap
	n.rank = cn.maxRank
	return InstrEdit{st, n.id, c.gen}
}

// InsertBefore is Add with a place in the program order: just before at.
func (c CompEdit) InsertBefore(at InstrID, op Opcode, s Shape, operands ...InstrID) InstrEdit {
	return c.InsertSpecBefore(at, InstrSpec{Opcode: op, Shape: s, Operands: operands, Attrs: defaultAttrs(op)})
}

// InsertSpecBefore is AddSpec with a place in the program order: just before at.
func (c CompEdit) InsertSpecBefore(at InstrID, spec InstrSpec) InstrEdit {
	st := c.live()
	st.instr(at)
	st.check(&spec)
	rank := st.rankBefore(at)
	n := st.newInstr(&spec)
	n.rank = rank
	st.order.placed(n.id, at)
	if cn := st.node; cn.idOrder {
		cn.idOrder = false
		st.ownInfo().base = &orderBase{limit: n.id}
	}
	return InstrEdit{st, n.id, c.gen}
}

func defaultAttrs(op Opcode) OpAttrs {
	if f := Info(op).NewAttrs; f != nil {
		return f()
	}
	return nil
}

// check refuses a spec that names what does not exist.
func (st *compState) check(spec *InstrSpec) {
	if !spec.Opcode.IsValid() {
		panic(fmt.Sprintf("hlo: adding an instruction of %v", spec.Opcode))
	}
	st.checkIDs("operand", spec.Opcode, spec.Operands)
	if st.forwards(spec.Operands...) {
		st.settle() // its use of what was replaced before is meant
	}
	st.checkIDs("control predecessor", spec.Opcode, spec.Control)
	st.e.checkCallees(spec.Callees)
}

func (st *compState) checkIDs(what string, op Opcode, ids []InstrID) {
	for i, id := range ids {
		if st.node.instrs.get(uint32(id)) == nil {
			panic(fmt.Sprintf("hlo: %s %d of %v is %d, which does not exist in computation %q", what, i, op, id, st.node.name))
		}
	}
}

func (e *Editor) checkCallees(ids []CompID) {
	for _, id := range ids {
		e.root.mustComp(id)
	}
}

// newInstr makes an instruction of a checked spec, without a rank.
func (st *compState) newInstr(spec *InstrSpec) *instrNode {
	e := st.e
	id := InstrID(st.node.instrs.n)
	slot := st.ownSlot(id)
	c := st.node
	name := spec.Name
	if name == "" {
		name = spec.Opcode.String()
		spec.NameHash = 0
	}
	n := e.takeNode(maxEditSlab)
	n.fill(&e.stats, spec)
	n.stamp, n.name, n.id = e.epoch, e.instrNames().uniqueHashed(name, freshHash(name, spec.NameHash)), id
	e.countMore(st.node.id, spec.Callees)
	*slot = n
	c.count++
	st.noteNamed(n.id)
	if st.users != nil {
		st.users.change(n.id, nil, n.operands(), false)
		st.users.change(n.id, nil, n.control(), true)
	}
	if n.op == OpParameter {
		st.placeParameter(n)
	}
	return n
}

// placeParameter puts n where its number says, after having been anywhere or nowhere in the list of parameters.
func (st *compState) placeParameter(n *instrNode) {
	c := st.node
	params := slices.DeleteFunc(slices.Clone(c.params), func(id InstrID) bool { return id == n.id })
	if n.op == OpParameter {
		num := n.parameterNumber()
		i := slices.IndexFunc(params, func(id InstrID) bool {
			k := c.instrs.get(uint32(id)).parameterNumber()
			return k > num || k == num && id > n.id
		})
		if i < 0 {
			i = len(params)
		}
		params = slices.Insert(params, i, n.id)
	}
	st.ownInfo().params = params
}
