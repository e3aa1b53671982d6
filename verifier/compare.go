package verifier

import "github.com/gohalo/halo/hlo"

// The comparison of the stated result shape with the inferred one (verifier 5.2.1).

// compare holds the stated shape of in against the inferred one.
func (r *run) compare(in hlo.Instruction, inferred hlo.Shape) bool {
	stated, info := in.Shape(), hlo.Info(in.Opcode())
	k := info.Match
	if k == hlo.MatchOwn {
		return true
	}
	if !r.cfg.MixedPrecision && !info.Traits.Has(hlo.TraitMixesPrecision) && !r.onePrecision(in) {
		return false
	}
	if r.agrees(k, in, stated, inferred) {
		return true
	}
	rule := info.MatchRule
	layouts := r.cfg.LayoutSensitive && stated.Compatible(inferred)
	switch {
	case k == hlo.MatchCopy && layouts:
		rule = "GEN-08"
	case k == hlo.MatchCopy && r.cfg.LayoutSensitive && crossesHost(stated, inferred):
		rule = "GEN-08"
	case layouts && (k == hlo.MatchExact || k == hlo.MatchOrder) && stated.EqualExcept(inferred, hlo.IgnoreLayout):
		rule = "LAY-01"
	case rule == "" || stated.EqualExcept(inferred, hlo.Compatible|hlo.IgnoreFPPrecision) && !stated.Compatible(inferred):
		rule = "GEN-06"
	}
	layouts = layouts || rule == "GEN-08"
	also := ""
	if k == hlo.MatchInPlace && stated.IsBuffer() != inferred.IsBuffer() {
		also = ": DynamicUpdateSlice result must be a buffer exactly if operand 0 is one"
	}
	r.report(in, rule, "Expected instruction to have shape equal to %s, actual shape is %s%s", shapeText(inferred, layouts), shapeText(stated, layouts), also)
	return false
}

func shapeText(s hlo.Shape, layout bool) string { return string(s.AppendText(nil, layout)) }

func (r *run) agrees(k hlo.ShapeMatch, in hlo.Instruction, stated, inferred hlo.Shape) bool {
	strict := r.cfg.LayoutSensitive
	switch k {
	case hlo.MatchExact:
		return r.same(stated, inferred, 0)
	case hlo.MatchOrder:
		return r.same(stated, inferred, hlo.MinorToMajorOnly)
	case hlo.MatchInPlace:
		if r.isFused(in.Computation().ID()) {
			return r.same(stated, inferred, hlo.IgnoreMemorySpace|hlo.IgnoreTiles)
		}
		return r.same(stated, inferred, 0)
	case hlo.MatchCopy:
		if strict && crossesHost(stated, inferred) {
			if inHost(stated) {
				return stated.Type() == inferred.Type()
			}
			return stated.EqualExcept(inferred, hlo.IgnoreMemorySpace)
		}
	}
	e := hlo.Compatible
	if r.cfg.MixedPrecision {
		e |= hlo.IgnoreFPPrecision
	}
	return stated.EqualExcept(inferred, hlo.ShapeEq(e))
}

// hostMemory is the memory space of the host.
const hostMemory = 5

func inHost(s hlo.Shape) bool { return memorySpace(s) == hostMemory }

func memorySpace(s hlo.Shape) int64 {
	if l, ok := s.Layout(); ok {
		return l.MemorySpace
	}
	return 0
}

func crossesHost(a, b hlo.Shape) bool { return a.IsArray() && b.IsArray() && inHost(a) != inHost(b) }

// same is the relation of two shapes that must be the same under the configuration.
func (r *run) same(a, b hlo.Shape, e hlo.ShapeEq) bool {
	if r.cfg.LayoutSensitive {
		return a.EqualExcept(b, e)
	}
	return a.EqualExcept(b, e|hlo.Compatible)
}

// onePrecision checks that all floating operands have one type (GEN-05).
func (r *run) onePrecision(in hlo.Instruction) bool {
	seen := hlo.InvalidType
	for i := range in.NumOperands() {
		s := in.OperandInstr(i).Shape()
		if s.IsArray() {
			if t := s.Type(); t.IsFloat() && t != seen {
				if seen != hlo.InvalidType {
					return r.mixed(in, seen, t)
				}
				seen = t
			}
			continue
		}
		ok := true
		for _, leaf := range s.Leaves {
			if t := leaf.Type(); t.IsFloat() && t != seen {
				if seen != hlo.InvalidType {
					ok = r.mixed(in, seen, t)
					break
				}
				seen = t
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

func (r *run) mixed(in hlo.Instruction, a, b hlo.PrimitiveType) bool {
	r.report(in, "GEN-05", "Seen floating point types of different precisions in %%%s: %v and %v, but mixed precision is disallowed", in.Name(), a, b)
	return false
}
