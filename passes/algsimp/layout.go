package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// layoutRules are for modules whose layouts are final: data movement that leaves every byte where it is becomes bitcast.
var layoutRules = []*pass.RewriteRule{
	rule("E30", "copy that moves nothing, or that undoes what copies and reshapes before it moved → bitcast", func(in hlo.Instruction) (pass.Expr, bool) {
		if x, ok := bitcastSource(in); ok && in.Shape().IsArray() && !in.Shape().Equal(in.OperandInstr(0).Shape()) {
			return bitcast(in, x)
		}
		return no()
	}, hlo.OpCopy),
	over(rule("E31", "copy(reshape(x)) → reshape(x) in the layout of the copy, if that moves nothing", func(in hlo.Instruction) (pass.Expr, bool) {
		r := in.OperandInstr(0)
		if !oneUse(r) || !sameBytes(r.Shape(), in.Shape()) || in.Shape().Equal(r.Shape()) {
			return no()
		}
		return reshape(r.OperandInstr(0), in.Shape())
	}, hlo.OpCopy), reshapes),
	rule("E16", "transpose that moves nothing in memory → bitcast", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		from, okFrom := axesInMemory(x.Shape())
		to, okTo := axesInMemory(in.Shape())
		if !okFrom || !okTo || memorySpace(x) != memorySpace(in) || len(from) != len(to) {
			return no()
		}
		for i, a := range to {
			if axes(in)[a] != from[i] {
				return no()
			}
		}
		return bitcast(in, x)
	}, hlo.OpTranspose),
	rule("E10", "reshape that moves nothing in memory, or that undoes what copies and reshapes before it moved → bitcast", func(in hlo.Instruction) (pass.Expr, bool) {
		if x, ok := bitcastSource(in); ok {
			return bitcast(in, x)
		}
		return no()
	}, hlo.OpReshape),
	over(rule("E33", "bitcast(bitcast(x)) → bitcast(x), or x", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0).OperandInstr(0)
		if x.Shape().Equal(in.Shape()) {
			return use(x)
		}
		if !x.Shape().IsArray() {
			return no()
		}
		return bitcast(in, x)
	}, hlo.OpBitcast), bitcasts),
	rule("E33s", "bitcast to the same shape → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		if x := in.OperandInstr(0); x.Shape().Equal(in.Shape()) {
			return use(x)
		}
		return no()
	}, hlo.OpBitcast),
	over(rule("E33b", "bitcast(broadcast(x)) that exchanges axes → broadcast(x)", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		perm, ok := asTranspose(b.Shape(), in.Shape())
		if !ok || b.Shape().Type() != in.Shape().Type() {
			return no()
		}
		var at []int64
		for _, a := range broadcastAxes(b) {
			at = append(at, int64(slices.Index(perm, a)))
		}
		if !slices.IsSorted(at) {
			return no()
		}
		return broadcast(pass.Use(b.OperandInstr(0)), in.Shape(), at)
	}, hlo.OpBitcast), broadcasts),
	rule("E34", "bitcast(op(bitcast(x))) → bitcast(op(x)), for one operand", func(in hlo.Instruction) (pass.Expr, bool) {
		op := in.OperandInstr(0)
		if !hlo.Info(op.Opcode()).Traits.Has(hlo.TraitElementwise) || op.NumOperands() != 1 || op.NumCallees() > 0 || !oneUse(op) || !is(op.OperandInstr(0), hlo.OpBitcast) {
			return no()
		}
		x := op.OperandInstr(0).OperandInstr(0)
		if l, ok := x.Shape().Layout(); !ok || len(l.Tiles) > 0 || x.Shape().Type() != op.OperandInstr(0).Shape().Type() || in.Shape().Type() != op.Shape().Type() {
			return no()
		}
		inner := shaped(op.Opcode(), x.Shape().WithType(op.Shape().Type()), op.Attrs(), pass.Use(x))
		if inner.Shape().Equal(in.Shape()) {
			return done(inner)
		}
		return done(shaped(hlo.OpBitcast, in.Shape(), nil, inner))
	}, hlo.OpBitcast),
	rule("D29", "bitcast-convert that keeps the bytes in their order → bitcast", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		from, okFrom := x.Shape().Layout()
		to, okTo := in.Shape().Layout()
		if !okFrom || !okTo || len(from.Tiles)+len(to.Tiles) > 0 || from.ElementSizeInBits != 0 || to.ElementSizeInBits != 0 || memorySpace(x) != memorySpace(in) {
			return no()
		}
		// The axis that one of them has more is the fastest.
		a, b := from.MinorToMajor, to.MinorToMajor
		switch d := len(a) - len(b); {
		case d == 1 && a[0] == int64(len(a)-1):
			a = a[1:]
		case d == -1 && b[0] == int64(len(b)-1):
			b = b[1:]
		case d != 0:
			return no()
		}
		if !slices.Equal(a, b) || in.Shape().Type().Bits() < 8 || x.Shape().Type().Bits() < 8 {
			return no()
		}
		return bitcast(in, x)
	}, hlo.OpBitcastConvert),
	rule("D29b", "bitcast to a type of the same width → bitcast-convert, on CPUs and where layouts are not final", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		from, to := x.Shape().Type(), in.Shape().Type()
		if from == to || from == hlo.PRED || to == hlo.PRED || from.Bits() < 8 || from.Bits() != to.Bits() {
			return no()
		}
		converted := shaped(hlo.OpBitcastConvert, x.Shape().WithType(to), nil, pass.Use(x))
		switch {
		case converted.Shape().Equal(in.Shape()):
			return done(converted)
		case analysis.SameBytes(in) && memorySpace(x) == memorySpace(in):
			return done(shaped(hlo.OpReshape, in.Shape(), nil, converted))
		}
		return no()
	}, hlo.OpBitcast),
	rule("E39", "a call that asks for a layout → operand, or copy", func(in hlo.Instruction) (pass.Expr, bool) {
		if hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != "LayoutConstraint" || in.NumOperands() != 1 {
			return no()
		}
		x := in.OperandInstr(0)
		if x.Shape().Equal(in.Shape()) {
			return use(x)
		}
		return same(in, hlo.OpCopy, pass.Use(x))
	}, hlo.OpCustomCall),
}

