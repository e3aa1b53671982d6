package hlo

import (
	"slices"
	"sync"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// world is everything that goes on in one property test: sessions side by side, and the versions that any of them published.
type world struct {
	t        *rapid.T
	sessions []*script
	versions []version
	readers  sync.WaitGroup
}

type version struct {
	m      Module
	o      *oracleModule
	digest *Digest // what a reader saw, while sessions went on
}

// script is a run of random edits on an Editor and the oracle side by side.
type script struct {
	*world
	e    *Editor
	o    *oracleModule
	lent CompID // of a fork: the computation it may edit; NoComp
}

func (w *world) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, label) }

// comp draws a computation.
func (s *script) comp() (CompEdit, *oracleComp) {
	id := s.lent
	if id == NoComp {
		live := s.o.live()
		id = live[s.pick("comp", len(live))]
	}
	return s.e.Computation(id), s.o.comps[id]
}

func (s *script) instr(c *oracleComp) InstrID { return c.order[s.pick("instr", len(c.order))] }

func (s *script) operands(c *oracleComp) []InstrID {
	l := make([]InstrID, s.pick("operands", 8))
	for i := range l {
		l[i] = s.instr(c)
	}
	return l
}

// publish takes a snapshot. Readers look at it while the session goes on, and sometimes before anybody else has.
func (s *script) publish() {
	m := s.e.Snapshot()
	v := version{m, s.o.clone(), new(Digest)}
	s.versions = append(s.versions, v)
	if s.pick("look", 2) == 0 {
		s.o.compare(s.t, m)
	}
	s.readers.Go(func() {
		for c := range m.Computations() {
			for in := range c.Instructions() {
				in.UserCount()
			}
			for range c.PostOrder() {
			}
		}
		m.Hash()
		*v.digest = m.Digest()
	})
}

// step does one random thing in the session.
func (s *script) step() {
	if k := s.pick("edit", len(localEdits)+len(sessionEdits)); k < len(localEdits) {
		s.localStep(k)
	} else {
		sessionEdits[k-len(localEdits)](s)
	}
}

func (s *script) localStep(k int) {
	c, o := s.comp()
	localEdits[k](s, c, o)
}

var nameRoots = []string{"a", "b", "a.1", "b.0", "c.x", "a.70", ""}

func (s *script) newInstr(c *oracleComp) (InstrSpec, *oracleInstr) {
	op := []Opcode{OpAbs, OpAdd, OpParameter, OpCall}[s.pick("op", 4)]
	spec := InstrSpec{Opcode: op, Name: nameRoots[s.pick("name", len(nameRoots))], Shape: shapeOfSize(int64(s.pick("size", 3))), Operands: s.operands(c)}
	in := &oracleInstr{op: op, size: spec.Shape.Dim(0), operands: spec.Operands}
	if op == OpParameter {
		in.number = int64(s.pick("number", 3))
		spec.Attrs = &ParameterAttrs{Number: in.number}
	}
	name := spec.Name
	if name == "" {
		name = op.String()
	}
	in.name = s.o.names.unique(name)
	return spec, in
}

