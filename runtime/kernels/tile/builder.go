package tile

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/scalar"
)

// Value is a value of a program under construction.
type Value int

// Builder makes a program. Values are defined before they are used.
type Builder struct {
	space  Space
	values []value
	arrays [][]byte // that are constants
	steps  []buildStep
	stores []store
	folds  []rowFold
	across bool  // see [Builder.FoldAcross]
	result Value // what Visit shows, or noValue
	rows   int
	// quotients are those by constants: see byconstant.go.
	quotients map[[2]Value]Value
	room      []Value // for operands
}

type value struct {
	typ   hlo.PrimitiveType
	load  *load
	iota  *counter
	splat *splat
	table *table
	// same is the value whose register holds this one too, or noValue.
	same Value
	// round, if not nil, has yet to bring the numbers into the type: a store does that itself.
	round loop
	// rounded, if not nil, is what the step that computes the value can do instead to have it rounded.
	rounded loop
	def     int // step that computes it, or -1
	weight  int
}

type buildStep struct {
	fn loop
	// What other packages call the loop: see operation.
	name      scalar.Name
	vector    vectors.Name
	exchanged bool
	// op is what is computed in f32, if that is one op, and rounded says that the result is rounded to bf16 then.
	op      hlo.Opcode
	rounded bool
	takes   bool // see [Builder.Pick]
	// raw is what the step does that can be done to codes of narrow floats as well, or none: see [Builder.keepCodes].
	raw  hlo.Opcode
	d    Value
	args []Value
}

// NewBuilder starts a program over a space.
func NewBuilder(s Space) *Builder {
	return &Builder{space: s, result: noValue, values: make([]value, 0, 4), steps: make([]buildStep, 0, 2)}
}

// Supports reports whether registers can hold type t.
func Supports(t hlo.PrimitiveType) bool {
	return t == hlo.PRED || t.IsArray() && t.Bits() >= 8
}

// isWide reports whether numbers of type t are held in a wider type than memory has.
func isWide(t hlo.PrimitiveType) bool { return t.IsFloat() && t.Bits() < 32 }

// lane is the type in which registers hold t.
func lane(t hlo.PrimitiveType) hlo.PrimitiveType {
	if isWide(t) {
		return hlo.F32
	}
	return t
}

// noValue is no value.
const noValue Value = -1

// holder is the value in whose register v is.
func (b *Builder) holder(v Value) Value {
	if s := b.values[v].same; s != noValue {
		return s
	}
	return v
}

func (b *Builder) define(v value) Value {
	b.values = append(b.values, v)
	return Value(len(b.values) - 1)
}

// Type is the element type of v.
func (b *Builder) Type(v Value) hlo.PrimitiveType { return b.values[v].typ }

// Input is argument arg, of type t, seen through a view.
func (b *Builder) Input(arg int, t hlo.PrimitiveType, view View) Value {
	for i := range b.values {
		if l := b.values[i].load; l != nil && l.arg == arg && l.view.equal(&view) {
			return Value(i)
		}
	}
	return b.define(value{typ: t, def: -1, same: noValue, load: &load{arg: arg, typ: t, view: view, direct: -1}})
}

func (v *View) equal(o *View) bool {
	if v.Base != o.Base || !slices.Equal(v.Turns, o.Turns) {
		return false
	}
	for i, s := range v.Strides {
		if s != o.Strides[i] {
			return false
		}
	}
	return true
}

// Held is Input for elements that are in memory as registers hold them: narrow floats are f32, rounded.
func (b *Builder) Held(arg int, t hlo.PrimitiveType, view View) Value {
	v := b.Input(arg, t, view)
	b.values[v].load.typ = lane(t)
	return v
}

// Constant is one element of type t, everywhere.
func (b *Builder) Constant(t hlo.PrimitiveType, element []byte) Value {
	s := &splat{width: lane(t).ByteSize(), value: append(make([]byte, 0, 16), element[:t.ByteSize()]...)}
	if isWide(t) {
		s.code = s.value
		wide := make([]float32, 4)
		widenLoop(t)(1, unsafe.Pointer(&wide[0]), unsafe.Pointer(&s.value[0]), nil, nil)
		s.value = unsafe.Slice((*byte)(unsafe.Pointer(&wide[0])), 16)
	}
	for i := range b.values { // each has a tile of memory
		if v := &b.values[i]; v.splat != nil && v.typ == t && bytes.Equal(v.splat.value, s.value) {
			return Value(i)
		}
	}
	return b.define(value{typ: t, def: -1, same: noValue, splat: s})
}

