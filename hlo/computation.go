package hlo

import (
	"fmt"
	"iter"
	"slices"
)

// CompID names a computation within its module. It is stable across versions and never reused in one lineage.
type CompID uint32

// NoComp is the CompID of no computation.
const NoComp = ^CompID(0)

// MainThread is the execution thread of a computation that names none.
const MainThread = "main"

// Computation is one version of a computation: instructions in program order, a root, parameters. It is a small value; == means
// the same version. The zero Computation is none. Frozen computations may be read by any number of goroutines; derived facts (users,
// orders, hashes) are computed on first demand and kept.
type Computation struct{ c *compNode }

// node checks that a view is not stale.
func (c Computation) node() *compNode {
	if c.c.outdated {
		c.c.live.check()
	}
	return c.c
}

// checked is node for iterators, which must be small enough to be inlined: a loop over one that is allocates nothing.
//
//go:noinline
func (c Computation) checked() *compNode { return c.node() }

func (c *compNode) mustAt(id InstrID) Instruction {
	n := c.instrs.get(uint32(id))
	if n == nil {
		panic(fmt.Sprintf("hlo: no instruction %d in computation %q", id, c.name))
	}
	return c.handle(n)
}

// IsZero reports whether c is no computation.
func (c Computation) IsZero() bool { return c.c == nil }

// ID is the computation's id in its module. A stale view still knows it.
func (c Computation) ID() CompID { return c.c.id }

// Name is the computation's name, unique in the module, without '%'.
func (c Computation) Name() string { return c.node().name }

// ExecutionThread is the thread that the computation runs on.
func (c Computation) ExecutionThread() string {
	if t := c.node().thread; t != "" {
		return t
	}
	return MainThread
}

// Root is the instruction whose value is the result; the zero Instruction while none is set.
func (c Computation) Root() Instruction {
	n := c.node()
	in, _ := Computation{n}.At(n.root)
	return in
}

// NumInstructions is the number of instructions.
func (c Computation) NumInstructions() int { return int(c.node().count) }

// IDLimit is one past the greatest id: the size of a table indexed by InstrID.
func (c Computation) IDLimit() InstrID { return InstrID(c.node().instrs.n) }

// At is the instruction of the given id.
func (c Computation) At(id InstrID) (Instruction, bool) {
	n := c.node()
	if in := n.instrs.get(uint32(id)); in != nil {
		return n.handle(in), true
	}
	return Instruction{}, false
}

// MustAt is the instruction of an id that is known to exist; it panics when there is none.
func (c Computation) MustAt(id InstrID) Instruction { return c.node().mustAt(id) }

// ByName is the instruction of the given name.
func (c Computation) ByName(name string) (Instruction, bool) {
	n := c.node()
	index := n.cache().byName.Load()
	if index == nil {
		m := make(map[string]InstrID, n.count)
		n.instrs.each(func(in *instrNode) bool { m[in.name] = in.id; return true })
		index = &m
		n.cache().byName.Store(index)
	}
	id, ok := (*index)[name]
	if !ok {
		return Instruction{}, false
	}
	return n.mustAt(id), true
}

// NumParameters is the number of parameter instructions.
func (c Computation) NumParameters() int { return len(c.node().params) }

// Parameters is a new slice with the ids of the parameters by number.
func (c Computation) Parameters() []InstrID { return slices.Clone(c.node().params) }

// Parameter is the parameter instruction with the i-th smallest number, which in a well-formed computation is parameter(i).
func (c Computation) Parameter(i int) Instruction {
	n := c.node()
	return n.mustAt(n.params[i])
}

// Signature is the shapes of parameters and result.
func (c Computation) Signature() ProgramShape {
	n := c.node()
	p := ProgramShape{Parameters: make([]Shape, len(n.params))}
	for i, id := range n.params {
		p.Parameters[i] = n.instrs.get(uint32(id)).shape
	}
	if r := n.instrs.get(uint32(n.root)); r != nil {
		p.Result = r.shape
	}
	return p
}

// Instructions yields the instructions in program order: the schedule if there is one, else the order of insertion.
func (c Computation) Instructions() iter.Seq[Instruction] {
	n := c.checked()
	return func(yield func(Instruction) bool) { n.inProgramOrder(yield) }
}

func (c *compNode) inProgramOrder(yield func(Instruction) bool) {
	if c.idOrder {
		c.byID(yield)
		return
	}
	large := c.isLarge()
	for order := c.order(); len(order) > 0; {
		next := order[:min(len(order), NodesAhead)]
		order = order[len(next):]
		if large {
			readAhead(next)
		}
		for _, in := range next {
			if !yield(c.handle(in)) {
				return
			}
		}
	}
}

// byID yields the instructions in the order of their ids.
func (c *compNode) byID(yield func(Instruction) bool) {
	large := c.isLarge()
	c.instrs.eachLeaf(func(slots []*instrNode) bool {
		if large {
			readAhead(slots)
		}
		for _, in := range slots {
			if in != nil && !yield(c.handle(in)) {
				return false
			}
		}
		return true
	})
}

// PostOrder yields every instruction after its control predecessors and operands, in the order XLA prints and traverses
// unscheduled computations in (hlo-text section 10.4).
func (c Computation) PostOrder() iter.Seq[Instruction] {
	n := c.checked()
	return func(yield func(Instruction) bool) { n.inPostOrder(yield) }
}

func (c *compNode) inPostOrder(yield func(Instruction) bool) {
	order := c.postOrder()
	if order == nil {
		c.byID(yield)
	}
	for ids := range slices.Chunk(order, NodesAhead) {
		c.ahead(ids)
		for _, id := range ids {
			if !yield(c.mustAt(id)) {
				return
			}
		}
	}
}

// OperandsFirst yields every instruction after its operands: by the schedule if there is one, else in post-order. Program order does not
// promise that before a schedule is made: a pass may have given an instruction an operand that was added later.
func (c Computation) OperandsFirst() iter.Seq[Instruction] {
	if c.IsScheduled() {
		return c.Instructions()
	}
	return c.PostOrder()
}

// IsScheduled reports whether program order is an execution order.
func (c Computation) IsScheduled() bool { return c.node().scheduled }

// Schedule is a new slice with the ids in execution order, nil when the computation is not scheduled.
func (c Computation) Schedule() []InstrID {
	n := c.node()
	if !n.scheduled {
		return nil
	}
	return n.orderIDs()
}

// Less reports whether a precedes b in program order. Both must be instructions of the computation.
func (c Computation) Less(a, b InstrID) bool {
	n := c.node()
	return n.mustAt(a).node().rank < n.mustAt(b).node().rank
}

// Users yields the ids of the instructions that use id as an operand, each once, ascending.
func (c Computation) Users(id InstrID) iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) { c.eachUser(id, yield) }
}

func (c Computation) eachUser(id InstrID, yield func(InstrID) bool) {
	eachID(c.node().usersOf(id), yield)
}

// UserCount is the number of instructions that use id as an operand.
func (c Computation) UserCount(id InstrID) int { return c.node().userCount(id) }

// ControlSuccessors yields the ids of the instructions that have id as control predecessor, each once, ascending.
func (c Computation) ControlSuccessors(id InstrID) iter.Seq[InstrID] {
	return func(yield func(InstrID) bool) { eachID(c.node().successorsOf(id), yield) }
}

// Note is what a pass left under key with [CompEdit.SetNote].
func (c Computation) Note(key AttrKey) (Attr, bool) { return c.node().notes.get(key) }

// String is the name with '%'.
func (c Computation) String() string {
	if c.c == nil {
		return "%<no computation>"
	}
	return "%" + c.Name()
}