// localEdits are those of one computation, which a fork may do too.
var localEdits = []func(s *script, c CompEdit, o *oracleComp){
	func(s *script, c CompEdit, o *oracleComp) { // shape
		id, n := s.instr(o), int64(s.pick("size", 3))
		c.Instr(id).SetShape(shapeOfSize(n))
		o.instrs[id].size = n
	},
	func(s *script, c CompEdit, o *oracleComp) { // operand
		id, to := s.instr(o), s.instr(o)
		if ops := o.instrs[id].operands; len(ops) > 0 {
			k := s.pick("k", len(ops))
			c.Instr(id).SetOperand(k, to)
			ops[k] = to
		} else {
			c.Instr(id).AppendOperand(to)
			o.instrs[id].operands = append(ops, to)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // operands
		id, to := s.instr(o), s.operands(o)
		c.Instr(id).SetOperands(to...)
		o.instrs[id].operands = slices.Clone(to)
	},
	func(s *script, c CompEdit, o *oracleComp) { // append operand
		id, to := s.instr(o), s.instr(o)
		c.Instr(id).AppendOperand(to)
		o.instrs[id].operands = append(o.instrs[id].operands, to)
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove operand
		id := s.instr(o)
		if ops := o.instrs[id].operands; len(ops) > 0 {
			k := s.pick("k", len(ops))
			c.Instr(id).RemoveOperand(k)
			o.instrs[id].operands = slices.Delete(ops, k, k+1)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // add
		spec, in := s.newInstr(o)
		require.Equal(s.t, o.next, c.AddSpec(spec).ID())
		o.instrs[o.next] = in
		o.order = append(o.order, o.next)
		o.next++
	},
	func(s *script, c CompEdit, o *oracleComp) { // insert
		at := s.instr(o)
		spec, in := s.newInstr(o)
		require.Equal(s.t, o.next, c.InsertSpecBefore(at, spec).ID())
		o.instrs[o.next] = in
		o.order = slices.Insert(o.order, slices.Index(o.order, at), o.next)
		o.next++
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove
		id := s.instr(o)
		wants := len(o.users(id)) == 0 && len(o.successors(id)) == 0 && o.root != id && o.instrs[id].op != OpParameter
		require.Equal(s.t, wants, c.Remove(id) == nil)
		if wants {
			o.remove(id)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove a parameter
		params := o.params()
		if len(params) == 0 {
			return
		}
		k := s.pick("param", len(params))
		id := params[k]
		wants := len(o.users(id)) == 0 && len(o.successors(id)) == 0 && o.root != id
		require.Equal(s.t, wants, c.RemoveParameter(k) == nil)
		if wants {
			o.remove(id)
			for i, p := range slices.Delete(params, k, k+1) {
				if i >= k {
					o.instrs[p].number = int64(i)
				}
			}
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // replace all uses
		a, b := s.instr(o), s.instr(o)
		require.Equal(s.t, o.replaceAllUses(a, b), c.ReplaceAllUses(a, b))
	},
	func(s *script, c CompEdit, o *oracleComp) { // a chain of replacements
		for range 1 + s.pick("forwards", 3) {
			a, b := s.instr(o), s.instr(o)
			o.replaceAllUses(a, b)
			c.Forward(a, b)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // root
		o.root = s.instr(o)
		c.SetRoot(o.root)
	},
	func(s *script, c CompEdit, o *oracleComp) { // schedule
		o.order = rapid.Permutation(o.order).Draw(s.t, "schedule")
		o.scheduled = true
		require.NoError(s.t, c.SetSchedule(o.order))
	},
	func(s *script, c CompEdit, o *oracleComp) { // no schedule
		o.scheduled = false
		c.ClearSchedule()
	},
	func(s *script, c CompEdit, o *oracleComp) { // control edge
		id, p := s.instr(o), s.instr(o)
		in := o.instrs[id]
		if k := slices.Index(in.control, p); k >= 0 {
			c.Instr(id).RemoveControlPredecessor(p)
			in.control = slices.Delete(in.control, k, k+1)
		} else {
			c.Instr(id).AddControlPredecessor(p)
			in.control = append(in.control, p)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // instruction name
		id, name := s.instr(o), nameRoots[s.pick("name", len(nameRoots)-1)]
		c.Instr(id).SetName(name)
		if in := o.instrs[id]; in.name != name {
			in.name = s.o.names.unique(name)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // attribute
		id, v := s.instr(o), []string{"", "x", "y"}[s.pick("config", 3)]
		c.Instr(id).SetAttr(KeyBackendConfig, v)
		o.instrs[id].config = v
	},
	func(s *script, c CompEdit, o *oracleComp) { // opcode
		id := s.instr(o)
		if in := o.instrs[id]; in.op != OpParameter {
			in.op = []Opcode{OpAbs, OpNegate, OpCall}[s.pick("op", 3)]
			c.Instr(id).SetOpcode(in.op)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { // call
		id := s.instr(o)
		to, _ := s.comp()
		c.Instr(id).SetCallees(to.ID())
		o.instrs[id].callees = []CompID{to.ID()}
	},
	func(s *script, c CompEdit, o *oracleComp) { // replace an instruction
		a, b := s.instr(o), s.instr(o)
		require.Equal(s.t, o.replaceInstruction(a, b), c.ReplaceInstruction(a, b) == nil)
	},
	func(s *script, c CompEdit, o *oracleComp) { // replace several
		var list []Replacement
		all := true
		for range 1 + s.pick("replacements", 4) {
			r := Replacement{s.instr(o), s.instr(o)}
			list = append(list, r)
			if all = o.replaceInstruction(r.Old, r.New); !all {
				break
			}
		}
		require.Equal(s.t, all, c.ReplaceInstructions(list) == nil)
	},
	func(s *script, c CompEdit, o *oracleComp) { // remove what is not used
		ids := s.operands(o)
		keeps := []Opcode{OpAbs, OpAdd}[s.pick("keeps", 2)]
		isMany := len(ids) >= len(o.instrs)/16
		require.Equal(s.t, isMany, c.RemoveUnused(ids, func(in InstrEdit) bool { return in.Opcode() != keeps }))
		if isMany {
			o.removeUnused(ids, keeps)
		}
	},
	func(s *script, c CompEdit, o *oracleComp) { o.compare(s.t, c.View()) },
	func(s *script, c CompEdit, o *oracleComp) { // users in the session
		id := s.instr(o)
		require.Equal(s.t, o.users(id), append([]InstrID(nil), slices.Collect(c.Users(id))...))
	},
	func(s *script, c CompEdit, o *oracleComp) { s.publish() },
}
