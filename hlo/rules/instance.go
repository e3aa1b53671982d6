package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/scalar"
)

// Instance is a module that a rule was made into: its left side over parameters of one type and shape.
type Instance struct {
	Module hlo.Module
	Type   hlo.PrimitiveType // of the result
	// Miss says in which respect the module departs from the left side; "" if it does not. Where it does, the rule must not fire.
	Miss string
	// Names are what the rule calls the parameters, by number.
	Names []string

	from *instantiation
}

// WithDims is the same instance in other dimensions.
func (i Instance) WithDims(dims []int64) (Instance, bool) {
	n := &instantiation{rule: i.from.rule, choices: i.from.choices.replay(), dims: dims, dynamic: i.from.dynamic, miss: i.from.miss, root: i.Type}
	return n.module(i.Type)
}

// InstanceTypes are the types that rules are tried with, the simplest first: every class, and every width that arithmetic treats in its own way.
var InstanceTypes = []hlo.PrimitiveType{hlo.F32, hlo.S32, hlo.U32, hlo.PRED, hlo.BF16, hlo.F16, hlo.F64, hlo.S8, hlo.U8, hlo.S64, hlo.U64, hlo.C64}

// Constants are the numbers that constants are given, simplest first.
func constantsOf(t hlo.PrimitiveType) (all []*hlo.Literal) {
	numbers := []float64{0, 1, 2, 3, 8, -1, -2, 0.5, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range numbers {
		if l, ok := scalar.Of(t, x); ok {
			all = append(all, l)
		}
	}
	if t.IsInteger() { // the extremes
		top := uint64(1) << (t.Bits() - 1)
		for _, v := range []uint64{top, top - 1, ^uint64(0) >> (64 - t.Bits())} {
			all = append(all, scalar.FromBits(t, v))
		}
	}
	return all
}

// Instances calls yield with instances of the rule until it returns false: for every type, shape and choice that the left side leaves, but no more
// than limit for a type.
func (r *Rule) Instances(dims []int64, dynamic bool, limit int, yield func(Instance) bool) {
	for _, t := range InstanceTypes {
		choices := &chooser{}
		made := 0
		// Where there are too many choices to make them all, the second half is drawn.
		drawn := rand.New(rand.NewPCG(uint64(t), uint64(len(dims))))
		for attempts := 0; made < limit && attempts < 50*limit; attempts++ {
			if made == limit/2 && choices.random == nil {
				choices = &chooser{random: drawn}
			}
			in := &instantiation{rule: r, choices: choices, dims: dims, dynamic: dynamic, miss: -1, root: t}
			inst, ok := in.module(t)
			if ok && !yield(inst) {
				return
			}
			if !ok {
				if !choices.next() {
					break
				}
				continue
			}
			made++
			deviations := in.deviations
			if len(dims) != 1 || dims[0] > 8 || dynamic {
				deviations = 0 // one shape is enough for these
			}
			for miss := range deviations {
				again := &instantiation{rule: r, choices: choices.replay(), dims: dims, dynamic: dynamic, miss: miss, root: t}
				if inst, ok := again.module(t); ok && inst.Miss != "" && !yield(inst) {
					return
				}
			}
			if !choices.next() {
				break
			}
		}
	}
}

// instantiation builds one module.
type instantiation struct {
	rule    *Rule
	choices *chooser
	root    hlo.PrimitiveType
	dims    []int64
	dynamic bool
	b       *hlo.Builder
	values  map[int]hlo.Value
	ops     map[int]hlo.Opcode
	axes    map[int][]int64
	dirs    map[int]hlo.Direction
	names   []string
	failed  bool
	// deviations counts the places at which an instance may depart from the left side; miss is the one to depart at.
	deviations, miss int
	missed           string
}

func (n *instantiation) module(t hlo.PrimitiveType) (Instance, bool) {
	n.b = hlo.NewBuilder(n.rule.ID)
	n.values, n.ops, n.axes, n.dirs = map[int]hlo.Value{}, map[int]hlo.Opcode{}, map[int][]int64{}, map[int]hlo.Direction{}
	root := n.build(n.rule.left[0], t, n.dims)
	if n.failed || len(n.names) == 0 && len(n.dims) > 1 {
		return Instance{}, false
	}
	m, err := n.b.Build(root)
	kept := *n
	kept.choices = n.choices.replay()
	return Instance{Module: m, Type: t, Miss: n.missed, Names: n.names, from: &kept}, err == nil
}

func (n *instantiation) fail() hlo.Value {
	n.failed = true
	return hlo.Value{}
}

// departs reports whether the instance is to depart from the left side here.
func (n *instantiation) departs(how string) bool {
	n.deviations++
	if n.miss != n.deviations-1 {
		return false
	}
	n.missed = how
	return true
}

func (n *instantiation) shape(t hlo.PrimitiveType, dims []int64) hlo.Shape {
	if n.dynamic && len(dims) > 0 {
		dyn := make([]bool, len(dims))
		dyn[0] = true
		return hlo.MakeArray(t, dims, dyn, hlo.DefaultLayout(len(dims)))
	}
	return hlo.MakeShape(t, dims...).WithDefaultLayout()
}

func (n *instantiation) parameter(name string, t hlo.PrimitiveType, dims []int64) hlo.Value {
	n.names = append(n.names, name)
	return n.b.Parameter(name, n.shape(t, dims))
}

func (n *instantiation) nameOf(slot int) string {
	if slot < len(n.rule.names.value) {
		return n.rule.names.value[slot]
	}
	return fmt.Sprintf("v%d", len(n.names))
}

// fill repeats a constant.
func (n *instantiation) fill(l *hlo.Literal, dims []int64) hlo.Value {
	c := n.b.Constant(l)
	if len(dims) == 0 {
		return c
	}
	return n.b.OpOf(hlo.OpBroadcast, n.shape(l.Shape().Type(), dims), &hlo.BroadcastAttrs{}, c)
}

func (n *instantiation) build(p *pattern, t hlo.PrimitiveType, dims []int64) hlo.Value {
	if n.failed {
		return hlo.Value{}
	}
	if v, bound := n.values[p.slot]; bound && p.slot >= 0 {
		if v.Shape().Type() != t || !slices.Equal(v.Shape().Dimensions(), dims) {
			return n.fail()
		}
		if n.departs(n.nameOf(p.slot) + " is another value here") {
			return n.parameter(n.nameOf(p.slot)+"_", t, dims)
		}
		return v
	}
	var v hlo.Value
	switch p.kind {
	case numberPattern:
		l, ok := scalar.Of(t, p.number)
		if !ok {
			return n.fail()
		}
		if n.departs(fmt.Sprintf("%v is another number", p.number)) {
			all := slices.DeleteFunc(constantsOf(t), func(o *hlo.Literal) bool { return scalar.Is(o, p.number) })
			if len(all) == 0 {
				return n.fail()
			}
			l = all[len(all)-1]
		}
		v = n.fill(l, dims)
	case constPattern:
		all := constantsOf(t)
		l := all[n.choices.choose(len(all))]
		if n.departs(n.nameOf(p.slot) + " is not a constant") {
			return n.parameter("k", t, dims)
		}
		v = n.fill(l, dims)
	case opPattern:
		v = n.op(p, t, dims)
	default:
		v = n.variable(p, t, dims)
	}
	if p.slot >= 0 {
		n.values[p.slot] = v
	}
	return v
}

// variable is a parameter, or what a condition of the rule may want in its place.
func (n *instantiation) variable(p *pattern, t hlo.PrimitiveType, dims []int64) hlo.Value {
	kinds := 1
	for _, k := range n.rule.conds {
		switch k.name {
		case "nonnegative", "literal", "constant":
			kinds = 3
		}
	}
	x := func() hlo.Value { return n.parameter(n.nameOf(p.slot), t, dims) }
	switch n.choices.choose(kinds) {
	case 1:
		if !t.IsFloat() && !t.IsSigned() {
			return n.fail()
		}
		return n.b.OpOf(hlo.OpAbs, n.shape(t, dims), nil, x())
	case 2:
		if n.dynamic || len(dims) != 1 || dims[0] > 8 {
			return n.fail()
		}
		all := constantsOf(t)
		var data []byte
		for i := range dims[0] {
			data = append(data, all[int(i)%len(all)].Bytes()...)
		}
		l, err := hlo.NewLiteral(n.shape(t, dims), data)
		if err != nil {
			return n.fail()
		}
		return n.b.Constant(l)
	}
	return x()
}

func (n *instantiation) op(p *pattern, t hlo.PrimitiveType, dims []int64) hlo.Value {
	op, known := n.ops[p.opSlot]
	if !known || p.opSlot < 0 {
		op = p.ops[n.choices.choose(len(p.ops))]
		if p.opSlot >= 0 {
			n.ops[p.opSlot] = op
		}
	}
	types := n.operandTypes(op, t, len(p.args))
	if types == nil {
		return n.fail()
	}
	attrs, inner := n.attrs(p, op, dims)
	if n.failed {
		return hlo.Value{}
	}
	args := make([]hlo.Value, len(p.args))
	for i, a := range p.args {
		if args[i] = n.build(a, types[i], inner); n.failed {
			return hlo.Value{}
		}
	}
	ctx := hlo.ShapeContext{Op: op, Attrs: attrs, Stated: n.shape(t, dims)}
	for _, a := range args {
		ctx.Operands = append(ctx.Operands, a.Shape())
	}
	if s, err := hlo.InferShape(&ctx); err != nil || !s.EqualIgnoringLayout(n.shape(t, dims)) {
		return n.fail()
	}
	return n.b.OpOf(op, n.shape(t, dims), attrs, args...)
}
