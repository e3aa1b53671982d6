package simplify

import (
	"bytes"
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
)

// CSE makes equal instructions one.
var CSE = cse(nil, true, false)

const anyLayoutParam, anyControlParam = "is-layout-sensitive", "ignore-control-dependencies"

// NewCSE makes the pass cse.
func NewCSE(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(anyLayoutParam, anyControlParam); err != nil {
		return nil, err
	}
	layouts, err := o.BoolOr(anyLayoutParam, true)
	if err != nil {
		return nil, err
	}
	anyControl, err := o.Bool(anyControlParam)
	if err != nil {
		return nil, err
	}
	return cse(o, layouts, anyControl), nil
}

const cseDoc = `compute equal expressions once

Two instructions are equal if opcode, attributes, shape, operands and what they call are; operands of commutative ops may be exchanged, and
equal computations may have two names.
Constants are equal by their bits: zero is not minus zero, and a constant whose value a dump leaves out equals no other. Instructions with side effects, random ones, and those with control
dependencies are left alone, and so are asynchronous ones: each start begins work of its own, and collectives on channels. What stands for another waits for no done that the
other did not wait for.`

func cse(o pass.Options, layouts, anyControl bool) *pass.Pass {
	return &pass.Pass{Name: "cse", Doc: cseDoc, Options: o,
		Params: []pass.Param{
			{Name: anyLayoutParam, Doc: "what differs by its layout is not equal (the default); otherwise layouts are not chosen yet"},
			{Name: anyControlParam, Doc: "what waits for others by control dependencies alone may be equal; what waited for it waits for those; false"},
		},
		Lent: true, Local: func(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit) error {
			return mergeEqual(ctx, ce, m, m.MustComputation(ce.ID()), pass.Fact(ctx, m, analysis.FindSideEffects), layouts, anyControl)
		}}
}

func mergeEqual(ctx *pass.Context, ce hlo.CompEdit, m hlo.Module, c hlo.Computation, effects *analysis.SideEffects, layouts, anyControl bool) error {
	all := c.Instructions()
	if anyControl { // what stands for another must not wait for a user of it
		all = c.OperandsFirst()
	}
	var merges []hlo.Replacement // made when c has been read
	k, windows := newClasses(pass.Fact(ctx, m, findTwins), c, layouts, layouts && !anyControl), analysis.FindWindows(c)
	defer k.done()
	for in, local := range k.ahead(all) {
		if !mergeable(in, effects, anyControl) {
			continue
		}
		first := k.first(in, local)
		if first == hlo.NoInstr {
			continue
		}
		if windows.Delays(in.ID(), first) {
			ctx.Missed(in, "computed again: %%%s, which is equal, waits for a chain that this does not need", c.MustAt(first).Name())
			continue
		}
		if !ctx.Spend("merge") {
			break
		}
		k.standsFor[in.ID()] = first
		if n := len(merges); n == cap(merges) {
			merges = slices.Grow(merges, max(n, 8)) // twice as many: a long list moves seldom
		}
		merges = append(merges, hlo.Replacement{Old: in.ID(), New: first})
		ctx.Count("instructions", 1)
		ctx.Count("bytes", in.Shape().ByteSize())
	}
	if anyControl {
		for _, r := range merges {
			dropControl(ce, r.Old)
		}
	}
	return ce.ReplaceInstructions(merges)
}

// dropControl removes the control dependencies of an instruction: what waited for it waits for what it waited for.
func dropControl(ce hlo.CompEdit, id hlo.InstrID) {
	before, after := slices.Collect(ce.At(id).ControlPredecessors()), slices.Collect(ce.ControlSuccessors(id))
	for _, s := range after {
		in := ce.Instr(s).RemoveControlPredecessor(id)
		for _, p := range before {
			in.AddControlPredecessor(p)
		}
	}
	for _, p := range before {
		ce.Instr(id).RemoveControlPredecessor(p)
	}
}

