package hlo

import (
	"cmp"
	"fmt"
	"slices"
)

// InstrEdit is a handle to edit one instruction in a session. Setters return the handle, for chains. A setter that is given what is
// there already copies nothing; otherwise the first one on an instruction copies it, and the path to it, unless the session made or
// copied them before.
type InstrEdit struct {
	st  *compState
	id  InstrID
	gen uint32
}

// node resolves the handle to the current node, to read.
func (i InstrEdit) node() *instrNode {
	st := i.st
	st.e.holder.claim()
	if i.gen != st.e.gen {
		panic("hlo: use of an instruction edit after " + st.e.ended.String())
	}
	n := st.node.instrs.get(uint32(i.id))
	if n == nil || st.removed {
		panic(fmt.Sprintf("hlo: use of an instruction edit after instruction %d of %q was removed", i.id, st.node.name))
	}
	return n
}

// settled is node for what has to do with operands.
func (i InstrEdit) settled() *instrNode {
	if n := i.node(); i.st.forward.Len() == 0 {
		return n
	}
	i.st.settle()
	return i.node()
}

func (i InstrEdit) own() *instrNode { return i.st.ownInstr(i.id) }

// ID is the instruction's id.
func (i InstrEdit) ID() InstrID { return i.id }

// Computation is a handle to the computation of the instruction.
func (i InstrEdit) Computation() CompEdit { return CompEdit{i.st, i.gen} }

// View is the instruction as it is now, on the terms of [CompEdit.View].
func (i InstrEdit) View() Instruction { return i.Computation().At(i.id) }

// Name is the current name.
func (i InstrEdit) Name() string { return i.node().name }

// Opcode is the current opcode.
func (i InstrEdit) Opcode() Opcode { return i.node().op }

// Shape is the current shape.
func (i InstrEdit) Shape() Shape { return i.node().shape }

// NumOperands is the current number of operands.
func (i InstrEdit) NumOperands() int { return len(i.settled().operands()) }

// Operand is the current operand n. It panics when n is out of range.
func (i InstrEdit) Operand(n int) InstrID { return i.settled().operands()[n] }

// NumCallees is the current number of called computations.
func (i InstrEdit) NumCallees() int { return len(i.node().called()) }

// NumControlPredecessors is the current number of control predecessors.
func (i InstrEdit) NumControlPredecessors() int { return len(i.node().control()) }

// SetOpcode changes what the instruction does. The attributes stay: see [InstrEdit.SetAttrs].
func (i InstrEdit) SetOpcode(op Opcode) InstrEdit {
	n := i.node()
	if n.op == op {
		return i
	}
	if !op.IsValid() {
		panic(fmt.Sprintf("hlo: SetOpcode to %v", op))
	}
	wasParameter := n.op == OpParameter
	n = i.own()
	n.op = op
	if wasParameter || op == OpParameter {
		i.st.placeParameter(n)
	}
	return i
}

// SetShape sets the result shape.
func (i InstrEdit) SetShape(s Shape) InstrEdit {
	if n := i.node(); !n.shape.Equal(s) {
		i.own().shape = s
	}
	return i
}

// Share puts s in the place of the shape, and l in that of a constant's literal, where they are equal to what is there: what is equal then takes
// memory once. A nil literal leaves that alone.
func (i InstrEdit) Share(s Shape, l *Literal) InstrEdit {
	n := i.node()
	if n.shape != s && n.shape.Equal(s) {
		n = i.own()
		n.shape = s
	}
	if a, ok := n.attrs.(*ConstantAttrs); ok && l != nil && a.Literal != l && a.Literal.Equal(l) {
		n = i.ownAttrs()
		n.attrs = &ConstantAttrs{Literal: l}
		n.flags &^= ownsAttrStruct
	}
	return i
}

// SetName renames the instruction; the name is made unique in the module.
func (i InstrEdit) SetName(name string) InstrEdit {
	if n := i.node(); n.name != name {
		unique := i.st.e.instrNames().unique(name)
		i.own().name = unique
		i.st.noteNamed(i.id)
	}
	return i
}

// SetPosition says where in a text the instruction stands.
func (i InstrEdit) SetPosition(p Position) InstrEdit {
	if n := i.node(); n.pos != p {
		i.own().pos = p
	}
	return i
}

// SetOperand makes operand n the value of to. It panics when there is no operand n.
func (i InstrEdit) SetOperand(n int, to InstrID) InstrEdit {
	ops := i.settled().operands()
	if n < 0 || n >= len(ops) {
		panic(fmt.Sprintf("hlo: operand %d of %s, which has %d", n, i.Name(), len(ops)))
	}
	old := ops[n]
	if old == to {
		return i
	}
	i.st.instr(to)
	ops = i.own().ownOperands(&i.st.e.stats)
	if u := i.st.users; u != nil {
		u.set(i.id, ops, n, to)
	} else {
		ops[n] = to
	}
	return i
}

// SetOperands replaces all operands; ids is copied.
func (i InstrEdit) SetOperands(ids ...InstrID) InstrEdit {
	n := i.settled()
	if slices.Equal(n.operands(), ids) {
		return i
	}
	i.st.checkIDs("operand", n.op, ids)
	u := i.st.users
	var before []InstrID
	if u != nil {
		before = slices.Clone(n.operands())
	}
	n = i.own()
	n.setOperands(&i.st.e.stats, ids)
	if u != nil {
		u.change(i.id, before, n.operands(), false)
	}
	return i
}

