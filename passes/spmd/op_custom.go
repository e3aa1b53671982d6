package spmd

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// Targets of the custom-calls that say how arrays are tiled.
const (
	shardingCall = "Sharding"
	toShards     = "SPMDFullToShardShape"
	toFull       = "SPMDShardToFullShape"
)

func init() {
	handlers[hlo.OpCustomCall] = customCall
	factorsOfOp[hlo.OpCustomCall] = customFactors
}

// identities are custom-calls whose result is their operand.
var identities = []string{shardingCall, barrierFrom, barrierTo, "annotate_device_placement", "MoveToHost", "MoveToDevice", "LayoutConstraint"}

// elementwiseCalls are custom-calls that compute element by element.
var elementwiseCalls = []string{"annotate_device_placement", "MoveToHost", "MoveToDevice", "LayoutConstraint", "X64Combine", "X64SplitLow", "X64SplitHigh"}

// customFactors are those of a rule that JAX wrote, of batch dimensions that it counted, or of a call that is known.
func customFactors(in hlo.Instruction) []factor {
	a := hlo.AttrsOf[hlo.CustomCallAttrs](in)
	if slices.Contains(elementwiseCalls, a.Target) {
		return elementwiseFactors(in)
	}
	if a.HasSideEffect {
		return nil
	}
	k := in.Common()
	if k == nil {
		return nil
	}
	if text, ok := k.FrontendAttributes.Get(sdyRuleKey); ok {
		if rule, err := parseShardRule(text); err == nil {
			return rule.factors(in)
		}
	}
	if text, ok := k.FrontendAttributes.Get("num_batch_dims"); ok {
		if n, err := strconv.Atoi(text); err == nil {
			return batchFactors(in, n)
		}
	}
	return nil
}

// batchFactors: the first n dimensions of every array pass, all others stay whole.
func batchFactors(in hlo.Instruction, n int) (all []factor) {
	least := n
	leaves(in.Shape(), func(s hlo.Shape) { least = min(least, s.Rank()) })
	for k := range least {
		all = append(all, factor{kind: passFactor, operands: dimOfEach(in, k, func(i int) bool { return in.OperandInstr(i).Shape().Rank() > k }), result: k})
	}
	return all
}

// factors are the dimensions that a rule lets pass: those that are a factor of their own, at one place in every result.
func (r *sdyRule) factors(in hlo.Instruction) (all []factor) {
	if len(r.Operands) != in.NumOperands() || len(r.Results) != in.Shape().NumLeaves() {
		return nil
	}
	kinds := make(map[string]bool) // those that must not be split
	for _, set := range r.Sets {
		for _, name := range set.Names {
			kinds[name] = true
		}
	}
	for _, f := range r.Sizes {
		place := -1
		for i, t := range r.Results {
			k := slices.Index(t.Dims, f.Name)
			if i > 0 && k != place {
				k = -1
			}
			place = k
			if k < 0 {
				break
			}
		}
		if place < 0 || kinds[f.Name] {
			continue
		}
		all = append(all, factor{kind: passFactor, result: place, operands: make([]int, in.NumOperands())})
		for i, t := range r.Operands {
			all[len(all)-1].operands[i] = slices.Index(t.Dims, f.Name)
		}
	}
	return all
}

func customCall(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	a := hlo.AttrsOf[hlo.CustomCallAttrs](in)
	switch {
	case slices.Contains(identities, a.Target) && in.NumOperands() == 1:
		return slices.Clone(s.operands(in)), nil
	case a.Target == toShards && in.NumOperands() == 1:
		return s.enter(in, want[0])
	case a.Target == toFull && in.NumOperands() == 1:
		return s.leave(in, want[0])
	}
	if f := customFactors(in); len(f) > 0 && slices.ContainsFunc(s.operands(in), func(x *value) bool { return x.t.isTiled() }) {
		return s.general(in, want, &details{attrs: partLayouts})
	}
	return s.whole(in, want)
}