// classes are the instructions seen so far, by what they compute. It allocates nothing for an instruction, and its tables are used again.
type classes struct {
	twins     *twins
	c         hlo.Computation
	layouts   bool          // a result in another layout is another one
	whole     bool          // what differs by its layout, or by how many it waits for, is another one: the hash that is remembered tells them apart
	standsFor []hlo.InstrID // by id: the instruction that has taken its place, or itself
	slots     []uint64      // open addressing: the first of a class, half of its hash << 32 | id + 1; 0: free
	touched   uint64        // the sum of what ahead has read, so that no compiler leaves it out
}

var classesRoom = sync.Pool{New: func() any { return new(classes) }}

func newClasses(t *twins, c hlo.Computation, layouts, whole bool) *classes {
	k := classesRoom.Get().(*classes)
	k.twins, k.c, k.layouts, k.whole = t, c, layouts, whole
	ids, slots := int(c.IDLimit()), 2<<bits.Len(uint(c.NumInstructions()))
	k.standsFor, k.slots = slices.Grow(k.standsFor[:0], ids)[:ids], slices.Grow(k.slots[:0], slots)[:slots]
	for i := range k.standsFor {
		k.standsFor[i] = hlo.InstrID(i)
	}
	clear(k.slots)
	return k
}

// done gives the tables back, without holding on to the computation.
func (k *classes) done() {
	k.twins, k.c = nil, hlo.Computation{}
	classesRoom.Put(k)
}

// ahead yields the same instructions with their local hashes, and reads where first will look for them a few at a time before: of a large table hardly anything is
// in a cache, and memory gives several places at once as fast as one. Where operands are merged in between, it has read elsewhere.
func (k *classes) ahead(all iter.Seq[hlo.Instruction]) iter.Seq2[hlo.Instruction, uint64] {
	const few = 16
	return func(yield func(hlo.Instruction, uint64) bool) {
		var next [few]hlo.Instruction
		var locals, places [few]uint64
		n := 0
		flush := func() bool {
			for i, in := range next[:n] {
				locals[i] = k.local(in)
				places[i] = k.hash(in, locals[i]) >> 32
			}
			mask := uint64(len(k.slots) - 1)
			for _, at := range places[:n] { // apart: what remembers the local hash waits for all that was read before
				k.touched += k.slots[at&mask]
			}
			for i, in := range next[:n] {
				if !yield(in, locals[i]) {
					return false
				}
			}
			n = 0
			return true
		}
		for in := range all {
			next[n] = in
			if n++; n == few && !flush() {
				return
			}
		}
		flush()
	}
}

// first returns the first instruction that computes the same as in, whose local hash is given; if there is none, in is remembered.
func (k *classes) first(in hlo.Instruction, local uint64) hlo.InstrID {
	hash := k.hash(in, local)
	mask := uint64(len(k.slots) - 1)
	for i := hash >> 32 & mask; ; i = (i + 1) & mask {
		slot := k.slots[i]
		if slot == 0 {
			k.slots[i] = hash<<32 | uint64(in.ID()) + 1
			return hlo.NoInstr
		}
		if id := hlo.InstrID(uint32(slot) - 1); uint32(slot>>32) == uint32(hash) && k.same(k.c.MustAt(id), in) {
			return id
		}
	}
}

func (k *classes) hash(in hlo.Instruction, local uint64) uint64 {
	hash := local
	for i := range in.NumOperands() {
		hash = (hash ^ uint64(k.operand(in, i))) * 0x9E3779B97F4A7C15
	}
	return hash
}

// operand is operand i after what was merged, the two of a commutative op in the order of their ids.
func (k *classes) operand(in hlo.Instruction, i int) hlo.InstrID {
	id := k.standsFor[in.Operand(i)]
	if in.NumOperands() == 2 && hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCommutative) {
		other := k.standsFor[in.Operand(1-i)]
		if i == 0 {
			return min(id, other)
		}
		return max(id, other)
	}
	return id
}

func (k *classes) same(a, b hlo.Instruction) bool {
	if a.NumOperands() != b.NumOperands() {
		return false
	}
	for i := range a.NumOperands() {
		if k.operand(a, i) != k.operand(b, i) {
			return false
		}
	}
	if k.layouts || a.Shape().Equal(b.Shape()) {
		return hlo.EqualLocalBy(a, b, k.sameCallee)
	}
	return !b.IsRoot() && !readsLayout(b) && (hlo.EqualLocalAnyLayout(a, b, k.sameCallee) || equalElements(a, b))
}