// AppendOperand adds an operand at the end.
func (i InstrEdit) AppendOperand(id InstrID) InstrEdit {
	i.settled()
	i.st.instr(id)
	i.own().appendOperand(&i.st.e.stats, id)
	if u := i.st.users; u != nil {
		u.forget(i.id)
		u.update(id, i.id, false, true)
	}
	return i
}

// RemoveOperand removes operand n; later ones move down.
func (i InstrEdit) RemoveOperand(n int) InstrEdit {
	ops := i.settled().operands()
	if n < 0 || n >= len(ops) {
		panic(fmt.Sprintf("hlo: operand %d of %s, which has %d", n, i.Name(), len(ops)))
	}
	return i.SetOperands(slices.Delete(slices.Clone(ops), n, n+1)...)
}

// ownAttrs returns the node, whose attribute set may be replaced: a copy, if the set was another version's.
func (i InstrEdit) ownAttrs() *instrNode {
	n := i.own()
	if n.flags&ownsAttrs == 0 {
		n.flags |= ownsAttrs
		if n.attrs != nil || n.common != nil {
			i.st.e.stats.AttrSets++
		}
	}
	return n
}

// SetAttr sets the attribute of the given key, one of the op's own or a common one; a nil value means its zero value. It panics when
// the instruction can have no such attribute, or the value is not of its type. The value must not be written afterwards.
//
// The first call on an instruction copies the struct of attributes, further ones write into that copy, until a reader obtains the struct
// itself from a view.
func (i InstrEdit) SetAttr(key AttrKey, v Attr) InstrEdit {
	n := i.node()
	f := attrField(n.attrs, key)
	if f == nil {
		return i.setCommonAttr(n, key, v)
	}
	val, err := f.accept(v)
	if err != nil {
		panic(fmt.Sprintf("hlo: SetAttr on %s %s: %v", n.op, n.name, err))
	}
	if equalAttrValue(f.Value(n.attrs), val) {
		return i
	}
	n = i.ownAttrs()
	if n.flags&ownsAttrStruct == 0 {
		n.attrs = cloneAttrs(n.attrs)
		n.flags |= ownsAttrStruct
		i.st.e.stats.Bytes += attrsBytes(n.attrs)
	}
	f.Value(n.attrs).Set(val)
	return i
}

func (i InstrEdit) setCommonAttr(n *instrNode, key AttrKey, v Attr) InstrEdit {
	field, err := findCommon(key, v)
	if err != nil {
		panic(fmt.Sprintf("hlo: SetAttr on %s %s: %v", n.op, n.name, err))
	}
	if field.same(cmp.Or(n.common, &noCommon), v) {
		return i
	}
	n = i.ownAttrs()
	if n.flags&ownsCommon == 0 {
		c := new(Common)
		if n.common != nil {
			*c = *n.common
			i.st.e.stats.Bytes += commonBytes
		}
		n.common = c
		n.flags |= ownsCommon
	}
	field.set(n.common, v)
	return i
}

// SetAttrs replaces the op's own attributes as a whole; a must not be written afterwards.
func (i InstrEdit) SetAttrs(a OpAttrs) InstrEdit {
	n := i.node()
	if EqualAttrs(n.attrs, a) {
		return i
	}
	n = i.ownAttrs()
	n.attrs = a
	n.flags &^= ownsAttrStruct // a is the caller's
	if n.op == OpParameter {
		i.st.placeParameter(n)
	}
	return i
}

// SetCommon replaces the common attributes as a whole; c must not be written afterwards.
func (i InstrEdit) SetCommon(c *Common) InstrEdit {
	if n := i.node(); !equalCommon(n.common, c) {
		n = i.ownAttrs()
		n.common = c
		n.flags &^= ownsCommon
	}
	return i
}

// SetCallee makes called computation n the computation to. It panics when there is no callee n.
func (i InstrEdit) SetCallee(n int, to CompID) InstrEdit {
	called := slices.Clone(i.node().called())
	if n < 0 || n >= len(called) {
		panic(fmt.Sprintf("hlo: callee %d of %s, which has %d", n, i.Name(), len(called)))
	}
	called[n] = to
	return i.SetCallees(called...)
}

// SetCallees replaces the called computations; ids is copied.
func (i InstrEdit) SetCallees(ids ...CompID) InstrEdit {
	n := i.node()
	if slices.Equal(n.called(), ids) {
		return i
	}
	e := i.st.e
	e.checkCallees(ids)
	e.countCalls(n.called(), -1)
	e.countMore(i.st.node.id, ids)
	i.own().ownExtra(&e.stats).called = slices.Clone(ids)
	return i
}

// AddControlPredecessor demands that id runs before the instruction.
func (i InstrEdit) AddControlPredecessor(id InstrID) InstrEdit {
	n := i.node()
	if slices.Contains(n.control(), id) {
		return i
	}
	i.st.instr(id)
	x := i.own().ownExtra(&i.st.e.stats)
	x.control = append(x.control, id)
	if u := i.st.users; u != nil {
		u.update(id, i.id, true, true)
	}
	return i
}

// RemoveControlPredecessor drops the demand that id runs before the instruction.
func (i InstrEdit) RemoveControlPredecessor(id InstrID) InstrEdit {
	k := slices.Index(i.node().control(), id)
	if k < 0 {
		return i
	}
	x := i.own().ownExtra(&i.st.e.stats)
	x.control = slices.Delete(x.control, k, k+1)
	if u := i.st.users; u != nil {
		u.update(id, i.id, true, false)
	}
	return i
}
