package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
	"github.com/gohalo/halo/passes/emit"
)

// weighted is a sum of products of arrays and numbers.
type weighted struct {
	in     hlo.Instruction
	level  int
	terms  []term
	spread bool // a sum was multiplied out
}

// term is a product of arrays, and of a number.
type term struct {
	factors []hlo.InstrID
	weight  float64
}

const maxTerms = 64

// findWeighted matches a tree of sums and differences whose leaves have weights: numbers other than 1, from level 3 on also arrays.
func findWeighted(in hlo.Instruction, level int) (w *weighted, ok bool) {
	if level < 2 || !isSum(in) || !in.Shape().Type().IsFloat() || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
		return nil, false
	}
	if u, only := soleUser(in); only && isSum(u) && u.Operand(0) != u.Operand(1) {
		return nil, false // part of a larger tree
	}
	w = &weighted{in: in, level: level}
	if !w.add(in, 1, nil, 0) || len(w.terms) < 2 {
		return nil, false
	}
	for _, t := range w.terms {
		ok = ok || t.weight != 1 || len(t.factors) > 1
	}
	return w, ok
}

func isSum(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpAdd || in.Opcode() == hlo.OpSubtract
}

// add takes apart a value that is multiplied by a number and by arrays; false if there are too many parts.
func (w *weighted) add(x hlo.Instruction, weight float64, by []hlo.InstrID, depth int) bool {
	own := x == w.in || x.UserCount() == 1 && !x.IsRoot() && x.NumControlPredecessors()+x.NumControlSuccessors() == 0
	switch {
	case depth > maxTerms || len(w.terms) >= maxTerms:
		return false
	case own && isSum(x):
		w.spread = w.spread || len(by) > 0
		other := weight
		if x.Opcode() == hlo.OpSubtract {
			other = -weight
		}
		return w.add(x.OperandInstr(0), weight, by, depth+1) && w.add(x.OperandInstr(1), other, by, depth+1)
	case own && x.Opcode() == hlo.OpNegate:
		return w.add(x.OperandInstr(0), -weight, by, depth+1)
	case own && x.Opcode() == hlo.OpMultiply:
		for k := range 2 {
			if f, ok := number(x.OperandInstr(k)); ok {
				return w.add(x.OperandInstr(1-k), weight*f, by, depth+1)
			}
		}
		if w.level >= 3 {
			return w.add(x.OperandInstr(0), weight, append([]hlo.InstrID{x.Operand(1)}, by...), depth+1)
		}
	}
	w.terms = append(w.terms, term{append([]hlo.InstrID{x.ID()}, by...), weight})
	return true
}

// number is the one value of all elements.
func number(in hlo.Instruction) (float64, bool) {
	l, ok := match.SplatValue(in)
	if !ok || l.IsElided() {
		return 0, false
	}
	return scalar.Float(l)
}

func (w *weighted) class() pass.FP {
	if w.spread {
		return pass.NotANumber
	}
	return pass.Overflow // a sum in between that is too large may come back
}

// write puts the factors side by side, along an axis in front that a dot contracts.
func (w *weighted) write(at emit.At) hlo.InstrID {
	s := w.in.Shape()
	row := append([]int64{1}, s.Dimensions()...)
	rows := func(of func(t term) hlo.InstrID) hlo.InstrID {
		parts := make([]hlo.InstrID, len(w.terms))
		for i, t := range w.terms {
			parts[i] = of(t)
		}
		return at.Concatenate(0, parts...)
	}
	lhs := rows(func(t term) hlo.InstrID { return at.Reshape(t.factors[len(t.factors)-1], row...) })
	attrs := &hlo.DotAttrs{LHSContracting: []int64{0}, RHSContracting: []int64{0}}
	if !slices.ContainsFunc(w.terms, func(t term) bool { return len(t.factors) > 1 }) {
		var data []byte
		for _, t := range w.terms {
			data = append(data, emit.Real(s.Type(), t.weight).Bytes()...)
		}
		return at.OpOf(hlo.OpDot, s.WithoutLayout(), attrs, lhs, at.Vector(s.Type(), data))
	}
	rhs := rows(func(t term) hlo.InstrID {
		rest := t.factors[:len(t.factors)-1]
		if len(rest) == 0 {
			return at.Fill(at.Float(s.Type(), t.weight), row...)
		}
		x := rest[0]
		for _, y := range rest[1:] {
			x = at.Binary(hlo.OpMultiply, x, y)
		}
		if x = at.Reshape(x, row...); t.weight != 1 {
			x = at.Binary(hlo.OpMultiply, x, at.Fill(at.Float(s.Type(), t.weight), row...))
		}
		return x
	})
	for i := range s.Rank() {
		attrs.LHSBatch = append(attrs.LHSBatch, int64(i)+1)
	}
	attrs.RHSBatch = attrs.LHSBatch
	return at.OpOf(hlo.OpDot, s.WithoutLayout(), attrs, lhs, rhs)
}
