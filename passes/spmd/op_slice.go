package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpSlice] = sliceFactors
	factorsOfOp[hlo.OpPad] = padFactors
	handlers[hlo.OpSlice] = slice
	handlers[hlo.OpPad] = pad
}

// slice moves nothing along dimensions that stay whole; along others each device fetches what its part of the result is.
func slice(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	if v, ok := s.apart(in, want[0]); ok {
		return []*value{v}, nil
	}
	zero := s.d.scalar(in.Shape().Type(), 0)
	f := sliceFactors(in)
	h := &shift{in: in}
	for k, r := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		if !isWholeSlice(in, k) {
			h.along(k, segment{from: r.Start, stride: r.Stride, spread: 1, n: in.Shape().Dim(k)})
		}
	}
	h.local = func(dims []int, x hlo.Value) hlo.Value {
		a := hlo.AttrsOf[hlo.SliceAttrs](in)
		a.Slice = slices.Clone(a.Slice)
		for k := range a.Slice {
			if !slices.Contains(dims, k) {
				a.Slice[k] = hlo.SliceDim{Limit: x.Shape().Dim(k), Stride: 1}
			}
		}
		return s.d.b.As(in.Name()).With(commonOf(in)).Op(hlo.OpSlice, &a, x)
	}
	return s.shiftOr(h, want, &details{
		fill: func(int) hlo.Value { return zero },
		attrs: func(in hlo.Instruction, p *plan, operands []*value) hlo.OpAttrs {
			a := hlo.AttrsOf[hlo.SliceAttrs](in)
			a.Slice = slices.Clone(a.Slice)
			for k := range a.Slice {
				n := operands[0].v.Shape().Dim(k)
				if isWholeSlice(in, k) {
					a.Slice[k].Limit = n
				} else if p.slides(f, k) {
					a.Slice[k].Start, a.Slice[k].Limit = 0, n
				}
			}
			return &a
		},
	})
}

// pad is a slice beyond the ends of its operand.
func pad(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	f := padFactors(in)
	filler := s.values[in.Operand(1)][0]
	outside := s.d.reshard(filler, replicatedLike(filler.t, 0)).v
	h := &shift{in: in, fill: outside}
	for k, r := range hlo.AttrsOf[hlo.PadAttrs](in).Padding {
		if r != (hlo.PaddingDim{}) {
			h.along(k, padSegment(r, in.OperandInstr(0).Shape().Dim(k), in.Shape().Dim(k)))
		}
	}
	h.local = func(dims []int, x hlo.Value) hlo.Value {
		a := hlo.AttrsOf[hlo.PadAttrs](in)
		a.Padding = slices.Clone(a.Padding)
		for k := range a.Padding {
			if !slices.Contains(dims, k) {
				a.Padding[k] = hlo.PaddingDim{}
			}
		}
		return s.d.b.As(in.Name()).With(commonOf(in)).Op(hlo.OpPad, &a, x, outside)
	}
	return s.shiftOr(h, want, &details{
		fill: func(int) hlo.Value { return outside },
		attrs: func(in hlo.Instruction, p *plan, _ []*value) hlo.OpAttrs {
			a := hlo.AttrsOf[hlo.PadAttrs](in)
			a.Padding = slices.Clone(a.Padding)
			for k := range a.Padding {
				if p.slides(f, k) {
					a.Padding[k] = hlo.PaddingDim{}
				}
			}
			return &a
		},
	})
}

// padSegment is what a pad leaves of its operand: padding may be negative.
func padSegment(r hlo.PaddingDim, in, out int64) segment {
	g := segment{stride: 1, spread: r.Interior + 1}
	if r.Low < 0 {
		g.from = ceilDiv(-r.Low, g.spread)
	}
	g.at = r.Low + g.from*g.spread
	g.n = max(0, min(in-g.from, ceilDiv(out-g.at, g.spread)))
	return g
}

// kindIf is whole when a dimension is touched by an op that moves elements along it.
func kindIf(touched bool) factorKind {
	if touched {
		return wholeFactor
	}
	return passFactor
}

func isWholeSlice(in hlo.Instruction, k int) bool {
	d := hlo.AttrsOf[hlo.SliceAttrs](in).Slice[k]
	return d.Start == 0 && d.Stride == 1 && d.Limit == in.OperandInstr(0).Shape().Dim(k)
}

func sliceFactors(in hlo.Instruction) (all []factor) {
	for k, d := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		if isWholeSlice(in, k) {
			all = append(all, along(1, passFactor, k, [2]int{0, k}))
			continue
		}
		w := slide{in: in.OperandInstr(0).Shape().Dim(k), out: in.Shape().Dim(k), low: -d.Start, stride: d.Stride, reach: 1}
		all = append(all, sliding(1, k, []slide{w}, [2]int{0, k}))
	}
	return all
}

func padFactors(in hlo.Instruction) (all []factor) {
	for k, d := range hlo.AttrsOf[hlo.PadAttrs](in).Padding {
		if d.Interior != 0 || d == (hlo.PaddingDim{}) {
			all = append(all, along(2, kindIf(d.Interior != 0), k, [2]int{0, k}))
			continue
		}
		w := slide{in: in.OperandInstr(0).Shape().Dim(k), out: in.Shape().Dim(k), low: d.Low, stride: 1, reach: 1}
		all = append(all, sliding(2, k, []slide{w}, [2]int{0, k}))
	}
	return all
}