var bitcasts = []hlo.Opcode{hlo.OpBitcast}

func bitcast(in, x hlo.Instruction) (pass.Expr, bool) {
	return pass.New(hlo.OpBitcast, in.Shape(), nil, pass.Use(x)), true
}

// bitcastSource goes back through copies and reshapes to the first value that has every byte where in has it.
func bitcastSource(in hlo.Instruction) (hlo.Instruction, bool) {
	x := in.OperandInstr(0)
	for {
		if x.Shape().IsArray() && x.Shape().Type() == in.Shape().Type() && memorySpace(x) == memorySpace(in) && rowMajorBytes(x.Shape(), in.Shape()) {
			return x, true
		}
		if !is(x, hlo.OpReshape) && !is(x, hlo.OpCopy) {
			return x, false
		}
		x = x.OperandInstr(0)
	}
}

// axesInMemory lists the axes from the fastest on without those of size 1, which may stand anywhere. It fails on tiles and on layouts that
// are not known.
func axesInMemory(s hlo.Shape) ([]int64, bool) {
	l, ok := s.Layout()
	if !ok || len(l.Tiles) > 0 || l.ElementSizeInBits != 0 {
		return nil, false
	}
	var kept []int64
	for _, a := range l.MinorToMajor {
		if s.Dim(int(a)) != 1 {
			kept = append(kept, a)
		}
	}
	return kept, true
}

// sameBytes reports whether two shapes of the same dimensions have every element at the same place.
func sameBytes(a, b hlo.Shape) bool {
	x, okX := axesInMemory(a)
	y, okY := axesInMemory(b)
	if !okX || !okY || !slices.Equal(a.Dimensions(), b.Dimensions()) || a.Type() != b.Type() {
		return false
	}
	la, _ := a.Layout()
	lb, _ := b.Layout()
	return slices.Equal(x, y) && la.MemorySpace == lb.MemorySpace
}

// rowMajorBytes reports whether a reshape leaves every byte at its place: each run of axes that it joins or splits lies in memory in its order,
// and the runs lie in the same order.
func rowMajorBytes(from, to hlo.Shape) bool {
	x, okX := axesInMemory(from)
	y, okY := axesInMemory(to)
	if !okX || !okY {
		return false
	}
	// Strides of both, from the layouts; a reshape is a bitcast if walking in logical order visits the same places.
	sx, sy := strides(from, x), strides(to, y)
	i, k := from.Rank()-1, to.Rank()-1
	nx, ny := int64(1), int64(1)
	for i >= 0 || k >= 0 {
		for i >= 0 && from.Dim(i) == 1 {
			i--
		}
		for k >= 0 && to.Dim(k) == 1 {
			k--
		}
		if i < 0 || k < 0 {
			return i < 0 && k < 0
		}
		// The part of each axis that is not yet walked begins at stride·n.
		if sx[i]*nx != sy[k]*ny {
			return false
		}
		restX, restY := from.Dim(i)/nx, to.Dim(k)/ny
		step := min(restX, restY)
		if max(restX, restY)%step != 0 {
			return false
		}
		nx, ny = nx*step, ny*step
		if nx == from.Dim(i) {
			i, nx = i-1, 1
		}
		if ny == to.Dim(k) {
			k, ny = k-1, 1
		}
	}
	return true
}

// strides are the distances of neighbours along each axis, in elements.
func strides(s hlo.Shape, fastestFirst []int64) []int64 {
	all := make([]int64, s.Rank())
	n := int64(1)
	for _, a := range fastestFirst {
		all[a] = n
		n *= s.Dim(int(a))
	}
	return all
}

// asTranspose is the transpose that a bitcast between two shapes of the same elements is: the axes in memory correspond in order.
func asTranspose(from, to hlo.Shape) (perm []int64, ok bool) {
	a, okA := from.Layout()
	b, okB := to.Layout()
	if !okA || !okB || from.Rank() != to.Rank() || len(a.Tiles)+len(b.Tiles) > 0 {
		return nil, false
	}
	perm = make([]int64, to.Rank())
	for i, axis := range b.MinorToMajor {
		if to.Dim(int(axis)) != from.Dim(int(a.MinorToMajor[i])) {
			return nil, false
		}
		perm[axis] = a.MinorToMajor[i]
	}
	return perm, true
}