// readsLayout reports a value that somebody takes as it lies in memory, or whose layout a computation has agreed on.
func readsLayout(in hlo.Instruction) bool {
	for user := range in.Users() {
		if user.Opcode() == hlo.OpBitcast || user.Opcode() == hlo.OpCustomCall || user.NumCallees() > 0 {
			return true
		}
	}
	return false
}

// equalElements reports constants that differ by their layouts alone: what is kept of them is in row-major order.
func equalElements(a, b hlo.Instruction) bool {
	x, y := a.Literal(), b.Literal()
	return x != nil && y != nil && a.Shape().IsArray() && a.Shape().EqualIgnoringLayout(b.Shape()) && bytes.Equal(x.Bytes(), y.Bytes()) &&
		shardingOf(a) == nil && shardingOf(b) == nil
}

// local is the hash of an instruction without its operands.
func (k *classes) local(in hlo.Instruction) uint64 {
	if k.whole {
		return in.LocalHash()
	}
	hash := uint64(in.Opcode())
	if s := in.Shape(); s.IsArray() {
		hash = hash<<8 ^ uint64(s.Type())
		for _, d := range s.Dimensions() {
			hash = (hash ^ uint64(d)) * 0x9E3779B97F4A7C15
		}
	}
	return hash
}

func shardingOf(in hlo.Instruction) *hlo.Sharding {
	if c := in.Common(); c != nil {
		return c.Sharding
	}
	return nil
}

// sameCallee reports whether two computations are equal: each reduction of a program from JAX has a reducer of its own, for example.
func (k *classes) sameCallee(a, b hlo.CompID) bool { return a == b || k.twins.of(a) == k.twins.of(b) }

// twins are computations that were equal before the pass began: while it runs, others may be edited.
type twins struct {
	first idmap.Map[hlo.CompID, hlo.CompID]
}

// findTwins looks at small computations, as reducers and comparators are.
func findTwins(m hlo.Module) *twins {
	const small = 33 // and more
	t, byHash := new(twins), map[hlo.Hash]hlo.Computation{}
	var bySize [small + 1]int
	for c := range m.Computations() {
		bySize[min(c.NumInstructions(), small)]++
	}
	for c := range m.Computations() {
		n := c.NumInstructions()
		if n >= small || c.ID() == m.Entry().ID() || bySize[n] == 1 {
			continue
		}
		if hasElided(c) {
			continue
		}
		hash := c.Hash()
		if first, ok := byHash[hash]; !ok {
			byHash[hash] = c
		} else if first.Equal(c) {
			t.first.Set(c.ID(), first.ID())
		}
	}
	return t
}

func hasElided(c hlo.Computation) bool {
	if !c.Opcodes().Has(hlo.OpConstant) {
		return false
	}
	for in := range c.Instructions() {
		if elided(in) {
			return true
		}
	}
	return false
}

// of is the first of the computations that are equal to id.
func (t *twins) of(id hlo.CompID) hlo.CompID {
	if first, ok := t.first.Lookup(id); ok {
		return first
	}
	return id
}

// mergeable leaves a constant alone whose value a dump leaves out: it may be another one's, or not. A buffer is a place in memory, so that two are not one.
func mergeable(in hlo.Instruction, effects *analysis.SideEffects, anyControl bool) bool {
	return (effects.Pure(in) || ownCollective(in, effects)) && (anyControl || in.NumControlPredecessors()+in.NumControlSuccessors() == 0) && !elided(in) && !in.Shape().IsBuffer()
}

// ownCollective reports a collective without a channel: it joins executions of this program, which all lose the same one.
func ownCollective(in hlo.Instruction, effects *analysis.SideEffects) bool {
	t := hlo.Info(in.Opcode()).Traits
	return t.Has(hlo.TraitCollective) && t&(hlo.TraitRandom|hlo.TraitAsyncStart|hlo.TraitAsyncDone|hlo.TraitTokens) == 0 && !effects.Needed(in)
}

// elided reports whether an instruction is a constant whose value a dump leaves out.
func elided(in hlo.Instruction) bool {
	l := in.Literal()
	return l != nil && l.IsElided()
}
