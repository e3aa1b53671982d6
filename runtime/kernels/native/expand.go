package native

import (
	"fmt"

	"github.com/gohalo/halo/internal/amd64"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// instr is an instruction of the loop, on virtual registers, which are numbered from 1: 0 is none.
type instr struct {
	op        amd64.VectorOp
	mask      amd64.MaskOp // instead of op, if kind says so
	kind      instrKind
	bits      int
	d, x, k   int
	y         int
	from      memory // instead of y, or of d
	zero      bool
	number    uint8
	hasNumber bool
	stores    bool // to from
	reads     bool // d too
	clears    bool // d
}

type instrKind uint8

const (
	onVectors instrKind = iota
	onMasks             // d = x mask y
	maskNot             // d = not x
)

// memory is an operand in memory.
type memory struct {
	kind  memoryKind
	index int // of a slot, or of a constant
	size  int // of an element
	// offset is how many bytes behind that the operand is: the second vector, or part, of complex numbers.
	offset int
}

type memoryKind uint8

const (
	nowhere memoryKind = iota
	inSlot
	repeated // at the start of a slot
	single   // one element there
	inChains // of a slot
	inPool
)

// form is how a value is in a register.
type form struct {
	kind vec.FormKind
	size int
	// store, for forms that only can be stored, is how, of a value in the register result.
	store []vec.Instr
	names map[vec.Operand]int
}

// held is a value in a register.
type held struct {
	reg  int
	form form
}

// expansion joins recipes.
type expansion struct {
	b       *Builder
	lane    int
	wide    bool
	code    []instr
	isMask  []bool // of each virtual register
	values  []held
	loaded  map[loading]int
	parts   map[int][2]int // of a slot with complex numbers
	pairs   bool           // there is such a slot
	frame   int            // where spilled registers are, in the memory of a call
	pool    [][16]byte
	numbers map[[16]byte]int
	whole   map[int]bool // constants that an instruction reads as vectors
	failure string
	inverts bool  // quotients are made of reciprocals
	gently  bool  // products and quotients of f32 are computed in f64
	once    []int // the registers that only are worth computing in front of the loop
	// pastCaches says that vectors are stored past the caches.
	pastCaches bool
}

// loading is a value as a recipe loads it.
type loading struct {
	v  Value
	op amd64.VectorOp
	n  int
}

func (e *expansion) register(mask bool) int {
	e.isMask = append(e.isMask, mask)
	return len(e.isMask) - 1
}

// constant is the number of 16 bytes in the pool.
func (e *expansion) constant(c [16]byte) int {
	n, ok := e.numbers[c]
	if !ok {
		n = len(e.pool)
		e.pool, e.numbers[c] = append(e.pool, c), n
	}
	return n
}

func (e *expansion) fail(format string, args ...any) int {
	if e.failure == "" {
		e.failure = fmt.Sprintf(format, args...)
	}
	return 0
}

// expand makes the instructions of a chain; inverts lets quotients be made of reciprocals, and gently avoids arithmetic on denormals.
func expand(b *Builder, inverts, gently bool) (*expansion, error) {
	lane, ok := b.lane()
	if !ok {
		return nil, fmt.Errorf("ops without recipes, or of different widths")
	}
	part, _ := b.pairParts() // lane has checked them
	e := &expansion{b: b, pastCaches: b.pastCaches, frame: b.frame(), lane: lane, wide: vec.InUse() == vec.AVX512, isMask: make([]bool, 1), values: make([]held, len(b.values)),
		loaded: make(map[loading]int), parts: make(map[int][2]int), pairs: part != 0, numbers: make(map[[16]byte]int), whole: make(map[int]bool), inverts: inverts, gently: gently}
	for i := range b.ops {
		o := &b.ops[i]
		switch {
		case o.truth:
			e.logic(o)
		case e.shift(o):
		case o.inverts && e.inverts:
			e.divide(o)
		case e.gently && o.rounds():
			e.inDouble(o)
		default:
			e.recipe(vec.FindRecipe(o.name), o.args, o.d)
		}
	}
	joined := e.joinedStores()
	for i := range b.stores {
		if s := &b.stores[i]; s.part != 0 && e.failure == "" {
			e.storePair(s, joined[0])
			joined = joined[1:]
		} else {
			e.store(s)
		}
	}
	for i := range b.folds {
		e.fold(&b.folds[i])
	}
	if e.failure != "" {
		return nil, fmt.Errorf("%s", e.failure)
	}
	e.round()
	e.share()
	return e, nil
}

// recipe appends the body of one, on what its operands are.
func (e *expansion) recipe(r *vec.Recipe, args []Value, d Value) {
	names := make(map[vec.Operand]int)
	for i, a := range args {
		if i >= len(r.Args) {
			break
		}
		names[r.Args[i]] = e.operand(r, i, a)
	}
	e.splice(r.Body, names, memory{})
	if e.failure != "" {
		return
	}
	e.values[d] = held{names[r.Result], form{r.Out.Kind, r.Out.Size, r.Store, names}}
	if names[r.Result] == 0 {
		e.fail("%v has no result", r.Name)
	}
}

// operand is the register with value v as operand i of a recipe.
func (e *expansion) operand(r *vec.Recipe, i int, v Value) int {
	f := r.In[i]
	x := &e.b.values[v]
	if x.op < 0 {
		return e.load(r.Loads[i], r.Args[i], f, v)
	}
	h := &e.values[v]
	switch {
	case h.form.kind == f.Kind && (f.Kind == vec.Whole || f.Kind == vec.Truth):
		return h.reg
	case h.form.kind == vec.Truth && (f.Kind == vec.Extended && f.Size == 1 || f.Kind == vec.Whole && e.lane == 1):
		return e.asInteger(h.reg)
	}
	return e.fail("%v takes what is not in this form", r.Name)
}

// load brings a value from memory, once for each form.
func (e *expansion) load(how []vec.Instr, result vec.Operand, f vec.Form, v Value) int {
	x := &e.b.values[v]
	if x.size != f.Size {
		return e.fail("elements of %d bytes for %d", x.size, f.Size)
	}
	if x.part != 0 {
		if f.Kind != vec.Whole {
			return e.fail("parts of complex numbers are no integers")
		}
		return e.part(v)
	}
	key := loading{v, how[0].Op, len(how)}
	if reg, ok := e.loaded[key]; ok {
		return reg
	}
	names := make(map[vec.Operand]int)
	at := e.place(v)
	if at.kind == single {
		if how = e.broadcasting(how, f, x.size); how == nil {
			return e.fail("one element of %d bytes cannot be repeated", x.size)
		}
	}
	e.splice(how, names, at)
	e.loaded[key] = names[result]
	return names[result]
}

// broadcasting loads one element into all lanes, if how loads as many as there are lanes, as they are, or truth values: of these every byte of a lane becomes that of the element.
func (e *expansion) broadcasting(how []vec.Instr, f vec.Form, size int) []vec.Instr {
	isTruth := f.Kind == vec.Truth && size == 1
	if !isTruth && (len(how) != 1 || !how[0].Op.Moves() || size != e.lane) {
		return nil
	}
	i := how[0]
	i.Op = map[int]amd64.VectorOp{1: amd64.VPBROADCASTB, 2: amd64.VPBROADCASTW, 4: amd64.VBROADCASTSS, 8: amd64.VBROADCASTSD}[size]
	return append([]vec.Instr{i}, how[1:]...)
}

// place is where an operand is in memory.
func (e *expansion) place(v Value) memory {
	x := &e.b.values[v]
	switch {
	case x.slot < 0:
		return memory{kind: inPool, index: e.repeat(x.constant[:x.size])}
	case x.along == Repeated:
		return memory{kind: repeated, index: x.slot}
	case x.along == Single:
		return memory{kind: single, index: x.slot, size: x.size}
	}
	return memory{kind: inSlot, index: x.slot, size: x.size}
}

// store appends what puts a value into memory.
func (e *expansion) store(s *store) {
	v := s.v
	if s.name != (vec.Name{}) {
		r := vec.FindRecipe(s.name)
		if r == nil || r.Lane != e.lane {
			e.fail("no conversion %v", s.name)
			return
		}
		if s.rounded {
			if reg := e.operand(r, 0, s.v); e.failure == "" {
				e.splice(r.Store, map[vec.Operand]int{r.Result: reg}, memory{kind: inSlot, index: s.slot, size: r.Out.Size})
			}
			return
		}
		v = e.b.define(value{op: 0, slot: -1})
		e.values = append(e.values, held{})
		e.recipe(r, []Value{s.v}, v)
	}
	h := &e.values[v]
	x := &e.b.values[v]
	if x.part != 0 && e.failure == "" {
		r := e.wholePart()
		e.splice(r.Store, map[vec.Operand]int{r.Result: e.part(v)}, memory{kind: inSlot, index: s.slot, size: e.lane})
		return
	}
	if e.failure != "" || x.op < 0 {
		e.fail("an operand is a result")
		return
	}
	to := memory{kind: inSlot, index: s.slot, size: h.form.size}
	e.splice(h.form.store, h.form.names, to)
}

// fold appends what folds a value into the chains that it has come to.
func (e *expansion) fold(f *fold) {
	if f.truth {
		f.name = vec.Of(f.name.Op, vec.Sized(e.lane))
	}
	r := vec.FindRecipe(f.name)
	if r == nil || r.Lane != e.lane || len(r.Args) != 2 || r.In[0].Kind != vec.Whole || r.Out.Kind != vec.Whole {
		e.fail("no fold by %v", f.name)
		return
	}
	chains := memory{kind: inChains, index: f.slot, size: e.lane}
	names := make(map[vec.Operand]int)
	e.splice(r.Loads[0], names, chains)
	if names[r.Args[1]] = e.folded(r, f); e.failure != "" {
		return
	}
	e.splice(r.Body, names, memory{})
	e.splice(r.Store, names, chains)
}

// folded is what a fold by a recipe takes.
func (e *expansion) folded(r *vec.Recipe, f *fold) int {
	if !f.truth || e.lane == 1 {
		return e.operand(r, 1, f.v)
	}
	mask := e.mask(f.v)
	if e.failure != "" {
		return 0
	}
	return e.asInteger(mask)
}

// splice appends instructions, with names for their registers, and what they call memory.
func (e *expansion) splice(code []vec.Instr, names map[vec.Operand]int, at memory) {
	register := func(o vec.Operand) int {
		switch o.Kind() {
		case vec.Vector, vec.MaskRegister:
			reg, ok := names[o]
			if !ok {
				reg = e.register(o.Kind() == vec.MaskRegister)
				names[o] = reg
			}
			return reg
		}
		return 0
	}
	for i := range code {
		c := &code[i]
		n := instr{op: c.Op, bits: int(c.Bits), x: register(c.X), y: register(c.Y), k: register(c.Mask), zero: c.Zero, number: c.Number, hasNumber: c.HasNumber}
		n.clears = c.X == 0 && c.Y == 0
		_, defined := names[c.D]
		n.d = register(c.D)
		n.reads = defined && c.Op.Accumulates() || defined && c.Mask.Kind() == vec.MaskRegister && !c.Zero && !c.Op.Blends()
		switch {
		case c.Y.Kind() == vec.InConstant:
			pair := vec.RecipeConstant(c.Y.Index())
			n.from = memory{kind: inPool, index: e.constant(bytesOf(pair))}
		case c.Y.Kind() == vec.InMemory:
			n.from = at
		case c.D.Kind() == vec.InMemory:
			n.from, n.stores = at, true
		}
		e.code = append(e.code, n)
	}
}
