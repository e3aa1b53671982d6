package native

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Value is a value of a chain under construction.
type Value int

// Builder makes a loop over rows of elements. The pointers that the loop takes are numbered in the order in which inputs, stores and folds are
// made.
type Builder struct {
	values []value
	ops    []op
	stores []store
	folds  []fold
	slots  int
	across bool // see [Builder.Across]
	far    bool // see [Builder.Far]
	// pastCaches is set while code is made that stores past the caches.
	pastCaches bool
}

// value is what an op computes, or an operand in memory: bytes of a constant, or a slot.
type value struct {
	truth    bool // bytes 0 and 1, one for each element
	size     int
	op       int // that computes it, or -1
	slot     int // or -1
	along    Along
	constant []byte
	part     int // of an operand of complex numbers: 1 real, 2 imaginary
}

// Along is how the elements of an operand lie along a row.
type Along uint8

// The ways along a row.
const (
	Neighbours Along = iota // one behind the other
	Repeated                // the same element everywhere, of which 64 follow each other in memory
	Single                  // the same element everywhere, which is in memory once
)

type op struct {
	name  vec.Name
	args  []Value
	d     Value
	truth bool // logic on truth values: see [isLogic]
	// inverts says that a division may multiply by the reciprocal: see [Builder.Quotient].
	inverts bool
}

type store struct {
	v    Value
	name vec.Name // of the loop that converts what is stored, or none
	slot int
	// rounded says that v is what name would round it to.
	rounded bool
	// part, if not 0, says that complex numbers are stored, and is the size of their parts, which v and im are.
	part int
	im   Value
}

// fold joins the elements of a row by an op, in chains.
type fold struct {
	v        Value
	name     vec.Name
	identity []byte
	slot     int
	truth    bool // see [Builder.FoldTruth]
}

// ChainBytes is the size of the chains of a fold: element i of a row is folded into chain i modulo their number, as the reductions of package vec do.
const ChainBytes = 256

// Page is the distance, in bytes, at which processors first take two places in memory for the same: reading one waits for what is being stored at the other. Chains had better begin
// with a page, where no constants of the code are.
const Page = 4096

// NewBuilder starts a loop.
func NewBuilder() *Builder { return &Builder{} }

func (b *Builder) define(v value) Value {
	b.values = append(b.values, v)
	return Value(len(b.values) - 1)
}

// Input is an operand of elements of a size; truth says that they are bytes 0 and 1.
func (b *Builder) Input(size int, truth bool, along Along) Value {
	b.slots++
	return b.define(value{truth: truth, size: size, op: -1, slot: b.slots - 1, along: along})
}

// Constant is the same element everywhere.
func (b *Builder) Constant(element []byte, truth bool) Value {
	return b.define(value{truth: truth, size: len(element), op: -1, slot: -1, constant: element})
}

// Op is the result of the loop with this name in package vec.
func (b *Builder) Op(name vec.Name, truth bool, args ...Value) Value {
	d := b.define(value{truth: truth, op: len(b.ops), slot: -1})
	b.ops = append(b.ops, op{name: name, args: args, d: d})
	return d
}

// Store puts v into memory, converted by the loop called convert if there is one.
func (b *Builder) Store(v Value, convert vec.Name) {
	b.slots++
	b.stores = append(b.stores, store{v: v, name: convert, slot: b.slots - 1})
}

// StoreRounded is Store for v that converting changes in form only.
func (b *Builder) StoreRounded(v Value, convert vec.Name) {
	b.Store(v, convert)
	b.stores[len(b.stores)-1].rounded = true
}

// Fold folds v along each row into chains in memory, ChainBytes for each row, by the loop called name in package vec. Chains begin with the
// identity, an element.
func (b *Builder) Fold(v Value, name vec.Name, identity []byte) {
	b.slots++
	b.folds = append(b.folds, fold{v: v, name: name, identity: identity, slot: b.slots - 1})
}

// FoldTruth folds truth values by an op on bits, as 0 and 1 of the width of lanes.
func (b *Builder) FoldTruth(v Value, op hlo.Opcode) {
	b.slots++
	b.folds = append(b.folds, fold{v: v, name: vec.Name{Op: op}, slot: b.slots - 1, truth: true})
}

// Across lets folds go on in the chains that are in memory, row for row. Where rows have as many elements as there are chains, each chain is a column's.
func (b *Builder) Across() { b.across = true }

// lane finds the width of lanes, which all ops must have in common, and which ops are logic on masks.
func (b *Builder) lane() (int, bool) {
	lane := 0
	for i := range b.ops {
		o := &b.ops[i]
		if o.truth = b.isLogic(o); o.truth {
			continue
		}
		r := vec.FindRecipe(o.name)
		if r == nil || lane != 0 && r.Lane != lane {
			return 0, false
		}
		lane = r.Lane
	}
	for i := range b.folds {
		if b.folds[i].truth {
			continue
		}
		if n := len(b.folds[i].identity); lane != 0 && n != lane {
			return 0, false
		} else if lane == 0 {
			lane = n
		}
	}
	if part, ok := b.pairParts(); !ok || part != 0 && lane != 0 && part != lane {
		return 0, false
	} else if part != 0 {
		lane = part
	}
	if lane == 0 { // nothing but logic: on bytes
		lane = 1
		for i := range b.ops {
			b.ops[i].truth = false
		}
	}
	return lane, true
}

// isLogic reports whether an op is one of bytes that are truth values.
func (b *Builder) isLogic(o *op) bool {
	if !b.values[o.d].truth || logic[o.name] == nil {
		return false
	}
	for _, a := range o.args {
		if !b.values[a].truth {
			return false
		}
	}
	return true
}
