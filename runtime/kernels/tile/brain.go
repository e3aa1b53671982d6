package tile

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// readInPlace lets steps of arithmetic read bf16 as it is in memory, and write it there, so that it is decoded and encoded in registers.
func (b *Builder) readInPlace(p *Program) {
	if !slices.ContainsFunc(b.values, func(v value) bool { return v.typ == hlo.BF16 }) {
		return
	}
	uses := make([]int, len(b.values))
	for _, s := range b.steps {
		for _, a := range s.args {
			uses[a]++
		}
	}
	for _, s := range b.stores {
		uses[s.reg]++
	}
	for _, f := range b.folds {
		uses[f.reg]++
	}
	if b.result != noValue {
		uses[b.result]++
	}
	loads := make(map[Value]*load)
	for i := range p.loads {
		if l := &p.loads[i]; l.mode == linear && l.typ == hlo.BF16 {
			loads[Value(l.reg)] = l
		}
	}
	for i := range b.steps {
		s := &b.steps[i]
		if s.op == hlo.OpInvalid || len(s.args) != 2 {
			continue
		}
		x, y := s.args[0], s.args[1]
		once := 1
		if x == y {
			once = 2
		}
		form := func(v Value) hlo.PrimitiveType {
			if loads[v] != nil && uses[v] == once {
				return hlo.BF16
			}
			return hlo.F32
		}
		name := vectors.Of(s.op, form(x), form(y), hlo.F32)
		f := &name.Types
		if s.rounded {
			name.Mode, f[2] = vectors.Rounding, hlo.BF16
		}
		last := i == len(b.steps)-1 && len(b.stores) == 1 && !b.stores[0].isPlaced() && b.stores[0].reg == int(s.d) && b.stores[0].typ == hlo.BF16 && uses[s.d] == 1 && b.values[s.d].def == i
		if last {
			name.Mode, f[2] = vectors.Elementwise, hlo.BF16
		}
		exchange := f[0] == hlo.F32 && f[1] == hlo.BF16 && hlo.Info(s.op).Traits.Has(hlo.TraitCommutative)
		if exchange {
			f[0], f[1] = f[1], f[0]
		}
		fn := mixedLoop(name)
		if fn == nil {
			continue
		}
		st := &p.steps[i]
		if exchange { // of the step itself: of two NaNs, whatever computes it gives the same
			st.a, st.b = st.b, st.a
			f[0], f[1] = f[1], f[0]
		}
		st.run = fn
		for k, v := range s.args {
			if f[k] == hlo.BF16 {
				loads[v].raw = true
			}
		}
		if last {
			p.stores[0].inPlace = true
		}
	}
}

// roundStored finds what is stored as bf16 and has been rounded, or can be rounded by the step that computes it: what that gives is no signalling NaN either.
func (b *Builder) roundStored(p *Program) {
	for i := range p.stores {
		s := &p.stores[i]
		v := &b.values[s.reg]
		if s.typ != hlo.BF16 || v.typ != s.typ || v.def < 0 {
			continue
		}
		switch {
		case v.round == nil:
			s.rounded = b.steps[v.def].rounded || b.isRounded(Value(s.reg), s.typ)
		case v.rounded != nil:
			s.rounded = true
			p.steps[v.def].stored = roundedName(b.steps[v.def].op, s.typ)
		}
	}
}

// isRounded reports whether a step of its own has rounded v to narrow type t.
func (b *Builder) isRounded(v Value, t hlo.PrimitiveType) bool {
	return slices.ContainsFunc(b.steps, func(s buildStep) bool { return s.d == v && s.vector == roundName(t) })
}

// mixed are the ops that have loops which read or write bf16.
var mixed = map[hlo.Opcode]func(x, y float32) float32{
	hlo.OpAdd: func(x, y float32) float32 { return x + y }, hlo.OpSubtract: func(x, y float32) float32 { return x - y },
	hlo.OpMultiply: func(x, y float32) float32 { return x * y }, hlo.OpDivide: func(x, y float32) float32 { return x / y },
}

// mixedLoop is the loop of that name if it reads or writes bf16, or nil.
func mixedLoop(name vectors.Name) loop {
	compute := mixed[name.Op]
	if !slices.Contains(name.Types[:2], hlo.BF16) && name.Mode == vectors.Rounding || !vectors.Has(name) || compute == nil {
		return nil
	}
	number := func(t hlo.PrimitiveType, p unsafe.Pointer, i int) float32 {
		if t == hlo.BF16 {
			return minifloat.BF16ToFloat32(*(*uint16)(unsafe.Add(p, 2*i)))
		}
		return *(*float32)(unsafe.Add(p, 4*i))
	}
	return vectors.Find(name, func(n int, d, a, b, _ unsafe.Pointer) { // for the rest of a tile
		for i := range n {
			r := compute(number(name.Types[0], a, i), number(name.Types[1], b, i))
			switch {
			case name.Mode == vectors.Elementwise && name.Types[2] == hlo.BF16:
				*(*uint16)(unsafe.Add(d, 2*i)) = minifloat.BF16FromFloat32(r)
			case name.Mode == vectors.Rounding:
				*(*float32)(unsafe.Add(d, 4*i)) = minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(r))
			default:
				*(*float32)(unsafe.Add(d, 4*i)) = r
			}
		}
	})
}