// Iota is the number that a view gives instead of an offset, converted to type t.
func (b *Builder) Iota(t hlo.PrimitiveType, view View) (Value, bool) {
	fill := iotaLoop(lane(t))
	if fill == nil {
		return 0, false
	}
	for i := range b.values {
		if v := &b.values[i]; v.iota != nil && v.typ == t && v.iota.view.equal(&view) {
			return Value(i), true
		}
	}
	if !isWide(t) && view.isUniform() {
		var w walk
		w.start(&b.space, &view, 0)
		element := make([]byte, t.ByteSize())
		fill(unsafe.Pointer(&element[0]), 1, &w, new(series))
		return b.Constant(t, element), true
	}
	v := value{typ: t, def: -1, same: noValue, iota: &counter{view: view, fill: fill}}
	if !isWide(t) {
		return b.define(v), true
	}
	v.typ = hlo.F32
	wide := b.define(v)
	return b.step(t, copyLoop(4), roundLoop(t), 1, wide), true
}

// Op applies an elementwise instruction, given by its opcode, attributes and result type. It reports false for what there is no loop
// for. A type in the result other than the operands' is up to the op.
func (b *Builder) Op(in hlo.Instruction, args ...Value) (Value, bool) {
	types := make([]hlo.PrimitiveType, len(args))
	for i, a := range args {
		types[i] = b.values[a].typ
	}
	t := in.Shape().Type()
	if part, ok := realPart(in, types); ok {
		re, ok := b.Convert(part, args[0])
		if !ok {
			return 0, false
		}
		args, types = []Value{re}, []hlo.PrimitiveType{part}
	}
	if v, ok := b.byConstant(in.Opcode(), t, args); ok {
		return v, true
	}
	if v, ok := b.order(in, types, args); ok {
		return v, true
	}
	o, ok := findOp(in, t, types)
	if !ok {
		return 0, false
	}
	switch {
	case o.identity:
		return args[0], true
	case o.sameLanes:
		return b.sameLanes(t, o.round, args[0]), true
	}
	v := b.step(t, b.loopOf(&o), o.round, o.weight, args...)
	last := &b.steps[len(b.steps)-1]
	last.name, last.vector, last.exchanged = o.name, o.vector, o.exchanged
	if lane(t) == hlo.F32 {
		last.op = in.Opcode()
	}
	last.raw = rawOp(in.Opcode(), t, types)
	b.values[v].rounded = o.rounded
	return v, true
}

// Rotate moves the bits of v, integers of 32 or 64 bits, to the left by a number of places, and those that leave it come back on the right.
func (b *Builder) Rotate(v Value, by int) Value {
	t := b.values[v].typ
	amount := b.Constant(t, binary.LittleEndian.AppendUint64(nil, uint64(by)))
	o := operation{weight: 1, fn: rotateLeft[uint32]}
	if t.Bits() == 64 {
		o.fn = rotateLeft[uint64]
	}
	o.vectorize(vectors.Of(hlo.OpShiftLeft, t).In(vectors.Rotating))
	d := b.step(t, b.loopOf(&o), nil, o.weight, v, amount)
	b.steps[len(b.steps)-1].vector = o.vector
	return d
}

// Convert changes the type of v by value.
func (b *Builder) Convert(t hlo.PrimitiveType, v Value) (Value, bool) {
	o, ok := convertOperation(b.values[v].typ, t)
	switch {
	case !ok || o.identity:
		return v, ok
	case o.sameLanes:
		return b.sameLanes(t, o.round, v), true
	}
	d := b.step(t, b.loopOf(&o), o.round, o.weight, v)
	last := &b.steps[len(b.steps)-1]
	last.name, last.vector = o.name, o.vector
	return d, true
}

// loopOf is the better loop for the size of the space.
func (b *Builder) loopOf(o *operation) loop {
	if o.short != nil && b.space.Len() <= shortSpace {
		return o.short
	}
	return o.fn
}

// step appends a computation; round, if not nil, brings its result into the type.
func (b *Builder) step(t hlo.PrimitiveType, fn, round loop, weight int, args ...Value) Value {
	held := b.operands(len(args))
	for i, a := range args {
		held[i] = b.use(a)
	}
	v := b.define(value{typ: t, def: len(b.steps), same: noValue, round: round, weight: weight})
	b.steps = append(b.steps, buildStep{fn: fn, d: v, args: held})
	return v
}

// operands is room for those of a step.
func (b *Builder) operands(n int) []Value {
	if n > len(b.room) {
		b.room = make([]Value, max(n, 16))
	}
	held := b.room[:n:n]
	b.room = b.room[n:]
	return held
}

// sameLanes makes a value of another type of what is in v's register.
func (b *Builder) sameLanes(t hlo.PrimitiveType, round loop, v Value) Value {
	return b.define(value{typ: t, def: -1, same: b.use(v), round: round})
}

