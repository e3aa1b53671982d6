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
	steps  []buildStep
	stores []store
	folds  []rowFold
	across bool  // see [Builder.FoldAcross]
	result Value // what Visit shows, or noValue
	rows   int
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
	d       Value
	args    []Value
}

// NewBuilder starts a program over a space.
func NewBuilder(s Space) *Builder { return &Builder{space: s, result: noValue} }

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
	for i, v := range b.values {
		if v.load != nil && v.load.arg == arg && v.load.view.equal(&view) {
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
		wide := make([]float32, 4)
		widenLoop(t)(1, unsafe.Pointer(&wide[0]), unsafe.Pointer(&s.value[0]), nil, nil)
		s.value = unsafe.Slice((*byte)(unsafe.Pointer(&wide[0])), 16)
	}
	for i, v := range b.values { // each has a tile of memory
		if v.splat != nil && v.typ == t && bytes.Equal(v.splat.value, s.value) {
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
	for i, v := range b.values {
		if v.iota != nil && v.typ == t && v.iota.view.equal(&view) {
			return Value(i), true
		}
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
	held := make([]Value, len(args))
	for i, a := range args {
		held[i] = b.use(a)
	}
	v := b.define(value{typ: t, def: len(b.steps), same: noValue, round: round, weight: weight})
	b.steps = append(b.steps, buildStep{fn: fn, d: v, args: held})
	return v
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
	p.folds, p.across = b.folds, b.across
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
	b.moveRaw()
	p.stages = b.orderStages()
	b.layOut(p)
	p.row = b.rows
	p.alignRows()
	p.plain = p.isPlain()
	p.weight = 1
	for _, v := range b.values {
		p.weight += v.weight
	}
	p.pool.New = func() any { return p.newFrame() }
	return p, true
}

// moveRaw lets narrow floats that are only moved stay as they are in memory.
func (b *Builder) moveRaw() {
	used := make(map[Value]bool)
	for _, s := range b.steps {
		used[s.d] = true
		for _, a := range s.args {
			used[a] = true
		}
	}
	if b.result != noValue {
		used[b.result] = true
	}
	for _, f := range b.folds {
		used[Value(f.reg)] = true
	}
	for _, s := range b.stores {
		if v := &b.values[s.reg]; v.load == nil || s.typ != v.typ || v.load.typ != v.typ {
			used[Value(s.reg)] = true
		}
	}
	for i := range b.stores {
		s := &b.stores[i]
		if !isWide(s.typ) || used[Value(s.reg)] {
			continue
		}
		raw := map[int]hlo.PrimitiveType{8: hlo.U8, 16: hlo.U16}[s.typ.Bits()]
		v := &b.values[s.reg]
		v.typ, v.load.typ, s.typ = raw, raw, raw
	}
}

// layOut assigns registers: constants and inputs keep theirs, what steps compute shares memory once it is dead.
func (b *Builder) layOut(p *Program) {
	lastUse := make([]int, len(b.values))
	for i, s := range b.steps {
		for _, a := range s.args {
			lastUse[a] = i
		}
		lastUse[s.d] = max(lastUse[s.d], i)
	}
	for _, s := range b.stores {
		lastUse[s.reg] = len(b.steps)
	}
	for _, f := range b.folds {
		lastUse[f.reg] = len(b.steps)
	}
	if b.result != noValue {
		lastUse[b.result] = len(b.steps)
		p.result = int(b.result)
	}
	p.regs = make([]register, len(b.values))
	direct := b.directStores()
	m := memoryPlan{}
	for i := range b.values {
		p.regs[i] = register{slot: -1, out: -1}
		v := &b.values[i]
		width := lane(v.typ).ByteSize()
		p.widths = append(p.widths, width)
		p.truth, p.pairs = append(p.truth, v.typ == hlo.PRED), append(p.pairs, v.typ == hlo.C64)
		switch {
		case v.load != nil:
			b.layOutLoad(p, &m, Value(i), direct)
		case v.iota != nil:
			if !direct[i] {
				p.regs[i] = m.take(width)
			}
			v.iota.reg = i
			p.counters = append(p.counters, *v.iota)
		case v.splat != nil:
			p.regs[i] = m.take(width)
			v.splat.reg = i
			p.splats = append(p.splats, *v.splat)
		case v.table != nil:
			v.table.reg = i
			p.tables = append(p.tables, *v.table)
		}
	}
	for i, s := range b.steps {
		if b.values[s.d].def == i && !direct[int(s.d)] {
			p.regs[s.d] = m.take(lane(b.values[s.d].typ).ByteSize())
		}
		st := step{fn: s.fn, run: s.fn, d: int(s.d), vector: s.vector, exchanged: s.exchanged, quotient: s.op == hlo.OpDivide && b.values[s.d].typ == hlo.BF16}
		for k, to := range []*int{&st.a, &st.b, &st.c} {
			if k < len(s.args) {
				*to = int(s.args[k])
			}
		}
		p.steps = append(p.steps, st)
		p.names, p.arity = append(p.names, s.name), append(p.arity, len(s.args))
		for _, a := range s.args {
			if b.values[a].def >= 0 && lastUse[a] == i && p.regs[a].slot >= 0 {
				m.give(p.regs[a])
				lastUse[a] = -1
			}
		}
	}
	for _, s := range b.stores {
		s.direct = direct[s.reg]
		if isWide(s.typ) {
			s.narrow = narrowLoop(s.typ)
		}
		p.stores = append(p.stores, s)
	}
	b.roundStored(p)
	b.readInPlace(p)
}

// directStores are the values that are computed where they are stored: with several steps only what the last one computes, so that no
// step reads an input that shares memory with an output already written.
func (b *Builder) directStores() map[int]bool {
	direct := make(map[int]bool)
	if len(b.stores) != 1 {
		return direct
	}
	r := b.stores[0].reg
	v := &b.values[r]
	if isWide(b.stores[0].typ) || v.splat != nil {
		return direct
	}
	if (v.load != nil || v.iota != nil) && len(b.steps) == 0 {
		direct[r] = true
	} else if v.def >= 0 {
		direct[r] = true
		for _, s := range b.steps[v.def:] { // rounding in place may follow
			if int(s.d) != r {
				delete(direct, r)
			}
		}
	}
	return direct
}

func (b *Builder) layOutLoad(p *Program, m *memoryPlan, i Value, direct map[int]bool) {
	l := b.values[i].load
	l.reg, l.stage = int(i), int(i)
	l.mode = p.space.mode(&l.view)
	if l.mode == gathered && p.space.period(&l.view) > 0 {
		delete(direct, int(i)) // a tile that repeats is made once
	}
	if direct[int(i)] {
		if l.mode == uniform {
			l.mode = gathered
		}
		l.direct = b.stores[0].out
	} else if l.mode != linear || isWide(l.typ) {
		p.regs[i] = m.take(lane(l.typ).ByteSize())
	}
	if isWide(l.typ) {
		l.widen = widenLoop(l.typ)
		if l.mode == gathered {
			p.regs = append(p.regs, m.take(l.typ.ByteSize()))
			l.stage = len(p.regs) - 1
		}
	}
	if l.mode == gathered {
		l.mover = newMover(&p.space, &l.view, l.typ.ByteSize())
	}
	p.loads = append(p.loads, *l)
}

// skew keeps registers from beginning at the same place in pages, where the processor takes one for another.
const skew = 128

// memoryPlan hands out tiles of memory by width.
type memoryPlan struct {
	size int
	free [17][]register
}

func (m *memoryPlan) take(width int) register {
	if k := len(m.free[width]); k > 0 {
		r := m.free[width][k-1]
		m.free[width] = m.free[width][:k-1]
		return r
	}
	r := register{slot: width, offset: m.size, out: -1}
	m.size += width*Size + skew
	return r
}

func (m *memoryPlan) give(r register) { m.free[r.slot] = append(m.free[r.slot], r) }
