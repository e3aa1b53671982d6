package stablehlo

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// rule simplifies an operation: it returns the operation itself when it has nothing to say, another one in its place, or nil when the
// results stand for other values (see becomes).
type rule func(s *simplifier, op *mlir.Op) *mlir.Op

// rules are those of each operation of StableHLO.
var rules map[string]rule

func init() {
	rules = map[string]rule{
		"broadcast_in_dim":     (*simplifier).broadcastInDim,
		"reshape":              (*simplifier).reshape,
		"transpose":            (*simplifier).transpose,
		"slice":                (*simplifier).slice,
		"dynamic_slice":        (*simplifier).dynamicSlice,
		"dynamic_update_slice": (*simplifier).dynamicUpdateSlice,
		"concatenate":          (*simplifier).concatenate,
		"iota":                 (*simplifier).iota,
		"pad":                  (*simplifier).pad,
		"reverse":              (*simplifier).reverse,
		"convert":              (*simplifier).convert,
		"select":               (*simplifier).selectOp,
		"compare":              (*simplifier).compare,
		"real":                 (*simplifier).complexPart,
		"imag":                 (*simplifier).complexPart,
		"get_tuple_element":    (*simplifier).tupleElement,
		"reduce":               (*simplifier).reduce,
		"case":                 (*simplifier).caseOf,
		"while":                (*simplifier).while,
		"get_dimension_size":   (*simplifier).dimensionSize,
		"add":                  neutral(isZero),
		"subtract":             (*simplifier).subtract,
		"multiply":             (*simplifier).multiply,
		"and":                  (*simplifier).and,
		"or":                   (*simplifier).or,
		"xor":                  (*simplifier).xor,
	}
}

// commutes are the operations whose operands may change places.
var commutes = map[string]bool{
	"add": true, "multiply": true, "maximum": true, "minimum": true, "and": true, "or": true, "xor": true,
}

func (s *simplifier) simplify(op *mlir.Op) *mlir.Op {
	if next := s.standIn(op); next != op {
		return next
	}
	if name, ok := expansionOf(op); ok {
		return s.expand(op, name)
	}
	name, ok := strings.CutPrefix(op.Name, "stablehlo.")
	if !ok {
		return op
	}
	if len(op.Results) == 1 && isPure(op) && isZeroSized(op.Results[0].Type) && !isConstant(op) {
		return constant(op, empty(op.Results[0].Type))
	}
	if next := s.fold(op, name); next != op {
		return next
	}
	if commutes[name] && len(op.Operands) == 2 {
		_, left := known(op.Operands[0])
		_, right := known(op.Operands[1])
		if left && !right {
			return instead(op, op.Name, op.Attrs, op.Operands[1], op.Operands[0])
		}
	}
	if r := rules[name]; r != nil {
		return r(s, op)
	}
	return op
}

// neutral drops an operation whose right operand changes nothing.
func neutral(is func(mlir.Dense) bool) rule {
	return func(s *simplifier, op *mlir.Op) *mlir.Op {
		if d, ok := known(op.Operands[1]); ok && is(d) {
			return s.becomes(op, op.Operands[0])
		}
		return op
	}
}

func (s *simplifier) subtract(op *mlir.Op) *mlir.Op {
	t := op.Results[0].Type
	if op.Operands[0] == op.Operands[1] && isIntegral(t.Elem) && t.IsStatic() {
		return constant(op, zeros(t))
	}
	return neutral(isZero)(s, op)
}

func isIntegral(t hlo.PrimitiveType) bool { return t.IsInteger() || t == hlo.PRED }

func (s *simplifier) multiply(op *mlir.Op) *mlir.Op {
	d, ok := known(op.Operands[1])
	switch {
	case ok && isOne(d):
		return s.becomes(op, op.Operands[0])
	case ok && isIntegral(d.Type.Elem) && isZero(d):
		return s.becomes(op, op.Operands[1])
	}
	return op
}

