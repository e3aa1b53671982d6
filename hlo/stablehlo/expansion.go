package stablehlo

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// expansions are the operations that HLO does not have, written out in those it has, with the numbers that XLA's converter uses. The file
// is made from the converter's own output; TestExpansions holds it to that.
//
// A line "erf_inv f32 1" begins an operation, its element type and its number of operands. Each line after it is a value, numbered after
// the operands: opcode, element type, the numbers of its operands, and for a comparison its direction; or "constant", element type and
// the bits. The last one is the result.
//
//go:embed gen_expansions.txt
var expansionText string

// expandedValue is one line of an expansion.
type expandedValue struct {
	op        hlo.Opcode
	typ       hlo.PrimitiveType
	operands  []int
	direction string // of a comparison
	data      []byte // of a constant
}

// expansions are the texts of all expansions by "name type".
var expansions = sync.OnceValue(func() map[string][]string {
	m := make(map[string][]string)
	for part := range strings.SplitSeq(expansionText, "\n\n") {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		key, _, _ := cutLast(lines[0], " ")
		m[key] = lines[1:]
	}
	return m
})

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// readExpansion reads one expansion. The text is a constant of this package.
func readExpansion(lines []string) []expandedValue {
	var out []expandedValue
	for _, line := range lines {
		f := strings.Fields(line)
		op, ok1 := hlo.OpcodeByName(f[0])
		typ, ok2 := hlo.PrimitiveTypeByName(f[1])
		if !ok1 || !ok2 {
			panic(fmt.Sprintf("stablehlo: expansion line %q", line))
		}
		v := expandedValue{op: op, typ: typ}
		switch op {
		case hlo.OpConstant:
			v.data, _ = hex.DecodeString(f[2])
			slices.Reverse(v.data)
		default:
			for _, w := range f[2:] {
				n, err := strconv.Atoi(w)
				if err != nil {
					v.direction = w
					continue
				}
				v.operands = append(v.operands, n)
			}
		}
		out = append(out, v)
	}
	return out
}

// standIn is the operation that a composite, a custom call or a broadcasting operation stands for; the operation itself when it stands for
// none.
func (s *simplifier) standIn(op *mlir.Op) *mlir.Op {
	var next *mlir.Op
	switch op.Name {
	case "stablehlo.composite":
		next = s.compositeOf(op, stringOf(op.Attrs.Get("name")))
	case "stablehlo.custom_call":
		next = s.customOp(op, stringOf(op.Attrs.Get("call_target_name")))
	default:
		if rest, ok := strings.CutPrefix(op.Name, "chlo.broadcast_"); ok && op.Results[0].Type.IsStatic() {
			return s.broadcastOperands(op, rest)
		}
	}
	if next == nil || rows()[next.Name].results != len(op.Results) {
		return op
	}
	s.checkOp(next)
	return next
}

// expansionOf says which expansion an operation is written out by: always, or for complex numbers.
func expansionOf(op *mlir.Op) (name string, ok bool) {
	if rest, ok := strings.CutPrefix(op.Name, "chlo."); ok {
		if rest == "asin_acos_kernel" {
			rest = "_asin_acos_kernel"
		}
		r := rows()[op.Name]
		return rest, r != nil && r.expanded && !strings.HasPrefix(rest, "broadcast_")
	}
	switch op.Name {
	case "stablehlo.exponential", "stablehlo.log", "stablehlo.log_plus_one", "stablehlo.sqrt":
		return strings.TrimPrefix(op.Name, "stablehlo."), len(op.Operands) == 1 && op.Operands[0].Type.Elem.IsComplex()
	}
	return "", false
}

// expand writes an operation out. Types that have no expansion of their own go through f32, as XLA does it for small types.
func (s *simplifier) expand(op *mlir.Op, name string) *mlir.Op {
	t := op.Operands[0].Type
	if t.Kind != mlir.Tensor || !t.IsStatic() {
		return op // once the shape is known
	}
	lines, ok := expansions()[name+" "+t.Elem.String()]
	if ok {
		return s.writeOut(op, lines, op.Operands)
	}
	if lines, ok = expansions()[name+" f32"]; !ok || !t.Elem.IsFloat() || t.Elem.Bits() >= 32 {
		s.fail(op, "'%s' of elements of type %s is not supported", op.Name, mlir.ElementName(t.Elem))
	}
	wide := make([]*mlir.Value, len(op.Operands))
	for i, v := range op.Operands {
		wide[i] = s.put(op, "stablehlo.convert", s.m.Types.WithElem(t, hlo.F32), nil, v)
	}
	last := s.writeOut(op, lines, wide)
	if last.Results[0].Type.Elem == hlo.PRED {
		return last
	}
	return instead(op, "stablehlo.convert", nil, s.add(last))
}

// put adds an operation with a result of type t before op.
func (s *simplifier) put(op *mlir.Op, name string, t *mlir.Type, attrs mlir.Attrs, operands ...*mlir.Value) *mlir.Value {
	o := instead(op, name, attrs, operands...)
	o.Results[0].Type = t
	s.op(o)
	return s.value(&o.Results[0])
}

// writeOut adds the operations of an expansion but for the last one, which it returns.
func (s *simplifier) writeOut(op *mlir.Op, lines []string, operands []*mlir.Value) *mlir.Op {
	shape := operands[0].Type
	values := append([]*mlir.Value(nil), operands...)
	list := readExpansion(lines)
	for i, v := range list {
		t := s.m.Types.WithElem(shape, v.typ)
		name := "stablehlo." + strings.ReplaceAll(v.op.String(), "-", "_")
		var attrs mlir.Attrs
		switch {
		case v.op == hlo.OpConstant:
			attrs = mlir.Attrs{{Name: "value", Value: mlir.Dense{Type: t, Data: v.data, Splat: true}}}
		case v.direction != "":
			attrs = mlir.Attrs{{Name: "comparison_direction", Value: mlir.Enum{Kind: "comparison_direction", Value: v.direction}}}
		}
		args := make([]*mlir.Value, len(v.operands))
		for k, n := range v.operands {
			args[k] = values[n]
		}
		if i == len(list)-1 {
			last := instead(op, name, attrs, args...)
			last.Results[0].Type = t
			return last
		}
		values = append(values, s.put(op, name, t, attrs, args...))
	}
	// No line at all: the operand itself.
	return instead(op, "stablehlo.convert", nil, operands[0])
}
