package stablehlo

import (
	_ "embed"
	"fmt"
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
	op       hlo.Opcode
	typ      hlo.PrimitiveType
	operands []int
	attrs    hlo.OpAttrs
	bits     uint64 // of a constant
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
			v.bits, _ = strconv.ParseUint(f[2], 16, 64)
		default:
			for _, w := range f[2:] {
				n, err := strconv.Atoi(w)
				if err != nil {
					v.attrs = compareAttrs(w)
					continue
				}
				v.operands = append(v.operands, n)
			}
		}
		out = append(out, v)
	}
	return out
}

func compareAttrs(direction string) *hlo.CompareAttrs {
	a := &hlo.CompareAttrs{}
	for i, name := range a.Direction.EnumNames() {
		if name == direction {
			a.Direction = hlo.Direction(i)
		}
	}
	return a
}

// expansion writes an operation out. Types that have no expansion of their own go through f32, as XLA does it for small types.
func (c *comp) expansion(name string, operands []hlo.InstrID) hlo.InstrID {
	shape := c.shape(operands[0])
	lines, ok := expansions()[name+" "+shape.Type().String()]
	if !ok {
		if lines, ok = expansions()[name+" f32"]; !ok || !shape.Type().IsFloat() || shape.Type().Bits() >= 32 {
			c.fail(c.op, "'%s' of elements of type %s is not supported", c.op.Name, mlir.ElementName(shape.Type()))
		}
		wide := make([]hlo.InstrID, len(operands))
		for i, id := range operands {
			wide[i] = c.add(hlo.OpConvert, shape.WithType(hlo.F32), nil, id)
		}
		result := c.writeOut(lines, wide)
		if c.shape(result).Type() == hlo.PRED {
			return result
		}
		return c.add(hlo.OpConvert, shape, nil, result)
	}
	return c.writeOut(lines, operands)
}

func (c *comp) writeOut(lines []string, operands []hlo.InstrID) hlo.InstrID {
	shape := c.shape(operands[0])
	values := append([]hlo.InstrID(nil), operands...)
	for _, v := range readExpansion(lines) {
		s := shape.WithType(v.typ)
		if v.op == hlo.OpConstant {
			t := c.m.Types.WithDims(c.m.Types.Tensor(c.m.Types.Scalar(v.typ), nil, nil), shape.Dimensions())
			values = append(values, c.splat(mlir.Dense{Type: t, Data: mlir.ElementBytes(v.typ, v.bits), Splat: true}, s))
			continue
		}
		ids := make([]hlo.InstrID, len(v.operands))
		for i, n := range v.operands {
			ids[i] = values[n]
		}
		values = append(values, c.add(v.op, s, v.attrs, ids...))
	}
	return values[len(values)-1]
}
