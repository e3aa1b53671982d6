package scalar

import (
	"unsafe"

	"github.com/gohalo/halo/internal/amd64"
)

// Loop computes one element at d from those at a, b and c, as inner loops over arrays do when they are called with n = 1. It cannot fail
// and does not keep the pointers.
type Loop func(n int, d, a, b, c unsafe.Pointer)

// Inline writes the instructions that compute what a [Loop] does to one element. They change vector registers from 16 on, masks, those that Uses says, and nothing
// else. The operands are at the low end of args, which are read before anything is changed but their own of [InlineArguments]; the register with the result is returned. Constant is where
// 16 bytes are in the code.
type Inline interface {
	// Uses is a set of vector registers below 16: bit i is that of register i.
	Uses() uint16
	// Below is the power of two below which the magnitude of the only operand has to be, a double or a single one; the loop is called for others. It is 0 if there is no limit.
	Below() (power int, double bool)
	Write(c *amd64.Code, args []amd64.Reg, constant func([16]byte) amd64.Label) amd64.Reg
}

// InlineArguments are the registers for operands of an [Inline] that are in none.
var InlineArguments = [3]amd64.Reg{0, 1, 15}

// callee is what a call computes by.
type callee struct {
	loop   Loop
	inline Inline // or nil
	args   int
}

// Value is a number of a program under construction.
type Value int32

// None is no value.
const None Value = -1

// Place is an array in memory: a number that the caller of [Program.Run] gives an address for.
type Place int32

// maxNodes bounds programs. Larger ones are left to kernels.
const maxNodes = 1 << 13

// Builder takes a program, value by value in the order of execution. Its methods report nothing: what cannot be built makes Build fail.
type Builder struct {
	Lanes int // up to how many elements an array lives in registers; to be set before anything is built

	nodes  []node
	region *region
	known  map[key]Value // scoped: an entry holds while its value's region is open
	learnt []key         // the keys of known, in the order in which they came
	epoch  int32         // of memory: loads before and after a store differ
	loops  []callee
	parts  map[Value][2]Value // of complex numbers that were joined
	places int
	failed bool
}

// node is a value, or something that happens.
type node struct {
	op     op
	width  uint8 // in bytes
	args   [3]Value
	m      int32  // a number that belongs to the op; of an opVar, that of the loop's variable or the branch's result
	bits   uint64 // opConst
	place  Place
	region *region
	loop   *loopNode
	branch *branchNode
}

// region is a series of nodes that are executed one after the other.
type region struct {
	outer *region
	loop  *loopNode // whose body or condition it is, if it is one
	nodes []Value
}

type key struct {
	op    op
	width uint8
	args  [3]Value
	m     int32
	bits  uint64
	place Place
	epoch int32
}

// NewBuilder starts a program.
func NewBuilder() *Builder {
	return &Builder{Lanes: FewLanes, region: &region{}, known: make(map[key]Value), parts: make(map[Value][2]Value), epoch: 1}
}

// Place returns the next place.
func (b *Builder) Place() Place {
	b.places++
	return Place(b.places - 1)
}

// Failed reports whether Build will fail whatever follows.
func (b *Builder) Failed() bool { return b.failed }

// Const is an element of so many bytes with the given bits.
func (b *Builder) Const(width int, bits uint64) Value {
	n := node{op: opConst, width: uint8(width), args: noArgs, bits: bits & (^uint64(0) >> (64 - 8*width))}
	return b.pure(n)
}

// ConstBytes is an element as it lies in memory.
func (b *Builder) ConstBytes(element []byte) Value {
	var word [8]byte
	copy(word[:], element)
	return b.Const(len(element), *(*uint64)(unsafe.Pointer(&word)))
}

var noArgs = [3]Value{None, None, None}

func (b *Builder) op(o op, width int, args ...Value) Value {
	n := node{op: o, width: uint8(width), args: noArgs}
	copy(n.args[:], args)
	if infos[o].commutes && n.args[0] > n.args[1] {
		n.args[0], n.args[1] = n.args[1], n.args[0]
	}
	if v, ok := b.fold(&n); ok {
		return v
	}
	return b.pure(n)
}

