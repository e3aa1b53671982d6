package stablehlo

import (
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// canonicalize does to a function what XLA's converter does to it before it makes HLO: values that are known are computed, operations
// that do nothing are dropped, constants go to the right of operations that commute, and what nothing needs is dropped. The rules are
// those of simplify.go and folds.go; operations are visited in order, each until no rule changes it, and dead ones are dropped last.
func (c *converter) canonicalize(f *function) {
	for range 8 { // rules that look backwards may find more the next time
		s := &simplifier{converter: c, same: make(map[*mlir.Value]*mlir.Value)}
		s.block(f.body)
		dropDead(f.body, make(map[*mlir.Value]bool))
		if !s.changed {
			return
		}
	}
}

// simplifier rewrites one function.
type simplifier struct {
	*converter
	same    map[*mlir.Value]*mlir.Value // values that others take the place of
	out     []*mlir.Op                  // of the block at hand
	changed bool
}

// value is the value that stands for v now.
func (s *simplifier) value(v *mlir.Value) *mlir.Value {
	for {
		w, ok := s.same[v]
		if !ok {
			return v
		}
		v = w
	}
}

func (s *simplifier) block(b *mlir.Block) {
	outer := s.out
	s.out = make([]*mlir.Op, 0, len(b.Ops))
	for _, op := range b.Ops {
		s.op(op)
	}
	b.Ops, s.out = s.out, outer
}

// op simplifies an operation until nothing changes, and adds what is left of it.
func (s *simplifier) op(op *mlir.Op) {
	for range 16 {
		for i, v := range op.Operands {
			if w := s.value(v); w != v {
				op.Operands = replaced(op.Operands, i, w)
			}
		}
		next := s.simplify(op)
		if next == op {
			break
		}
		s.changed = true
		if next == nil {
			return
		}
		// The new operation gives what the old one gave.
		for i := range op.Results {
			s.same[&op.Results[i]] = &next.Results[i]
		}
		op = next
	}
	for i := range op.Regions {
		for _, b := range op.Regions[i].Blocks {
			s.block(b)
		}
	}
	s.out = append(s.out, op)
}

// replaced is a copy of operands with one of them replaced. The old list may be shared.
func replaced(list []*mlir.Value, i int, v *mlir.Value) []*mlir.Value {
	out := append([]*mlir.Value(nil), list...)
	out[i] = v
	return out
}

// becomes makes v stand for the only result of an operation, which goes away.
func (s *simplifier) becomes(op *mlir.Op, v *mlir.Value) *mlir.Op {
	s.same[&op.Results[0]] = v
	return nil
}

// instead is an operation in the place of another, with a result of the same type.
func instead(op *mlir.Op, name string, attrs mlir.Attrs, operands ...*mlir.Value) *mlir.Op {
	o := &mlir.Op{Name: name, Operands: operands, Attrs: attrs, Loc: op.Loc, Pos: op.Pos}
	o.Results = []mlir.Value{{Type: op.Results[0].Type, Def: o}}
	return o
}

// constant is a constant in the place of an operation.
func constant(op *mlir.Op, d mlir.Dense) *mlir.Op {
	return instead(op, "stablehlo.constant", mlir.Attrs{{Name: "value", Value: d}})
}

// add puts a new operation before the present one.
func (s *simplifier) add(op *mlir.Op) *mlir.Value {
	s.out = append(s.out, op)
	return &op.Results[0]
}

// known is the value of a constant.
func known(v *mlir.Value) (mlir.Dense, bool) {
	if v.Def == nil || !isConstant(v.Def) {
		return mlir.Dense{}, false
	}
	d, ok := v.Def.Attrs.Get("value").(mlir.Dense)
	return d, ok && d.Type == v.Type
}

// isPure reports whether an operation that nothing uses may be dropped. Calls, random numbers and whatever devices do together may not.
func isPure(op *mlir.Op) bool {
	name, ok := strings.CutPrefix(op.Name, "stablehlo.")
	if !ok {
		if name, ok = strings.CutPrefix(op.Name, "mhlo."); !ok {
			return strings.HasPrefix(op.Name, "chlo.") || isConstant(op)
		}
	}
	switch name {
	case "custom_call":
		return !flagOf(op.Attrs.Get("has_side_effect")) && stringOf(op.Attrs.Get("call_target_name")) != "shape_assertion"
	case "composite", "rng", "infeed", "outfeed", "send", "recv", "all_reduce", "all_gather", "all_to_all", "reduce_scatter",
		"collective_permute", "collective_broadcast", "collective_reduce", "cross-replica-sum", "async_start", "async_done", "return",
		"partition_id", "replica_id":
		return false
	}
	for i := range op.Regions {
		for _, b := range op.Regions[i].Blocks {
			for _, inner := range b.Ops {
				if inner != b.Terminator() && !isPure(inner) {
					return false
				}
			}
		}
	}
	return true
}

// dropDead drops operations without effect whose results nothing needs. needed has the values that are used after the block, and gets
// those that it uses.
func dropDead(b *mlir.Block, needed map[*mlir.Value]bool) {
	kept := len(b.Ops)
	for i := len(b.Ops) - 1; i >= 0; i-- {
		op := b.Ops[i]
		live := i == len(b.Ops)-1 || !isPure(op)
		for j := range op.Results {
			live = live || needed[&op.Results[j]]
		}
		if !live {
			continue
		}
		for _, v := range op.Operands {
			needed[v] = true
		}
		for j := range op.Regions {
			for _, inner := range op.Regions[j].Blocks {
				dropDead(inner, needed)
			}
		}
		kept--
		b.Ops[kept] = op
	}
	b.Ops = b.Ops[kept:]
}

// isZeroSized reports whether a tensor has no elements.
func isZeroSized(t *mlir.Type) bool {
	return t.Kind == mlir.Tensor && t.IsStatic() && t.NumElements() == 0
}

// empty is the value of a tensor without elements.
func empty(t *mlir.Type) mlir.Dense { return mlir.Dense{Type: t} }

// zeros is a constant of zeros, of numbers of any kind.
func zeros(t *mlir.Type) mlir.Dense {
	return mlir.Dense{Type: t, Data: make([]byte, t.Elem.ByteSize()), Splat: true}
}

// splatOf is a constant of equal elements of real numbers.
func splatOf(t *mlir.Type, bits uint64) mlir.Dense {
	return mlir.Dense{Type: t, Data: mlir.ElementBytes(t.Elem, bits), Splat: true}
}

// isSplat reports whether all elements of a constant have one of the given bits.
func isSplat(d mlir.Dense, bits uint64) bool {
	return d.Splat && string(d.Data) == string(mlir.ElementBytes(d.Type.Elem, bits))
}

// isZero reports whether a constant is all zeros, of either sign.
func isZero(d mlir.Dense) bool {
	if !d.Splat {
		return false
	}
	t := d.Type.Elem
	if t.IsFloat() && len(d.Data) == t.ByteSize() && t.Bits() >= 8 {
		last := len(d.Data) - 1
		for i, b := range d.Data {
			if b != 0 && (i != last || b != 0x80) {
				return false
			}
		}
		return true
	}
	for _, b := range d.Data {
		if b != 0 {
			return false
		}
	}
	return len(d.Data) > 0
}

// isOne reports whether a constant is all ones.
func isOne(d mlir.Dense) bool {
	t := d.Type.Elem
	if t.IsComplex() {
		return false
	}
	if t.IsFloat() {
		return isSplat(d, mlir.FloatBits(t, "1.0"))
	}
	return isSplat(d, 1)
}

// isAllBits reports whether a constant has every bit set.
func isAllBits(d mlir.Dense) bool {
	t := d.Type.Elem
	if t == hlo.PRED {
		return isSplat(d, 1)
	}
	return (t.IsInteger()) && isSplat(d, allBits(t))
}

func allBits(t hlo.PrimitiveType) uint64 {
	if t.IsUnsigned() && t.Bits() < 64 {
		return 1<<t.Bits() - 1
	}
	return ^uint64(0)
}