// use makes sure that v is rounded, and returns the value whose register holds it then.
func (b *Builder) use(v Value) Value {
	x := &b.values[v]
	switch {
	case x.round == nil:
	case x.rounded != nil:
		s := &b.steps[x.def]
		s.fn, s.name, s.vector, s.rounded = x.rounded, scalar.Name{}, roundedName(s.op, x.typ), true
		x.round, x.rounded = nil, nil
	default:
		from := b.holder(v)
		if from != v {
			x.same, x.def = noValue, len(b.steps)
		}
		b.steps = append(b.steps, buildStep{fn: x.round, vector: roundName(x.typ), d: v, args: []Value{from}})
		x.round = nil
		x.weight++
	}
	return b.holder(v)
}

// Store makes v output out of the program; all outputs are dense arrays over the space.
func (b *Builder) Store(out int, v Value) {
	b.stores = append(b.stores, store{out: out, reg: int(b.holder(v)), typ: b.values[v].typ})
}

// StoreIn is Store for an output that is an array of which a view sees what the space is.
func (b *Builder) StoreIn(out int, v Value, view View) {
	b.Store(out, v)
	b.stores[len(b.stores)-1].view = view
}

// StoreHeld is Store for what [Builder.Held] reads.
func (b *Builder) StoreHeld(out int, v Value) {
	b.stores = append(b.stores, store{out: out, reg: int(b.use(v)), typ: lane(b.values[v].typ)})
}

// Result makes v what [Program.Visit] shows, in tiles that end where every rows elements do, if rows is not 0.
func (b *Builder) Result(v Value, rows int) {
	b.result, b.rows = b.use(v), rows
}

// Build lays the program out. The builder must not be used afterwards.
func (b *Builder) Build() (*Program, bool) {
	p := &Program{}
	views := []*View{{Strides: b.space.RowMajor().Strides}} // of the outputs
	for i := range b.values {
		if l := b.values[i].load; l != nil {
			views = append(views, &l.view)
		}
		if o := b.values[i].iota; o != nil {
			views = append(views, &o.view)
		}
	}
	for i := range b.stores {
		if s := &b.stores[i]; s.isPlaced() {
			views = append(views, &s.view)
		}
	}
	p.folds, p.across, p.arrays = b.folds, b.across, b.arrays
	apart := len(b.space.Dims)
	if len(p.folds) > 0 { // along the last one
		apart--
	}
	if p.across {
		apart--
	}
	p.space = b.space.collapse(views, apart)
	if len(p.space.Dims) > maxRank {
		return nil, false
	}
	b.increase()
	b.keepCodes()
	b.moveRaw()
	p.stages = b.orderStages()
	b.layOut(p)
	p.row = b.rows
	p.chooseFolds()
	p.alignRows()
	p.plain = p.isPlain()
	p.weight = 1
	for i := range b.values {
		p.weight += b.values[i].weight
	}
	p.pool.New = func() any { return p.newFrame() }
	return p, true
}

// moveRaw lets narrow floats that are only moved stay as they are in memory.
func (b *Builder) moveRaw() {
	if !slices.ContainsFunc(b.stores, func(s store) bool { return isWide(s.typ) }) {
		return
	}
	used := make([]bool, len(b.values))
	for i := range b.steps {
		s := &b.steps[i]
		used[s.d] = true
		for _, a := range s.args {
			used[a] = true
		}
	}
	if b.result != noValue {
		used[b.result] = true
	}
	for _, f := range b.folds {
		used[f.reg] = true
	}
	for _, s := range b.stores {
		if v := &b.values[s.reg]; v.load == nil || s.typ != v.typ || v.load.typ != v.typ {
			used[s.reg] = true
		}
	}
	for i := range b.stores {
		s := &b.stores[i]
		if !isWide(s.typ) || used[s.reg] {
			continue
		}
		v := &b.values[s.reg]
		s.typ = b.raw(v)
		v.typ = s.typ
	}
}

// raw lets a narrow float that is loaded stay as it is in memory, and returns the type of what is there.
func (b *Builder) raw(v *value) hlo.PrimitiveType {
	v.load.typ = map[int]hlo.PrimitiveType{8: hlo.U8, 16: hlo.U16}[v.load.typ.Bits()]
	return v.load.typ
}

// Raw makes v, a narrow float that is an element of an input, the integer which it is in memory. It reports false for any other value. Nothing may have been computed of it.
func (b *Builder) Raw(v Value) bool {
	x := &b.values[v]
	if x.load == nil || !isWide(x.typ) || x.typ != x.load.typ || len(b.steps) > 0 {
		return false
	}
	x.typ = b.raw(x)
	return true
}