// pure appends a node whose value depends on nothing but the node, unless there is one already. It goes in front of the loops that do not
// change its operands.
func (b *Builder) pure(n node) Value {
	k := key{op: n.op, width: n.width, args: n.args, m: n.m, bits: n.bits, place: n.place}
	if v, ok := b.known[k]; ok {
		return v
	}
	r := b.region
	if n.op == opConst {
		for r.outer != nil {
			r = r.outer
		}
	}
	for r.loop != nil && !b.uses(&n, r) {
		r = r.outer
	}
	v := b.appendTo(r, n)
	b.learn(k, v)
	return v
}

func (b *Builder) learn(k key, v Value) {
	b.known[k] = v
	b.learnt = append(b.learnt, k)
}

// uses reports whether an operand of n is computed in the loop that r belongs to, or in a loop within.
func (b *Builder) uses(n *node, r *region) bool {
	for _, a := range n.args {
		if a == None {
			continue
		}
		for at := b.nodes[a].region; at != nil; at = at.outer {
			if at.loop == r.loop {
				return true
			}
		}
	}
	return false
}

func (b *Builder) appendTo(r *region, n node) Value {
	if len(b.nodes) >= maxNodes {
		b.failed = true
		return 0
	}
	n.region = r
	b.nodes = append(b.nodes, n)
	v := Value(len(b.nodes) - 1)
	r.nodes = append(r.nodes, v)
	return v
}

// Call is an element of so many bytes that a loop computes from up to three others. If inline is not nil, it writes what the loop does into
// code.
func (b *Builder) Call(loop Loop, inline Inline, width int, args ...Value) Value {
	n := node{op: opCall, width: uint8(width), args: noArgs, m: int32(len(b.loops))}
	if inline != nil {
		n.op = opInline
	}
	copy(n.args[:], args)
	b.loops = append(b.loops, callee{loop, inline, len(args)})
	return b.appendTo(b.region, n)
}

// Index is the offset in bytes of element clamp(i, 0, highest) at a distance of stride bytes from one to the next.
func (b *Builder) Index(t Type, i Value, highest, stride int64) Value {
	m := int64(int32(stride))
	if m != stride {
		m = 1
	}
	n := node{op: opIndexS32 + op(t), width: 8, args: [3]Value{i, None, b.Const(8, uint64(highest))}, m: int32(m)}
	v, ok := b.fold(&n)
	if !ok {
		v = b.pure(n)
	}
	if m != stride {
		v = b.op(opMul, 8, v, b.Const(8, uint64(stride)))
	}
	return v
}

// AddOffsets adds two results of Index; either may be None.
func (b *Builder) AddOffsets(x, y Value) Value {
	switch {
	case x == None:
		return y
	case y == None:
		return x
	}
	return b.op(opAdd, 8, x, y)
}

// Load reads an element of so many bytes, at the sum of offset, which may be None, and at bytes from the beginning of p.
func (b *Builder) Load(width int, p Place, offset Value, at int64) Value {
	if width > 8 {
		b.failed, width = true, 8
	}
	offset, at = b.address(offset, at)
	n := node{op: loads[width], width: uint8(width), args: [3]Value{None, offset, None}, m: int32(at), place: p}
	k := key{op: n.op, args: n.args, m: n.m, place: p, epoch: b.epoch}
	if v, ok := b.known[k]; ok {
		return v
	}
	v := b.appendTo(b.region, n)
	b.learn(k, v)
	return v
}

// Store writes an element; see Load.
func (b *Builder) Store(width int, p Place, offset Value, at int64, v Value) {
	offset, at = b.address(offset, at)
	b.epoch++
	b.appendTo(b.region, node{op: stores[width], args: [3]Value{None, offset, v}, m: int32(at), place: p})
}

// address makes an offset that there always is, and a displacement that an instruction has room for.
func (b *Builder) address(offset Value, at int64) (Value, int64) {
	if at != int64(int32(at)) {
		offset, at = b.AddOffsets(offset, b.Const(8, uint64(at))), 0
	}
	if offset == None {
		offset = b.Const(8, 0)
	}
	if c := &b.nodes[offset]; c.op == opConst && c.bits != 0 {
		if sum := int64(c.bits) + at; sum == int64(int32(sum)) {
			return b.Const(8, 0), sum
		}
	}
	return offset, at
}

var (
	loads  = [...]op{1: opLoad1, 2: opLoad2, 4: opLoad4, 8: opLoad8}
	stores = [...]op{1: opStore1, 2: opStore2, 4: opStore4, 8: opStore8}
)
