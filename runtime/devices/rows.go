package devices

import "github.com/gohalo/halo/hlo"

// ragged is the places of the operands of a ragged-all-to-all: an array of rows, and for each receiver from which row on, how many, and where to
// put them.
var ragged = struct{ rows, from, size, to, operands int }{rows: 0, from: 2, size: 3, to: 4, operands: 6}

// HasRows reports whether members bring rows of which others need those that the values of other operands name, as in a ragged-all-to-all.
func (t *Meeting) HasRows() bool {
	if _, ok := t.In.Attrs().(*hlo.RaggedAllToAllAttrs); !ok || t.In.NumOperands() != ragged.operands {
		return false
	}
	s := t.In.OperandInstr(ragged.rows).Shape()
	return s.IsArray() && s.IsStatic() && s.Rank() > 0
}

// NeedRows is what the member of rank to needs of the rows that the member of rank from brings, once the operands that name them are there. It names at
// least one part, and none that is out of bounds: computing reports those.
func (t *Meeting) NeedRows(from, to, operand int) []Part {
	if operand != ragged.rows {
		return nil
	}
	none := []Part{{}}
	at, size := Integers(t.Brought[from][ragged.from]), Integers(t.Brought[from][ragged.size])
	updates := len(at) / len(t.Group)
	if len(size) != len(at) {
		return none
	}
	rows := t.In.OperandInstr(operand).Shape().Dim(0)
	parts := none
	for k := to * updates; k < (to+1)*updates; k++ {
		if at[k] >= 0 && size[k] > 0 && at[k] <= rows && size[k] <= rows-at[k] {
			parts = append(parts, Part{At: at[k], Size: size[k]})
		}
	}
	return parts
}

// Integers are the elements of an array of indices.
func Integers(l *hlo.Literal) []int64 {
	switch l.Shape().Type() {
	case hlo.S32:
		return widened(hlo.Values[int32](l))
	case hlo.U32:
		return widened(hlo.Values[uint32](l))
	case hlo.U64:
		return widened(hlo.Values[uint64](l))
	case hlo.S64:
		return hlo.Values[int64](l)
	}
	return nil
}

func widened[T int32 | uint32 | uint64](v []T) []int64 {
	r := make([]int64, len(v))
	for i, x := range v {
		r[i] = int64(x)
	}
	return r
}