func (s *simplifier) and(op *mlir.Op) *mlir.Op {
	d, ok := known(op.Operands[1])
	switch {
	case ok && isZero(d):
		return s.becomes(op, op.Operands[1])
	case ok && isAllBits(d):
		return s.becomes(op, op.Operands[0])
	}
	return op
}

func (s *simplifier) or(op *mlir.Op) *mlir.Op {
	d, ok := known(op.Operands[1])
	switch {
	case ok && isAllBits(d):
		return s.becomes(op, op.Operands[1])
	case ok && isZero(d):
		return s.becomes(op, op.Operands[0])
	}
	return op
}

func (s *simplifier) xor(op *mlir.Op) *mlir.Op {
	if t := op.Results[0].Type; op.Operands[0] == op.Operands[1] && t.IsStatic() {
		return constant(op, zeros(t))
	}
	return neutral(isZero)(s, op)
}

// compare of a value with itself is known for integers; a constant goes to the right.
func (s *simplifier) compare(op *mlir.Op) *mlir.Op {
	a, b := op.Operands[0], op.Operands[1]
	e, _ := op.Attrs.Get("comparison_direction").(mlir.Enum)
	if !isIntegral(a.Type.Elem) {
		return op
	}
	if a == b && op.Results[0].Type.IsStatic() {
		bit := uint64(0)
		if e.Value == "EQ" || e.Value == "GE" || e.Value == "LE" {
			bit = 1
		}
		return constant(op, splatOf(op.Results[0].Type, bit))
	}
	_, left := known(a)
	d, right := known(b)
	if left && !right {
		turned := map[string]string{"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}
		attrs := op.Attrs.With("comparison_direction", mlir.Enum{Kind: e.Kind, Value: turned[e.Value]})
		return instead(op, op.Name, attrs, b, a)
	}
	if right && a.Type.Elem == hlo.PRED {
		if e.Value == "EQ" && isSplat(d, 1) || e.Value == "NE" && isSplat(d, 0) {
			return s.becomes(op, a)
		}
	}
	return op
}

// selectOp with a known predicate is one of the two; a negated predicate changes their places.
func (s *simplifier) selectOp(op *mlir.Op) *mlir.Op {
	p, a, b := op.Operands[0], op.Operands[1], op.Operands[2]
	if d, ok := known(p); ok && d.Splat {
		if d.Data[0] != 0 {
			return s.becomes(op, a)
		}
		return s.becomes(op, b)
	}
	if a == b {
		return s.becomes(op, a)
	}
	if p.Def != nil && p.Def.Name == "stablehlo.not" {
		return instead(op, op.Name, op.Attrs, s.value(p.Def.Operands[0]), b, a)
	}
	return op
}

// convert to the same type does nothing.
func (s *simplifier) convert(op *mlir.Op) *mlir.Op {
	if op.Operands[0].Type == op.Results[0].Type {
		return s.becomes(op, op.Operands[0])
	}
	return op
}

// complexPart of a number that is made of its parts.
func (s *simplifier) complexPart(op *mlir.Op) *mlir.Op {
	v := op.Operands[0]
	if v.Def == nil || v.Def.Name != "stablehlo.complex" {
		return op
	}
	if strings.HasSuffix(op.Name, "real") {
		return s.becomes(op, s.value(v.Def.Operands[0]))
	}
	return s.becomes(op, s.value(v.Def.Operands[1]))
}

func (s *simplifier) tupleElement(op *mlir.Op) *mlir.Op {
	v := op.Operands[0]
	i, _ := op.Attrs.Get("index").(mlir.Int)
	if v.Def == nil || v.Def.Name != "stablehlo.tuple" || i.Value < 0 || i.Value >= int64(len(v.Def.Operands)) {
		return op
	}
	return s.becomes(op, s.value(v.Def.Operands[i.Value]))
}

// reduce over no dimensions gives its inputs.
func (s *simplifier) reduce(op *mlir.Op) *mlir.Op {
	dims, ok := mlir.Ints(op.Attrs.Get("dimensions"))
	if !ok || len(dims) > 0 || len(op.Operands) != 2*len(op.Results) {
		return op
	}
	for i := range op.Results {
		if op.Operands[i].Type != op.Results[i].Type {
			return op
		}
	}
	for i := range op.Results {
		s.same[&op.Results[i]] = op.Operands[i]
	}
	return nil
}

// caseOf with a known index is that branch; numbers that no branch has mean the last one.
func (s *simplifier) caseOf(op *mlir.Op) *mlir.Op {
	d, ok := known(op.Operands[0])
	if !ok || len(d.Data) != 4 {
		return op
	}
	n := mlir.IntAt(d.Data, hlo.S32)
	if n < 0 || n >= int64(len(op.Regions)) {
		n = int64(len(op.Regions) - 1)
	}
	b := op.Regions[n].Block()
	for _, inner := range b.Ops[:len(b.Ops)-1] {
		s.op(inner)
	}
	for i, v := range b.Terminator().Operands {
		s.same[&op.Results[i]] = s.value(v)
	}
	return nil
}

// while without the values that its body passes through unchanged.
func (s *simplifier) while(op *mlir.Op) *mlir.Op {
	cond, body := op.Regions[0].Block(), op.Regions[1].Block()
	end := body.Terminator()
	if len(end.Operands) != len(op.Operands) || len(op.Operands) != len(op.Results) {
		return op
	}
	var kept []int
	for i, v := range end.Operands {
		if s.value(v) != &body.Args[i] && s.value(v) != op.Operands[i] {
			kept = append(kept, i)
		}
	}
	if len(kept) == len(op.Operands) || len(kept) == 0 && len(op.Operands) == 0 {
		return op
	}
	next := &mlir.Op{Name: op.Name, Attrs: op.Attrs, Loc: op.Loc, Pos: op.Pos, Results: make([]mlir.Value, len(kept))}
	for i := range op.Operands {
		if !slices.Contains(kept, i) {
			for _, v := range []*mlir.Value{&op.Results[i], &cond.Args[i], &body.Args[i]} {
				s.same[v] = op.Operands[i]
			}
		}
	}
	for n, i := range kept {
		next.Operands = append(next.Operands, op.Operands[i])
		next.Results[n] = mlir.Value{Type: op.Results[i].Type, Def: next, N: n}
		s.same[&op.Results[i]] = &next.Results[n]
	}
	next.Regions = []mlir.Region{
		{Blocks: []*mlir.Block{s.withArguments(cond, kept)}}, {Blocks: []*mlir.Block{s.withArguments(body, kept)}},
	}
	last := *end
	last.Operands = nil
	for _, i := range kept {
		last.Operands = append(last.Operands, end.Operands[i])
	}
	b := next.Regions[1].Blocks[0]
	b.Ops[len(b.Ops)-1] = &last
	s.changed = true
	s.op(next)
	return nil
}

// withArguments is a block with some of its arguments, which take the place of the old ones.
func (s *simplifier) withArguments(b *mlir.Block, kept []int) *mlir.Block {
	n := &mlir.Block{Args: make([]mlir.Value, len(kept)), Ops: slices.Clone(b.Ops), Pos: b.Pos}
	for k, i := range kept {
		n.Args[k] = mlir.Value{Type: b.Args[i].Type, N: k}
		s.same[&b.Args[i]] = &n.Args[k]
	}
	return n
}

// dimensionSize of a dimension that is known.
func (s *simplifier) dimensionSize(op *mlir.Op) *mlir.Op {
	d, ok := op.Attrs.Get("dimension").(mlir.Int)
	t := op.Operands[0].Type
	if !ok || d.Value < 0 || d.Value >= int64(len(t.Dims)) || t.Dims[d.Value] == hlo.UnboundedSize {
		return op
	}
	return constant(op, splatOf(op.Results[0].Type, uint64(t.Dims[d.Value])))
}
