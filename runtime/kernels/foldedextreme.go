package kernels

import (
	"encoding/binary"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// foldedExtreme is [compiler.folded] for the computation that takes the largest or the smallest element and the first position where it is. Elements are folded in the order of their
// positions, so that it is enough to compare them; and positions, of which there are few, are counted in integers as wide as what is compared, so that all lanes are.
func (c *compiler) foldedExtreme(in hlo.Instruction, at access) ([]tile.Value, bool) {
	points := analysis.FoldedPoints(in)
	largest, last, ok := c.extremeFolded(in, points)
	if !ok {
		return nil, false
	}
	t := in.OperandInstr(0).Shape().Type()
	width := 4
	if !t.IsFloat() || t.Bits() > 32 {
		width = t.ByteSize()
	}
	count := map[int]hlo.PrimitiveType{1: hlo.S8, 2: hlo.S16, 4: hlo.S32, 8: hlo.S64}[width]
	var best, place tile.Value
	for k, point := range points {
		v, ok := c.value(in.OperandInstr(0), c.foldedAt(in, at, point))
		if !ok || c.b.Type(v) != t {
			return nil, false
		}
		here := c.b.Constant(count, binary.LittleEndian.AppendUint64(nil, uint64(k)))
		if k == 0 {
			best, place = v, here
			continue
		}
		if best, place, ok = c.extremeOfTwo(largest, last, best, place, v, here); !ok {
			return nil, false
		}
	}
	place, ok = c.b.Convert(in.OperandInstr(1).Shape().Type(), place)
	return []tile.Value{best, place}, ok
}

// extremeOfTwo is the extreme of what is the best so far and of v, which comes behind it, and where that is.
func (c *compiler) extremeOfTwo(largest, last bool, best, place, v, here tile.Value) (tile.Value, tile.Value, bool) {
	isFloat := c.b.Type(v).IsFloat()
	stays := func(dir hlo.Direction) (tile.Value, bool) {
		x, y := best, v
		if largest {
			x, y = v, best
		}
		p, ok := c.b.Compare(dir, x, y)
		if ok && isFloat {
			var isNaN tile.Value
			if isNaN, ok = c.b.Compare(hlo.NE, best, best); ok {
				p, ok = c.b.Either(p, isNaN)
			}
		}
		return p, ok
	}
	p, ok := stays(hlo.LE)
	if !ok {
		return 0, 0, false
	}
	q := p
	if isFloat && last { // of zeros the last one
		if q, ok = stays(hlo.LT); !ok {
			return 0, 0, false
		}
	}
	newBest, ok := c.b.Choose(q, best, v)
	newPlace, ok2 := c.b.Choose(p, place, here)
	return newBest, newPlace, ok && ok2
}

// extremeFolded recognises the computation of a reduction at points, which begins with what all elements are behind of.
func (c *compiler) extremeFolded(in hlo.Instruction, points [][]int64) (largest, last, ok bool) {
	comp, ok := c.m.Computation(in.Callee(0))
	if !ok || in.Opcode() != hlo.OpReduce || in.NumOperands() != 4 || c.lanes || !analysis.OnlyCompares(comp) {
		return false, false, false
	}
	places := in.OperandInstr(1)
	if _, isInput := c.leaf(places); isInput || places.Opcode() != hlo.OpIota {
		return false, false, false
	}
	axis := hlo.AttrsOf[hlo.IotaAttrs](places).Dimension
	for k, point := range points {
		if point[axis] != int64(k) { // the others have one element
			return false, false, false
		}
	}
	if n, ok := wholeNumber(in.OperandInstr(3)); !ok || n != 0 {
		return false, false, false
	}
	p, ok := compileLanes(c.m, comp, maxLanes)
	if !ok {
		return false, false, false
	}
	largest, last, ok = extremeKind(comp, p)
	return largest, last, ok && isBehindAll(in.OperandInstr(2), largest)
}

// isBehindAll reports whether nothing is smaller than a constant, or larger.
func isBehindAll(in hlo.Instruction, largest bool) bool {
	t, l := in.Shape().Type(), in.Literal()
	if in.Opcode() != hlo.OpConstant || l == nil || l.IsElided() {
		return false
	}
	switch {
	case t == hlo.PRED:
		return (l.Bytes()[0] == 0) == largest
	case t.IsFloat():
		op := hlo.OpMinimum
		if largest {
			op = hlo.OpMaximum
		}
		return tile.IsIdentity(op, t, l.Bytes())
	}
	n, ok := wholeNumber(in)
	least, most := limits(t)
	if largest {
		return ok && n == least
	}
	return ok && n == most && t != hlo.U64 // whose largest is no number of 64 bits with a sign
}