// partLayouts are the attributes of a custom-call on parts: the layouts that it demands of its operands are written as shapes.
func partLayouts(in hlo.Instruction, p *plan, _ []*value) hlo.OpAttrs {
	a := hlo.AttrsOf[hlo.CustomCallAttrs](in)
	if a.OperandLayouts != nil {
		local := &hlo.ShapeList{Shapes: slices.Clone(a.OperandLayouts.Shapes)}
		for i := range min(len(local.Shapes), len(p.operands)) {
			local.Shapes[i] = p.operands[i].shard(local.Shapes[i])
		}
		a.OperandLayouts = local
	}
	return &a
}

// enter goes into a manual region: the part of the operand is the whole of the result. Dimensions are split by manual axes first, then by the
// others, which go on splitting inside.
func (s *scope) enter(in hlo.Instruction, want *Tiling) ([]*value, error) {
	x := s.operands(in)[0]
	if len(want.Manual) == 0 {
		want = want.withDims(want.Dims)
		want.Manual = want.Mesh.all()
	}
	at := x.t
	if at.Mesh != want.Mesh || len(at.Unreduced) > 0 {
		return nil, fmt.Errorf("operand is %v, which is no way to split for a region that is %v", x.t, want)
	}
	if !at.isTiled() {
		at = splitBy(at, want.Manual, x.shape, in.Shape())
	}
	outer := at.withDims(make([][]int, len(at.Dims)))
	for k := range outer.Dims {
		manual := intersect(at.Dims[k], want.Manual)
		if ratio := in.Shape().Dim(k) * at.Mesh.size(manual); ceilDiv(x.shape.Dim(k), at.Mesh.size(manual)) != in.Shape().Dim(k) {
			return nil, fmt.Errorf("dimension %d of %v is %d in the region, want %d parts of it to be as large", k, x.shape, in.Shape().Dim(k), ratio/in.Shape().Dim(k))
		}
		outer.Dims[k] = slices.Concat(manual, want.Dims[k])
	}
	outer.Manual = without(at.Manual, want.Manual)
	y := s.d.reshard(x, outer)
	return []*value{{v: s.d.b.Copy(y.v), shape: in.Shape(), t: want}}, nil
}

// splitBy splits a whole array by manual axes, in order, so that its parts are as large as they have to be.
func splitBy(t *Tiling, manual []int, whole, part hlo.Shape) *Tiling {
	left := manual
	for k := range t.Dims {
		n := 0
		for n < len(left) && ceilDiv(whole.Dim(k), t.Mesh.size(left[:n])) > part.Dim(k) {
			n++
		}
		t = t.withDim(k, left[:n:n])
		left = left[n:]
	}
	return t
}

// leave goes out of a manual region: the value of each device becomes its part of the result.
func (s *scope) leave(in hlo.Instruction, want *Tiling) ([]*value, error) {
	x := s.operands(in)[0]
	manual := x.t.Manual
	if len(manual) == 0 { // computed alike everywhere
		own, err := s.p.world.leafTilings(in.OperandInstr(0))
		if err != nil {
			return nil, err
		}
		manual = want.Mesh.all()
		if own[0] != nil && len(own[0].Manual) > 0 {
			manual = own[0].Manual
		}
		inside := x.t.withDims(x.t.Dims)
		inside.Manual = manual
		x = s.d.reshard(x, inside)
	}
	outer := want.withDims(make([][]int, len(want.Dims)))
	outer.Manual = without(want.Manual, manual)
	for k := range outer.Dims {
		split := intersect(want.Dims[k], manual)
		if ceilDiv(in.Shape().Dim(k), want.Mesh.size(split)) != x.shape.Dim(k) {
			return nil, fmt.Errorf("dimension %d of %v is %d parts of %d, want the whole to be as large", k, in.Shape(), want.Mesh.size(split), x.shape.Dim(k))
		}
		outer.Dims[k] = slices.Concat(split, x.t.Dims[k])
	}
	return []*value{{v: s.d.b.Copy(x.v), shape: in.Shape(), t: outer}}, nil
}

// intersect is a list less what is not in another.
func intersect(list, keep []int) []int {
	var both []int
	for _, a := range list {
		if slices.Contains(keep, a) {
			both = append(both, a)
		}
	}
	return both
}
